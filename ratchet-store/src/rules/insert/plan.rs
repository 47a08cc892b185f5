//! The plan of a batch insert, made before anything is written.

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;

use super::{IdempotencyRecord, KeyHolder, KeyUse};
use crate::model::{InsertError, Inserted, JobId, NewJob, OnConflict, TakenKey};
use crate::rules::graph;

/// The keys of one job, in the representation of the store, including the tenant.
#[derive(Debug)]
pub struct Keys<K> {
    /// The idempotency key and its use by this job.
    pub idempotency: Option<(K, KeyUse)>,
    /// The business key.
    pub business: Option<K>,
    /// The second place of the business key, if the job [coalesces](OnConflict::Coalesce).
    pub second: Option<K>,
}

/// The state that the store found for one job before its batch. Changes made by the batch itself need not be included.
#[derive(Debug, Default)]
pub struct Existing {
    /// The earlier use of its idempotency key.
    pub used: Option<IdempotencyRecord>,
    /// Whether a job with its id exists.
    pub exists: bool,
    /// The holder of its business key. Ignored if the idempotency key was used.
    pub holder: Option<KeyHolder>,
    /// The holder of the second place of its business key.
    pub second: Option<KeyHolder>,
    /// For a job that runs in order: the job that it must wait for ([`graph::held_up_by`](crate::rules::graph::held_up_by)).
    pub held_up_by: Option<JobId>,
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
    /// The jobs to store that take the second place of their business key.
    successors: HashSet<JobId>,
    /// Jobs that are stored already and get a later due time.
    pub delayed: BTreeMap<JobId, Timestamp>,
    /// The last job of each sequence of jobs that run in order.
    pub sequences: BTreeMap<String, JobId>,
    /// The jobs to store that must wait for another job of their sequence.
    followers: HashMap<JobId, JobId>,
}

impl<K> Default for Plan<K> {
    fn default() -> Self {
        Self {
            ids: HashSet::new(),
            idempotency: BTreeMap::new(),
            business: BTreeMap::new(),
            successors: HashSet::new(),
            delayed: BTreeMap::new(),
            sequences: BTreeMap::new(),
            followers: HashMap::new(),
        }
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
        let Keys { idempotency, business, second } = keys;
        if let Some((key, again)) = &idempotency
            && let Some(original) = there.used.as_ref().or_else(|| self.idempotency.get(key))
        {
            return original.answer(again, job.spec.idempotency_key.as_deref().unwrap_or_default());
        }
        if there.exists || self.ids.contains(&job.id) {
            return Err(InsertError::DuplicateId(job.id));
        }
        if let Some(key) = business {
            let first = self.holder(&key, there.holder);
            let next = second.as_ref().and_then(|key| self.holder(key, there.second));
            if let Some(holder) = self.coalesced(job, first, next) {
                return Ok(Inserted::Holder(holder));
            }
            match (first, job.on_conflict, second) {
                (None, ..) => {
                    self.business.insert(key, job.id);
                }
                (Some(holder), OnConflict::ReturnHolder, _) => {
                    return Ok(Inserted::Holder(holder.job));
                }
                (Some(_), OnConflict::Coalesce(_), Some(second)) if next.is_none() => {
                    self.business.insert(second, job.id);
                    self.successors.insert(job.id);
                }
                (Some(holder), OnConflict::Refuse | OnConflict::Coalesce(_), _) => {
                    let key = job.spec.business_key.clone().unwrap_or_default();
                    let taken = TakenKey { job: job.id, key, holder: holder.job };
                    return Err(InsertError::BusinessKeysTaken(vec![taken]));
                }
            }
        }
        self.idempotency.extend(idempotency.map(|(key, used)| (key, used.record)));
        if let Some(key) = graph::sequence(&job.spec) {
            let last = self.sequences.insert(key.to_owned(), job.id).or(there.held_up_by);
            self.followers.extend(last.map(|last| (job.id, last)));
        }
        self.ids.insert(job.id);
        Ok(Inserted::Created(job.id))
    }

    /// Returns the job that holds a key, or that will hold it when the plan is carried out.
    fn holder(&self, key: &K, there: Option<KeyHolder>) -> Option<KeyHolder> {
        there.or_else(|| self.business.get(key).copied().map(KeyHolder::planned))
    }

    /// Returns the holder that has not started, for a job that coalesces, and delays that holder.
    fn coalesced(
        &mut self,
        job: &NewJob,
        first: Option<KeyHolder>,
        next: Option<KeyHolder>,
    ) -> Option<JobId> {
        let OnConflict::Coalesce(debounce) = job.on_conflict else { return None };
        let holder = [first, next].into_iter().flatten().find(KeyHolder::has_not_started)?;
        if let Some(due) = debounce.and_then(|debounce| holder.delayed_by(debounce)) {
            self.delayed.insert(holder.job, due);
        }
        Some(holder.job)
    }

    /// Returns the jobs of the batch that must be stored. An idempotent repeat of a stored job also results in
    /// [`Created`](Inserted::Created), but is not planned.
    pub fn stored<J: Borrow<NewJob>>(&mut self, jobs: impl IntoIterator<Item = J>) -> Vec<J> {
        jobs.into_iter().filter(|job| self.ids.remove(&job.borrow().id)).collect()
    }

    /// Marks the jobs that take the second place of their business key, and those that wait for their turn. Must be
    /// called before they are stored.
    pub fn marked<'a>(&self, jobs: &'a [NewJob]) -> Cow<'a, [NewJob]> {
        if self.successors.is_empty() && self.followers.is_empty() {
            return Cow::Borrowed(jobs);
        }
        let mut jobs = jobs.to_vec();
        for job in &mut jobs {
            job.spec.successor = self.successors.contains(&job.id);
            job.follows = self.followers.get(&job.id).copied();
        }
        Cow::Owned(jobs)
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
