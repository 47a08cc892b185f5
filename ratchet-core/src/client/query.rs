//! Looking: one job, many jobs, counts, history.

use super::Ratchet;
use crate::model::{
    Alert, AttemptLine, Counts, Filter, JobId, JobRecord, LogLine, NodeRecord, Page, PageRequest,
};
use crate::store::StoreError;

impl Ratchet {
    /// Everything known of a job.
    pub async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        self.core.store.get(id).await
    }

    /// Jobs that fit a filter, newest first, a page at a time.
    pub async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        self.core.store.list(filter, page).await
    }

    /// How many jobs there are, by queue and state.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        self.core.store.counts().await
    }

    /// The runs of a job, oldest first.
    pub async fn attempts(&self, id: JobId) -> Result<Vec<AttemptLine>, StoreError> {
        self.core.store.attempts(id).await
    }

    /// What the runs of a job logged, oldest first.
    pub async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        self.core.store.logs(id).await
    }

    /// The workers of the cluster.
    pub async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        self.core.store.nodes().await
    }

    /// Names of waiting jobs that no live worker knows, with how many there are of each.
    pub async fn unknown_jobs(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.core.store.unknown_jobs().await
    }

    /// Recorded alerts, newest first.
    pub async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError> {
        self.core.store.alerts(limit).await
    }
}
