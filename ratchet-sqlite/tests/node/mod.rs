//! A worker without an engine: claims and settles through the store alone.
#![allow(dead_code)] // not every test has a use for all of it

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ratchet_core::StoreError;
use ratchet_core::model::{
    Alone, AttemptOutcome, ClaimReply, ClaimRequest, Claimed, Due, JobId, JobSpec, KnownJobs,
    NewJob, NodeId, NodeInfo, OnTaken, QueueRoom, Settled, Settlement, Verdict,
};
use ratchet_core::store::Store;
use uuid::Uuid;

pub(crate) const LEASE: Duration = Duration::from_mins(10);

/// A plain job on the queue `default`.
pub(crate) fn job(name: &str) -> NewJob {
    let id = JobId::from_uuid(Uuid::now_v7());
    let spec = JobSpec::new(name, b"{}".to_vec());
    NewJob { id, spec, due: Due::Now, on_taken: OnTaken::Refuse }
}

pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) names: Vec<String>,
}

impl Node {
    pub(crate) async fn join(store: &dyn Store, names: &[&str]) -> Self {
        let id = NodeId::from_uuid(Uuid::now_v7());
        store.join(NodeInfo::new(id), LEASE).await.expect("joins");
        Self { id, names: names.iter().map(ToString::to_string).collect() }
    }

    pub(crate) fn request(&self, room: u32) -> ClaimRequest {
        let known: BTreeMap<_, _> = self.names.iter().map(|name| (name.clone(), 1)).collect();
        ClaimRequest {
            node: self.id,
            queues: vec![QueueRoom { queue: "default".to_owned(), room }],
            known: Arc::new(KnownJobs(known)),
            alone: Alone::No { crashes: 2 },
            starting: true,
        }
    }

    pub(crate) async fn claim(
        &self,
        store: &dyn Store,
        room: u32,
    ) -> Result<ClaimReply, StoreError> {
        store.claim(self.request(room)).await
    }

    /// Runs everything there is; answers what ran.
    pub(crate) async fn drain(&self, store: &dyn Store) -> Vec<JobId> {
        let mut ran = Vec::new();
        loop {
            let claimed = self.claim(store, 500).await.expect("claims").jobs;
            if claimed.is_empty() {
                return ran;
            }
            let settled = store.settle(claimed.iter().map(succeeded).collect()).await;
            let settled = settled.expect("settles");
            assert!(settled.iter().all(|settled| matches!(settled, Settled::Applied(_))));
            ran.extend(claimed.iter().map(Claimed::id));
        }
    }
}

pub(crate) fn succeeded(claimed: &Claimed) -> Settlement {
    let verdict = Verdict::Succeed { output: None };
    Settlement::new(claimed.token, verdict, AttemptOutcome::Success)
}
