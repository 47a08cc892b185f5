//! Claims: walks the lane heads of each queue in order.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use super::keys::Slot;
use super::ready::{Lane, Place};
use super::row::Claim;
use super::tables::Tables;
use ratchet_store::model::{
    ClaimReply, ClaimRequest, Claimed, JobId, JobState, LeaseId, QueueDemand,
};
use ratchet_store::rules::claim::{Accepted, Candidate, ClaimPlan, Holders};

/// One call of a claimer.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) request: &'a ClaimRequest,
    lease: LeaseId,
    now: Timestamp,
}

impl Tables {
    pub(super) fn claim(&mut self, request: &ClaimRequest, now: Timestamp) -> ClaimReply {
        if !self.nodes.is_alive(request.node, now) {
            return ClaimReply::default();
        }
        for demand in &request.queues {
            for id in self.index.take_due(&demand.queue, now) {
                if let Some(row) = self.jobs.get(&id) {
                    self.index.make_ready(&row.job);
                }
            }
        }
        self.leases += 1;
        let lease = LeaseId::from_uuid(Uuid::from_u128(self.leases));
        let call = Call { request, lease, now };
        let mut plan = self.claim_plan(request, now);
        let mut jobs = Vec::new();
        if let Some(id) = self.first_if_isolated(call, &mut plan) {
            jobs.extend(self.take(id, call, &mut plan));
        } else {
            for QueueDemand { queue, .. } in &request.queues {
                match plan.turns(queue) {
                    None => self.claim_in_order(queue, call, &mut plan, &mut jobs),
                    Some(turns) => self.claim_in_turns(queue, turns, call, &mut plan, &mut jobs),
                }
            }
        }
        let (isolated_waiting, suspects_waiting) =
            (plan.isolated_waiting(), plan.suspects_waiting());
        for (queue, rules) in plan.spend(now) {
            self.gates.queues.insert(queue.to_owned(), rules.clone());
        }
        self.gates.key_rates.save(plan.spend_keys(now));
        let waits = [self.next_due(request, now), plan.opens_in(), self.key_frees_in(request, now)];
        let next_due = waits.into_iter().flatten().min();
        ClaimReply { jobs, isolated_waiting, suspects_waiting, next_due }
    }

    /// Reads the rules of the requested queues and the breakers that are not closed.
    fn claim_plan(&self, request: &ClaimRequest, now: Timestamp) -> ClaimPlan {
        let mut plan = ClaimPlan::new(&request.queues, request.suspects, now);
        for demand in &request.queues {
            if let Some(rules) = self.gates.queues.get(&demand.queue) {
                plan.set_rules(&demand.queue, rules.clone(), self.running(&demand.queue));
            }
        }
        for (service, breaker) in &self.gates.breakers {
            if !breaker.is_closed() {
                plan.set_breaker(service, breaker.clone(), self.probing(service, breaker));
            }
        }
        plan
    }

    fn claim_in_order(
        &mut self,
        queue: &str,
        call: Call<'_>,
        plan: &mut ClaimPlan,
        jobs: &mut Vec<Claimed>,
    ) {
        let mut at = None;
        while plan.room(queue) > 0
            && let Some((place, lane)) = self.index.line(queue).and_then(|line| line.after(at))
        {
            at = Some(place);
            let job = self.candidate(queue, &lane, call, plan);
            if let Ok(accepted) = plan.offer(&job) {
                jobs.extend(self.start(place.id, call, accepted));
            }
        }
    }

    /// Returns the first claimable job over all requested queues, if it must run isolated and the request allows it.
    fn first_if_isolated(&self, call: Call<'_>, plan: &mut ClaimPlan) -> Option<JobId> {
        let mut firsts = Vec::new();
        for QueueDemand { queue, .. } in &call.request.queues {
            if plan.room(queue) > 0 {
                firsts.extend(self.first(queue, call, plan));
            }
        }
        plan.first_if_isolated(firsts)
    }

