//! Inserting: first the plan, then the commit, so that a refused batch leaves no trace.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::keys::{Entry, Scoped, business_key, idempotency_key};
use super::row::Row;
use super::tables::Tables;
use crate::model::{InsertError, Inserted, JobId, JobRecord, NewJob, OnTaken, TakenKey};

/// What the batch itself has claimed so far.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) answers: Vec<Inserted>,
    ids: HashSet<JobId>,
    pub(super) ledger: HashMap<Scoped, Entry>,
    business: HashMap<Scoped, JobId>,
    taken: Vec<TakenKey>,
}

impl Tables {
    pub(super) fn insert(
        &mut self,
        jobs: Vec<NewJob>,
        now: Timestamp,
    ) -> Result<Vec<Inserted>, InsertError> {
        let plan = self.plan(&jobs, Plan::default())?;
        Ok(self.carry_out(jobs, plan, now))
    }

    /// Plans jobs after what is planned already.
    pub(super) fn plan(&self, jobs: &[NewJob], mut plan: Plan) -> Result<Plan, InsertError> {
        for job in jobs {
            self.plan_insert(job, &mut plan)?;
        }
        if plan.taken.is_empty() {
            Ok(plan)
        } else {
            Err(InsertError::BusinessKeysTaken(plan.taken))
        }
    }

    pub(super) fn carry_out(
        &mut self,
        jobs: Vec<NewJob>,
        mut plan: Plan,
        now: Timestamp,
    ) -> Vec<Inserted> {
        self.keys.ledger.extend(plan.ledger);
        self.keys.business.extend(plan.business);
        for job in jobs {
            // An idempotent repeat of a stored job answers `Created` too, but is not planned.
            if plan.ids.remove(&job.id) {
                self.store(job, now);
            }
        }
        plan.answers
    }

    fn plan_insert(&self, job: &NewJob, plan: &mut Plan) -> Result<(), InsertError> {
        let idempotency = idempotency_key(&job.spec);
        let entry = idempotency.as_ref().map(|_| Entry::of(job.id, &job.spec));
        if let (Some(key), Some(entry)) = (&idempotency, &entry)
            && let Some(original) = self.keys.ledger.get(key).or_else(|| plan.ledger.get(key))
        {
            plan.answers.push(repeat(original, entry, &key.1)?);
            return Ok(());
        }
        if self.jobs.contains_key(&job.id) || plan.ids.contains(&job.id) {
            return Err(InsertError::DuplicateId(job.id));
        }
        if let Some(key) = business_key(&job.spec) {
            let holder = self.keys.business.get(&key).or_else(|| plan.business.get(&key)).copied();
            match (holder, job.on_taken) {
                (Some(holder), OnTaken::ReturnHolder) => {
                    plan.answers.push(Inserted::Holder(holder));
                    return Ok(());
                }
                (Some(holder), OnTaken::Refuse) => {
                    plan.taken.push(TakenKey { job: job.id, key: key.1, holder });
                    return Ok(());
                }
                (None, _) => plan.business.insert(key, job.id),
            };
        }
        if let (Some(key), Some(entry)) = (idempotency, entry) {
            plan.ledger.insert(key, entry);
        }
        plan.ids.insert(job.id);
        plan.answers.push(Inserted::Created(job.id));
        Ok(())
    }

    fn store(&mut self, job: NewJob, now: Timestamp) {
        let NewJob { id, spec, due, on_taken: _ } = job;
        let record = JobRecord::pending(id, spec, due.at(now), now);
        self.index.add(&record, now);
        self.jobs.insert(id, Row::new(record));
        self.wake_if_ready(id, now);
    }
}

/// The answer to an idempotency key that was used before.
pub(super) fn repeat(original: &Entry, entry: &Entry, key: &str) -> Result<Inserted, InsertError> {
    if !original.is_repeat_of(entry) {
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
