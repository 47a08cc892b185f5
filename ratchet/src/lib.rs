#![doc = include_str!("tour.md")]

pub use ratchet_core::*;
#[cfg(feature = "memory")]
pub use ratchet_memory::MemoryStore;
pub use ratchet_store as store;
pub use ratchet_store::model;

#[cfg(any(doc, doctest))]
pub mod guide;
pub mod prelude;

#[cfg(feature = "pg")]
pub use ratchet_pg as pg;
#[cfg(feature = "pg")]
pub use ratchet_pg::PgStore;
#[cfg(feature = "sqlite")]
pub use ratchet_sqlite as sqlite;
#[cfg(feature = "sqlite")]
pub use ratchet_sqlite::SqliteStore;

#[doc(hidden)]
pub use ratchet_core::__private;

#[doc = include_str!("job.md")]
pub use ratchet_macros::job;
pub use ratchet_macros::{circuit_breaker, condition, do_not_retry, jobs};
