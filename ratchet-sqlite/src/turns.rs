//! Claims of a fair queue: the tenants take turns.

use std::collections::HashMap;

use ratchet_store::model::{ClaimRequest, LeaseId};
use ratchet_store::rules::ClaimPlan;
use ratchet_store::rules::turns::{Line, Turn, Turns};

use crate::claim::Selection;
use crate::due_jobs::{DueJob, DuePage, Place, place};
use crate::error::is_unreadable;
use crate::session::Session;
use crate::sql;

/// The number of jobs that are read at once to find those without a tenant.
const PAGE: usize = 256;

/// A claim of one fair queue.
#[derive(Clone, Copy)]
pub(crate) struct FairQueue<'a> {
    pub(crate) queue: &'a str,
    pub(crate) request: &'a ClaimRequest,
    pub(crate) lease: LeaseId,
}

/// The jobs without a tenant that take part in the turns.
#[derive(Debug)]
enum Leading {
    None,
    /// Those before this position.
    Before(Place),
    All,
}

impl Leading {
    /// Returns `true` if none of them is after this position.
    fn ends_at(&self, at: &Place) -> bool {
        match self {
            Self::None => true,
            Self::Before(bound) => at >= bound,
            Self::All => false,
        }
    }

    fn contains(&self, job: &DueJob) -> bool {
        job.claimed.spec.tenant.is_none() && !self.ends_at(&job.place)
    }
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
        let leading = self.leading(fair, selection, plan).await?;
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
                    for Line { tenant, limit } in lines {
                        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
                        let after = read.get(&tenant);
                        let page = match (tenant.as_str(), &leading) {
                            ("", Leading::None) => {
                                turns.add_jobs("", [], true);
                                continue;
                            }
                            ("", _) => self.line(queue, limit.max(PAGE), after).await?,
                            _ => self.line_of_tenant(queue, &tenant, limit, after).await?,
                        };
                        let (mut jobs, last) = self.readable(fair, &page, selection).await?;
                        let mut end = last.is_none();
                        if tenant.is_empty() {
                            end |= last.as_ref().is_some_and(|last| leading.ends_at(last));
                            jobs.retain(|job| leading.contains(job));
                        }
                        turns.add_jobs(&tenant, jobs, end);
                        read.extend(last.map(|last| (tenant, last)));
                    }
                    continue;
                }
                Turn::Offer { tenant, job } => {
                    let candidate = job.candidate(request);
                    self.read_key(&candidate, plan).await?;
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

    /// Finds the jobs without a tenant that take part: those before the first claimable job of any tenant.
    async fn leading(
        &mut self,
        fair: FairQueue<'_>,
        selection: &mut Selection,
        plan: &mut ClaimPlan,
    ) -> Result<Leading, sqlx::Error> {
        let (mut after, mut some) = (None, false);
        // Most often, the first job has a tenant.
        let mut limit = 1;
        loop {
            let page = self.line(fair.queue, limit, after.as_ref()).await?;
            let (jobs, last) = self.readable(fair, &page, selection).await?;
            for job in jobs {
                if job.claimed.spec.tenant.is_none() {
                    some = true;
                    continue;
                }
                let candidate = job.candidate(fair.request);
                self.read_key(&candidate, plan).await?;
                if plan.can_run(&candidate) {
                    return Ok(if some { Leading::Before(job.place) } else { Leading::None });
                }
            }
            if last.is_none() {
                return Ok(if some { Leading::All } else { Leading::None });
            }
            (after, limit) = (last, PAGE);
        }
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
