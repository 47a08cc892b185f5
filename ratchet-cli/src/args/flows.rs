//! Commands about chains, batches, workflows, pipelines and rejected items.

use clap::{Subcommand, ValueEnum};
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
    /// Lists the pipelines that a job accepts
    List,
    /// Shows the backlog and throughput of a pipeline
    Show { pipeline: String },
}
