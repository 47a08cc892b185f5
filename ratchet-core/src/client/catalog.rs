//! [`Catalog`]: what the programs of the cluster can run.

use std::collections::BTreeSet;
use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::model::limits::brief;
use ratchet_store::model::{CatalogRecord, NodeRecord};
use ratchet_store::rules::catalog;
use serde::Serialize;

use super::enqueue::Target;
use super::submit::Defaults;
use super::{AnyJob, Enqueue, Ratchet, SubmitError};
use crate::job::Job as _;
use crate::runtime::Core;

/// Reads the catalog; see [`Ratchet::catalog`].
#[derive(Debug, Clone)]
pub struct Catalog {
    core: Arc<Core>,
}

/// A job of the catalog, and who can run it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CatalogJob {
    /// The entry that a worker of its program has recorded last.
    #[serde(flatten)]
    pub record: CatalogRecord,
    /// How many live workers can run it.
    pub workers: usize,
}

impl Ratchet {
    /// Returns access to the catalog: the jobs that the programs of the cluster can run.
    ///
    /// Each worker records its jobs when it starts, so that a process without their code can list them and check their
    /// arguments.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// for job in ratchet.catalog().list().await? {
    ///     println!("{} of {}: {}", job.record.entry.name, job.record.program, job.record.entry.docs);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn catalog(&self) -> Catalog {
        Catalog { core: Arc::clone(&self.core) }
    }

    /// Enqueues a job of the catalog by its name, for programs that do not have its code.
    ///
    /// The job gets the default options that its program has recorded. The names and the presence of its arguments are
    /// checked; their types are checked by the worker that runs it. Keys that the job derives from its arguments are not
    /// set. [`enqueue_by_name`](Self::enqueue_by_name) does all of this for jobs of this program.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::BadOption`] for a name that is not in the catalog, and for arguments that are not those
    /// of the job.
    pub async fn enqueue_from_catalog(
        &self,
        name: &str,
        arguments: &serde_json::Value,
    ) -> Result<Enqueue<'_, AnyJob>, SubmitError> {
        let refused = |problem: String| SubmitError::BadOption { job: brief(name), problem };
        let found = self.catalog().get(name).await?.ok_or_else(|| {
            refused("no program of the cluster has recorded a job with that name; check the name, or start a worker that has the job".to_owned())
        })?;
        let entry = found.record.entry;
        catalog::check_arguments(&entry, arguments).map_err(refused)?;
        let mut spec = entry.template;
        spec.payload = arguments.to_string().into_bytes();
        let defaults = Defaults { args: &[], encode: |_| {} };
        let target = Target::Store(&self.core);
        let job = Enqueue::of(target, Ok(spec), &AnyJob::DEF, defaults).manner(self.manner());
        Ok(if entry.delay.is_zero() { job } else { job.delay(entry.delay) })
    }
}

impl Catalog {
    /// Lists the jobs, ordered by name and program. Of each job of a program, the entry that was recorded last.
    pub async fn list(&self) -> Result<Vec<CatalogJob>, StoreError> {
        let nodes = self.core.store.nodes().await?;
        let mut seen = BTreeSet::new();
        let mut records = self.core.store.catalog().await?;
        records.retain(|record| seen.insert((record.entry.name.clone(), record.program.clone())));
        Ok(records.into_iter().map(|record| with_workers(record, &nodes)).collect())
    }

    /// Returns a job by its name or one of its aliases, or `None` if no program has recorded it. If several programs have
    /// it, the one that has recorded it last.
    pub async fn get(&self, name: &str) -> Result<Option<CatalogJob>, StoreError> {
        let records = self.core.store.catalog().await?;
        let called = records.into_iter().filter(|record| record.entry.is_called(name));
        // A name takes precedence over an alias.
        let newest = called.max_by_key(|record| (record.entry.name == name, record.last_seen));
        let Some(record) = newest else { return Ok(None) };
        Ok(Some(with_workers(record, &self.core.store.nodes().await?)))
    }
}

fn with_workers(record: CatalogRecord, nodes: &[NodeRecord]) -> CatalogJob {
    let entry = &record.entry;
    let can_run =
        |node: &&NodeRecord| node.alive && node.info.known.knows(&entry.name, entry.version);
    let workers = nodes.iter().filter(can_run).count();
    CatalogJob { record, workers }
}
