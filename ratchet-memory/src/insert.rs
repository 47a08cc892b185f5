//! Inserts. A batch is planned completely before anything is written, so that a refused batch changes nothing.

use jiff::Timestamp;

use super::keys::{Scoped, business_key, idempotency_key};
use super::row::Row;
use super::tables::Tables;
use ratchet_store::model::{InsertError, Inserted, JobRecord, NewJob};
use ratchet_store::rules::insert::{Answers, Existing, KeyUse, Keys, Plan};

impl Tables {
    pub(super) fn insert(
        &mut self,
        jobs: Vec<NewJob>,
        now: Timestamp,
    ) -> Result<Vec<Inserted>, InsertError> {
        let mut plan = Plan::default();
        let answers = self.plan(&jobs, &mut plan, now)?;
        self.carry_out(jobs, plan, now);
        Ok(answers)
    }

    /// Adds jobs to the plan. Fails if any of them is refused.
    pub(super) fn plan(
        &self,
        jobs: &[NewJob],
        plan: &mut Plan<Scoped>,
        now: Timestamp,
    ) -> Result<Vec<Inserted>, InsertError> {
        let mut answers = Answers::default();
        for job in jobs {
            let key = idempotency_key(&job.spec).map(|key| (key, KeyUse::of(job)));
            let keys = Keys { idempotency: key, business: business_key(&job.spec) };
            let there = self.there(job, &keys, now);
            answers.push(plan.add(job, keys, &there))?;
        }
        answers.all()
    }

    fn there(&self, job: &NewJob, keys: &Keys<Scoped>, now: Timestamp) -> Existing {
        let business = &self.keys.business;
        let key = keys.idempotency.as_ref().map(|(key, _)| key);
        Existing {
            used: key.and_then(|key| self.keys.earlier_use(key, job.id, now).cloned()),
            exists: self.jobs.contains_key(&job.id),
            holder: keys.business.as_ref().and_then(|key| business.get(key).copied()),
        }
    }

    pub(super) fn carry_out(&mut self, jobs: Vec<NewJob>, mut plan: Plan<Scoped>, now: Timestamp) {
        for job in plan.stored(jobs) {
            self.store(job, now);
        }
        self.keys.record(plan.idempotency, now);
        self.keys.business.extend(plan.business);
    }

    fn store(&mut self, job: NewJob, now: Timestamp) {
        let NewJob { id, spec, due, on_conflict: _, repeat_check: _, key_lifetime: _ } = job;
        let record = JobRecord::pending(id, spec, due.at(now), now);
        self.index.add(&record, now);
        self.jobs.insert(id, Row::new(record));
        self.wake_if_ready(id, now);
    }
}
