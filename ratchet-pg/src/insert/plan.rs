//! The input that the planning rules of [`ratchet_store::rules::insert`] need for a batch.

use std::collections::{HashMap, HashSet};

use ratchet_store::model::{InsertError, Inserted, JobId, JobSpec, Member, NewJob, OnConflict};
use ratchet_store::rules::graph::held_up_by;
use ratchet_store::rules::insert::{Answers, Existing, IdempotencyRecord, KeyHolder, KeyUse, Keys};

use uuid::Uuid;

use super::graph_of;
use crate::spec::{clean, scope};

/// The scope of a key and the key itself.
pub(crate) type Scoped = (String, String);

/// The plan of a batch.
pub(super) type Plan = ratchet_store::rules::insert::Plan<Scoped>;

/// The ids and keys that existed before this batch.
#[derive(Default)]
pub(super) struct Before {
    pub(super) ids: HashSet<JobId>,
    pub(super) idempotency: HashMap<Scoped, IdempotencyRecord>,
    pub(super) business: HashMap<Scoped, KeyHolder>,
    /// The last jobs of sequences, by their graphs.
    pub(super) last: HashMap<Uuid, Member>,
}

impl Before {
    /// Plans all jobs, or refuses all of them.
    pub(super) fn plan_all(&self, jobs: &[NewJob]) -> Result<(Plan, Vec<Inserted>), InsertError> {
        let (mut plan, mut answers) = (Plan::default(), Answers::default());
        for job in jobs {
            answers.push(self.plan_one(job, &mut plan))?;
        }
        Ok((plan, answers.all()?))
    }

    /// Plans one job after those already in the plan.
    pub(super) fn plan_one(&self, job: &NewJob, plan: &mut Plan) -> Result<Inserted, InsertError> {
        let business = business_key(&job.spec);
        let second = business.as_ref().filter(|_| coalesces(job)).map(second_place);
        let keys = Keys { idempotency: idempotency_key(job), business, second };
        let holder = |key: Option<&Scoped>| self.business.get(key?).copied();
        let there = Existing {
            used: keys.idempotency.as_ref().and_then(|(key, _)| self.idempotency.get(key).cloned()),
            exists: self.ids.contains(&job.id),
            holder: holder(keys.business.as_ref()),
            second: holder(keys.second.as_ref()),
            held_up_by: graph_of(job)
                .and_then(|graph| held_up_by(&job.spec, self.last.get(&graph)?)),
        };
        plan.add(job, keys, &there)
    }
}

pub(crate) fn business_key(spec: &JobSpec) -> Option<Scoped> {
    let key = spec.business_key.as_ref()?;
    let key = (scope(spec.tenant.as_deref()), clean(key));
    Some(if spec.successor { second_place(&key) } else { key })
}

/// Returns the second place of a business key. The scope of a key is empty or begins with `=`.
pub(super) fn second_place((scope, key): &Scoped) -> Scoped {
    (format!("+{scope}"), key.clone())
}

/// Returns whether the state of the holders of its business key decides what becomes of a job.
pub(super) fn coalesces(job: &NewJob) -> bool {
    matches!(job.on_conflict, OnConflict::Coalesce(_))
}

/// Returns the idempotency key of a job and its use, in the form in which the database returns it.
pub(super) fn idempotency_key(job: &NewJob) -> Option<(Scoped, KeyUse)> {
    let key = job.spec.idempotency_key.as_ref()?;
    let mut used = KeyUse::of(job);
    used.record.name = clean(&used.record.name);
    Some(((scope(job.spec.tenant.as_deref()), clean(key)), used))
}
