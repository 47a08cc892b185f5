//! The command line of Ratchet.
//!
//! The program `ratchet` looks at and controls any SQLite file or PostgreSQL database that holds Ratchet's jobs:
//!
//! ```text
//! ratchet --store sqlite:jobs.db status
//! ratchet --store postgres://shop@db/shop jobs list 'queue:mail state:failed'
//! ratchet jobs explain 01a1e59f-1126-7000-aa3b-d90d531ee121
//! ```
//!
//! A worker program of your own gets the same commands, with its own jobs, and `work`, which runs a worker:
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     ratchet_cli::Program::new(async |builder| Ok(builder))
//!         .default_store("sqlite:shop.db")
//!         .main()
//! }
//! ```
//!
//! The exit codes are those of [`ExitStatus`].

mod args;
mod commands;
mod confirm;
mod context;
mod exit;
mod output;
mod program;
mod target;
mod top;

pub use exit::ExitStatus;
pub use program::{BuildProblem, Program, tool};

/// Returns the description of the command line, for documentation and tests.
pub fn command() -> clap::Command {
    <args::Cli as clap::CommandFactory>::command()
}
