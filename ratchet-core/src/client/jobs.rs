//! [`Jobs`]: queries about stored jobs.

use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::model::{
    AttemptOutcome, AttemptRecord, Counts, Filter, HandOffAdmission, JobId, JobRecord, LogLine,
    Page, PageRequest, UnknownJob,
};
use ratchet_store::rules::{Explanation, Waiting};

use super::Ratchet;
use super::acting::Manner;
use super::arguments::{displayed, masked_arguments};
use crate::protect::{MISSING_KEY, PIPELINE_FULL};
use crate::runtime::Core;

/// Finds, explains and controls stored jobs; see [`Ratchet::jobs`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet, id: ratchet_core::JobId) -> Result<(), Box<dyn std::error::Error>> {
/// let jobs = ratchet.jobs();
/// if let Some(job) = jobs.get(id).await? {
///     println!("{} is {}", job.spec.name, job.state);
/// }
/// if let Some(why) = jobs.explain(id).await? {
///     println!("{why}"); // such as "the queue `mail` is paused"
/// }
/// jobs.retry(id).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Jobs {
    pub(super) core: Arc<Core>,
    pub(super) manner: Manner,
}

impl Ratchet {
    /// Returns a handle that finds, explains and controls stored jobs.
    ///
    /// ```
    /// # use ratchet_core::{Filter, JobState, PageRequest, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let failed = Filter::any().state(JobState::Failed);
    /// let page = ratchet.jobs().list(&failed, PageRequest::default()).await?;
    /// for job in page.jobs {
    ///     ratchet.jobs().retry(job.id).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn jobs(&self) -> Jobs {
        Jobs { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

impl Jobs {
    /// Makes the commands of this handle conditional: a job that has another version than this one is not changed. The
    /// version is that of the record that the operator saw.
    ///
    /// The command then returns [`CommandError::Moved`](ratchet_store::model::CommandError::Moved) with the current state.
    /// Has no effect on [`Self::redrive`].
    ///
    /// ```
    /// # use ratchet_core::{JobId, Ratchet};
    /// # use ratchet_store::model::CommandError;
    /// # async fn demo(ratchet: &Ratchet, id: JobId) -> Result<(), Box<dyn std::error::Error>> {
    /// let Some(seen) = ratchet.jobs().get(id).await? else { return Ok(()) };
    /// match ratchet.jobs().if_version(seen.version).retry(id).await {
    ///     Err(CommandError::Moved { state, .. }) => println!("another operator was faster: the job is {state}"),
    ///     retried => retried?,
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn if_version(mut self, version: u64) -> Self {
        self.manner.version = Some(version);
        self
    }

    /// Returns the record of a job, also if it is archived; `None` if it does not exist or was purged.
    pub async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        self.core.store.get(id).await
    }

    /// Lists one page of jobs that match a filter, newest first.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// use ratchet::{Filter, PageRequest};
    ///
    /// let mut page = PageRequest { before: None, limit: 100 };
    /// loop {
    ///     let found = ratchet.jobs().list(&Filter::any().queue("mail"), page).await?;
    ///     for job in &found.jobs {
    ///         println!("{} {} {}", job.id, job.spec.name, job.state);
    ///     }
    ///     let Some(next) = found.next else { break };
    ///     page.before = Some(next);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        self.core.store.list(filter, page).await
    }

