//! Claims of a fair queue: the tenants take turns.

use std::collections::HashMap;
use std::sync::Arc;

use ratchet_store::model::Claimed;
use ratchet_store::rules::ClaimPlan;
use ratchet_store::rules::turns::{Line, Turn, Turns};

use super::claim::Call;
use super::ready::{Lane, Place};
use super::tables::Tables;

/// The first job of a lane.
type Head = (Place, Arc<Lane>);

impl Tables {
    /// Claims jobs of a fair queue: one of each tenant in turn.
    pub(super) fn claim_in_turns(
        &mut self,
        queue: &str,
        mut turns: Turns<Head>,
        call: Call<'_>,
        plan: &mut ClaimPlan,
        jobs: &mut Vec<Claimed>,
    ) {
        let first = jobs.len();
        let bound = self.first_with_tenant(queue, call, plan);
        let mut read = HashMap::new();
        while plan.room(queue) > 0 {
            let (tenant, place, lane) = match turns.next() {
                Turn::End => break,
                Turn::List { after, limit } => {
                    let line = self.index.line(queue).into_iter();
                    let tenants = line.flat_map(|line| line.tenants_after(after)).take(limit);
                    let tenants: Vec<_> = tenants.map(str::to_owned).collect();
                    turns.add_tenants(tenants);
                    continue;
                }
                Turn::Read(lines) => {
                    for Line { tenant, .. } in lines {
                        let at = read.get(&tenant).copied();
                        let next = self.next_of_tenant(queue, &tenant, at, bound);
                        read.extend(next.iter().map(|(place, _)| (tenant.clone(), *place)));
                        let end = next.is_none();
                        turns.add_jobs(&tenant, next, end);
                    }
                    continue;
                }
                Turn::Offer { tenant, job: (place, lane) } => {
                    (tenant.to_owned(), *place, Arc::clone(lane))
                }
            };
            let job = self.candidate(queue, &lane, call, plan);
            let offer = plan.offer(&job);
            turns.offered(offer.is_ok());
            if let Ok(accepted) = offer {
                plan.had_turn(queue, &tenant);
                jobs.extend(self.start(place.id, call, accepted));
            }
        }
        // All of them start at once. As in other queues, they are in the order of the queue.
        jobs[first..]
            .sort_by_key(|job| (job.spec.sort_key(job.due.as_microsecond()), job.due, job.id()));
    }

    /// Returns the next head of a tenant. The jobs without a tenant, whose name is empty, must be before a position.
    fn next_of_tenant(
        &self,
        queue: &str,
        tenant: &str,
        at: Option<Place>,
        bound: Option<Place>,
    ) -> Option<Head> {
        let line = self.index.line(queue)?;
        if !tenant.is_empty() {
            return line.of_tenant(tenant, at);
        }
        let mut next = line.after(at);
        while let Some((place, lane)) = next.take_if(|(_, lane)| lane.tenant.is_some()) {
            drop(lane);
            next = line.after(Some(place));
        }
        next.filter(|(place, _)| bound.is_none_or(|bound| *place < bound))
    }

    /// Returns the position of the first claimable job of a queue that has a tenant.
    fn first_with_tenant(
        &self,
        queue: &str,
        call: Call<'_>,
        plan: &mut ClaimPlan,
    ) -> Option<Place> {
        let line = self.index.line(queue)?;
        let mut at = None;
        loop {
            let (place, lane) = line.after(at)?;
            let job = self.candidate(queue, &lane, call, plan);
            if lane.tenant.is_some() && plan.can_run(&job) {
                return Some(place);
            }
            at = Some(place);
        }
    }
}
