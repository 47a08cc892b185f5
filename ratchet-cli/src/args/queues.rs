//! Commands about queues and breakers.

use clap::Subcommand;

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
        /// The maximum number of started jobs per period for each concurrency key, such as 5/m
        #[arg(long)]
        rate_per_key: Option<String>,
        /// Tenants take turns: one job of each before a second one of any
        #[arg(long)]
        fair: bool,
        /// Removes all limits, also those that programs declare
        #[arg(long, conflicts_with_all = ["concurrency", "rate", "rate_per_key", "fair"])]
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
