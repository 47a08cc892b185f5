//! [`Erasures`]: deletes everything of a tenant or of a correlation id.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use ratchet_store::StoreError;
use ratchet_store::model::{
    ArchivedJobs, BulkVerb, ErasedRows, ErasureSubject, Filter, JobState, OperationRecord,
    OperationUpdate, PageRequest, ScheduleRecord,
};
use ratchet_store::rules::operation;
use serde::Serialize;

use super::Ratchet;
use super::acting::Manner;
use super::count::SEARCHED;
use super::operations::BulkError;
use crate::runtime::Core;

/// How many rows of each kind a preview counts. Of the jobs, it reads no further page after it has compared [`SEARCHED`] with the subject.
const COUNTED: u32 = 10_000;

/// Deletes everything of a tenant or of a correlation id; see [`Ratchet::erasures`].
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::manage::ErasureSubject;
///
/// let subject = ErasureSubject::Correlation("order-17".to_owned());
/// let preview = ratchet.erasures().preview(&subject).await?;
/// println!("{} jobs and {} archived jobs", preview.jobs, preview.archived);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Erasures {
    core: Arc<Core>,
    manner: Manner,
    pace: Option<u32>,
}

/// What an erasure would delete.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::manage::ErasureSubject;
///
/// let erasures = ratchet.erasures();
/// let preview = erasures.preview(&ErasureSubject::Tenant("acme".to_owned())).await?;
/// if !preview.is_empty() {
///     println!("{} jobs, {} schedules", preview.jobs, preview.schedules.len());
///     erasures.start(preview).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ErasurePreview {
    /// Whose data is deleted, as a filter.
    #[serde(serialize_with = "as_text")]
    pub subject: ErasureSubject,
    /// What is submitted at or after this instant is not deleted.
    pub cutoff: Timestamp,
    /// Identifies the subject and the cut-off.
    pub digest: String,
    /// How many jobs are stored, without archived jobs.
    pub jobs: u64,
    /// How many of them are in each state. Those that have not ended are canceled.
    pub by_state: BTreeMap<JobState, u64>,
    /// How many jobs are archived.
    pub archived: u64,
    /// Chains, batches and workflows.
    pub groups: u64,
    /// Idempotency keys of the tenant. Those of a correlation id are found with its jobs and not counted.
    pub keys: u64,
    /// Hand-offs, waiting and finished.
    pub hand_offs: u64,
    /// Messages that wait for a sink.
    pub deliveries: u64,
    /// The schedules whose jobs belong to the subject. They are removed.
    pub schedules: Vec<String>,
    /// Whether everything was counted. If not, there may be more rows of some kind.
    pub exact: bool,
}

impl ErasurePreview {
    /// Returns `true` if there is nothing to delete. If not everything was counted, that is not known.
    pub fn is_empty(&self) -> bool {
        let rows = self.jobs + self.archived + self.groups + self.keys + self.hand_offs;
        self.exact && rows + self.deliveries == 0 && self.schedules.is_empty()
    }
}

fn as_text<S: serde::Serializer>(subject: &ErasureSubject, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(subject)
}

impl Ratchet {
    /// Returns a handle that deletes everything of a tenant or of a correlation id.
    ///
    /// An erasure is an operation: it is stored, the worker that leads maintenance runs it page by page, and it is
    /// followed and controlled with [`Ratchet::operations`]. It first cancels the jobs that have not ended. It ends when
    /// the last of their handlers has stopped and everything is deleted.
    ///
    /// ```
    /// # use ratchet_core::{ErasureSubject, OperationState, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let erasures = ratchet.erasures();
    /// let preview = erasures.preview(&ErasureSubject::Tenant("acme".to_owned())).await?;
    /// let started = erasures.start(preview).await?;
    /// assert_eq!(started.state, OperationState::Running);
    /// # Ok(())
    /// # }
    /// ```
    pub fn erasures(&self) -> Erasures {
        Erasures { core: Arc::clone(&self.core), manner: self.manner(), pace: None }
    }
}

impl Erasures {
    /// Sets how many jobs are deleted per second at most by an erasure that is started with this handle.
    #[must_use]
    pub fn pace(mut self, jobs_per_second: u32) -> Self {
        self.pace = Some(jobs_per_second.max(1));
        self
    }

