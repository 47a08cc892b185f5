//! [`TracingSink`]: writes outcomes, dead letters and alerts as events of `tracing`.

use async_trait::async_trait;

use super::{AlertSink, DeadLetterSink, OutcomeSink, SinkError};
use ratchet_store::model::{Alert, Envelope, JobOutcome, OutcomeKind};

/// Writes outcomes, dead letters and alerts as events of `tracing`, with the target `ratchet::sink`.
///
/// The log lines of a worker are about what it did itself. A sink also gets the messages of workers that died, each at
/// least once. Successes and domain failures are written at the level `INFO`, everything else at `ERROR`. Arguments and
/// outputs are not written, because they may be confidential.
///
/// ```
/// # mod ratchet { pub use ratchet_core as hooks; pub use ratchet_core::Ratchet; pub use ratchet_memory::MemoryStore; }
/// # async fn demo() -> Result<(), ratchet_core::BuildError> {
/// use ratchet::Ratchet;
/// use ratchet::hooks::TracingSink;
/// use ratchet::MemoryStore;
///
/// let builder = Ratchet::builder(MemoryStore::new()).outcome_sink(TracingSink);
/// let ratchet = builder.alert_sink(TracingSink).build().await?;
/// # drop(ratchet); Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct TracingSink;

macro_rules! say {
    ($level:ident, $message:literal, $($field:tt)*) => {
        tracing::event!(target: "ratchet::sink", tracing::Level::$level, $($field)*, $message)
    };
}

#[async_trait]
impl OutcomeSink for TracingSink {
    async fn publish(&self, outcome: &JobOutcome) -> Result<(), SinkError> {
        let JobOutcome {
            job_id, job_name, queue, tenant, correlation_id, kind, run, duration, ..
        } = outcome;
        let (tenant, correlation_id) = (tenant.as_deref(), correlation_id.as_deref());
        let error = outcome.envelope.as_ref().map(|envelope| envelope.failure.message.as_str());
        match kind {
            OutcomeKind::Success | OutcomeKind::DomainFailure => say!(
                INFO, "a job has ended", job.id = %job_id, job.name = job_name, job.queue = queue,
                tenant, correlation_id, outcome = ?kind, run, ?duration
            ),
            _ => say!(
                ERROR, "a job has failed", job.id = %job_id, job.name = job_name, job.queue = queue,
                tenant, correlation_id, outcome = ?kind, run, ?duration, error
            ),
        }
        Ok(())
    }
}

#[async_trait]
impl DeadLetterSink for TracingSink {
    async fn publish(&self, envelope: &Envelope) -> Result<(), SinkError> {
        say!(
            ERROR, "a job is a dead letter", job.id = %envelope.job_id, job.name = envelope.job_name,
            job.queue = envelope.queue, tenant = envelope.tenant,
            correlation_id = envelope.correlation_id, reason = %envelope.reason,
            explanation = envelope.explanation, attempts = envelope.attempts,
            error = envelope.failure.message, fingerprint = envelope.failure.fingerprint
        );
        Ok(())
    }
}

#[async_trait]
impl AlertSink for TracingSink {
    async fn alert(&self, alert: &Alert) -> Result<(), SinkError> {
        say!(
            ERROR, "an alert", job.id = %alert.job_id, job.name = alert.job_name,
            error = alert.message, fingerprint = alert.fingerprint, suppressed = alert.suppressed
        );
        Ok(())
    }
}
