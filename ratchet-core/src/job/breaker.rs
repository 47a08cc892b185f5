//! What `#[circuit_breaker(…)]` declares.

use std::error::Error;
use std::time::Duration;

use super::checked;

/// The settings of a circuit breaker as declared on a job.
///
/// `None` means "as the profile says, or the default of the runtime".
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BreakerDef {
    /// The service this breaker guards; jobs that name the same service share it.
    pub service: &'static str,
    /// A named bundle of settings.
    pub profile: Option<&'static str>,
    /// The share of failed calls, in percent (1–100), that opens the breaker.
    pub failure_rate: Option<u8>,
    /// How many of the last outcomes are looked at.
    pub window: Option<u32>,
    /// How many outcomes there must be before the rate counts.
    pub min_calls: Option<u32>,
    /// How long the breaker stays open before it lets probes through.
    pub open_for: Option<Duration>,
    /// How many probes must succeed to close it again.
    pub probes: Option<u32>,
    /// Errors that say nothing about the service.
    pub ignore: &'static [ErrorMatcher],
    /// If not empty, the only errors that count against the service.
    pub record: &'static [ErrorMatcher],
}

impl BreakerDef {
    /// A breaker for `service` with every setting left to profile and default.
    ///
    /// # Panics
    ///
    /// If the service has no name: at compile time, since definitions are constants.
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

    /// Takes the settings of a named profile.
    pub const fn profile(mut self, profile: &'static str) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Opens when this share of calls, in percent, failed.
    ///
    /// # Panics
    ///
    /// If the rate is not between 1 and 100.
    pub const fn failure_rate(mut self, percent: u8) -> Self {
        self.failure_rate = Some(checked::failure_rate(percent));
        self
    }

    /// Looks at the last `calls` outcomes.
    ///
    /// # Panics
    ///
    /// If the window is empty or above 10 000.
    pub const fn window(mut self, calls: u32) -> Self {
        self.window = Some(checked::window(calls));
        self
    }

    /// Judges nothing before `calls` outcomes are known.
    ///
    /// # Panics
    ///
    /// If `calls` is zero.
    pub const fn min_calls(mut self, calls: u32) -> Self {
        self.min_calls = Some(checked::min_calls(calls));
        self
    }

    /// Stays open this long before probing.
    ///
    /// # Panics
    ///
    /// If the duration is zero.
    pub const fn open_for(mut self, duration: Duration) -> Self {
        self.open_for = Some(checked::open_for(duration));
        self
    }

    /// Closes after this many good probes.
    ///
    /// # Panics
    ///
    /// If `probes` is zero.
    pub const fn probes(mut self, probes: u32) -> Self {
        self.probes = Some(checked::probes(probes));
        self
    }

    /// Errors that say nothing about the service.
    pub const fn ignore(mut self, errors: &'static [ErrorMatcher]) -> Self {
        self.ignore = errors;
        self
    }

    /// The only errors that count against the service.
    pub const fn record(mut self, errors: &'static [ErrorMatcher]) -> Self {
        self.record = errors;
        self
    }
}

/// Recognises one error type anywhere in a source chain.
#[derive(Debug, Clone, Copy)]
pub struct ErrorMatcher {
    /// The type as it was written.
    pub name: &'static str,
    /// Whether this link of the chain is of that type.
    pub matches: fn(&(dyn Error + 'static)) -> bool,
}

impl ErrorMatcher {
    /// Recognises errors of type `E`.
    pub const fn of<E: ChainError>(name: &'static str) -> Self {
        Self { name, matches: |error| error.is::<E>() }
    }
}

/// An error type that can be found in a source chain.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error",
    label = "a circuit breaker looks for this type in the source chain of a failure",
    note = "only a `std::error::Error + 'static` can be there"
)]
pub trait ChainError: Error + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + 'static> ChainError for E {}
