#![doc = include_str!("../README.md")]

#[cfg(feature = "command")]
pub mod command;
#[cfg(feature = "event")]
pub mod event;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "outcome-table")]
pub mod outcome_table;
mod refusals;
#[cfg(feature = "shell")]
pub mod shell;
#[cfg(feature = "webhook")]
pub mod webhook;

#[cfg(any(feature = "command", feature = "event", feature = "http", feature = "shell"))]
use refusals::Refusal;
pub use refusals::Refusals;
