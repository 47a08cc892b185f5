//! Code of the application that the runtime calls: middleware, sinks and retry policies.
//!
//! They are registered with the [`Builder`](crate::runtime::Builder). A hook that panics or blocks does not stop a
//! worker.

pub use ratchet_core::{
    AlertSink, AlwaysRetry, DeadLetterSink, FailedJob, Failure, Middleware, Next, OutcomeSink,
    RetryPolicy, RunReport, SinkError,
};
