//! The state that client, worker and running jobs share, and the hooks of the application.

mod core;
#[cfg(any(test, feature = "testing"))]
mod for_test;
mod health;
mod health_check;
mod ignored_fields;
mod metrics;
mod middleware;
mod propagation;
mod queue_depth;
mod queue_middleware;
mod recent_counts;
mod sinks;
mod spawn;
mod stats;
mod tracing_sink;
mod workers;

pub(crate) use core::Core;
pub use health::{CheckResult, Health};
pub(crate) use health_check::HealthCheck;
pub(crate) use ignored_fields::IgnoredFields;
pub(crate) use middleware::HandlerFuture;
pub use middleware::{Middleware, Next};
pub use propagation::TracePropagator;
pub(crate) use queue_depth::{Depths, by_queue};
pub(crate) use queue_middleware::QueueMiddleware;
pub(crate) use recent_counts::RecentCounts;
pub(crate) use sinks::Sinks;
pub use sinks::{AlertSink, DeadLetterSink, OutcomeSink, SinkError};
pub use spawn::{DedicatedEngineThread, SingleRuntime, Spawn, Task, Tasks};
pub use tracing_sink::TracingSink;
pub(crate) use workers::{WorkerGauges, WorkerStatus, Workers};
