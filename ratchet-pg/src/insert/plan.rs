//! What becomes of a batch, job by job, exactly as in the store in memory.

use std::collections::{BTreeMap, HashMap, HashSet};

use ratchet_core::model::{InsertError, Inserted, JobId, JobSpec, NewJob, OnTaken, TakenKey};
use sha2::{Digest, Sha256};

use crate::spec::{clean, scope};

/// A key within its scope.
pub(crate) type Scoped = (String, String);

/// What an idempotency key was used for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) job: JobId,
    pub(super) name: String,
    pub(super) digest: Vec<u8>,
}

impl Entry {
    pub(super) fn of(job: &NewJob) -> Self {
        let digest = Sha256::digest(&job.spec.payload).to_vec();
        Self { job: job.id, name: clean(&job.spec.name), digest }
    }
}

/// What was there before this batch.
#[derive(Default)]
pub(super) struct Before {
    pub(super) ids: HashSet<JobId>,
    pub(super) ledger: HashMap<Scoped, Entry>,
    pub(super) business: HashMap<Scoped, JobId>,
}

/// What this batch does.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) ids: HashSet<JobId>,
    pub(super) ledger: BTreeMap<Scoped, Entry>,
    pub(super) business: BTreeMap<Scoped, JobId>,
}

/// Plans all of them, or refuses all of them.
pub(super) fn plan_all(
    jobs: &[NewJob],
    before: &Before,
) -> Result<(Plan, Vec<Inserted>), InsertError> {
    let (mut plan, mut answers, mut taken) = (Plan::default(), Vec::new(), Vec::new());
    for job in jobs {
        match plan_one(job, before, &mut plan) {
            Ok(answer) => answers.push(answer),
            Err(InsertError::BusinessKeysTaken(keys)) => taken.extend(keys),
            Err(refused) => return Err(refused),
        }
    }
    if taken.is_empty() { Ok((plan, answers)) } else { Err(InsertError::BusinessKeysTaken(taken)) }
}

/// Plans one job after those before it.
pub(super) fn plan_one(
    job: &NewJob,
    before: &Before,
    plan: &mut Plan,
) -> Result<Inserted, InsertError> {
    let idempotency = idempotency_key(&job.spec);
    let entry = idempotency.as_ref().map(|_| Entry::of(job));
    if let (Some(key), Some(entry)) = (&idempotency, &entry)
        && let Some(original) = before.ledger.get(key).or_else(|| plan.ledger.get(key))
    {
        return repeat(original, entry, &key.1);
    }
    if before.ids.contains(&job.id) || plan.ids.contains(&job.id) {
        return Err(InsertError::DuplicateId(job.id));
    }
    if let Some(key) = business_key(&job.spec) {
        let holder = before.business.get(&key).or_else(|| plan.business.get(&key)).copied();
        match (holder, job.on_taken) {
            (Some(holder), OnTaken::ReturnHolder) => return Ok(Inserted::Holder(holder)),
            (Some(holder), OnTaken::Refuse) => {
                let taken = TakenKey { job: job.id, key: key.1, holder };
                return Err(InsertError::BusinessKeysTaken(vec![taken]));
            }
            (None, _) => plan.business.insert(key, job.id),
        };
    }
    if let (Some(key), Some(entry)) = (idempotency, entry) {
        plan.ledger.insert(key, entry);
    }
    plan.ids.insert(job.id);
    Ok(Inserted::Created(job.id))
}

/// The answer to an idempotency key that was used before.
fn repeat(original: &Entry, entry: &Entry, key: &str) -> Result<Inserted, InsertError> {
    if original.name != entry.name || original.digest != entry.digest {
        return Err(InsertError::IdempotencyMismatch {
            job: entry.job,
            key: key.to_owned(),
            original: original.job,
        });
    }
    // The same job again: the first answer was lost, so it is given again.
    let same = original.job == entry.job;
    Ok(if same { Inserted::Created(entry.job) } else { Inserted::Duplicate(original.job) })
}

pub(crate) fn business_key(spec: &JobSpec) -> Option<Scoped> {
    let key = spec.business_key.as_ref()?;
    Some((scope(spec.tenant.as_deref()), clean(key)))
}

pub(super) fn idempotency_key(spec: &JobSpec) -> Option<Scoped> {
    let key = spec.idempotency_key.as_ref()?;
    Some((scope(spec.tenant.as_deref()), clean(key)))
}
