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

mod admission;
mod app_check;
mod attempt;
mod banner;
mod bulk_operations;
mod capacity;
mod catalog;
mod claim_loop;
mod claim_pacing;
mod conditions;
mod dead_letter;
mod declarations;
mod declared_rules;
mod deliver;
mod deliveries;
mod engine;
mod error_outcome;
mod exchange;
mod expire;
mod full_pipelines;
mod handler;
mod health_checks;
mod health_server;
mod heartbeat;
mod hooks;
mod http_head;
mod launch;
mod lease_timer;
mod mailbox;
mod maintenance;
mod old_jobs;
mod publish;
mod recurring;
mod refused_jobs;
mod rest;
mod run_limits;
mod run_span;
mod running;
mod settlement;
mod settler;
mod shared;
mod signals;
mod start;
mod status;
mod step_inputs;
mod stopped;
mod suspects;
mod trouble;
mod unknown_jobs;
mod unreadable_jobs;
mod verdict_counters;
mod watch;
mod watchdog;

pub use health_server::HealthServer;
pub use run_limits::Completion;
pub use start::{StartError, Worker};
pub use status::WorkerStats;
pub use stopped::{EngineDied, EnginePart, Stopped};

#[cfg(feature = "testing")]
pub(crate) use self::{
    admission::admit,
    attempt::{AttemptResult, attempt},
    declarations::{declarations, declare_all},
    deliver::deliver,
    deliveries::Deliveries,
    expire::cancel_expired,
    publish::publish,
    recurring::fire_due,
    watch::check_watched,
};
