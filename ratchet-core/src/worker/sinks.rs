//! Delivers alerts, dead letters and outcomes to the application's sinks: from the store, after the commit, at least
//! once.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{FutureExt as _, StreamExt as _};

use super::deliveries::Deliveries;
use crate::client::Core;
use crate::config::Config;
use crate::failure::{PanicReport, display};
use crate::model::{Alert, Channel, Delivery, DeliveryBody, DeliveryId, Envelope, JobOutcome};
use crate::store::StoreError;

/// The error of a sink. The delivery is retried later.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Receives an alert when jobs fail permanently, once per job name, fingerprint and alert window. Delivery is at least
/// once, so repeats must be expected.
#[async_trait]
pub trait AlertSink: Send + Sync + fmt::Debug + 'static {
    /// Handles an alert. After an error, it is delivered again later.
    async fn alert(&self, alert: &Alert) -> Result<(), SinkError>;
}

/// Receives the envelope of every job that fails permanently. Delivery is at least once, so repeats must be expected.
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
/// use ratchet_core::model::JobOutcome;
/// use ratchet_core::{OutcomeSink, SinkError, async_trait};
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

/// Delivers all waiting notices. Those that a sink does not accept are delivered again later.
pub(crate) async fn deliver(core: &Core, deliveries: &Deliveries) -> Result<(), StoreError> {
    for channel in core.sinks.channels() {
        while deliver_batch(core, deliveries, channel).await? {}
    }
    Ok(())
}

/// Delivers one batch. Returns whether more may be waiting.
async fn deliver_batch(
    core: &Core,
    progress: &Deliveries,
    channel: Channel,
) -> Result<bool, StoreError> {
    const BATCH: u32 = 100;
    let deliveries = core.store.take_deliveries(channel, BATCH, core.config.delivery_hold).await?;
    let full = deliveries.len() >= BATCH as usize;
    // Alerts and dead letters are few, and their order helps readers. A batch of outcomes has at most one per job.
    let at_once = if channel == Channel::Outcomes { 16 } else { 1 };
    let taken: Vec<_> = futures_util::stream::iter(deliveries)
        .map(|delivery| taken(core, progress, channel, delivery))
        .buffered(at_once)
        .filter_map(std::future::ready)
        .collect()
        .await;
    if taken.is_empty() {
        return Ok(false);
    }
    core.store.ack_deliveries(taken).await?;
    Ok(full)
}

/// Returns how long a sink may take for one delivery.
pub(super) fn delivery_limit(config: &Config) -> Duration {
    const SHORTEST: Duration = Duration::from_secs(30);
    config.delivery_hold.max(SHORTEST)
}

/// Offers a delivery to its sink. Returns its id if the sink accepted it. Sinks and their errors are user code, so a
/// panic counts as a failure of the sink, and a sink that hangs times out.
async fn taken(
    core: &Core,
    progress: &Deliveries,
    channel: Channel,
    delivery: Delivery,
) -> Option<DeliveryId> {
    let moved = || progress.moved(channel, core.clock.monotonic());
    let limit = delivery_limit(&core.config);
    moved();
    let offered = async {
        tokio::select! {
            biased;
            offered = offer(core, &delivery.body) => offered.map_err(|error| display(&error)),
            () = core.clock.sleep(limit) => Err(format!("it took longer than {limit:?}")),
        }
    };
    let offered = AssertUnwindSafe(offered).catch_unwind().await;
    moved();
    match offered {
        Ok(Ok(())) => return Some(delivery.id),
        Ok(Err(error)) => {
            tracing::warn!(?channel, %error, "a sink failed; the delivery is tried again");
        }
        Err(payload) => core.panics.note("sink", &PanicReport::new(payload)),
    }
    None
}

async fn offer(core: &Core, body: &DeliveryBody) -> Result<(), SinkError> {
    let Sinks { alerts, dead_letters, outcomes } = &core.sinks;
    match (body, alerts, dead_letters, outcomes) {
        (DeliveryBody::Alert(alert), Some(sink), _, _) => sink.alert(alert).await,
        (DeliveryBody::DeadLetter(envelope), _, Some(sink), _) => sink.publish(envelope).await,
        (DeliveryBody::Outcome(outcome), _, _, Some(sink)) => sink.publish(outcome).await,
        _ => Ok(()),
    }
}
