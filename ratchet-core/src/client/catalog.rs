//! [`Catalog`]: what the programs of the cluster can run.

use std::collections::BTreeSet;
use std::sync::Arc;

use ratchet_contract::{Contract, JobContract, Mistake};
use ratchet_store::StoreError;
use ratchet_store::model::limits::brief;
use ratchet_store::model::{CatalogEntry, CatalogRecord, ConcurrencyKey, NodeRecord, RepeatCheck};
use ratchet_store::rules::catalog;
use serde::Serialize;

use super::enqueue::Target;
use super::submit::Defaults;
use super::{AnyJob, Enqueue, Ratchet, SubmitError, order};
use crate::job::{Job as _, JobDef};
use crate::runtime::Core;

/// Reads the catalog; see [`Ratchet::catalog`].
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// // An admin page shows a form with a field for each argument of the job.
/// if let Some(job) = ratchet.catalog().get("shop.send_email").await? {
///     for argument in &job.record.entry.args {
///         println!("{argument:?}");
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Catalog {
    core: Arc<Core>,
}

/// A job of the catalog, and who can run it.
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// for job in ratchet.catalog().list().await? {
///     if job.workers == 0 {
///         let record = &job.record;
///         println!("no worker runs {}, seen last at {}", record.entry.name, record.last_seen);
///     }
/// }
/// # Ok(())
/// # }
/// ```
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

    /// Enqueues a job by its name, also if this program does not have its code: a job of this program like
    /// [`enqueue_by_name`](Self::enqueue_by_name), and any other job by its entry in the catalog.
    ///
    /// A job of the catalog gets the options that its program has recorded. Its arguments are checked: their names, their
    /// presence, and the JSON shapes of their values. What only the code of a type knows is checked by the worker that runs
    /// the job, and so is `validate`. Keys are derived from arguments that are strings, integers, booleans or UUIDs; for
    /// another template, set the key here.
    ///
    /// # Errors
    ///
    /// Returns [`SubmitError::BadOption`] for a name that is not in the catalog, and [`SubmitError::BadArgument`] with the
    /// path of the mistake for arguments that do not fit.
    pub async fn enqueue_from_catalog(
        &self,
        name: &str,
        arguments: &impl Serialize,
    ) -> Result<Enqueue<'_, AnyJob>, SubmitError> {
        let is_own = |job: &JobDef| job.names().any(|known| known == name);
        if self.definitions().iter().any(is_own) {
            let job = self.enqueue_by_name(name, arguments);
            return match job.problem() {
                Some(SubmitError::Arguments { .. }) => match self.mistake(name, arguments).await? {
                    Some(mistake) => Err(mistake),
                    None => Ok(job),
                },
                _ => Ok(job),
            };
        }
        let refused = |problem: String| SubmitError::BadOption { job: brief(name), problem };
        let found = self.catalog().get(name).await?.ok_or_else(|| {
            refused("no program of the cluster has recorded a job with that name; check the name, or start a worker that has the job".to_owned())
        })?;
        let not_json =
            |error: serde_json::Error| refused(format!("its arguments are not JSON: {error}"));
        let payload = serde_json::to_vec(arguments).map_err(not_json)?;
        let mut arguments: serde_json::Value =
            serde_json::from_slice(&payload).map_err(not_json)?;
        let entry = found.record.entry;
        let contract = contract_of(&entry);
        let mut spec = entry.template.clone();
        spec.payload = payload;
        let mut defaulted = Vec::new();
        if let Some(contract) = &contract {
            contract.check(&arguments).map_err(|mistake| bad_argument(name, mistake))?;
            let absent = contract.absent(&arguments);
            if let (false, Some(fields)) = (absent.is_empty(), arguments.as_object_mut()) {
                fields.extend(absent.into_iter().map(|name| (name, serde_json::Value::Null)));
                spec.payload = serde_json::to_vec(&arguments).map_err(not_json)?;
            }
            spec.business_key = contract.key("business", &arguments);
            spec.idempotency_key = contract.key("idempotency", &arguments);
            let concurrency = contract.key("concurrency", &arguments);
            let limit = entry.concurrency_limit.unwrap_or(1);
            if let Some(key) = concurrency {
                spec.concurrency = Some(ConcurrencyKey { key, limit });
                order::apply(&mut spec, entry.order);
            }
            defaulted = contract.defaulted(&arguments);
        } else {
            // Recorded by a version that did not record shapes.
            catalog::check_arguments(&entry, &arguments).map_err(refused)?;
        }
        let defaults = Defaults { args: &[], encode: |_| {} };
        let target = Target::Store(&self.core);
        let job = Enqueue::of(target, Ok(spec), &AnyJob::DEF, defaults).manner(self.manner());
        let job = if entry.delay.is_zero() { job } else { job.delay(entry.delay) };
        Ok(job.with(|job| {
            job.key_lifetime =
                entry.idempotency_within.filter(|_| job.spec.idempotency_key.is_some());
            if !defaulted.is_empty() {
                job.repeat_check = RepeatCheck::WithoutDefaults(defaulted);
            }
        }))
    }
}

impl Ratchet {
    /// Returns the path of what the code of a job could not read, by the contract that the catalog has.
    async fn mistake(
        &self,
        name: &str,
        arguments: &impl Serialize,
    ) -> Result<Option<SubmitError>, SubmitError> {
        let Ok(arguments) = serde_json::to_value(arguments) else { return Ok(None) };
        let Some(found) = self.catalog().get(name).await? else { return Ok(None) };
        let checked = contract_of(&found.record.entry).map(|contract| contract.check(&arguments));
        Ok(checked.and_then(Result::err).map(|mistake| bad_argument(name, mistake)))
    }
}

fn bad_argument(name: &str, mistake: Mistake) -> SubmitError {
    SubmitError::BadArgument {
        job: brief(name),
        path: brief(&mistake.path),
        problem: mistake.problem,
    }
}

/// Returns the contract that a program has recorded for its job.
pub(super) fn contract_of(entry: &CatalogEntry) -> Option<JobContract> {
    let mut contract: Contract = entry.shape.as_ref()?.as_str()?.parse().ok()?;
    contract.jobs.remove(&entry.name)
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
