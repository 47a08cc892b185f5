//! The circuit breaker declared with `#[circuit_breaker(…)]`.

use std::error::Error;
use std::time::Duration;

use super::checked;

use crate::failure::HandlerError;

/// The settings of a circuit breaker as they are declared on a job.
///
/// `None` means the setting of the profile or, without one, the default of the runtime.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BreakerDef {
    /// The service that the breaker guards. Jobs that name the same service share its breaker.
    pub service: &'static str,
    /// The name of a profile of settings.
    pub profile: Option<&'static str>,
    /// The failure rate in percent (1–100) at which the breaker opens.
    pub failure_rate: Option<u8>,
    /// The number of most recent calls that are evaluated.
    pub window: Option<u32>,
    /// The minimum number of calls before the failure rate is evaluated.
    pub min_calls: Option<u32>,
    /// How long the breaker stays open before it half-opens and admits probes.
    pub open_for: Option<Duration>,
    /// The number of probes that must succeed to close the breaker.
    pub probes: Option<u32>,
    /// Errors that do not count against the service.
    pub ignore: &'static [ErrorMatcher],
    /// If not empty, the only errors that count against the service.
    pub record: &'static [ErrorMatcher],
}

impl BreakerDef {
    /// Creates a breaker for `service` without settings of its own.
    ///
    /// # Panics
    ///
    /// Panics if the name of the service is empty: at compile time, because definitions are constants.
    pub const fn new(service: &'static str) -> Self {
        assert!(!service.is_empty(), "a circuit breaker needs the name of its service");
        Self {
            service,
            profile: None,
            failure_rate: None,
            window: None,
            min_calls: None,
            open_for: None,
            probes: None,
            ignore: &[],
            record: &[],
        }
    }

    /// Uses the settings of a named profile.
    pub const fn profile(mut self, profile: &'static str) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Sets the failure rate in percent at which the breaker opens.
    ///
    /// # Panics
    ///
    /// Panics if the rate is not between 1 and 100.
    pub const fn failure_rate(mut self, percent: u8) -> Self {
        self.failure_rate = Some(checked::failure_rate(percent));
        self
    }

    /// Sets the number of most recent calls that are evaluated.
    ///
    /// # Panics
    ///
    /// Panics if the number is zero or greater than 10 000.
    pub const fn window(mut self, calls: u32) -> Self {
        self.window = Some(checked::window(calls));
        self
    }

    /// Sets the minimum number of calls before the failure rate is evaluated.
    ///
    /// # Panics
    ///
    /// Panics if the number is zero.
    pub const fn min_calls(mut self, calls: u32) -> Self {
        self.min_calls = Some(checked::min_calls(calls));
        self
    }

    /// Sets how long the breaker stays open before it half-opens.
    ///
    /// # Panics
    ///
    /// Panics if the duration is zero.
    pub const fn open_for(mut self, duration: Duration) -> Self {
        self.open_for = Some(checked::open_for(duration));
        self
    }

    /// Sets the number of probes that must succeed to close the breaker.
    ///
    /// # Panics
    ///
    /// Panics if the number is zero.
    pub const fn probes(mut self, probes: u32) -> Self {
        self.probes = Some(checked::probes(probes));
        self
    }

    /// Sets the errors that do not count against the service.
    pub const fn ignore(mut self, errors: &'static [ErrorMatcher]) -> Self {
        self.ignore = errors;
        self
    }

    /// Sets the only errors that count against the service.
    pub const fn record(mut self, errors: &'static [ErrorMatcher]) -> Self {
        self.record = errors;
        self
    }
}

/// Matches one error type anywhere in a source chain.
#[derive(Debug, Clone, Copy)]
pub struct ErrorMatcher {
    /// The name of the type as written in the attribute.
    pub name: &'static str,
    /// Returns `true` if the error is or wraps an error of the type.
    pub matches: fn(&HandlerError) -> bool,
}

impl ErrorMatcher {
    /// Creates a matcher for errors of type `E`.
    pub const fn of<E: ChainError>(name: &'static str) -> Self {
        Self { name, matches: |error| error.find::<E>().is_some() }
    }
}

/// Returns the error of type `E` that an error is or wraps, for a matcher of one variant.
pub fn find_error<E: ChainError>(error: &HandlerError) -> Option<&E> {
    error.find::<E>()
}

/// An error type that can be found in a source chain.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error",
    label = "a circuit breaker looks for this type in the source chain of a failure",
    note = "only a `std::error::Error + 'static` can be there"
)]
pub trait ChainError: Error + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + Send + Sync + 'static> ChainError for E {}
