//! Options that several commands have.

use std::path::PathBuf;

use clap::Args;
use ratchet_core::JobId;

use super::jobs::Bulk;

/// Options of every command.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools)] // flags of a command line
pub(crate) struct Global {
    /// The store: `sqlite:jobs.db` or `postgres://user@host/database` [env: `RATCHET_STORE`]
    #[arg(long, global = true, value_name = "STORE", help_heading = "Store")]
    pub(crate) store: Option<String>,
    /// The schema of the tables in a PostgreSQL database
    #[arg(long, global = true, value_name = "NAME", help_heading = "Store")]
    pub(crate) schema: Option<String>,
    /// A named store of the configuration file
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        conflicts_with = "store",
        help_heading = "Store"
    )]
    pub(crate) context: Option<String>,
    /// The configuration file [default: ratchet/config.toml in the configuration folder of the user]
    #[arg(long, global = true, value_name = "FILE", help_heading = "Store")]
    pub(crate) config: Option<PathBuf>,
    /// Prints one JSON document
    #[arg(long, global = true, group = "format", help_heading = "Output")]
    pub(crate) json: bool,
    /// Prints one JSON document per line
    #[arg(long, global = true, group = "format", help_heading = "Output")]
    pub(crate) ndjson: bool,
    /// Prints comma-separated values
    #[arg(long, global = true, group = "format", help_heading = "Output")]
    pub(crate) csv: bool,
    /// Says what would change, and changes nothing
    #[arg(long, global = true, help_heading = "Changes")]
    pub(crate) dry_run: bool,
    /// Why the change is made, for the audit trail
    #[arg(long, global = true, value_name = "TEXT", help_heading = "Changes")]
    pub(crate) reason: Option<String>,
    /// Who makes the change, for the audit trail [default: user and host] [env: `RATCHET_ACTOR`]
    #[arg(long, global = true, value_name = "NAME", help_heading = "Changes")]
    pub(crate) actor: Option<String>,
    /// Answers every question with yes
    #[arg(long, short, global = true, help_heading = "Changes")]
    pub(crate) yes: bool,
}

/// Which jobs, and how many.
#[derive(Debug, Args)]
pub(crate) struct Listing {
    /// Conditions such as `queue:mail state:failed queued>2h`; all of them must hold
    #[arg(value_name = "FILTER")]
    pub(crate) filter: Vec<String>,
    /// The maximum number of jobs
    #[arg(long, short = 'n', default_value_t = 50)]
    pub(crate) limit: u32,
    /// Continues behind this job
    #[arg(long, value_name = "JOB")]
    pub(crate) after: Option<JobId>,
}

/// A condition on the job of a change.
#[derive(Debug, Args)]
pub(crate) struct Fence {
    /// Changes the job only if it still has this version, which `jobs show` prints
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<u64>,
}

/// The jobs of a change: ids, or a filter.
#[derive(Debug, Args)]
pub(crate) struct Which {
    #[arg(required_unless_present = "filter")]
    pub(crate) jobs: Vec<JobId>,
    #[command(flatten)]
    pub(crate) fence: Fence,
    /// Starts a bulk operation on the jobs that match, such as `queue:mail`; see `operations start`
    #[arg(long, value_name = "FILTER", conflicts_with_all = ["jobs", "if_version"], help_heading = "Bulk")]
    pub(crate) filter: Option<String>,
    #[command(flatten, next_help_heading = "Bulk")]
    pub(crate) bulk: Bulk,
}
