//! Commands about jobs, failures and operations on many jobs.

use clap::{Args, Subcommand, ValueEnum};
use ratchet_core::{FailureState, JobId, OperationId};

use super::global::{Fence, Listing, Which};

#[derive(Debug, Subcommand)]
pub(crate) enum Jobs {
    /// Lists jobs, newest first
    List(Listing),
    /// Counts the jobs that match a filter
    Count {
        /// Conditions such as `queue:mail state:failed queued>2h`; all of them must hold
        #[arg(value_name = "FILTER")]
        filter: Vec<String>,
        /// Stops at this number
        #[arg(long, default_value_t = 100_000)]
        cap: u64,
    },
    /// Shows a job
    Show { job: JobId },
    /// Explains why a job is not running
    Explain { job: JobId },
    /// Shows the runs of a job
    Runs { job: JobId },
    /// Shows the log lines of a job
    Log {
        job: JobId,
        /// Prints new lines until the job has ended
        #[arg(long, short)]
        follow: bool,
    },
    /// Retries failed jobs
    Retry {
        #[command(flatten)]
        which: Which,
    },
    /// Cancels jobs
    Cancel {
        #[command(flatten)]
        which: Which,
    },
    /// Pauses pending or failed jobs
    Pause {
        #[command(flatten)]
        which: Which,
    },
    /// Resumes paused jobs
    Resume {
        #[command(flatten)]
        which: Which,
    },
    /// Changes the due time of a pending job
    Reschedule {
        job: JobId,
        /// An instant such as 2026-11-18T08:00:00Z, a delay such as 30m, or `now`
        due: String,
        #[command(flatten)]
        fence: Fence,
    },
    /// Moves a pending or paused job to another queue or priority
    Move {
        job: JobId,
        #[command(flatten)]
        place: Place,
        #[command(flatten)]
        fence: Fence,
    },
    /// Submits a job with edited arguments in place of one that has failed or was canceled
    Edit {
        job: JobId,
        /// An argument to change; the value is JSON, or a string if the argument is one
        #[arg(long = "arg", short, value_name = "NAME=VALUE")]
        args: Vec<String>,
        /// All arguments as a JSON object; a secret argument that is `***` keeps its value
        #[arg(long, value_name = "OBJECT", conflicts_with = "args")]
        object: Option<String>,
        #[command(flatten)]
        fence: Fence,
    },
    /// Prints the arguments, output and checkpoint of a job with their secrets, and records that in the audit trail
    Reveal {
        job: JobId,
        #[command(flatten)]
        fence: Fence,
    },
    /// Enqueues a job of this program, or one of the catalog
    Enqueue {
        /// The name of the job
        name: String,
        /// An argument; the value is JSON, or a string if the argument is one
        #[arg(long = "arg", short, value_name = "NAME=VALUE")]
        args: Vec<String>,
        /// All arguments as a JSON object
        #[arg(long, value_name = "OBJECT", conflicts_with = "args")]
        object: Option<String>,
        /// The queue, instead of that of the job
        #[arg(long)]
        queue: Option<String>,
        /// How long the job waits before it is due, such as 30m
        #[arg(long)]
        delay: Option<String>,
        /// The idempotency key
        #[arg(long)]
        key: Option<String>,
        /// Waits for the job and prints its output
        #[arg(long)]
        wait: bool,
    },
    /// Waits until a job has ended and prints its output
    Wait {
        job: JobId,
        /// Gives up after this time, such as 30s
        #[arg(long)]
        timeout: Option<String>,
    },
    /// Prints all jobs that match a filter, one JSON document per line unless `--csv` is given
    Export {
        /// Conditions such as `queue:mail state:failed queued>2h`; all of them must hold
        #[arg(value_name = "FILTER")]
        filter: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Failures {
    /// Lists failed jobs, grouped by job and error
    List {
        /// Conditions such as `queue:mail queued>2h`; all of them must hold
        #[arg(value_name = "FILTER")]
        filter: Vec<String>,
        /// The maximum number of failed jobs to read, newest first
        #[arg(long, default_value_t = 10_000)]
        read: u32,
        /// Only groups in these states: open, reopened, acknowledged, resolved or ignored
        #[arg(long, value_name = "STATE", value_delimiter = ',')]
        state: Vec<FailureState>,
    },
    /// Lists the jobs of one group
    Show {
        /// The fingerprint of the group, or its beginning
        fingerprint: String,
    },
    /// Records that you work on a group
    Acknowledge {
        /// The fingerprint of the group, or its beginning
        fingerprint: String,
    },
    /// Records that the cause of a group is removed; a later failure reopens the group
    Resolve {
        /// The fingerprint of the group, or its beginning
        fingerprint: String,
    },
    /// Records that the failures of a group are expected
    Ignore {
        /// The fingerprint of the group, or its beginning
        fingerprint: String,
        /// For how long, such as 7d; without it, always
        #[arg(long = "for", value_name = "DURATION")]
        length: Option<String>,
    },
    /// Removes what was recorded about a group
    Reopen {
        /// The fingerprint of the group, or its beginning
        fingerprint: String,
    },
    /// Retries the failed jobs that match a filter, oldest first
    Redrive {
        /// Conditions such as `fingerprint:7c1e09ab51fd7a90`; all of them must hold
        #[arg(value_name = "FILTER", required = true)]
        filter: Vec<String>,
        /// The maximum number of jobs
        #[arg(long, default_value_t = 1000)]
        limit: u32,
        /// The number of jobs per transaction
        #[arg(long, default_value_t = 100)]
        batch: u32,
        /// The pause between transactions, such as 1s
        #[arg(long, default_value = "100ms")]
        pace: String,
        /// Starts a bulk operation that retries this many jobs first; see `operations start`
        #[arg(long, value_name = "JOBS", conflicts_with_all = ["limit", "batch", "pace"], value_parser = clap::value_parser!(u32).range(1..=500))]
        canary: Option<u32>,
        /// Continues after the canary if at most this percentage of its jobs fails again
        #[arg(long, value_name = "PERCENT", requires = "canary", value_parser = clap::value_parser!(u8).range(0..=100))]
        max_failed: Option<u8>,
    },
}

/// Where jobs are moved.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The new queue
    #[arg(long)]
    pub(crate) queue: Option<String>,
    /// The new priority: lowest, low, normal, high or critical
    #[arg(long)]
    pub(crate) priority: Option<String>,
}

/// How a bulk operation proceeds.
#[derive(Debug, Args)]
pub(crate) struct Bulk {
    /// Changes at most this many jobs per second, such as 100/s
    #[arg(long, value_name = "RATE")]
    pub(crate) pace: Option<String>,
    /// Changes this many jobs first, then waits
    #[arg(long, value_name = "JOBS", value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) canary: Option<u32>,
    /// Continues after the canary if at most this percentage of its jobs fails again
    #[arg(long, value_name = "PERCENT", requires = "canary", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) max_failed: Option<u8>,
}

/// What a bulk operation does, and to which jobs.
#[derive(Debug, Args)]
pub(crate) struct BulkJobs {
    /// What to do with each job
    #[arg(value_enum)]
    pub(crate) action: BulkAction,
    /// Conditions such as `queue:mail reason:retry_exhausted`; all of them must hold
    #[arg(value_name = "FILTER", required = true)]
    pub(crate) filter: Vec<String>,
    /// For `reschedule`: an instant such as 2026-11-18T08:00:00Z, a delay such as 30m, or `now`
    #[arg(long)]
    pub(crate) due: Option<String>,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// What a bulk operation does with each job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BulkAction {
    /// Retries failed jobs
    Retry,
    /// Cancels jobs that have not ended
    Cancel,
    /// Pauses pending jobs
    Pause,
    /// Resumes paused jobs
    Resume,
    /// Changes the due time of pending jobs
    Reschedule,
    /// Moves pending and paused jobs to another queue or priority
    Move,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Operations {
    /// Lists bulk operations, newest first
    List {
        /// The maximum number of operations
        #[arg(long, short = 'n', default_value_t = 50)]
        limit: u32,
    },
    /// Shows a bulk operation
    Show { operation: OperationId },
    /// Prints the progress of a bulk operation until it ends or waits
    Watch { operation: OperationId },
    /// Says which jobs a bulk operation would change
    Preview(BulkJobs),
    /// Starts a bulk operation, which a worker runs
    Start {
        #[command(flatten)]
        jobs: BulkJobs,
        #[command(flatten)]
        bulk: Bulk,
        /// The cut-off that `preview` printed
        #[arg(long, value_name = "INSTANT", requires = "digest")]
        cutoff: Option<String>,
        /// The digest that `preview` printed; another filter is refused
        #[arg(long, requires = "cutoff")]
        digest: Option<String>,
    },
    /// Pauses a bulk operation
    Pause { operation: OperationId },
    /// Resumes a bulk operation that is paused or waits after its canary
    Resume { operation: OperationId },
    /// Ends a bulk operation; jobs that it has changed remain changed
    Abort { operation: OperationId },
}
