//! Circuit breakers: their settings, their stored state and the changes of it. The rules are in
//! [`rules::breaker`](crate::rules::breaker).

use std::collections::VecDeque;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Declarations;

/// When a breaker opens, and how it closes again.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::BreakerSettings;
/// use std::time::Duration;
///
/// let mut settings = BreakerSettings::default();
/// assert_eq!((settings.failure_rate, settings.min_calls), (50, 5));
/// settings.failure_rate = 20;
/// settings.open_for = Duration::from_secs(120);
/// # use ratchet_store::model::{Breaker, BreakerSample, BreakerState, CallResult};
/// # let now = jiff::Timestamp::UNIX_EPOCH;
/// # let mut breaker = Breaker::new(settings, now);
/// # let result = |result| BreakerSample { service: "mail".to_owned(), result, probe: None, settings };
/// # for _ in 0..4 { breaker.count(&result(CallResult::Success), now); }
/// # breaker.count(&result(CallResult::Failure), now);
/// # assert_eq!(breaker.state(now), BreakerState::Open { until: Some("1970-01-01T00:02:00Z".parse().unwrap()) });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BreakerSettings {
    /// The failure rate in percent (1–100) at which it opens.
    pub failure_rate: u8,
    /// The number of most recent calls that are evaluated.
    pub window: u32,
    /// The minimum number of calls before the failure rate is evaluated.
    pub min_calls: u32,
    /// How long it stays open before it half-opens and admits probes.
    pub open_for: Duration,
    /// The number of probes that must succeed to close it.
    pub probes: u32,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            failure_rate: 50,
            window: 100,
            min_calls: 5,
            open_for: Duration::from_secs(30),
            probes: 3,
        }
    }
}

/// The result of a call, as the breaker sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallResult {
    /// The service answered.
    Success,
    /// The service is at fault.
    Failure,
    /// Not counted: the run was deferred or canceled, or failed for reasons unrelated to the service. A probe becomes
    /// available again.
    Ignored,
}

/// The call result of one run, counted in the commit that settles the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakerSample {
    /// The name of the service.
    pub service: String,
    /// The result of the call.
    pub result: CallResult,
    /// If the run was a probe: the number of the opening it probed.
    pub probe: Option<u64>,
    /// The settings of the breaker.
    pub settings: BreakerSettings,
}

/// The stored breaker of one service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breaker {
    /// The settings that apply: those that an operator has set, otherwise those of the first program that declares the
    /// breaker, in the order of their names, otherwise those of the last counted call.
    pub settings: BreakerSettings,
    /// The settings that programs declare in their code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<DeclaredSettings>,
    /// The settings that an operator has set; `None` if the declared ones apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_by_operator: Option<BreakerSettings>,
    pub(crate) phase: Phase,
    /// The latest call results in commit order; `true` is a failure.
    #[serde(with = "word")]
    pub(crate) window: VecDeque<bool>,
    /// How often the breaker has opened. Distinguishes the probes of one opening from those of another.
    pub(crate) opening: u64,
    /// When the breaker last opened or closed.
    pub(crate) since: Timestamp,
}

/// The settings that one program declares for a breaker.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::BreakerRecord;
///
/// fn show(record: &BreakerRecord) {
///     for declared in &record.breaker.declared {
///         let rate = declared.settings.failure_rate;
///         println!("{} declares that {} opens at {rate} %", declared.program, record.service);
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredSettings {
    /// The name of the program.
    pub program: String,
    /// The declared settings.
    pub settings: BreakerSettings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    Closed,
    /// Half-open once `until` has passed. If it is `None`, an operator must close the breaker.
    Open {
        until: Option<Timestamp>,
        /// Probes that succeeded.
        good: u32,
        /// Whether an operator has opened it.
        #[serde(default)]
        manual: bool,
    },
}

/// The state of a breaker at a given time.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::BreakerState;
///
/// let text = |state: BreakerState| match state {
///     BreakerState::Closed => "closed".to_owned(),
///     BreakerState::Open { until: Some(until) } => format!("open until {until}"),
///     BreakerState::Open { until: None } => "open until an operator closes it".to_owned(),
///     BreakerState::HalfOpen { good } => format!("half-open, {good} probes have succeeded"),
/// };
/// assert_eq!(text(BreakerState::HalfOpen { good: 2 }), "half-open, 2 probes have succeeded");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerState {
    /// Every run is admitted.
    Closed,
    /// No run is admitted.
    Open {
        /// When the breaker half-opens; `None` if it stays open until an operator closes it.
        until: Option<Timestamp>,
    },
    /// A few runs are admitted as probes.
    HalfOpen {
        /// The number of probes that succeeded.
        good: u32,
    },
}

/// A change caused by a call result or an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BreakerChange {
    /// The breaker opened.
    Opened {
        /// When the breaker half-opens; `None` if it stays open until an operator closes it.
        until: Option<Timestamp>,
    },
    /// The breaker closed.
    Closed,
}

/// A change of a breaker by an operator or by a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BreakerUpdate {
    /// Opens it for this long; `None` until it is closed manually.
    Open(Option<Duration>),
    /// Closes it and clears its window.
    Close,
    /// Sets its settings, which take precedence over declared ones.
    Set(BreakerSettings),
    /// Removes the settings that an operator has set, so that the declared ones apply.
    Reset,
    /// Replaces the settings that a program declares. Changes nothing unless these are the newest declarations of the
    /// program, see [`Store::try_declare`](crate::Store::try_declare).
    Declare {
        /// The program and the version that declares.
        declarations: Declarations,
        /// The settings, or `None` if the program no longer declares the breaker. If no program does, the breaker
        /// closes, unless an operator has opened it.
        settings: Option<BreakerSettings>,
    },
}

impl BreakerUpdate {
    /// Returns the declarations that must be the newest of their program, if the change depends on them.
    pub fn declarations(&self) -> Option<&Declarations> {
        match self {
            Self::Declare { declarations, .. } => Some(declarations),
            Self::Open(_) | Self::Close | Self::Set(_) | Self::Reset => None,
        }
    }
}

/// A breaker with its service and its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BreakerRecord {
    /// The name of the service.
    pub service: String,
    /// The stored breaker.
    pub breaker: Breaker,
    /// The current state, by the store's clock.
    pub state: BreakerState,
}

/// Serializes the window as a string of `+` and `-`, about a tenth of the size of a list of booleans.
mod word {
    use std::collections::VecDeque;

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bad: &VecDeque<bool>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&bad.iter().map(|bad| if *bad { '-' } else { '+' }).collect::<String>())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<VecDeque<bool>, D::Error> {
        Ok(String::deserialize(from)?.chars().map(|outcome| outcome == '-').collect())
    }
}
