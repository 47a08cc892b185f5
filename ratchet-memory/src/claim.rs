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
    ClaimReply, ClaimRequest, Claimed, ConcurrencyKey, Isolation, JobId, JobState, LeaseId,
    QueueDemand,
};
use ratchet_store::rules::Admission;

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
        let mut reply = ClaimReply { next_due: self.next_due(request, now), ..Default::default() };
        if let Some(id) = self.first_if_isolated(request, now) {
            reply.jobs.extend(self.start(id, lease, request, now));
        } else {
            for demand in &request.queues {
                self.claim_queue(demand, lease, request, now, &mut reply);
            }
        }
        let opens = self.gates_open_in(request, now);
        reply.next_due = [reply.next_due, opens].into_iter().flatten().min();
        reply
    }

    fn claim_queue(
        &mut self,
        demand: &QueueDemand,
        lease: LeaseId,
        request: &ClaimRequest,
        now: Timestamp,
        reply: &mut ClaimReply,
    ) {
        let most = demand.limit.min(self.gate(&demand.queue, now).most());
        let mut given = 0;
        let mut at = None;
        while given < most
            && let Some((place, lane)) =
                self.index.line(&demand.queue).and_then(|line| line.after(at))
        {
            at = Some(place);
            if !self.can_run(&lane, request, now) {
                continue;
            }
            if is_isolated(&lane, request.isolation) {
                reply.isolated_waiting = true;
            } else if let Some(claimed) = self.start(place.id, lease, request, now) {
                reply.jobs.push(claimed);
                given += 1;
            }
        }
    }

    /// Returns the first claimable job over all requested queues, if it must run isolated and the request allows it.
    fn first_if_isolated(&self, request: &ClaimRequest, now: Timestamp) -> Option<JobId> {
        if matches!(request.isolation, Isolation::NotNow { .. }) {
            return None;
        }
        let open =
            |demand: &&QueueDemand| demand.limit > 0 && self.gate(&demand.queue, now).most() > 0;
        let with_room = request.queues.iter().filter(open);
        let firsts = with_room.filter_map(|demand| self.first(&demand.queue, request, now));
        let (place, isolated) = firsts.min()?;
        isolated.then_some(place.id)
    }

    fn first(&self, queue: &str, request: &ClaimRequest, now: Timestamp) -> Option<(Place, bool)> {
        let due = self.index.line(queue)?;
        let mut at = None;
        loop {
            let (place, lane) = due.after(at)?;
            if self.can_run(&lane, request, now) {
                return Some((place, is_isolated(&lane, request.isolation)));
            }
            at = Some(place);
        }
    }

    fn can_run(&self, lane: &Lane, request: &ClaimRequest, now: Timestamp) -> bool {
        let has_room =
            |key: &ConcurrencyKey| key.has_room(self.keys.taken(&Slot::Key(key.key.clone())));
        request.known.knows(&lane.name, lane.version)
            && lane.conditions.iter().all(|condition| request.known.knows_condition(condition))
            && lane.concurrency.as_ref().is_none_or(has_room)
            && lane.service.as_ref().is_none_or(|service| match self.admits(service, now) {
                Admission::All => true,
                Admission::Probes { left, .. } => left > 0,
                Admission::Nothing { .. } => false,
            })
    }

    fn start(
        &mut self,
        id: JobId,
        lease: LeaseId,
        request: &ClaimRequest,
        now: Timestamp,
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
        if let Some(service) = &spec.service
            && let Admission::Probes { opening, .. } = self.admits(service, now)
        {
            self.keys.take_slot(Slot::Probe(service.clone(), opening), claimed.token);
            claimed.probe = Some(opening);
        }
        self.gates.claimed(&spec.queue, now);
        self.nodes.hold(request.node, id);
        Some(claimed)
    }

    fn next_due(&self, request: &ClaimRequest, now: Timestamp) -> Option<Duration> {
        let queues = request.queues.iter();
        let next =
            queues.filter_map(|demand| self.index.next_due(&demand.queue, &request.known)).min()?;
        next.duration_since(now).try_into().ok()
    }
}

fn is_isolated(lane: &Lane, isolation: Isolation) -> bool {
    lane.crashes >= isolation.after_crashes()
}
