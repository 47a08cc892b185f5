//! [`Failures`]: failed jobs, grouped by job and fingerprint.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use ratchet_store::StoreError;
use ratchet_store::model::{Filter, JobId, JobRecord, JobState, PageRequest, TerminalReason};
use serde::Serialize;

use crate::client::Ratchet;
use crate::runtime::Core;

/// Groups failed jobs; see [`Ratchet::failures`].
#[derive(Debug, Clone)]
pub struct Failures {
    core: Arc<Core>,
}

/// Failed jobs with the same name and the same fingerprint.
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
}

/// The groups of failed jobs, those with the most jobs first.
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
        Failures { core: Arc::clone(&self.core) }
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
        let (mut before, mut read, mut complete) = (None, 0, false);
        while read < u64::from(limit) && !complete {
            let left = u32::try_from(u64::from(limit) - read).unwrap_or(u32::MAX);
            let request = PageRequest { before, limit: left.min(1000) };
            let page = self.core.store.list(&filter, request).await?;
            read += page.jobs.len() as u64;
            page.jobs.iter().for_each(|job| add(&mut groups, job));
            (before, complete) = (page.next, page.next.is_none());
        }
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| b.last.cmp(&a.last)));
        Ok(FailureGroups { groups, jobs: read, complete })
    }
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
