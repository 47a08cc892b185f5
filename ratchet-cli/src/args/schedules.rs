//! Commands about schedules.

use clap::Subcommand;

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
