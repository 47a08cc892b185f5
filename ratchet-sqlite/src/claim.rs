//! Claims: offers the line of each queue to a [`ClaimPlan`] in order, and starts the accepted jobs with one statement.

use std::collections::HashMap;
use std::time::Duration;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{ClaimReply, ClaimRequest, JobState, LeaseId, QueueDemand};
use ratchet_store::rules::claim::{Accepted, Candidate, ClaimPlan, Holders, Obstacle};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;

use crate::due_jobs::{DueJob, place};
use crate::error::is_unreadable;
use crate::gates::probe_name;
use crate::key_rates::Refused;
use crate::session::Session;
use crate::sql;
use crate::turns::FairQueue;
use crate::value::{bytes, changed, json, number};

/// The most future jobs of a template that one claim promotes. The rest are promoted by the next claim, which is due at
/// once.
const PROMOTE_MOST: i64 = 5_000;

/// The most jobs that one claim examines per queue. Blocked jobs are set aside, so the next claim gets further.
const LOOK_MOST: usize = 20_000;

/// The most lanes that the survey returns. If there are more, a claim reads those of the names that it knows.
const SURVEY_LANES: usize = 200;

/// The kinds of rows that the survey returns.
const NODE: i64 = 0;
const KIND: i64 = 1;
const RULES: i64 = 2;
const BREAKER: i64 = 3;

/// The jobs that a claim has examined so far.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) chosen: Vec<DueJob>,
    /// Jobs that cannot run now, and whether the claimer knows their name.
    passed: Vec<(DueJob, bool)>,
    /// A queue was not examined to its end.
    more: bool,
    /// Jobs that cannot be read, by their row id.
    pub(crate) unreadable: Vec<(i64, sqlx::Error)>,
    /// The keys of jobs that were passed over because the rate of the key is used up.
    refused: Refused,
}

impl Selection {
    /// Adds a job that was offered to the plan.
    pub(crate) fn add(&mut self, mut job: DueJob, known: bool, offer: Result<Accepted, Obstacle>) {
        match offer {
            Ok(accepted) => {
                job.claimed.probe = accepted.probe;
                self.chosen.push(job);
            }
            Err(Obstacle::Isolation | Obstacle::Suspect) => {}
            Err(obstacle) => {
                let spec = &job.claimed.spec;
                if let (Obstacle::KeyRate { until }, Some(key)) = (obstacle, &spec.concurrency) {
                    self.refused.insert((spec.queue.clone(), key.key.clone()), until);
                }
                self.passed.push((job, known));
            }
        }
    }
}

