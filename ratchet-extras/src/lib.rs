#![doc = include_str!("../README.md")]

mod refusals;
#[cfg(feature = "shell")]
pub mod shell;

#[cfg(feature = "shell")]
use refusals::Refusal;
pub use refusals::Refusals;
