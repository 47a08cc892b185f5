//! Where alerts and dead letters go: published from the store, after the commit, at least once.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;

use crate::client::Core;
use crate::model::{Alert, Channel, DeliveryBody, Envelope};
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

/// The sinks of a runtime.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sinks {
    pub(crate) alerts: Option<Arc<dyn AlertSink>>,
    pub(crate) dead_letters: Option<Arc<dyn DeadLetterSink>>,
}

/// Hands out what waits to be published. What a sink does not take stays and comes again after a while.
pub(crate) async fn deliver(core: &Core) -> Result<(), StoreError> {
    const BATCH: u32 = 100;
    let channels = [
        (Channel::Alerts, core.sinks.alerts.is_some()),
        (Channel::DeadLetters, core.sinks.dead_letters.is_some()),
    ];
    for (channel, _) in channels.into_iter().filter(|(_, wanted)| *wanted) {
        let deliveries = core.store.undelivered(channel, BATCH, core.config.delivery_hold).await?;
        let mut taken = Vec::new();
        for delivery in deliveries {
            // A sink is the user's code: its panic is its failure.
            let offer = std::panic::AssertUnwindSafe(offer(core, &delivery.body)).catch_unwind();
            match offer.await {
                Ok(Ok(())) => taken.push(delivery.id),
                Ok(Err(error)) => {
                    tracing::warn!(?channel, %error, "a sink failed; the delivery is tried again");
                }
                Err(_) => tracing::warn!(?channel, "a sink panicked; the delivery is tried again"),
            }
        }
        if !taken.is_empty() {
            core.store.delivered(taken).await?;
        }
    }
    Ok(())
}

async fn offer(core: &Core, body: &DeliveryBody) -> Result<(), SinkError> {
    match (body, &core.sinks.alerts, &core.sinks.dead_letters) {
        (DeliveryBody::Alert(alert), Some(sink), _) => sink.alert(alert).await,
        (DeliveryBody::DeadLetter(envelope), _, Some(sink)) => sink.publish(envelope).await,
        _ => Ok(()),
    }
}