    /// Counts what an erasure would delete if it were started now.
    pub async fn preview(&self, subject: &ErasureSubject) -> Result<ErasurePreview, StoreError> {
        let now = self.core.store.now().await?;
        self.preview_at(subject, now).await
    }

    /// Previews like [`Self::preview`], with the cut-off of an earlier preview. It has the same digest if the subject is the
    /// same.
    pub async fn preview_at(
        &self,
        subject: &ErasureSubject,
        cutoff: Timestamp,
    ) -> Result<ErasurePreview, StoreError> {
        // A store keeps microseconds.
        let cutoff = Timestamp::from_microsecond(cutoff.as_microsecond()).unwrap_or(cutoff);
        let filter = subject.filter();
        let digest = operation::digest(&BulkVerb::Erase, &filter, cutoff);
        let ErasedRows { groups, keys, hand_offs, deliveries, .. } =
            self.core.store.erasable(subject, COUNTED).await?;
        let (by_state, live_exact) = self.count(filter.clone(), cutoff).await?;
        let archived = filter.archived(ArchivedJobs::Only);
        let (archived, archived_exact) = self.count(archived, cutoff).await?;
        let schedules = self.core.store.schedules().await?;
        let own = schedules.into_iter().filter(|schedule| is_of(schedule, subject));
        let most = [groups, keys, hand_offs, deliveries].into_iter().max().unwrap_or_default();
        Ok(ErasurePreview {
            subject: subject.clone(),
            cutoff,
            digest,
            jobs: by_state.values().sum(),
            by_state,
            archived: archived.values().sum(),
            groups,
            keys,
            hand_offs,
            deliveries,
            schedules: own.map(|schedule| schedule.name).collect(),
            exact: live_exact && archived_exact && most < u64::from(COUNTED),
        })
    }

    /// Counts jobs by state. Also returns whether all of them were counted.
    async fn count(
        &self,
        mut filter: Filter,
        cutoff: Timestamp,
    ) -> Result<(BTreeMap<JobState, u64>, bool), StoreError> {
        filter.oldest_first = true;
        filter.queued_before = Some(cutoff);
        let (mut found, mut before, mut jobs, mut searched) = (BTreeMap::new(), None, 0, 0);
        while jobs < COUNTED && searched < SEARCHED {
            let request = PageRequest { before, limit: 1000 };
            let page = self.core.store.list(&filter, request).await?;
            searched += page.examined.unwrap_or_default();
            for job in &page.jobs {
                *found.entry(job.state).or_default() += 1;
            }
            jobs += u32::try_from(page.jobs.len()).unwrap_or(COUNTED);
            before = page.next;
            if before.is_none() {
                return Ok((found, true));
            }
        }
        Ok((found, false))
    }

    /// Starts an erasure. It runs as soon as a worker of the cluster leads maintenance.
    ///
    /// # Errors
    ///
    /// Returns [`BulkError::OtherPreview`] if the subject or the cut-off is not the one that was previewed.
    pub async fn start(&self, preview: ErasurePreview) -> Result<OperationRecord, BulkError> {
        let (id, actor) = (self.core.ids.operation(), self.manner.actor().cloned());
        let filter = preview.subject.filter();
        let mut record = operation::prepare(id, BulkVerb::Erase, &filter, preview.cutoff, actor);
        if record.digest != preview.digest {
            let (presented, expected) = (preview.digest, record.digest);
            return Err(BulkError::OtherPreview { presented, expected });
        }
        (record.expected, record.exact) = (preview.jobs + preview.archived, preview.exact);
        record.pace = self.pace;
        let update = OperationUpdate::Start(record);
        Ok(self.core.update_operation(&self.manner, "erasures.start", update).await?.operation)
    }
}

/// Returns whether the jobs of a schedule belong to the subject of an erasure.
pub(super) fn is_of(schedule: &ScheduleRecord, subject: &ErasureSubject) -> bool {
    let spec = &schedule.spec;
    subject.covers(spec.tenant.as_deref(), spec.correlation_id.as_deref())
}
