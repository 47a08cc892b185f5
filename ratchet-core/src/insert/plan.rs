//! What a batch of submitted jobs does, before any of it is done.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashSet};

use super::KeyUse;
use crate::model::{InsertError, Inserted, JobId, NewJob, OnTaken, TakenKey};

/// The keys of one job, in the form in which a store keeps them within their tenant.
#[derive(Debug)]
pub struct Keys<K> {
    /// Its idempotency key, and what it uses it for.
    pub idempotency: Option<(K, KeyUse)>,
    /// Its business key.
    pub business: Option<K>,
}

/// What the store has found of one job before its batch. What the batch itself does need not be looked up.
#[derive(Debug, Default)]
pub struct There {
    /// What its idempotency key was used for.
    pub used: Option<KeyUse>,
    /// Whether its id exists.
    pub exists: bool,
    /// Who holds its business key. Does not matter if the idempotency key was used.
    pub holder: Option<JobId>,
}

/// What a batch does.
#[derive(Debug)]
pub struct Plan<K> {
    /// The jobs to store.
    pub ids: HashSet<JobId>,
    /// The idempotency keys to write down.
    pub ledger: BTreeMap<K, KeyUse>,
    /// The business keys to take.
    pub business: BTreeMap<K, JobId>,
}

impl<K> Default for Plan<K> {
    fn default() -> Self {
        Self { ids: HashSet::new(), ledger: BTreeMap::new(), business: BTreeMap::new() }
    }
}

impl<K: Ord> Plan<K> {
    /// Plans one job after those before it. A refused one leaves no trace.
    pub fn add(
        &mut self,
        job: &NewJob,
        keys: Keys<K>,
        there: &There,
    ) -> Result<Inserted, InsertError> {
        let Keys { idempotency, business } = keys;
        if let Some((key, again)) = &idempotency
            && let Some(original) = there.used.as_ref().or_else(|| self.ledger.get(key))
        {
            return original.answer(again, job.spec.idempotency_key.as_deref().unwrap_or_default());
        }
        if there.exists || self.ids.contains(&job.id) {
            return Err(InsertError::DuplicateId(job.id));
        }
        if let Some(key) = business {
            let holder = there.holder.or_else(|| self.business.get(&key).copied());
            match (holder, job.on_taken) {
                (Some(holder), OnTaken::ReturnHolder) => return Ok(Inserted::Holder(holder)),
                (Some(holder), OnTaken::Refuse) => {
                    let key = job.spec.business_key.clone().unwrap_or_default();
                    let taken = TakenKey { job: job.id, key, holder };
                    return Err(InsertError::BusinessKeysTaken(vec![taken]));
                }
                (None, _) => self.business.insert(key, job.id),
            };
        }
        self.ledger.extend(idempotency);
        self.ids.insert(job.id);
        Ok(Inserted::Created(job.id))
    }

    /// Those of a batch that are to be stored. An idempotent repeat of a stored job answers
    /// [`Created`](Inserted::Created) too, but is not planned.
    pub fn stored<J: Borrow<NewJob>>(&mut self, jobs: impl IntoIterator<Item = J>) -> Vec<J> {
        jobs.into_iter().filter(|job| self.ids.remove(&job.borrow().id)).collect()
    }
}

/// The answers to a batch that is inserted as a whole or not at all.
#[derive(Debug, Default)]
pub struct Answers {
    given: Vec<Inserted>,
    taken: Vec<TakenKey>,
}

impl Answers {
    /// Takes the answer to the next job. Taken keys are gathered; any other refusal is the answer to all.
    pub fn push(&mut self, answer: Result<Inserted, InsertError>) -> Result<(), InsertError> {
        match answer {
            Ok(inserted) => self.given.push(inserted),
            Err(InsertError::BusinessKeysTaken(keys)) => self.taken.extend(keys),
            Err(refused) => return Err(refused),
        }
        Ok(())
    }

    /// One answer for each job, or all keys that were taken.
    pub fn all(self) -> Result<Vec<Inserted>, InsertError> {
        match self.taken.is_empty() {
            true => Ok(self.given),
            false => Err(InsertError::BusinessKeysTaken(self.taken)),
        }
    }
}
