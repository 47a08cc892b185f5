#![doc = include_str!("tour.md")]

pub mod contract;
pub mod definition;
pub mod env;
pub mod failure;
pub mod graph;
#[cfg(any(doc, doctest))]
pub mod guide;
pub mod hooks;
pub mod manage;
pub mod metrics;
pub mod prelude;
pub mod runtime;
pub mod schedule;
pub mod security;

// Defining jobs.
/// The derive of [`do_not_retry`](macro@do_not_retry), which has the manual.
pub use ratchet_macros::DoNotRetry;
#[doc = include_str!("../docs/attributes/circuit_breaker.md")]
pub use ratchet_macros::circuit_breaker;
#[doc = include_str!("../docs/attributes/classify.md")]
pub use ratchet_macros::classify;
#[doc = include_str!("../docs/attributes/condition.md")]
pub use ratchet_macros::condition;
#[doc = include_str!("../docs/attributes/do_not_retry.md")]
pub use ratchet_macros::do_not_retry;
#[doc = include_str!("job.md")]
pub use ratchet_macros::job;
#[doc = include_str!("../docs/attributes/jobs.md")]
pub use ratchet_macros::jobs;

pub use ratchet_core::{
    Backoff, Callback, Finished, Job, JobContext, JobError, Priority, State, async_trait,
};

// Enqueueing, waiting, running.
pub use ratchet_core::{
    AnyJob, BuildError, Due, Enqueue, EnqueueMany, Event, EventStream, Filter, Health, JobHandle,
    JobId, JobRecord, JobState, PageRequest, Ratchet, StartError, SubmitError, WaitError, Worker,
};

// Stores.
#[cfg(feature = "memory")]
pub use ratchet_memory::MemoryStore;
#[cfg(feature = "postgres-no-tls")]
#[doc(inline)]
pub use ratchet_pg as postgres;
#[cfg(feature = "postgres-no-tls")]
pub use ratchet_pg::PgStore;
#[cfg(all(feature = "postgres-no-tls", not(feature = "sqlite")))]
pub use ratchet_pg::sqlx;
#[cfg(feature = "sqlite")]
#[doc(inline)]
pub use ratchet_sqlite as sqlite;
#[cfg(feature = "sqlite")]
pub use ratchet_sqlite::{SqliteStore, sqlx};
#[doc(inline)]
pub use ratchet_store as store;
#[doc(inline)]
pub use ratchet_store::model;
pub use ratchet_store::{Store, StoreError};

// Testing jobs.
#[cfg(feature = "testing")]
pub use ratchet_core::{assert_enqueued, testing};

#[doc(hidden)]
pub use ratchet_core::__private;
