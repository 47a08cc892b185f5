//! The engine cases, by theme.

pub mod breaker;
pub mod callbacks;
pub mod cancel;
pub mod contain;
pub mod context;
pub mod crash;
pub mod dead_letters;
pub mod declared_rules;
pub mod engine_death;
pub mod events;
pub mod failures;
pub mod health;
pub mod limits;
pub mod many;
pub mod middleware;
pub mod outage;
pub mod outcomes;
pub mod output;
pub mod run_modes;
pub mod shutdown;
pub mod size;
pub mod spawning;
pub mod start;
pub mod stuck;
pub mod submit;
pub mod timeouts;
