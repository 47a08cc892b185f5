//! Commands about chains, batches, workflows, pipelines and rejected items.

use clap::{Args, Subcommand, ValueEnum};
use ratchet_core::{GroupId, JobId};

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

#[derive(Debug, Args)]
pub(crate) struct WhichRejects {
    /// Only those of jobs with this name
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Only those with this fingerprint
    #[arg(long)]
    pub(crate) fingerprint: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Rejects {
    /// Groups rejected items by job and error
    List {
        #[command(flatten)]
        which: WhichRejects,
        /// Only those of this time, such as 1h, 24h or 30d
        #[arg(long)]
        last: Option<String>,
    },
    /// Shows when the stored items were rejected, and how their number grew
    Trends {
        #[command(flatten)]
        which: WhichRejects,
        /// How far back, such as 1h, 24h or 30d
        #[arg(long, default_value = "24h")]
        last: String,
    },
    /// Lists single items, with their contents if these were kept
    Sample {
        #[command(flatten)]
        which: WhichRejects,
        /// Only those of this time, such as 1h, 24h or 30d
        #[arg(long)]
        last: Option<String>,
        /// The maximum number of items
        #[arg(long, short = 'n', default_value_t = 20)]
        limit: u32,
    },
    /// Deletes rejected items that have been handled
    Forget {
        /// The job that rejected them
        job: JobId,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Pipelines {
    /// Lists the pipelines that a job accepts
    List,
    /// Shows the backlog and throughput of a pipeline
    Show { pipeline: String },
}
