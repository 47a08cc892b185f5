//! [`Failures`]: failed jobs, grouped by job and fingerprint.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use ratchet_store::model::{
    Change, ChangeReply, FailureMark, FailureState, Filter, JobId, JobRecord, JobState, Judgment,
    MarkFailure, Page, PageRequest, TerminalReason,
};
use ratchet_store::{StoreError, rules};
use serde::Serialize;

use crate::client::{Manner, Ratchet, store_error, unexpected};
use crate::runtime::Core;

/// Groups failed jobs, and records what operators say about a group; see [`Ratchet::failures`].
///
/// ```
/// # mod ratchet { pub use ratchet_core::Filter; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::Filter;
///
/// for group in ratchet.failures().groups(&Filter::any(), 10_000).await?.groups {
///     println!("{} of {}: {}", group.count, group.job_name, group.message);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Failures {
    core: Arc<Core>,
    manner: Manner,
}

/// Failed jobs with the same name and the same fingerprint.
///
/// ```
/// # mod ratchet { pub use ratchet_core::Filter; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// use ratchet::Filter;
///
/// let failures = ratchet.failures().groups(&Filter::any(), 10_000).await?;
/// for group in failures.groups.iter().filter(|group| group.state.needs_attention()) {
///     println!("{} × {}: {}", group.count, group.job_name, group.error_type);
///     println!("first {}, last {}, job {}", group.first, group.last, group.latest);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailureGroup {
    /// The name of the jobs.
    pub job_name: String,
    /// The fingerprint of their failures.
    pub fingerprint: String,
    /// How many jobs are in the group.
    pub count: u64,
    /// When the first of them failed.
    pub first: Timestamp,
    /// When the last of them failed.
    pub last: Timestamp,
    /// Why the last of them failed permanently.
    pub reason: TerminalReason,
    /// The type of its error.
    pub error_type: String,
    /// The message of its error.
    pub message: String,
    /// The job that failed last.
    pub latest: JobId,
    /// The state of the group.
    pub state: FailureState,
    /// What an operator says about it, with who and when.
    pub mark: Option<FailureMark>,
}

/// The groups of failed jobs, those with the most jobs first.
///
/// ```
/// # mod ratchet { pub use ratchet_core::Filter; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// use ratchet::Filter;
///
/// let failures = ratchet.failures().groups(&Filter::any().queue("mail"), 1000).await?;
/// println!("{} causes of {} dead letters", failures.groups.len(), failures.jobs);
/// if !failures.complete {
///     println!("older dead letters were not read");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FailureGroups {
    /// The groups.
    pub groups: Vec<FailureGroup>,
    /// How many jobs were read.
    pub jobs: u64,
    /// Whether every failed job was read. If not, older jobs are not counted.
    pub complete: bool,
}

impl Ratchet {
    /// Returns a handle that groups failed jobs.
    pub fn failures(&self) -> Failures {
        Failures { core: Arc::clone(&self.core), manner: self.manner() }
    }
}

