//! Handles for operators: jobs, queues, breakers, nodes, alerts, rejects and pipelines.
//!
//! Each is returned by a method of [`Ratchet`](crate::Ratchet) with its name, and is cheap to clone.

pub use ratchet_core::{
    Alerts, BreakerSettings, BreakerState, Breakers, DeclaredLimits, DeclaredSettings, Explanation,
    GroupRef, JobRef, Jobs, Nodes, Pipeline, QueueLimits, Queues, Rate, Redrive, Rejects, Waiting,
};
