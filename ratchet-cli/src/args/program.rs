//! Commands of a worker program, and code generation.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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

/// What to look for.
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Looks only for stored jobs that a program with this lock file could not read
    #[arg(long, value_name = "FILE")]
    pub(crate) lock: Option<PathBuf>,
    /// The program of the lock file; without it, the one whose recorded jobs are most like it
    #[arg(long, value_name = "NAME", requires = "lock")]
    pub(crate) program: Option<String>,
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
