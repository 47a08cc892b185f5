//! Commands that delete data of tenants, and idempotency keys.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum Erasures {
    /// Counts what an erasure would delete
    Preview(Subject),
    /// Deletes everything of a tenant or a correlation id; `operations watch` follows it
    Start {
        #[command(flatten)]
        subject: Subject,
        /// Deletes at most this many jobs per second, such as 100/s
        #[arg(long)]
        pace: Option<String>,
        /// The cut-off that `preview` printed; without it, the erasure is previewed now
        #[arg(long, requires = "digest")]
        cutoff: Option<String>,
        /// The digest that `preview` printed
        #[arg(long, requires = "cutoff")]
        digest: Option<String>,
    },
}

/// Whose data is deleted.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Subject {
    /// Everything of this tenant
    #[arg(long)]
    pub(crate) tenant: Option<String>,
    /// Everything with this correlation id
    #[arg(long, value_name = "ID")]
    pub(crate) correlation: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Ledger {
    /// Deletes idempotency keys, so that a later submit with one of them creates a job again
    Purge {
        /// Only keys that begin with this text
        #[arg(long)]
        prefix: Option<String>,
        /// Only keys of this tenant; without it, keys without a tenant
        #[arg(long)]
        tenant: Option<String>,
        /// Only digests of keys that an erasure has replaced
        #[arg(long, conflicts_with_all = ["prefix", "tenant"])]
        erased: bool,
        /// Only keys that were used at least this long ago, such as 90d
        #[arg(long, value_name = "DURATION")]
        older_than: String,
    },
}
