//! Where alerts, dead letters and outcomes go: published from the store, after the commit, at least once.

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

/// Why a sink did not take something; it is offered again later.
pub type SinkError = Box<dyn std::error::Error + Send + Sync>;

/// Is told when jobs fail for good, once per job name, fingerprint and window. At least once: be ready for repeats.
#[async_trait]
pub trait AlertSink: Send + Sync + fmt::Debug + 'static {
    /// Takes an alert.
    async fn alert(&self, alert: &Alert) -> Result<(), SinkError>;
}

/// Gets the envelope of every job that fails for good. At least once: be ready for repeats.
#[async_trait]
pub trait DeadLetterSink: Send + Sync + fmt::Debug + 'static {
    /// Takes an envelope.
    async fn publish(&self, envelope: &Envelope) -> Result<(), SinkError>;
}

/// Gets the end of every job: success, failure, exception and invalid. A job that is called off has no outcome.
///
/// At least once, and in the order of the commits for any one job: the next end of a job that was tried again is offered when
/// this one has been taken. Outcomes of different jobs are offered at the same time. Be ready for repeats; see [`JobOutcome`]
/// for how to tell them.
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
    /// Takes an outcome.
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
    /// The channels that somebody listens to.
    pub(crate) fn channels(&self) -> impl Iterator<Item = Channel> {
        let wanted = [
            (Channel::Alerts, self.alerts.is_some()),
            (Channel::DeadLetters, self.dead_letters.is_some()),
            (Channel::Outcomes, self.outcomes.is_some()),
        ];
        wanted.into_iter().filter_map(|(channel, wanted)| wanted.then_some(channel))
    }
}

/// Hands out what waits to be published. What a sink does not take stays and comes again after a while.
pub(crate) async fn deliver(core: &Core, deliveries: &Deliveries) -> Result<(), StoreError> {
    for channel in core.sinks.channels() {
        while deliver_batch(core, deliveries, channel).await? {}
    }
    Ok(())
}

/// Whether it is worth to ask for more at once.
async fn deliver_batch(
    core: &Core,
    progress: &Deliveries,
    channel: Channel,
) -> Result<bool, StoreError> {
    const BATCH: u32 = 100;
    let deliveries = core.store.undelivered(channel, BATCH, core.config.delivery_hold).await?;
    let full = deliveries.len() >= BATCH as usize;
    // Failures are few, and read best in their order. Of outcomes, a batch has at most one per job.
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
    core.store.delivered(taken).await?;
    Ok(full)
}

/// How long a sink may take for one delivery.
pub(super) fn delivery_limit(config: &Config) -> Duration {
    const SHORTEST: Duration = Duration::from_secs(30);
    config.delivery_hold.max(SHORTEST)
}

/// The number of a delivery, if its sink took it. A sink is the user's code, and so are its errors: whatever panics is a
/// failure of the sink, and one that hangs does not keep the others waiting for ever.
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
