//! [`Operations`]: bulk operations, which are stored and run by the maintenance leader.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use ratchet_store::model::{
    ArchivedJobs, BulkVerb, Canary, Change, ChangeReply, CommandError, Filter, JobId, JobState,
    OperationControl, OperationFilter, OperationId, OperationRecord, OperationReply,
    OperationUpdate, PageRequest,
};
use ratchet_store::rules::operation;
use ratchet_store::{StoreError, StoreErrorKind};
use serde::Serialize;

use super::Ratchet;
use super::acting::{Manner, command_error, unexpected};
use super::count::SEARCHED;
use crate::runtime::Core;

/// How many jobs a preview counts.
const COUNTED: u64 = 10_000;

/// How many jobs a preview names.
const SAMPLE: usize = 10;

/// Starts and controls bulk operations; see [`Ratchet::operations`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// for operation in ratchet.operations().list(10).await? {
///     println!("{} has changed {} jobs", operation.id, operation.changed);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Operations {
    core: Arc<Core>,
    manner: Manner,
}

/// What a bulk operation would do.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Filter, self as manage}; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::Filter;
/// use ratchet::manage::BulkVerb;
///
/// let preview = ratchet.operations().preview(BulkVerb::Retry, &Filter::any().tag("import")).await?;
/// let more = if preview.exact { "" } else { "more than " };
/// println!("{} of {more}{} jobs: {:?}", preview.verb, preview.count, preview.sample);
/// for (queue, jobs) in &preview.by_queue {
///     println!("{queue}: {jobs}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BulkPreview {
    /// What it does with each job.
    pub verb: BulkVerb,
    /// The jobs that it selects, in text form when serialized.
    #[serde(serialize_with = "as_text")]
    pub filter: Filter,
    /// Jobs that are submitted at or after this instant, or end at or after it, are not changed.
    pub cutoff: Timestamp,
    /// Identifies verb, filter and cut-off.
    pub digest: String,
    /// How many jobs match.
    pub count: u64,
    /// Whether all of them were counted. If not, more jobs match.
    pub exact: bool,
    /// How many of the counted jobs are in each state.
    pub by_state: BTreeMap<JobState, u64>,
    /// How many of the counted jobs are in each queue.
    pub by_queue: BTreeMap<String, u64>,
    /// The first jobs.
    pub sample: Vec<JobId>,
}

fn as_text<S: serde::Serializer>(filter: &Filter, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(filter)
}

/// A bulk operation to start: what was previewed, how fast, and how carefully.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Filter, self as manage}; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::Filter;
/// use ratchet::manage::{Bulk, BulkVerb, Canary};
///
/// let preview = ratchet.operations().preview(BulkVerb::Cancel, &Filter::any().tag("import")).await?;
/// // Ten jobs first; then the operation waits for `resume`.
/// ratchet.operations().start(Bulk::of(preview).canary(Canary::new(10))).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is changed until this is given to `start`"]
pub struct Bulk {
    preview: BulkPreview,
    pace: Option<u32>,
    canary: Option<Canary>,
}

impl Bulk {
    /// Does what was previewed, to all jobs, as fast as possible.
    pub fn of(preview: BulkPreview) -> Self {
        Self { preview, pace: None, canary: None }
    }

    /// Sets how many jobs are changed per second at most.
    pub fn pace(mut self, jobs_per_second: u32) -> Self {
        self.pace = Some(jobs_per_second.max(1));
        self
    }

    /// Changes a few jobs first.
    pub fn canary(mut self, canary: Canary) -> Self {
        self.canary = Some(canary);
        self
    }
}

/// The error returned when a bulk operation was not started.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet, bulk: ratchet_core::Bulk) {
/// use ratchet::manage::BulkError;
///
/// match ratchet.operations().start(bulk).await {
///     Ok(operation) => println!("{} has begun", operation.id),
///     Err(BulkError::OtherPreview { .. }) => println!("show the preview again, it has changed"),
///     Err(error) => println!("{error}"),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BulkError {
    /// The operation is not the one that was previewed.
    #[error(
        "cannot start the operation: digest {presented} is not that of its verb, filter and cut-off ({expected}); preview it again"
    )]
    OtherPreview {
        /// The digest that was presented.
        presented: String,
        /// The digest of the operation.
        expected: String,
    },
    /// An erasure is started by [`Erasures::start`](crate::Erasures::start).
    #[error("cannot start an erasure as a bulk operation; use `Ratchet::erasures`")]
    Erase,
    /// The store refused the change, or failed.
    #[error(transparent)]
    Command(#[from] CommandError),
}

