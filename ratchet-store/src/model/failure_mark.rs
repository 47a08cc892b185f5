//! What operators say about groups of failed jobs.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Actor;

/// The state of a group of failed jobs with the same name and fingerprint.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::FailureState;
///
/// let state: FailureState = "reopened".parse()?;
/// assert!(state.needs_attention());
/// assert!(!FailureState::Ignored.needs_attention());
/// # Ok::<_, ratchet_store::model::UnknownFailureState>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureState {
    /// No operator has looked at it, or the time for which it was ignored has passed.
    Open,
    /// A job has failed after the group was resolved.
    Reopened,
    /// An operator works on it.
    Acknowledged,
    /// The cause is removed.
    Resolved,
    /// The failures are expected.
    Ignored,
}

impl FailureState {
    /// All states.
    pub const ALL: [Self; 5] =
        [Self::Open, Self::Reopened, Self::Acknowledged, Self::Resolved, Self::Ignored];

    /// Returns the name that is stored and displayed, such as `open`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Reopened => "reopened",
            Self::Acknowledged => "acknowledged",
            Self::Resolved => "resolved",
            Self::Ignored => "ignored",
        }
    }

    /// Returns `true` if an operator must look at the group.
    pub const fn needs_attention(self) -> bool {
        matches!(self, Self::Open | Self::Reopened)
    }
}

impl fmt::Display for FailureState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error returned when a string does not name a [`FailureState`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the state must be one of open, reopened, acknowledged, resolved and ignored")]
pub struct UnknownFailureState;

impl FromStr for FailureState {
    type Err = UnknownFailureState;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|state| state.name() == text).ok_or(UnknownFailureState)
    }
}

/// What an operator says about a group.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::Judgment;
///
/// let text = |judgment: Judgment| match judgment {
///     Judgment::Ignored { until: Some(until) } => format!("ignored until {until}"),
///     Judgment::Ignored { until: None } => "ignored".to_owned(),
///     other => format!("{other:?}").to_lowercase(),
/// };
/// let until = Some("2026-12-01T00:00:00Z".parse()?);
/// assert_eq!(text(Judgment::Ignored { until }), "ignored until 2026-12-01T00:00:00Z");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Judgment {
    /// An operator works on it.
    Acknowledged,
    /// The cause is removed. A failure after that reopens the group.
    Resolved,
    /// The failures are expected.
    Ignored {
        /// Until when; `None` for always.
        until: Option<Timestamp>,
    },
}

/// The stored judgment of a group, with who and when.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::FailureMark;
///
/// fn show(mark: &FailureMark) -> String {
///     let who = mark.actor.as_ref().map_or("someone", |actor| &actor.name);
///     format!("{who} judged the failures of `{}` on {}", mark.job_name, mark.at)
/// }
/// # use ratchet_store::model::{Actor, Judgment};
/// # let (ada, at) = (Actor::new("ada"), "2026-11-17T12:00:00Z".parse().unwrap());
/// # let mark = FailureMark::new("send_mail", "7c1e", Judgment::Resolved, Some(ada), at);
/// # assert_eq!(show(&mark), "ada judged the failures of `send_mail` on 2026-11-17T12:00:00Z");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailureMark {
    /// The name of the jobs.
    pub job_name: String,
    /// The fingerprint of their failures.
    pub fingerprint: String,
    /// What the operator says.
    pub judgment: Judgment,
    /// Who says it, and why; `None` if that was not recorded.
    pub actor: Option<Actor>,
    /// When it was said.
    pub at: Timestamp,
}

impl FailureMark {
    /// Creates a mark.
    pub fn new(
        job_name: impl Into<String>,
        fingerprint: impl Into<String>,
        judgment: Judgment,
        actor: Option<Actor>,
        at: Timestamp,
    ) -> Self {
        let (job_name, fingerprint) = (job_name.into(), fingerprint.into());
        Self { job_name, fingerprint, judgment, actor, at }
    }
}

/// A change of the mark of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkFailure {
    /// The name of the jobs.
    pub job_name: String,
    /// The fingerprint of their failures.
    pub fingerprint: String,
    /// What the operator says; `None` removes the mark.
    pub judgment: Option<Judgment>,
    /// Who says it.
    pub actor: Option<Actor>,
}
