//! The command line: options and subcommands, one file per group of nouns.

mod archive;
mod erasures;
mod flows;
mod global;
mod jobs;
mod keys;
mod program;
mod queues;
mod schedules;
mod store;
#[cfg(feature = "web")]
mod web;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use self::archive::Archive;
pub(crate) use self::erasures::{Erasures, Ledger, Subject};
pub(crate) use self::flows::{Drawing, Flows, Pipelines, Rejects, WhichRejects};
pub(crate) use self::global::{Fence, Global, Listing, Which};
pub(crate) use self::jobs::{Bulk, BulkAction, BulkJobs, Failures, Jobs, Operations, Place};
pub(crate) use self::keys::{KeyPurpose, Keys, KeysAction};
pub(crate) use self::program::{CodegenArgs, CodegenTarget, Doctor, Work};
pub(crate) use self::queues::{Breakers, Queues};
pub(crate) use self::schedules::Schedules;
pub(crate) use self::store::{Alerts, Audit, Catalog, Migrate, Nodes, Stats, Unreadable};
#[cfg(feature = "web")]
pub(crate) use self::web::{Role, Serve, Token};

/// Looks at and controls the jobs of Ratchet.
#[derive(Debug, Parser)]
#[command(
    name = "ratchet",
    version,
    about = "Looks at and controls the jobs of Ratchet",
    after_help = "Exit codes: 0 done, 1 refused or a problem was found, 2 wrong command line, 3 not found,\n4 the state of the object does not allow the command, 5 store unreachable, 6 denied by the database.",
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Shows queues, workers and problems at a glance
    Status,
    /// Shows how many runs were started, how they ended and how long they took
    Stats(Stats),
    /// Shows the cluster full-screen, refreshed every few seconds
    Top {
        /// The time between two refreshes, such as 1s
        #[arg(long, default_value = "2s")]
        every: String,
    },
    /// Finds, explains and controls jobs
    #[command(subcommand)]
    Jobs(Jobs),
    /// Shows failed jobs grouped by error, and retries them
    #[command(subcommand)]
    Failures(Failures),
    /// Shows, pauses and limits queues
    #[command(subcommand)]
    Queues(Queues),
    /// Shows, opens and closes circuit breakers
    #[command(subcommand)]
    Breakers(Breakers),
    /// Shows and controls recurring jobs
    #[command(subcommand)]
    Schedules(Schedules),
    /// Shows and cancels chains, batches and workflows
    #[command(subcommand)]
    Flows(Flows),
    /// Shows worker processes
    #[command(subcommand)]
    Nodes(Nodes),
    /// Shows the jobs that the programs of the cluster can run
    #[command(subcommand)]
    Catalog(Catalog),
    /// Changes many jobs, in pages, with progress that survives a restart
    #[command(subcommand)]
    Operations(Operations),
    /// Shows alerts that jobs have raised
    #[command(subcommand)]
    Alerts(Alerts),
    /// Shows items that jobs have rejected
    #[command(subcommand)]
    Rejects(Rejects),
    /// Shows the backlog of pipelines
    #[command(subcommand)]
    Pipelines(Pipelines),
    /// Shows, repairs and drops jobs whose rows cannot be read
    #[command(subcommand)]
    Unreadable(Unreadable),
    /// Shows, exports and deletes jobs that are kept after their retention
    #[command(subcommand)]
    Archive(Archive),
    /// Deletes everything of a tenant or of a correlation id
    #[command(subcommand)]
    Erasures(Erasures),
    /// Deletes idempotency keys
    #[command(subcommand)]
    Ledger(Ledger),
    /// Shows and verifies who changed what, when and why
    #[command(subcommand)]
    Audit(Audit),
    /// Looks for known problems; exits with 1 if it finds one
    Doctor(Doctor),
    /// Exits with 0 if the store can be read, and with 1 if a live worker is required and there is none
    Health {
        /// Requires a live worker
        #[arg(long)]
        worker: bool,
    },
    /// Serves the dashboard and the admin API
    #[cfg(feature = "web")]
    Serve(Serve),
    /// Creates a token for `serve`: prints it once, and the entry for the file of tokens
    #[cfg(feature = "web")]
    Token(Token),
    /// Creates, rotates and destroys keys that sign and encrypt jobs
    Keys(Keys),
    /// Creates and updates the tables
    #[command(subcommand)]
    Migrate(Migrate),
    /// Runs a worker. Only programs with jobs of their own have this command
    Work(Work),
    /// Writes code from a lock file, for callers that are not Rust
    Codegen(CodegenArgs),
    /// Prints a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Writes man pages into a folder
    Man {
        /// The folder, which must exist
        folder: PathBuf,
    },
}