impl Ratchet {
    /// Returns a handle that starts, lists and controls bulk operations: changes of many jobs.
    ///
    /// An operation is stored. The worker that leads maintenance runs it page by page, and each page commits the changes
    /// of its jobs together with the progress of the operation. If that worker dies, another one continues. No job is
    /// changed twice, and none is left out.
    ///
    /// ```
    /// # use ratchet_core::{Bulk, BulkVerb, Canary, Filter, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let operations = ratchet.operations();
    /// let preview = operations.preview(BulkVerb::Retry, &Filter::any().queue("mail")).await?;
    /// println!("{} jobs would be retried", preview.count);
    ///
    /// let careful = Canary::new(10).max_failed_percent(20);
    /// let started = operations.start(Bulk::of(preview).pace(100).canary(careful)).await?;
    /// operations.pause(started.id).await?;
    /// assert_eq!(operations.get(started.id).await?.map(|one| one.changed), Some(0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn operations(&self) -> Operations {
        Operations { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

impl Operations {
    /// Says which jobs an operation would change if it were started now. A filter without a state selects the states
    /// that the verb can change.
    pub async fn preview(
        &self,
        verb: BulkVerb,
        filter: &Filter,
    ) -> Result<BulkPreview, StoreError> {
        let now = self.core.store.now().await?;
        self.preview_at(verb, filter, now).await
    }

    /// Previews like [`Self::preview`], with the cut-off of an earlier preview. It has the same digest if verb and filter are the
    /// same.
    pub async fn preview_at(
        &self,
        verb: BulkVerb,
        filter: &Filter,
        cutoff: Timestamp,
    ) -> Result<BulkPreview, StoreError> {
        if filter.archived != ArchivedJobs::Exclude {
            let problem =
                "a bulk operation cannot change archived jobs; remove `archived` from the filter";
            return Err(StoreError::new(StoreErrorKind::Data, problem));
        }
        // A store keeps microseconds.
        let cutoff = Timestamp::from_microsecond(cutoff.as_microsecond()).unwrap_or(cutoff);
        let prepared = operation::prepare(self.core.ids.operation(), verb, filter, cutoff, None);
        let listing = operation::listing(&prepared);
        let mut preview = BulkPreview {
            verb: prepared.verb.clone(),
            filter: prepared.filter.clone(),
            cutoff,
            digest: prepared.digest.clone(),
            count: 0,
            exact: false,
            by_state: BTreeMap::new(),
            by_queue: BTreeMap::new(),
            sample: Vec::new(),
        };
        let (mut before, mut searched) = (None, 0);
        while preview.count < COUNTED && searched < SEARCHED && !preview.exact {
            let page = self.core.store.list(&listing, PageRequest { before, limit: 1000 }).await?;
            let selected =
                page.jobs.iter().filter(|job| operation::command(&prepared, job).is_some());
            for job in selected {
                preview.count += 1;
                *preview.by_state.entry(job.state).or_default() += 1;
                *preview.by_queue.entry(job.spec.queue.clone()).or_default() += 1;
                if preview.sample.len() < SAMPLE {
                    preview.sample.push(job.id);
                }
            }
            searched += page.examined.unwrap_or_default();
            (before, preview.exact) = (page.next, page.next.is_none());
        }
        Ok(preview)
    }

    /// Starts an operation. It runs as soon as a worker of the cluster leads maintenance.
    ///
    /// # Errors
    ///
    /// Returns [`BulkError::OtherPreview`] if the verb, the filter or the cut-off is not the one that was previewed.
    pub async fn start(&self, bulk: Bulk) -> Result<OperationRecord, BulkError> {
        let Bulk { preview, pace, canary } = bulk;
        if preview.verb == BulkVerb::Erase {
            return Err(BulkError::Erase);
        }
        if let BulkVerb::Move(placement) = &preview.verb {
            self.core.check_bulk_move(placement, &preview.filter)?;
        }
        let (id, actor) = (self.core.ids.operation(), self.manner.actor().cloned());
        let mut record =
            operation::prepare(id, preview.verb, &preview.filter, preview.cutoff, actor);
        if record.digest != preview.digest {
            let (presented, expected) = (preview.digest, record.digest);
            return Err(BulkError::OtherPreview { presented, expected });
        }
        (record.expected, record.exact) = (preview.count, preview.exact);
        (record.pace, record.canary) = (pace, canary);
        let update = OperationUpdate::Start(record);
        Ok(self.core.update_operation(&self.manner, "operations.start", update).await?.operation)
    }

    /// Returns operations, newest first, at most `limit`. Operations are kept for 90 days after their end.
    pub async fn list(&self, limit: u32) -> Result<Vec<OperationRecord>, StoreError> {
        self.core.store.operations(OperationFilter::default(), limit).await
    }

    /// Returns an operation, or `None` if it does not exist.
    pub async fn get(&self, id: OperationId) -> Result<Option<OperationRecord>, StoreError> {
        Ok(self.core.store.operations(OperationFilter::one(id), 1).await?.pop())
    }

    /// Pauses an operation. A page that is being committed is completed. Pausing a paused operation changes nothing.
    pub async fn pause(&self, id: OperationId) -> Result<OperationRecord, CommandError> {
        self.control("operations.pause", id, OperationControl::Pause).await
    }

    /// Resumes an operation that is paused, or that waits after its canary.
    pub async fn resume(&self, id: OperationId) -> Result<OperationRecord, CommandError> {
        self.control("operations.resume", id, OperationControl::Resume).await
    }

    /// Ends an operation. No more jobs are changed, and those that were changed remain changed.
    pub async fn abort(&self, id: OperationId) -> Result<OperationRecord, CommandError> {
        self.control("operations.abort", id, OperationControl::Abort).await
    }

    async fn control(
        &self,
        verb: &'static str,
        id: OperationId,
        control: OperationControl,
    ) -> Result<OperationRecord, CommandError> {
        let update = OperationUpdate::Control(id, control);
        Ok(self.core.update_operation(&self.manner, verb, update).await?.operation)
    }
}

impl Core {
    pub(super) async fn update_operation(
        &self,
        manner: &Manner,
        verb: &'static str,
        update: OperationUpdate,
    ) -> Result<OperationReply, CommandError> {
        let change = Change::Operation(update);
        match self.operate(manner, verb, change).await.map_err(command_error)? {
            ChangeReply::Operation(reply) => Ok(*reply),
            _ => Err(CommandError::Store(unexpected())),
        }
    }
}
