//! The client: enqueues jobs, queries them and sends commands. None of this needs a worker in the process.

mod acting;
mod alerts;
mod arguments;
mod breakers;
mod builder;
mod catalog;
mod coalesce;
mod declare;
mod definitions;
mod depth;
mod ends;
mod enqueue;
mod enqueue_by_name;
mod enqueue_many;
mod finished;
mod graph;
mod handle;
mod health;
mod in_tx;
mod items;
mod jobs;
mod manage;
mod metrics;
mod nodes;
mod observe;
mod operation_pages;
mod operations;
mod placing;
mod queues;
mod ratchet;
mod schedules;
mod settings;
mod stats;
mod submit;
mod submit_metrics;

pub(crate) use acting::{Acting, Manner, store_error, unexpected};
pub use alerts::Alerts;
pub(crate) use arguments::masked_arguments;
pub use breakers::Breakers;
pub use builder::{BuildError, Builder};
pub use catalog::{Catalog, CatalogJob};
pub use declare::DeclareSchedule;
pub(crate) use declare::TRIES;
pub(crate) use declare::{declare, definition, rename, write as write_schedule};
pub use enqueue::Enqueue;
pub use enqueue_by_name::AnyJob;
pub use enqueue_many::EnqueueMany;
pub use finished::Finished;
pub(crate) use graph::publish_effects;
pub use graph::{
    AddMembers, Batch, Chain, ChainHandle, GroupHandle, GroupReport, GroupStep, Groups,
    StepOptions, StepOutput, StepRef, Workflow,
};
pub use handle::{JobHandle, WaitError};
pub use items::{Pipeline, Rejects};
pub use jobs::Jobs;
pub use manage::Redrive;
pub use nodes::{NodeError, Nodes};
pub use observe::Observer;
pub use operations::{Bulk, BulkError, BulkPreview, Operations};
pub use queues::Queues;
pub use ratchet::Ratchet;
pub(crate) use schedules::job as schedule_job;
pub use schedules::{ScheduleError, ScheduleView, Schedules};
pub use stats::{DurationStats, PointGauges, StatsPoint, StatsRequest, StatsSeries, StatsSpan};
pub use submit::SubmitError;
