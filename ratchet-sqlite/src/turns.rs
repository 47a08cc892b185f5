//! Claims of a fair queue: the tenants take turns.

use std::collections::HashMap;

use ratchet_store::model::{ClaimRequest, LeaseId};
use ratchet_store::rules::ClaimPlan;
use ratchet_store::rules::turns::{Line, Turn, Turns};

use crate::claim::{LOOK_MOST, Selection};
use crate::due_jobs::{DueJob, DuePage, Place, place};
use crate::error::is_unreadable;
use crate::session::Session;
use crate::sql;

/// A claim of one fair queue.
#[derive(Clone, Copy)]
pub(crate) struct FairQueue<'a> {
    pub(crate) queue: &'a str,
    pub(crate) request: &'a ClaimRequest,
    pub(crate) lease: LeaseId,
}

impl Session<'_> {
    /// Chooses jobs of a fair queue: one of each tenant in turn.
    pub(crate) async fn choose_in_turns(
        &mut self,
        fair: FairQueue<'_>,
        mut turns: Turns<DueJob>,
        selection: &mut Selection,
        plan: &mut ClaimPlan,
    ) -> Result<(), sqlx::Error> {
        let FairQueue { queue, request, .. } = fair;
        let first = selection.chosen.len();
        let mut leading = self.before_tenants(fair, selection, plan).await?;
        // The last job that was read of each tenant.
        let mut read: HashMap<String, Place> = HashMap::new();
        while plan.room(queue) > 0 {
            let (known, offer) = match turns.next() {
                Turn::End => break,
                Turn::List { after, limit } => {
                    let tenants = sqlx::query_scalar::<_, String>(sql::claim::LIST_TENANTS)
                        .bind(queue)
                        .bind(after)
                        .bind(i64::try_from(limit).unwrap_or(i64::MAX));
                    let tenants = tenants.fetch_all(&mut *self.conn).await?;
                    turns.add_tenants(tenants);
                    continue;
                }
                Turn::Read(lines) => {
                    turns.add_jobs("", std::mem::take(&mut leading), true);
                    for Line { tenant, limit } in lines {
                        if tenant.is_empty() {
                            continue;
                        }
                        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
                        let after = read.get(&tenant);
                        let page = self.line_of_tenant(queue, &tenant, limit, after).await?;
                        let (jobs, last) = self.readable(fair, &page, selection).await?;
                        turns.add_jobs(&tenant, jobs, page.rows()?.len() < limit);
                        read.extend(last.map(|last| (tenant, last)));
                    }
                    continue;
                }
                Turn::Offer { tenant, job } => {
                    let candidate = job.candidate(request);
                    self.count_holders(&candidate, plan).await?;
                    let offer = plan.offer(&candidate);
                    if offer.is_ok() {
                        plan.had_turn(queue, tenant);
                    }
                    (candidate.known, offer)
                }
            };
            let Some(job) = turns.offered(offer.is_ok()) else { break };
            selection.add(job, known, offer);
        }
        // All of them start at once. As in other queues, they are in the order of the queue.
        selection.chosen[first..].sort_by(|a, b| a.place.cmp(&b.place));
        Ok(())
    }

    /// Returns the jobs without a tenant that are before the first claimable job of any tenant, as many as can be
    /// claimed.
    async fn before_tenants(
        &mut self,
        fair: FairQueue<'_>,
        selection: &mut Selection,
        plan: &mut ClaimPlan,
    ) -> Result<Vec<DueJob>, sqlx::Error> {
        let room = usize::try_from(plan.room(fair.queue)).unwrap_or(usize::MAX);
        let (mut jobs, mut after, mut looked) = (Vec::new(), None, 0);
        // Most often, the first job has a tenant.
        let mut limit = 1;
        while jobs.len() < room && looked < LOOK_MOST {
            let page = self.line(fair.queue, limit, after.as_ref()).await?;
            let (found, last) = self.readable(fair, &page, selection).await?;
            for job in found {
                if job.claimed.spec.tenant.is_none() {
                    jobs.push(job);
                    continue;
                }
                let candidate = job.candidate(fair.request);
                self.count_holders(&candidate, plan).await?;
                if plan.can_run(&candidate) {
                    return Ok(jobs);
                }
            }
            let count = page.rows()?.len();
            if count < limit {
                break;
            }
            looked += count;
            (after, limit) = (last, 256);
        }
        Ok(jobs)
    }

    /// Returns the jobs of a page that can be read, and the position of its last job.
    async fn readable(
        &mut self,
        fair: FairQueue<'_>,
        page: &DuePage<'_>,
        selection: &mut Selection,
    ) -> Result<(Vec<DueJob>, Option<Place>), sqlx::Error> {
        let (mut jobs, mut last) = (Vec::new(), None);
        for row in page.rows()? {
            let (seq, at) = (row.0[0].unwrap_or_default(), place(&row)?);
            last = Some(at.clone());
            match self.read(row, at, page, fair.request, fair.lease).await {
                Ok(job) => jobs.push(job),
                Err(error) if is_unreadable(&error) => {
                    // It may be read twice, once in its place and once in the line of its tenant.
                    if selection.unreadable.iter().all(|(other, _)| *other != seq) {
                        selection.unreadable.push((seq, error));
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok((jobs, last))
    }
}