    /// Counts jobs by queue and state.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// let counts = ratchet.jobs().counts().await?;
    /// for (queue, counts) in &counts.queues {
    ///     println!("{queue}: {counts:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        self.core.counts().await
    }

    /// Counts like [`counts`](Self::counts) for a page that is shown often. If more than 100,000 jobs wait, the numbers may be
    /// two seconds old, because some stores then need a noticeable time.
    ///
    /// ```
    /// # async fn example(ratchet: &ratchet_core::Ratchet) -> Result<(), ratchet_store::StoreError> {
    /// let counts = ratchet.jobs().recent_counts().await?;
    /// println!("{} queues", counts.queues.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn recent_counts(&self) -> Result<Counts, StoreError> {
        self.core.recent_counts().await
    }

    /// Returns the runs of a job, oldest first.
    ///
    /// ```
    /// # async fn demo(ratchet: ratchet_core::Ratchet, id: ratchet_core::JobId) -> Result<(), ratchet_core::StoreError> {
    /// for run in ratchet.jobs().attempts(id).await? {
    ///     println!("run {}: {:?}", run.run, run.outcome);
    /// }
    /// for line in ratchet.jobs().logs(id).await? {
    ///     println!("{}", line.message);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.core.store.attempts(id).await
    }

    /// Returns the log lines of a job, oldest first.
    pub async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        self.core.store.logs(id).await
    }

    /// Returns the names of waiting jobs that no live worker knows, with the number of jobs of each name and the oldest.
    pub async fn unknown(&self) -> Result<Vec<UnknownJob>, StoreError> {
        self.core.store.unknown_jobs().await
    }

    /// Returns the arguments of a job as JSON, for display. Those that are secret are `***`, and so is every
    /// [`Secret`](crate::Secret) in the others. If this program does not know the job, all of them are.
    ///
    /// ```
    /// # use ratchet_core::{JobId, Ratchet, StoreError};
    /// # async fn demo(ratchet: &Ratchet, id: JobId) -> Result<(), StoreError> {
    /// if let Some(job) = ratchet.jobs().get(id).await? {
    ///     println!("{} {}", job.spec.name, ratchet.jobs().arguments(&job));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn arguments(&self, job: &JobRecord) -> serde_json::Value {
        masked_arguments(&self.core, &job.spec)
    }

    /// Returns jobs for display: in their outputs and checkpoints, every [`Secret`](crate::Secret) and the texts of the
    /// secret arguments are `***`. For a job that this program does not know, both are `***`, unless a worker has recorded in
    /// the catalog that the job has no secrets.
    pub async fn for_display(&self, jobs: Vec<JobRecord>) -> Result<Vec<JobRecord>, StoreError> {
        displayed(&self.core, jobs).await
    }

    /// Returns the hand-off that was admitted as this job: its pipeline, its key and the job that handed it over. Returns
    /// `None` if the job was not admitted from a pipeline.
    pub async fn admission(&self, id: JobId) -> Result<Option<HandOffAdmission>, StoreError> {
        self.core.store.admission(id).await
    }

    /// Explains why a job is not running, from the same conditions that claims use. Returns `None` if there is no such
    /// job.
    ///
    /// ```
    /// # use ratchet_core::{Job, Ratchet};
    /// # async fn demo<J: Job>(ratchet: &Ratchet, job: J) -> Result<(), Box<dyn std::error::Error>> {
    /// let handle = ratchet.enqueue(job).await?;
    /// if let Some(why) = ratchet.jobs().explain(handle.id()).await? {
    ///     println!("{why}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn explain(&self, id: JobId) -> Result<Option<Explanation>, StoreError> {
        let context = self.core.store.claim_context(id).await?;
        let Some(context) = context else {
            let job = self.core.store.get(id).await?.filter(|job| job.archived_at.is_some());
            return Ok(job.map(|job| Explanation::NotWaiting(job.state)));
        };
        let explanation = context.explain(self.core.config.isolate_after_crashes);
        // The last run of a job whose key is missing, or whose pipeline is full, says which one.
        let mut reasons = match explanation {
            Explanation::Waits(reasons) => reasons,
            Explanation::AllClear => Vec::new(),
            Explanation::NotWaiting(state) if state.is_terminal() => {
                let links = self.core.store.succession(id).await?;
                return Ok(Some(match links.successor {
                    Some(successor) => Explanation::HasSuccessor { state, successor },
                    None => Explanation::NotWaiting(state),
                }));
            }
            other => return Ok(Some(other)),
        };
        if context.job.deferrals > 0 {
            let last = self.core.store.attempts(id).await?.pop();
            let note = last.filter(|last| last.outcome == AttemptOutcome::Rejected);
            let note = note.and_then(|last| last.note);
            reasons.extend(note.and_then(|why| match &why {
                key if key.starts_with(MISSING_KEY) => Some(Waiting::MissingKey { why }),
                full if full.starts_with(PIPELINE_FULL) => Some(Waiting::PipelineFull { why }),
                _ => None,
            }));
        }
        let clear = reasons.is_empty();
        Ok(Some(if clear { Explanation::AllClear } else { Explanation::Waits(reasons) }))
    }
}
