//! Delivers alerts, dead letters and outcomes from the store to the sinks: after the commit, at least once.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};

use super::deliveries::Deliveries;
use crate::config::Config;
use crate::failure::{PanicReport, display};
use crate::runtime::{Core, SinkError, Sinks};
use ratchet_store::StoreError;
use ratchet_store::model::{Channel, Delivery, DeliveryBody, DeliveryId};

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
    core.meter.delivery(channel, matches!(offered, Ok(Ok(()))));
    match offered {
        Ok(Ok(())) => return Some(delivery.id),
        Ok(Err(error)) => {
            tracing::warn!(?channel, %error, "a sink failed; the delivery will be repeated");
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
