//! The worker: claims jobs, runs them and settles them, regardless of what their handlers do.
//!
//! Every job takes the same path:
//!
//! ```text
//! claim ─▶ resolve ─▶ guard ─▶ run ─▶ classify ─▶ decide ─▶ settle ─▶ publish
//! claim_loop └───────────── attempt ────────────────┘       settler   publish
//! ```
//!
//! Claim loop, heartbeat, watchdog and maintenance run on the engine's own thread, or on the store's runtime if it has
//! one. Handlers run on the runtime that started the worker. A handler that never yields therefore delays at most other
//! handlers.

mod attempt;
mod health_checks;
mod stop_signal;
mod deliveries;
mod engine;
mod exchange;
mod running;
mod handler;
mod status;
mod heartbeat;
mod claim_pacing;
mod mailbox;
mod launch;
mod maintenance;
mod middleware;
mod publish;
mod claim_loop;
mod conditions;
mod recurring;
mod capacity;
mod settler;
mod shared;
mod signals;
mod sinks;
mod start;
mod trouble;
mod step_inputs;
mod watchdog;

pub(crate) use attempt::{AttemptResult, attempt};
pub(crate) use health_checks::HealthCheck;
pub(crate) use stop_signal::{StopSignal, StopCause};
pub(crate) use deliveries::Deliveries;
pub use engine::{EngineDied, EnginePart, Stopped};
pub use status::{Health, WorkerStats};
pub use middleware::{Middleware, Next, RunReport};
pub(crate) use publish::publish;
pub(crate) use sinks::Sinks;
pub(crate) use sinks::deliver;
pub use sinks::{AlertSink, DeadLetterSink, OutcomeSink, SinkError};
pub use start::{StartError, Worker};
