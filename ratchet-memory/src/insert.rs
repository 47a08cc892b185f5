//! Inserts. A batch is planned completely before anything is written, so that a refused batch changes nothing.

use std::borrow::Cow;

use jiff::Timestamp;

use super::keys::{Scoped, business_key, idempotency_key, second};
use super::row::Row;
use super::tables::Tables;
use ratchet_store::model::{InsertError, Inserted, JobId, JobRecord, NewJob, OnConflict};
use ratchet_store::rules::graph;
use ratchet_store::rules::insert::{Answers, Existing, KeyHolder, KeyUse, Keys, Plan};

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
            let business = business_key(&job.spec);
            let coalesces = matches!(job.on_conflict, OnConflict::Coalesce(_));
            let second = business.as_ref().filter(|_| coalesces).map(second);
            let keys = Keys { idempotency: key, business, second };
            let there = self.there(job, &keys, now);
            answers.push(plan.add(job, keys, &there))?;
        }
        answers.all()
    }

    fn there(&self, job: &NewJob, keys: &Keys<Scoped>, now: Timestamp) -> Existing {
        let holder = |key: &Scoped| {
            let id = *self.keys.business.get(key)?;
            let row = self.jobs.get(&id);
            Some(row.map_or(KeyHolder::unread(id), |row| KeyHolder::read(&row.job, now)))
        };
        let key = keys.idempotency.as_ref().map(|(key, _)| key);
        Existing {
            used: key.and_then(|key| self.keys.earlier_use(key, job.id, now).cloned()),
            exists: self.jobs.contains_key(&job.id),
            holder: keys.business.as_ref().and_then(holder),
            second: keys.second.as_ref().and_then(holder),
            held_up_by: self.held_up_by(job),
        }
    }

    /// Returns the job of its sequence that a new job must wait for.
    fn held_up_by(&self, job: &NewJob) -> Option<JobId> {
        let last = self.graph.sequences.get(graph::sequence(&job.spec)?)?;
        graph::held_up_by(&job.spec, &self.jobs.get(last)?.job.member())
    }

    pub(super) fn carry_out(&mut self, jobs: Vec<NewJob>, mut plan: Plan<Scoped>, now: Timestamp) {
        let marked = match plan.marked(&jobs) {
            Cow::Owned(marked) => Some(marked),
            Cow::Borrowed(_) => None,
        };
        for job in plan.stored(marked.unwrap_or(jobs)) {
            self.store(job, now);
        }
        self.keys.record(plan.idempotency, now);
        self.keys.business.extend(plan.business);
        self.graph.sequences.extend(plan.sequences);
        for (id, due) in plan.delayed {
            self.advance(id, now, |job| job.due = due);
        }
    }

    fn store(&mut self, job: NewJob, now: Timestamp) {
        let edge = graph::turn_edge(&job);
        self.graph.edges.extend(edge.map(|edge| ((edge.parent, edge.ordinal), edge)));
        let wait = job.wait();
        let NewJob { id, spec, due, .. } = job;
        let mut record = JobRecord::pending(id, spec, due.at(now), now);
        record.wait = wait;
        self.index.add(&record, now);
        self.jobs.insert(id, Row::new(record));
        self.wake_if_ready(id, now);
    }
}
