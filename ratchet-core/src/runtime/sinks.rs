//! The sinks of the application: receivers of alerts, dead letters and outcomes.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use ratchet_store::model::{Alert, Channel, Envelope, JobOutcome};

/// The error of a sink. The delivery is retried later.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Receives an alert when jobs fail permanently, once per job name, fingerprint and alert window. Delivery is at least
/// once, so repeats must be expected.
///
/// ```
/// # mod ratchet { pub use ratchet_core as hooks; pub use ratchet_store::model; pub use ratchet_core::async_trait; }
/// use ratchet::async_trait;
/// use ratchet::hooks::{AlertSink, SinkError};
/// use ratchet::model::Alert;
///
/// #[derive(Debug)]
/// struct Pager;
///
/// #[async_trait]
/// impl AlertSink for Pager {
///     async fn alert(&self, alert: &Alert) -> Result<(), SinkError> {
///         println!("{alert:?}"); // an error delivers it again later
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait AlertSink: Send + Sync + fmt::Debug + 'static {
    /// Handles an alert. After an error, it is delivered again later.
    async fn alert(&self, alert: &Alert) -> Result<(), SinkError>;
}

/// Receives the envelope of every job that fails permanently. Delivery is at least once, so repeats must be expected.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{async_trait, self as hooks}; pub use ratchet_store::model; }
/// use ratchet::async_trait;
/// use ratchet::hooks::{DeadLetterSink, SinkError};
/// use ratchet::model::Envelope;
///
/// #[derive(Debug)]
/// struct Tickets;
///
/// #[async_trait]
/// impl DeadLetterSink for Tickets {
///     async fn publish(&self, envelope: &Envelope) -> Result<(), SinkError> {
///         println!("open a ticket for {}: {}", envelope.job_id, envelope.failure.message);
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait DeadLetterSink: Send + Sync + fmt::Debug + 'static {
    /// Handles an envelope. After an error, it is delivered again later.
    async fn publish(&self, envelope: &Envelope) -> Result<(), SinkError>;
}

/// Receives the outcome of every job: success, failure, exception or invalid. A canceled job has no outcome.
///
/// Delivery is at least once, so repeats must be expected; see [`JobOutcome`] for how to detect them. The outcomes of
/// one job are delivered in commit order: if it was retried manually, its next outcome is delivered after this one was
/// accepted. Outcomes of different jobs are delivered concurrently.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; pub use ratchet_core as hooks; pub use ratchet_core::async_trait; }
/// use ratchet::model::JobOutcome;
/// use ratchet::async_trait;
/// use ratchet::hooks::{OutcomeSink, SinkError};
///
/// #[derive(Debug)]
/// struct Audit(tokio::sync::mpsc::Sender<String>);
///
/// #[async_trait]
/// impl OutcomeSink for Audit {
///     async fn publish(&self, outcome: &JobOutcome) -> Result<(), SinkError> {
///         self.0.send(format!("{} run {}: {:?}", outcome.job_id, outcome.run, outcome.kind)).await?;
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait OutcomeSink: Send + Sync + fmt::Debug + 'static {
    /// Handles an outcome. After an error, it is delivered again later.
    async fn publish(&self, outcome: &JobOutcome) -> Result<(), SinkError>;
}

/// The sinks of a runtime.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sinks {
    pub(crate) alerts: Option<Arc<dyn AlertSink>>,
    pub(crate) dead_letters: Option<Arc<dyn DeadLetterSink>>,
    pub(crate) outcomes: Option<Arc<dyn OutcomeSink>>,
}

impl Sinks {
    /// Returns the channels that have a sink.
    pub(crate) fn channels(&self) -> impl Iterator<Item = Channel> {
        let wanted = [
            (Channel::Alerts, self.alerts.is_some()),
            (Channel::DeadLetters, self.dead_letters.is_some()),
            (Channel::Outcomes, self.outcomes.is_some()),
        ];
        wanted.into_iter().filter_map(|(channel, wanted)| wanted.then_some(channel))
    }
}
