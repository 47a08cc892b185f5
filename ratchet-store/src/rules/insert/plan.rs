//! The plan of a batch insert, made before anything is written.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashSet};

use super::{IdempotencyRecord, KeyUse};
use crate::model::{InsertError, Inserted, JobId, NewJob, OnConflict, TakenKey};

/// The keys of one job, in the representation of the store, including the tenant.
#[derive(Debug)]
pub struct Keys<K> {
    /// The idempotency key and its use by this job.
    pub idempotency: Option<(K, KeyUse)>,
    /// The business key.
    pub business: Option<K>,
}

/// The state that the store found for one job before its batch. Changes made by the batch itself need not be included.
#[derive(Debug, Default)]
pub struct Existing {
    /// The earlier use of its idempotency key.
    pub used: Option<IdempotencyRecord>,
    /// Whether a job with its id exists.
    pub exists: bool,
    /// The holder of its business key. Ignored if the idempotency key was used.
    pub holder: Option<JobId>,
}

/// The changes that a batch makes.
#[derive(Debug)]
pub struct Plan<K> {
    /// The ids of the jobs to store.
    pub ids: HashSet<JobId>,
    /// The idempotency keys to record.
    pub idempotency: BTreeMap<K, IdempotencyRecord>,
    /// The business keys to take.
    pub business: BTreeMap<K, JobId>,
}

impl<K> Default for Plan<K> {
    fn default() -> Self {
        Self { ids: HashSet::new(), idempotency: BTreeMap::new(), business: BTreeMap::new() }
    }
}

impl<K: Ord> Plan<K> {
    /// Plans one job, taking the jobs already planned into account. A refused job does not change the plan.
    pub fn add(
        &mut self,
        job: &NewJob,
        keys: Keys<K>,
        there: &Existing,
    ) -> Result<Inserted, InsertError> {
        let Keys { idempotency, business } = keys;
        if let Some((key, again)) = &idempotency
            && let Some(original) = there.used.as_ref().or_else(|| self.idempotency.get(key))
        {
            return original.answer(again, job.spec.idempotency_key.as_deref().unwrap_or_default());
        }
        if there.exists || self.ids.contains(&job.id) {
            return Err(InsertError::DuplicateId(job.id));
        }
        if let Some(key) = business {
            let holder = there.holder.or_else(|| self.business.get(&key).copied());
            match (holder, job.on_conflict) {
                (Some(holder), OnConflict::ReturnHolder) => return Ok(Inserted::Holder(holder)),
                (Some(holder), OnConflict::Refuse) => {
                    let key = job.spec.business_key.clone().unwrap_or_default();
                    let taken = TakenKey { job: job.id, key, holder };
                    return Err(InsertError::BusinessKeysTaken(vec![taken]));
                }
                (None, _) => self.business.insert(key, job.id),
            };
        }
        self.idempotency.extend(idempotency.map(|(key, used)| (key, used.record)));
        self.ids.insert(job.id);
        Ok(Inserted::Created(job.id))
    }

    /// Returns the jobs of the batch that must be stored. An idempotent repeat of a stored job also results in
    /// [`Created`](Inserted::Created), but is not planned.
    pub fn stored<J: Borrow<NewJob>>(&mut self, jobs: impl IntoIterator<Item = J>) -> Vec<J> {
        jobs.into_iter().filter(|job| self.ids.remove(&job.borrow().id)).collect()
    }
}

/// The results of a batch that is inserted atomically.
#[derive(Debug, Default)]
pub struct Answers {
    given: Vec<Inserted>,
    taken: Vec<TakenKey>,
}

impl Answers {
    /// Adds the result of the next job. Taken business keys are collected; any other error is returned immediately.
    pub fn push(&mut self, answer: Result<Inserted, InsertError>) -> Result<(), InsertError> {
        match answer {
            Ok(inserted) => self.given.push(inserted),
            Err(InsertError::BusinessKeysTaken(keys)) => self.taken.extend(keys),
            Err(refused) => return Err(refused),
        }
        Ok(())
    }

    /// Returns one result per job, or an error with all taken business keys.
    pub fn all(self) -> Result<Vec<Inserted>, InsertError> {
        match self.taken.is_empty() {
            true => Ok(self.given),
            false => Err(InsertError::BusinessKeysTaken(self.taken)),
        }
    }
}
