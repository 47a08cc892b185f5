//! Commands about what else the store holds: tables, nodes, catalog, statistics, alerts and the audit trail.

use clap::{Args, Subcommand};
use ratchet_core::{JobId, NodeId};

#[derive(Debug, Subcommand)]
pub(crate) enum Nodes {
    /// Lists worker processes
    List,
    /// Lets a node claim no more jobs; those that it runs continue
    Quiet {
        /// The id of the node
        node: NodeId,
    },
    /// Lets a quiet node claim jobs again
    Resume {
        /// The id of the node
        node: NodeId,
    },
    /// Stops a worker gracefully
    Stop {
        /// The id of the node
        node: NodeId,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Catalog {
    /// Lists jobs with their program and their arguments
    List,
    /// Shows a job: its options, its arguments and who can run it
    Show {
        /// The name of the job, or an alias
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Stats {
    /// Only this queue
    #[arg(long)]
    pub(crate) queue: Option<String>,
    /// Only jobs with this name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// How far back, such as 1h, 24h or 30d
    #[arg(long, default_value = "24h")]
    pub(crate) last: String,
    /// Lists every point in time, instead of one line per job
    #[arg(long)]
    pub(crate) points: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Alerts {
    /// Lists alerts, newest first
    List {
        /// The maximum number of alerts
        #[arg(long, short = 'n', default_value_t = 50)]
        limit: u32,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Unreadable {
    /// Lists jobs whose rows cannot be read
    List {
        /// The maximum number of jobs
        #[arg(long, short = 'n', default_value_t = 50)]
        limit: u32,
    },
    /// Restores a job whose row can be read again
    Repair { job: JobId },
    /// Deletes a job with its history and keys
    Drop { job: JobId },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Lists changes, newest first
    List {
        /// Only those by this actor
        #[arg(long = "by", value_name = "NAME")]
        actor: Option<String>,
        /// Only this operation, such as jobs.retry
        #[arg(long)]
        verb: Option<String>,
        /// Only this target, such as `queue mail` or `job 01a1…`
        #[arg(long)]
        target: Option<String>,
        /// The maximum number of changes
        #[arg(long, short = 'n', default_value_t = 50)]
        limit: u32,
        /// Only entries before this one
        #[arg(long, value_name = "ENTRY")]
        before: Option<u64>,
    },
    /// Checks that no entry was changed, added or removed, and prints the end of the trail
    Verify {
        /// An end that an earlier `verify` printed; the trail must still contain it
        #[arg(long, value_name = "END")]
        since: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Migrate {
    /// Says whether this program can use the tables
    Status,
    /// Creates or updates the tables
    Up,
    /// Prints the statements that create or update the tables, for a review or for `psql` and `sqlite3`
    Sql,
    /// Prints the statements that give a user of the PostgreSQL database the rights of one role, or applies them
    Grants {
        /// What the user does: submit, read, operate, work or migrate
        #[arg(long)]
        role: String,
        /// The user of the database, which must exist
        #[arg(long, value_name = "USER")]
        to: String,
        /// Applies the statements, which only the owner of the schema may
        #[arg(long)]
        apply: bool,
    },
}
