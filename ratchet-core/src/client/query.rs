//! Queries: one job, many jobs, counts, history.

use super::Ratchet;
use ratchet_store::StoreError;
use ratchet_store::model::{
    Alert, AttemptRecord, Counts, Filter, JobId, JobRecord, LogLine, NodeRecord, Page, PageRequest,
};

impl Ratchet {
    /// Returns the record of a job; `None` if it does not exist or was purged.
    pub async fn get(&self, id: JobId) -> Result<Option<JobRecord>, StoreError> {
        self.core.store.get(id).await
    }

    /// Lists one page of jobs that match a filter, newest first.
    pub async fn list(&self, filter: &Filter, page: PageRequest) -> Result<Page, StoreError> {
        self.core.store.list(filter, page).await
    }

    /// Counts jobs by queue and state.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        self.core.store.counts().await
    }

    /// Returns the runs of a job, oldest first.
    pub async fn attempts(&self, id: JobId) -> Result<Vec<AttemptRecord>, StoreError> {
        self.core.store.attempts(id).await
    }

    /// Returns the log lines of a job, oldest first.
    pub async fn logs(&self, id: JobId) -> Result<Vec<LogLine>, StoreError> {
        self.core.store.logs(id).await
    }

    /// Returns the nodes of the cluster: those with a valid lease, and those that still hold jobs.
    pub async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        self.core.store.nodes().await
    }

    /// Returns the names of waiting jobs that no live worker knows, with the number of jobs of each name.
    pub async fn unknown_jobs(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.core.store.unknown_jobs().await
    }

    /// Returns up to `limit` recorded alerts, newest first.
    pub async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, StoreError> {
        self.core.store.alerts(limit).await
    }
}