impl Failures {
    /// Groups failed jobs that match a filter by name and fingerprint. Reads at most `limit` jobs, newest first.
    ///
    /// ```
    /// # use ratchet_core::{Filter, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// for group in ratchet.failures().groups(&Filter::any(), 10_000).await?.groups {
    ///     println!("{} × {}: {}", group.count, group.job_name, group.message);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn groups(&self, filter: &Filter, limit: u32) -> Result<FailureGroups, StoreError> {
        let mut filter = filter.clone();
        filter.states = vec![JobState::Failed];
        filter.oldest_first = false;
        let mut groups: BTreeMap<(String, String), FailureGroup> = BTreeMap::new();
        let (mut before, mut read, mut examined, mut complete) = (None, 0, 0, false);
        let most = u64::from(limit.max(Page::EXAMINED));
        while read < u64::from(limit) && examined < most && !complete {
            let left = u32::try_from(u64::from(limit) - read).unwrap_or(u32::MAX);
            let request = PageRequest { before, limit: left.min(1000) };
            let page = self.core.store.list(&filter, request).await?;
            read += page.jobs.len() as u64;
            examined += page.examined.unwrap_or_default();
            page.jobs.iter().for_each(|job| add(&mut groups, job));
            (before, complete) = (page.next, page.next.is_none());
        }
        let now = self.core.store.now().await?;
        for mark in self.core.store.failure_marks().await? {
            let key = (mark.job_name.clone(), mark.fingerprint.clone());
            if let Some(group) = groups.get_mut(&key) {
                group.state = rules::failure::state(Some(&mark), group.last, now);
                group.mark = Some(mark);
            }
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| b.last.cmp(&a.last)));
        Ok(FailureGroups { groups, jobs: read, complete })
    }

    /// Records that an operator works on a group.
    ///
    /// ```
    /// # use ratchet_core::{Actor, FailureError, Filter, Ratchet};
    /// # async fn resolve(ratchet: Ratchet) -> Result<(), FailureError> {
    /// let ada = ratchet.acting_as(Actor::new("ada@example.com").reason("the certificate is renewed"));
    /// for group in ada.failures().groups(&Filter::any(), 10_000).await?.groups {
    ///     ada.failures().resolve(&group.job_name, &group.fingerprint).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`FailureError::NotFound`] if no failed job has this name and fingerprint.
    pub async fn acknowledge(&self, job: &str, fingerprint: &str) -> Result<(), FailureError> {
        let judgment = Some(Judgment::Acknowledged);
        self.mark("failures.acknowledge", job, fingerprint, judgment).await.map(drop)
    }

    /// Records that the cause of a group is removed. A job that fails after that reopens the group.
    ///
    /// # Errors
    ///
    /// Returns [`FailureError::NotFound`] if no failed job has this name and fingerprint.
    pub async fn resolve(&self, job: &str, fingerprint: &str) -> Result<(), FailureError> {
        let judgment = Some(Judgment::Resolved);
        self.mark("failures.resolve", job, fingerprint, judgment).await.map(drop)
    }

    /// Records that the failures of a group are expected, until an instant or always.
    ///
    /// # Errors
    ///
    /// Returns [`FailureError::NotFound`] if no failed job has this name and fingerprint.
    pub async fn ignore(
        &self,
        job: &str,
        fingerprint: &str,
        until: Option<Timestamp>,
    ) -> Result<(), FailureError> {
        let judgment = Some(Judgment::Ignored { until });
        self.mark("failures.ignore", job, fingerprint, judgment).await.map(drop)
    }

    /// Removes what operators have said about a group. Returns `false` if nothing was said.
    ///
    /// # Errors
    ///
    /// Returns [`FailureError::NotFound`] if no failed job has this name and fingerprint.
    pub async fn reopen(&self, job: &str, fingerprint: &str) -> Result<bool, FailureError> {
        self.mark("failures.reopen", job, fingerprint, None).await
    }

    async fn mark(
        &self,
        verb: &'static str,
        job: &str,
        fingerprint: &str,
        judgment: Option<Judgment>,
    ) -> Result<bool, FailureError> {
        let filter = Filter::any().state(JobState::Failed).name(job).fingerprint(fingerprint);
        let page = PageRequest { before: None, limit: 1 };
        if self.core.store.list(&filter, page).await?.jobs.is_empty() {
            let (job_name, fingerprint) = (job.to_owned(), fingerprint.to_owned());
            return Err(FailureError::NotFound { job_name, fingerprint });
        }
        let change = Change::Failure(MarkFailure {
            job_name: job.to_owned(),
            fingerprint: fingerprint.to_owned(),
            judgment,
            actor: self.manner.actor().cloned(),
        });
        match self.core.operate(&self.manner, verb, change).await.map_err(store_error)? {
            ChangeReply::Failure(changed) => Ok(changed),
            _ => Err(unexpected().into()),
        }
    }
}

/// Why nothing was recorded about a group of failed jobs.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet, fingerprint: &str) -> Result<(), ratchet_core::FailureError> {
/// use ratchet::manage::FailureError;
///
/// match ratchet.failures().resolve("shop.send_email", fingerprint).await {
///     Err(FailureError::NotFound { .. }) => println!("its jobs were retried or purged"),
///     other => drop(other?),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FailureError {
    /// No failed job has this name and fingerprint.
    #[error(
        "no failed job `{job_name}` has the fingerprint `{fingerprint}`; list the groups with `ratchet failures list`"
    )]
    NotFound {
        /// The name that was given.
        job_name: String,
        /// The fingerprint that was given.
        fingerprint: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn add(groups: &mut BTreeMap<(String, String), FailureGroup>, job: &JobRecord) {
    let Some(envelope) = &job.envelope else { return };
    let key = (job.spec.name.clone(), envelope.failure.fingerprint.clone());
    let group = groups.entry(key).or_insert_with(|| FailureGroup {
        job_name: job.spec.name.clone(),
        fingerprint: envelope.failure.fingerprint.clone(),
        count: 0,
        first: envelope.at,
        last: Timestamp::MIN,
        reason: envelope.reason,
        error_type: String::new(),
        message: String::new(),
        latest: job.id,
        state: FailureState::Open,
        mark: None,
    });
    group.count += 1;
    group.first = group.first.min(envelope.at);
    if envelope.at >= group.last {
        group.last = envelope.at;
        group.reason = envelope.reason;
        group.error_type.clone_from(&envelope.failure.error_type);
        group.message.clone_from(&envelope.failure.message);
        group.latest = job.id;
    }
}
