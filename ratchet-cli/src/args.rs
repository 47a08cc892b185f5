//! The command line: options and subcommands.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use ratchet_core::{GroupId, JobId, OperationId};

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
    /// Shows and verifies who changed what, when and why
    #[command(subcommand)]
    Audit(Audit),
    /// Looks for known problems; exits with 1 if it finds one
    Doctor,
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

/// What to generate, and from where.
#[derive(Debug, Args)]
pub(crate) struct CodegenArgs {
    /// What to generate
    pub(crate) target: CodegenTarget,
    /// The lock file
    #[arg(long, value_name = "FILE", default_value = "ratchet.lock")]
    pub(crate) lock: PathBuf,
    /// The file to write; without it, prints the code
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Writes nothing, and exits with 1 if the file is out of date
    #[arg(long, requires = "out")]
    pub(crate) check: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum CodegenTarget {
    /// A JSON Schema (2020-12) of the arguments and outputs
    JsonSchema,
    /// A client for TypeScript: over HTTP, and in a transaction of `pg`
    Typescript,
    /// A client for Python: over HTTP with `httpx`, and in a transaction of `psycopg`
    Python,
    /// A function per job for PostgreSQL
    Sql,
    /// A reference page in Markdown
    Docs,
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

#[derive(Debug, Subcommand)]
pub(crate) enum Jobs {
    /// Lists jobs, newest first
    List(Listing),
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
    /// Enqueues a job of this program, or one of the catalog
    Enqueue {
        /// The name of the job
        name: String,
        /// An argument; the value is JSON, or a string if it is not JSON
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
    },
    /// Lists the jobs of one group
    Show {
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

#[derive(Debug, Subcommand)]
pub(crate) enum Queues {
    /// Lists queues
    List,
    /// Shows a queue: its jobs, its limits and where they come from
    Show { queue: String },
    /// Pauses a queue in the whole cluster
    Pause { queue: String },
    /// Resumes a paused queue
    Resume { queue: String },
    /// Sets the limits of a queue in the whole cluster, instead of those that programs declare
    Limit {
        queue: String,
        /// The maximum number of running jobs
        #[arg(long)]
        concurrency: Option<u32>,
        /// The maximum number of started jobs per period, such as 50/s, 1000/m or 5/10s
        #[arg(long)]
        rate: Option<String>,
        /// Removes all limits, also those that programs declare
        #[arg(long, conflicts_with_all = ["concurrency", "rate"])]
        none: bool,
    },
    /// Removes the limits of an operator, so that those apply that programs declare
    Reset { queue: String },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Breakers {
    /// Lists circuit breakers
    List,
    /// Shows a circuit breaker
    Show { service: String },
    /// Opens a breaker, so that jobs of the service wait
    Open {
        service: String,
        /// For how long, such as 10m; without it, until it is closed
        #[arg(long = "for", value_name = "DURATION")]
        duration: Option<String>,
    },
    /// Closes a breaker
    Close { service: String },
    /// Sets when a breaker opens and closes, instead of what programs declare
    Set {
        service: String,
        /// The percentage of failed calls at which it opens
        #[arg(long, value_name = "PERCENT")]
        failure_rate: Option<u8>,
        /// The number of calls that are looked at
        #[arg(long, value_name = "CALLS")]
        window: Option<u32>,
        /// The number of calls before it can open
        #[arg(long, value_name = "CALLS")]
        min_calls: Option<u32>,
        /// How long it stays open before trial calls, such as 30s
        #[arg(long, value_name = "DURATION")]
        open_for: Option<String>,
        /// The number of trial calls that must succeed
        #[arg(long, value_name = "CALLS")]
        probes: Option<u32>,
    },
    /// Removes the settings of an operator
    Reset { service: String },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Schedules {
    /// Lists schedules
    List,
    /// Shows the next times of a schedule, in its zone and in UTC
    Next {
        schedule: String,
        /// The number of times
        #[arg(long, short = 'n', default_value_t = 10)]
        count: usize,
    },
    /// Pauses a schedule
    Pause { schedule: String },
    /// Resumes a schedule
    Resume { schedule: String },
    /// Changes when a schedule fires
    Edit {
        schedule: String,
        /// The cron expression
        #[arg(long)]
        cron: Option<String>,
        /// The time zone, such as Europe/Berlin
        #[arg(long)]
        zone: Option<String>,
    },
    /// Submits the job of a schedule now
    Run { schedule: String },
    /// Removes a schedule
    Remove { schedule: String },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Flows {
    /// Lists chains, batches and workflows, newest first
    List {
        /// Only those with this name
        #[arg(long)]
        name: Option<String>,
        /// The maximum number of groups
        #[arg(long, short = 'n', default_value_t = 50)]
        limit: u32,
    },
    /// Shows the members of a chain, batch or workflow
    Show { flow: GroupId },
    /// Draws a chain, batch or workflow
    Draw {
        flow: GroupId,
        /// The format of the drawing
        #[arg(long = "as", value_enum, default_value = "text")]
        drawing: Drawing,
    },
    /// Cancels every member that has not ended
    Cancel { flow: GroupId },
}

/// A format of `flows draw`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Drawing {
    /// Lines of text
    Text,
    /// A graph for Graphviz
    Dot,
    /// A picture
    Svg,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Nodes {
    /// Lists worker processes
    List,
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
pub(crate) enum Rejects {
    /// Lists rejected items, grouped by job and error
    List {
        /// Only those of jobs with this name
        #[arg(long)]
        name: Option<String>,
    },
    /// Deletes rejected items that have been handled
    Forget {
        /// The job that rejected them
        job: JobId,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Pipelines {
    /// Shows the backlog and throughput of a pipeline
    Show { pipeline: String },
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
    /// Says whether the tables are those that this program needs
    Status,
    /// Creates or updates the tables
    Up,
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

/// Options of the dashboard.
#[cfg(feature = "web")]
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The address to listen at. One that other hosts can reach needs `--tokens`
    #[arg(long, default_value = "127.0.0.1:4000", value_name = "ADDRESS")]
    pub(crate) listen: std::net::SocketAddr,
    /// The file of tokens; see `ratchet token`. It is read again when it changes
    #[arg(long, value_name = "FILE")]
    pub(crate) tokens: Option<PathBuf>,
    /// Refuses every change
    #[arg(long)]
    pub(crate) read_only: bool,
    /// The title that every page shows [default: the name of the context, or the store]
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Browsers reach the dashboard with HTTPS, through a proxy: cookies are sent with HTTPS only
    #[arg(long)]
    pub(crate) https: bool,
}

/// Options of a token.
#[cfg(feature = "web")]
#[derive(Debug, Args)]
pub(crate) struct Token {
    /// Who uses the token
    pub(crate) actor: String,
    /// What the token allows
    #[arg(long, value_enum, default_value = "viewer")]
    pub(crate) role: Role,
    /// The time until the token expires, such as 90d [default: it does not expire]
    #[arg(long, value_name = "DURATION")]
    pub(crate) expires_in: Option<String>,
}

/// What a token allows.
#[cfg(feature = "web")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Sees everything but arguments
    Viewer,
    /// Sees arguments, and changes jobs, queues, breakers, schedules and flows
    Operator,
    /// Also submits jobs, and deletes and repairs rows
    Admin,
}

/// Options of a worker. Each has an environment variable; an option takes precedence.
#[derive(Debug, Args)]
pub(crate) struct Work {
    /// Serves only these queues [env: `RATCHET_QUEUES`]
    #[arg(long, value_delimiter = ',', value_name = "QUEUES")]
    pub(crate) queues: Vec<String>,
    /// Serves every queue but these [env: `RATCHET_EXCEPT_QUEUES`]
    #[arg(long, value_delimiter = ',', value_name = "QUEUES", conflicts_with = "queues")]
    pub(crate) except_queues: Vec<String>,
    /// The maximum number of jobs that run at the same time [env: `RATCHET_CONCURRENCY`]
    #[arg(long, short)]
    pub(crate) concurrency: Option<u32>,
    /// Claims once, runs these jobs and exits
    #[arg(long, conflicts_with = "drain")]
    pub(crate) once: bool,
    /// Exits when no job is due
    #[arg(long)]
    pub(crate) drain: bool,
    /// Exits after this number of jobs [env: `RATCHET_MAX_JOBS`]
    #[arg(long)]
    pub(crate) max_jobs: Option<u64>,
    /// Exits after this time, such as 1h [env: `RATCHET_MAX_TIME`]
    #[arg(long)]
    pub(crate) max_time: Option<String>,
    /// Serves `/health/live`, `/health/ready` and `/metrics` at this address, such as 127.0.0.1:9090
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) health: Option<std::net::SocketAddr>,
    /// Fails if the tables are not up to date, instead of updating them
    #[arg(long)]
    pub(crate) no_migrate: bool,
}
