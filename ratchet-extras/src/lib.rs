#![doc = include_str!("../README.md")]

#[cfg(feature = "http")]
pub mod http;
mod refusals;
#[cfg(feature = "shell")]
pub mod shell;

#[cfg(any(feature = "http", feature = "shell"))]
use refusals::Refusal;
pub use refusals::Refusals;
