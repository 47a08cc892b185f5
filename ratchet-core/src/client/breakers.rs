//! [`Breakers`]: manual control of circuit breakers.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{BreakerRecord, BreakerSettings, BreakerUpdate, Change, ChangeReply};
use ratchet_store::{StoreError, StoreErrorKind};

use super::Ratchet;
use super::acting::{Manner, store_error, unexpected};
use crate::config::BreakerConfig;
use crate::events::Event;
use crate::runtime::Core;

/// Controls the circuit breakers of the cluster; see [`Ratchet::breakers`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// for record in ratchet.breakers().list().await? {
///     println!("{}: {:?}", record.service, record.state);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Breakers {
    core: Arc<Core>,
    manner: Manner,
}

impl Ratchet {
    /// Returns a handle that opens, closes, sets and lists circuit breakers.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as manage; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// use ratchet::manage::BreakerState;
    ///
    /// ratchet.breakers().open("payment-gateway", None).await?; // until it is closed
    /// let gateway = ratchet.breakers().get("payment-gateway").await?.expect("it was changed");
    /// assert_eq!(gateway.state, BreakerState::Open { until: None });
    /// ratchet.breakers().close("payment-gateway").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn breakers(&self) -> Breakers {
        Breakers { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

impl Breakers {
    /// Opens the breaker of a service. After `duration`, probes are let through. With `None`, it stays open until it is
    /// closed manually.
    pub async fn open(&self, service: &str, duration: Option<Duration>) -> Result<(), StoreError> {
        self.update("breakers.open", service, BreakerUpdate::Open(duration)).await
    }

    /// Closes the breaker of a service and discards its samples.
    pub async fn close(&self, service: &str) -> Result<(), StoreError> {
        self.update("breakers.close", service, BreakerUpdate::Close).await
    }

    /// Sets when the breaker of a service opens and closes. These settings take precedence over those that programs
    /// declare, until [`Self::reset`] removes them.
    ///
    /// ```
    /// # use ratchet_core::{BreakerSettings, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let mut tolerant = BreakerSettings::default();
    /// tolerant.failure_rate = 90;
    /// ratchet.breakers().set("payments", tolerant).await?;
    /// let record = ratchet.breakers().get("payments").await?.unwrap();
    /// assert_eq!(record.breaker.set_by_operator, Some(tolerant));
    /// ratchet.breakers().reset("payments").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set(&self, service: &str, settings: BreakerSettings) -> Result<(), StoreError> {
        let problems = BreakerConfig::from(settings).problems(service);
        if !problems.is_empty() {
            return Err(StoreError::new(StoreErrorKind::Config, problems.join("; ")));
        }
        self.update("breakers.set", service, BreakerUpdate::Set(settings)).await
    }

    /// Removes the settings that were set with [`Self::set`], so that those apply that programs declare. Does not open
    /// or close the breaker.
    pub async fn reset(&self, service: &str) -> Result<(), StoreError> {
        self.update("breakers.reset", service, BreakerUpdate::Reset).await
    }

    /// Lists every breaker that is declared, has recorded a run or was changed manually.
    pub async fn list(&self) -> Result<Vec<BreakerRecord>, StoreError> {
        self.core.store.breakers().await
    }

    /// Returns the breaker of a service. `None` if it is not declared, has not recorded a run and was never
    /// changed manually.
    pub async fn get(&self, service: &str) -> Result<Option<BreakerRecord>, StoreError> {
        Ok(self.list().await?.into_iter().find(|record| record.service == service))
    }

    async fn update(
        &self,
        verb: &'static str,
        service: &str,
        update: BreakerUpdate,
    ) -> Result<(), StoreError> {
        let core = &self.core;
        limits::check(Field::Service, service)?;
        let change = if self.manner.is_special() {
            let change = Change::Breaker { service: service.to_owned(), update };
            let reply = core.operate(&self.manner, verb, change).await.map_err(store_error)?;
            let ChangeReply::Breaker(change) = reply else { return Err(unexpected()) };
            change
        } else {
            crash_point(CrashPoint::CommandBefore);
            let change = core.store.update_breaker(service, update).await?;
            crash_point(CrashPoint::CommandAnswered);
            change
        };
        if let Some(change) = change {
            core.meter.breaker(service, change);
            core.events.publish(|| Event::of_breaker(service, change));
        }
        Ok(())
    }
}
