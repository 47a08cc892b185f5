//! The state that client, worker and running jobs share, and the hooks of the application.

mod core;
mod health_check;
mod middleware;
mod queue_depth;
mod sinks;

pub(crate) use core::Core;
pub(crate) use health_check::HealthCheck;
pub(crate) use middleware::HandlerFuture;
pub use middleware::{Middleware, Next, RunReport};
pub(crate) use queue_depth::{Depths, by_queue};
pub(crate) use sinks::Sinks;
pub use sinks::{AlertSink, DeadLetterSink, OutcomeSink, SinkError};
