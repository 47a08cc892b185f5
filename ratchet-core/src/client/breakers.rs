//! [`Breakers`]: manual control of circuit breakers.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{BreakerRecord, BreakerUpdate};

use super::Ratchet;
use crate::events::Event;
use crate::runtime::Core;

/// Controls the circuit breakers of the cluster; see [`Ratchet::breakers`].
#[derive(Debug, Clone)]
pub struct Breakers {
    core: Arc<Core>,
}

impl Ratchet {
    /// Returns a handle that opens, closes and lists circuit breakers.
    pub fn breakers(&self) -> Breakers {
        Breakers { core: Arc::clone(&self.core) }
    }
}

impl Breakers {
    /// Opens the breaker of a service. After `duration`, probes are let through. With `None`, it stays open until it is
    /// closed manually.
    pub async fn open(&self, service: &str, duration: Option<Duration>) -> Result<(), StoreError> {
        self.update(service, BreakerUpdate::Open(duration)).await
    }

    /// Closes the breaker of a service and discards its samples.
    pub async fn close(&self, service: &str) -> Result<(), StoreError> {
        self.update(service, BreakerUpdate::Close).await
    }

    /// Lists every breaker that has recorded a run or was opened or closed manually.
    pub async fn list(&self) -> Result<Vec<BreakerRecord>, StoreError> {
        self.core.store.breakers().await
    }

    /// Returns the breaker of a service. `None` if it has not recorded a run and was never opened or closed manually.
    pub async fn get(&self, service: &str) -> Result<Option<BreakerRecord>, StoreError> {
        Ok(self.list().await?.into_iter().find(|record| record.service == service))
    }

    async fn update(&self, service: &str, update: BreakerUpdate) -> Result<(), StoreError> {
        let core = &self.core;
        limits::check(Field::Service, service)?;
        crash_point(CrashPoint::CommandBefore);
        let change = core.store.update_breaker(service, update).await?;
        crash_point(CrashPoint::CommandAnswered);
        if let Some(change) = change {
            core.events.publish(|| Event::of_breaker(service, change));
        }
        Ok(())
    }
}