impl Session<'_> {
    pub(crate) async fn claim(
        &mut self,
        request: &ClaimRequest,
    ) -> Result<ClaimReply, sqlx::Error> {
        let queues: Vec<_> = request.queues.iter().map(|demand| demand.queue.as_str()).collect();
        let survey = sqlx::query(sql::claim::SURVEY)
            .bind(json(&queues)?)
            .bind(bytes(request.node.uuid()))
            .bind(i64::try_from(SURVEY_LANES).unwrap_or(i64::MAX));
        let survey = survey.fetch_all(&mut *self.conn).await?;
        let mut survey = survey.into_iter();
        let Some(node) = survey.next() else { return Ok(ClaimReply::default()) };
        if node.try_get::<i64, _>(0)? != NODE || node.try_get::<i64, _>(1)? <= self.micros() {
            return Ok(ClaimReply::default());
        }
        let mut next_due = None;
        let mut plan = ClaimPlan::new(&request.queues, request.suspects, self.now);
        let mut lanes = Vec::new();
        for row in survey {
            match row.try_get(0)? {
                KIND => {
                    let due = self.promote(&row, request).await?;
                    next_due = [next_due, due].into_iter().flatten().min();
                }
                RULES => self.read_rules(&row, &mut plan).await?,
                BREAKER => self.read_breaker(&row, &mut plan).await?,
                _ => lanes.push(row),
            }
        }
        if lanes.len() >= SURVEY_LANES {
            lanes = self.known_lanes(&queues, request).await?;
        }
        // The gates are known now.
        for lane in lanes {
            self.bring_back_runnable(&lane, request, &plan).await?;
        }
        let rated = queues.iter().any(|queue| plan.rate_per_key(queue).is_some());
        let more = rated && self.bring_back_rated(request, &mut plan).await?;

        let lease = new_lease();
        let mut selection = Selection { more, ..Selection::default() };
        for demand in &request.queues {
            match plan.turns(&demand.queue) {
                None => self.choose(demand, request, lease, &mut selection, &mut plan).await?,
                Some(turns) => {
                    let fair = FairQueue { queue: &demand.queue, request, lease };
                    self.choose_in_turns(fair, turns, &mut selection, &mut plan).await?;
                }
            }
        }
        for (seq, error) in std::mem::take(&mut selection.unreadable) {
            self.set_unreadable(seq, &error).await?;
        }
        if plan.isolated_seen()
            && let Some(first) = self.first_if_isolated(request, lease, &mut plan).await?
        {
            // Jobs that were skipped for slots of the chosen jobs are no longer blocked, so `passed` is discarded.
            selection = Selection { chosen: vec![first], more, ..Selection::default() };
        }
        if selection.passed.len() > self.max_skipped {
            let jobs =
                selection.passed.iter().filter(|(candidate, _)| candidate.claimed.crashes == 0);
            let jobs =
                jobs.map(|(candidate, known)| (candidate.seq, &*candidate.claimed.spec, *known));
            self.set_aside(jobs.collect()).await?;
        }
        self.start(&selection.chosen, lease, request).await?;
        let (isolated_waiting, suspects_waiting) =
            (plan.isolated_waiting(), plan.suspects_waiting());
        for (queue, rules) in plan.spend(self.now) {
            self.save_rules(queue, rules).await?;
        }
        let key_frees_in = if rated {
            self.save_key_rates(&queues, &selection.refused, &mut plan).await?
        } else {
            None
        };
        next_due = [next_due, plan.opens_in(), key_frees_in].into_iter().flatten().min();
        Ok(ClaimReply {
            jobs: selection.chosen.into_iter().map(|candidate| candidate.claimed).collect(),
            isolated_waiting,
            suspects_waiting,
            next_due: if selection.more { Some(Duration::ZERO) } else { next_due },
        })
    }

    /// Promotes the due jobs of a template. Returns the time until its next future job, if the claimer knows its name.
    async fn promote(
        &mut self,
        kind: &SqliteRow,
        request: &ClaimRequest,
    ) -> Result<Option<Duration>, sqlx::Error> {
        let now = self.micros();
        let id: i64 = kind.try_get(1)?;
        let mut first: Option<i64> = kind.try_get(4)?;
        if first.is_some_and(|due| due <= now) {
            sqlx::query(sql::claim::PROMOTE_JOBS)
                .bind(id)
                .bind(now)
                .bind(PROMOTE_MOST)
                .execute(&mut *self.conn)
                .await?;
            let rest = sqlx::query(sql::claim::FIRST_FUTURE).bind(id);
            first = rest.fetch_one(&mut *self.conn).await?.try_get(0)?;
        }
        let known = kind
            .try_get(2)
            .and_then(|name| Ok(request.known.knows(name, number(kind.try_get(3)?)?)))
            .unwrap_or(false);
        let wait = |due: i64| Duration::from_micros(due.saturating_sub(now).max(0).unsigned_abs());
        Ok(first.filter(|_| known).map(wait))
    }

    /// Chooses jobs of one queue in order, up to its limit.
    async fn choose(
        &mut self,
        demand: &QueueDemand,
        request: &ClaimRequest,
        lease: LeaseId,
        selection: &mut Selection,
        plan: &mut ClaimPlan,
    ) -> Result<(), sqlx::Error> {
        let mut looked = 0;
        let mut after = None;
        loop {
            let left = usize::try_from(plan.room(&demand.queue)).unwrap_or(usize::MAX);
            if left == 0 {
                break;
            }
            // After a page that did not suffice, read larger pages.
            let limit = if after.is_none() { left } else { left.max(256) }.min(LOOK_MOST);
            let line = self.line(&demand.queue, limit, after.as_ref()).await?;
            let rows = line.rows()?;
            let (count, end) = (rows.len(), rows.len() < limit);
            looked += count;
            for row in rows {
                let place = place(&row)?;
                after = Some(place.clone());
                if plan.room(&demand.queue) == 0 {
                    break;
                }
                let seq = row.0[0].unwrap_or_default();
                let job = match self.read(row, place, &line, request, lease).await {
                    Ok(job) => job,
                    Err(error) if is_unreadable(&error) => {
                        selection.unreadable.push((seq, error));
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let candidate = job.candidate(request);
                self.read_key(&candidate, plan).await?;
                let (known, offer) = (candidate.known, plan.offer(&candidate));
                selection.add(job, known, offer);
            }
            if end {
                break;
            }
            if looked >= LOOK_MOST {
                selection.more |= plan.room(&demand.queue) > 0;
                break;
            }
        }
        Ok(())
    }

    /// Returns the first of all claimable jobs, if it must run in isolation and the request allows it. Nothing else is
    /// then chosen.
    async fn first_if_isolated(
        &mut self,
        request: &ClaimRequest,
        lease: LeaseId,
        plan: &mut ClaimPlan,
    ) -> Result<Option<DueJob>, sqlx::Error> {
        if !request.suspects.isolated {
            return Ok(None);
        }
        // The search is made as if no job had been chosen.
        let mut fresh = plan.clone();
        fresh.restart();
        let mut firsts = Vec::new();
        for QueueDemand { queue, .. } in &request.queues {
            if fresh.room(queue) > 0
                && let Some(job) = self.first(queue, request, lease, &mut fresh).await?
            {
                firsts.push((job.place.clone(), job.claimed.crashes, job));
            }
        }
        let Some(mut first) = fresh.first_if_isolated(firsts) else { return Ok(None) };
        first.claimed.probe = fresh.accept(&first.candidate(request)).probe;
        *plan = fresh;
        Ok(Some(first))
    }

    /// Returns the first job of a queue that can run.
    async fn first(
        &mut self,
        queue: &str,
        request: &ClaimRequest,
        lease: LeaseId,
        plan: &mut ClaimPlan,
    ) -> Result<Option<DueJob>, sqlx::Error> {
        const PAGE: usize = 64;
        let mut after = None;
        loop {
            let line = self.line(queue, PAGE, after.as_ref()).await?;
            let rows = line.rows()?;
            let end = rows.len() < PAGE;
            for row in rows {
                let place = place(&row)?;
                after = Some(place.clone());
                let job = match self.read(row, place, &line, request, lease).await {
                    Ok(job) => job,
                    Err(error) if is_unreadable(&error) => continue,
                    Err(error) => return Err(error),
                };
                let candidate = job.candidate(request);
                self.read_key(&candidate, plan).await?;
                if plan.can_run(&candidate) {
                    return Ok(Some(job));
                }
            }
            if end {
                return Ok(None);
            }
        }
    }

    /// Counts the runs that hold the concurrency key of a job, and reads the state of its rate, once per claim.
    pub(crate) async fn read_key(
        &mut self,
        job: &Candidate<'_>,
        plan: &mut ClaimPlan,
    ) -> Result<(), sqlx::Error> {
        if let Some(key) = plan.uncounted_key(job) {
            plan.set_holders(key, Holders::Runs(self.slots_taken(key).await?));
        }
        self.read_key_rate(job, plan).await
    }

    async fn start(
        &mut self,
        chosen: &[DueJob],
        lease: LeaseId,
        request: &ClaimRequest,
    ) -> Result<(), sqlx::Error> {
        if chosen.is_empty() {
            return Ok(());
        }
        let jobs: Vec<_> = chosen.iter().map(|candidate| candidate.seq).collect();
        let started = sqlx::query(sql::claim::START_JOBS)
            .bind(json(&jobs)?)
            .bind(bytes(request.node.uuid()))
            .bind(bytes(lease.uuid()))
            .bind(request.starting)
            .bind(self.micros())
            .execute(&mut *self.conn)
            .await?;
        changed(&started, jobs.len())?;
        crash_point(CrashPoint::ClaimTaken);
        self.mark_probes(chosen).await?;
        for candidate in chosen {
            self.effects.count(candidate.template, JobState::Pending, -1);
            self.effects.count(candidate.template, JobState::Running, 1);
        }
        Ok(())
    }

    async fn mark_probes(&mut self, chosen: &[DueJob]) -> Result<(), sqlx::Error> {
        let mut probes: HashMap<String, Vec<i64>> = HashMap::new();
        for candidate in chosen {
            if let (Some(service), Some(opening)) =
                (&candidate.claimed.spec.service, candidate.claimed.probe)
            {
                probes.entry(probe_name(service, opening)).or_default().push(candidate.seq);
            }
        }
        for (probe, jobs) in probes {
            let query = sqlx::query(sql::gate::MARK_PROBES).bind(json(&jobs)?).bind(probe);
            query.execute(&mut *self.conn).await?;
        }
        Ok(())
    }
}

/// Creates a random lease id, so that two processes never claim under the same lease.
fn new_lease() -> LeaseId {
    LeaseId::from_uuid(Uuid::from_u128(fastrand::u128(..)))
}
