//! Code of the application that the runtime calls: middleware, sinks, retry policies, trace propagators and observers.
//!
//! They are registered with the [`Builder`](crate::runtime::Builder), and observers with
//! [`Ratchet::on`](crate::Ratchet::on). The hooks of one job are options of [`#[job]`](macro@crate::job). A hook that panics or blocks does not stop a
//! worker.

pub use ratchet_core::{
    AlertSink, AlwaysRetry, DeadLetterSink, FailedJob, Failure, Middleware, Next, Observer,
    OutcomeSink, RetryPolicy, RetryReport, RunReport, SinkError, TracePropagator, TraceRelation,
    TracingSink,
};