    fn first(
        &self,
        queue: &str,
        call: Call<'_>,
        plan: &mut ClaimPlan,
    ) -> Option<(Place, u32, JobId)> {
        let due = self.index.line(queue)?;
        let mut at = None;
        loop {
            let (place, lane) = due.after(at)?;
            let job = self.candidate(queue, &lane, call, plan);
            if plan.can_run(&job) {
                return Some((place, job.crashes, place.id));
            }
            at = Some(place);
        }
    }

    /// Describes the jobs of a lane, counts the holders of their concurrency key, and reads the state of its rate.
    pub(super) fn candidate<'a>(
        &self,
        queue: &'a str,
        lane: &'a Lane,
        Call { request, now, .. }: Call<'_>,
        plan: &mut ClaimPlan,
    ) -> Candidate<'a> {
        let knows = |condition: &String| request.known.knows_condition(condition);
        let job = Candidate {
            queue,
            known: request.known.knows(&lane.name, lane.version)
                && lane.conditions.iter().all(knows),
            crashes: lane.crashes,
            concurrency: lane.concurrency.as_ref(),
            service: lane.service.as_deref(),
            expired: lane.expires.is_some_and(|expires| expires <= now),
        };
        if let Some(key) = plan.uncounted_key(&job) {
            plan.set_holders(key, Holders::Runs(self.keys.taken(&Slot::Key(key.to_owned()))));
        }
        if let Some(key) = plan.unread_key(&job) {
            plan.set_key_rate(queue, key, self.gates.key_rates.get(queue, key));
        }
        job
    }

    /// Starts a job that must run in isolation.
    fn take(&mut self, id: JobId, call: Call<'_>, plan: &mut ClaimPlan) -> Option<Claimed> {
        let spec = Arc::clone(&self.jobs.get(&id)?.job.spec);
        let accepted = plan.accept(&Candidate {
            queue: &spec.queue,
            known: true,
            crashes: 0,
            concurrency: spec.concurrency.as_ref(),
            service: spec.service.as_deref(),
            expired: false,
        });
        self.start(id, call, accepted)
    }

    pub(super) fn start(
        &mut self,
        id: JobId,
        Call { request, lease, now }: Call<'_>,
        accepted: Accepted,
    ) -> Option<Claimed> {
        self.advance(id, now, |job| {
            job.state = JobState::Running;
            job.run += 1;
            job.node = Some(request.node);
            job.started_at = Some(now);
            job.duration = None;
            job.queue_wait = Some(now.duration_since(job.due).try_into().unwrap_or_default());
        });
        let row = self.jobs.get_mut(&id)?;
        row.claim = Some(Claim { lease, started: request.starting });
        let mut claimed = row.claimed()?;
        let spec = Arc::clone(&claimed.spec);
        if let Some(key) = &spec.concurrency {
            self.keys.take_slot(Slot::Key(key.key.clone()), claimed.token);
        }
        if let (Some(service), Some(opening)) = (&spec.service, accepted.probe) {
            self.keys.take_slot(Slot::Probe(service.clone(), opening), claimed.token);
        }
        claimed.probe = accepted.probe;
        self.nodes.hold(request.node, id);
        Some(claimed)
    }

    /// Returns how long until the rate of a key lets a job start that was passed over.
    fn key_frees_in(&self, request: &ClaimRequest, now: Timestamp) -> Option<Duration> {
        let queues = request.queues.iter();
        let next = queues.filter_map(|demand| self.gates.key_rates.frees_at(&demand.queue, now));
        next.min()?.duration_since(now).try_into().ok()
    }

    fn next_due(&self, request: &ClaimRequest, now: Timestamp) -> Option<Duration> {
        let queues = request.queues.iter();
        let next =
            queues.filter_map(|demand| self.index.next_due(&demand.queue, &request.known)).min()?;
        next.duration_since(now).try_into().ok()
    }
}
