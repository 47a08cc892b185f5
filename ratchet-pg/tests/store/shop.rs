//! A store with a pool of the application on the same database, for transactions of the caller.

use std::time::Duration;

pub(crate) use ratchet_pg::EnqueueInTx;

use crate::jobs::{Greet, Shout};
use crate::support::PgHarness;
use ratchet_conformance::Harness;
use ratchet_core::{Job as _, Ratchet};
use ratchet_pg::PgStore;
use sqlx::{Postgres, Transaction};

/// The poll interval. It is long, so that a worker must find the jobs by the hint of the commit.
const HOUR: Duration = Duration::from_hours(1);

pub(crate) struct Shop {
    pg: PgHarness,
    pub(crate) store: PgStore,
    pub(crate) ratchet: Ratchet,
}

pub(crate) async fn shop() -> Shop {
    let pg = PgHarness::fresh().await;
    let store = pg.store.clone();
    let builder = Ratchet::builder(store.clone()).jobs([Greet::JOB, Shout::JOB]);
    let builder = builder.config(|config| config.poll_interval = (HOUR, HOUR));
    let ratchet = builder.build().await.expect("builds");
    Shop { pg, store, ratchet }
}

impl Shop {
    pub(crate) async fn begin(&self) -> Transaction<'static, Postgres> {
        self.pg.database.pool.begin().await.expect("begins")
    }
}
