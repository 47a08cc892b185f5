//! A runtime without stored jobs, for calling the function of a job in a unit test.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use ratchet_memory::MemoryStore;
use ratchet_store::env::{OsEntropy, SystemClock};
use ratchet_store::model::{Claimed, JobSpec, Token};

use super::{Core, QueueMiddleware, Sinks};
use crate::config::Config;
use crate::decide::Policies;
use crate::failure::{Classifier, DefaultSanitizer};
use crate::job::{JobContext, Registry, States};

/// Returns all linked jobs, so that the arguments of enqueued ones can be shown.
fn linked_jobs() -> Arc<Registry> {
    static LINKED: LazyLock<Arc<Registry>> =
        LazyLock::new(|| Arc::new(Registry::collect().unwrap_or_default()));
    Arc::clone(&LINKED)
}

impl Core {
    /// Creates a runtime over an empty memory store, for contexts in unit tests.
    pub(crate) fn for_test() -> Self {
        Self::new(
            Arc::new(MemoryStore::new()),
            linked_jobs(),
            Config::default(),
            Policies::default(),
            BTreeMap::new(),
            Classifier::new(Arc::new(DefaultSanitizer::default())),
            States::default(),
            QueueMiddleware::default(),
            Sinks::default(),
            Vec::new(),
            Arc::new(SystemClock::default()),
            Arc::new(OsEntropy),
            BTreeMap::new(),
            Arc::default(),
            None,
        )
    }

    /// Creates the first claim of a job that is not stored.
    pub(crate) fn claim_for_test(&self) -> Claimed {
        let now = self.clock.now();
        Claimed {
            token: Token { job: self.ids.job(), lease: self.ids.lease(), version: 1 },
            spec: Arc::new(JobSpec::new("test", b"{}".to_vec())),
            attempts: 0,
            crashes: 0,
            deferrals: 0,
            generation: 1,
            run: 1,
            queued_at: now,
            due: now,
            claimed_at: now,
            node: self.ids.node(),
            progress: None,
            checkpoint: None,
            probe: None,
        }
    }
}

impl JobContext {
    /// Creates a context for calling the bare function of a job in a unit test: attempt 1 of a job that is not stored.
    pub fn for_test() -> Self {
        let core = Arc::new(Core::for_test());
        let job = Arc::new(core.claim_for_test());
        Self::new(Arc::new(core), job, Arc::default())
    }
}
