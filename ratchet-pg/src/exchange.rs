//! The fast path: one statement settles successes and claims jobs, in one commit.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    ClaimReply, ClaimRequest, Claimed, JobId, JobSpec, NodeId, Settlement, Verdict,
};
use tokio::time::Instant;
use uuid::Uuid;

use crate::claim::{Known, suspect_from};
use crate::claimed_columns::{self, ClaimedColumns};
use crate::db;
use crate::decode_claim::{Claims, Taken, protocol_error};
use crate::fault::Fault;
use crate::graph;
use crate::leases::Place;
use crate::record::notes_of;
use crate::scan_start::Rank;
use crate::spec::{cleaned, duration, micros, to_i32};
use crate::store::Inner;
use crate::unconfirmed_claims::ClaimInFlight;
use crate::unreadable::{Unread, is_unreadable};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// Successes to be settled, lease by lease. The values of a run are at the position of the run in its lease.
#[derive(Debug, Default)]
pub(crate) struct Successes<'a> {
    leases: Vec<Uuid>,
    low: Vec<i32>,
    high: Vec<i32>,
    jobs: Vec<Option<Uuid>>,
    durations: Vec<Option<i64>>,
    outputs: Vec<Option<Cow<'a, str>>>,
    count: i64,
    /// Whether one of the leases has runs with keys.
    keyed: bool,
}

impl<'a> Successes<'a> {
    /// Puts settlements at the positions of their runs.
    pub(crate) fn new(settlements: &[(&'a Settlement, Place)]) -> Self {
        let mut all = Self::default();
        let mut starts = HashMap::new();
        for (settlement, place) in settlements {
            let start = *starts.entry(settlement.token.lease).or_insert_with(|| {
                let start = all.jobs.len();
                all.leases.push(settlement.token.lease.uuid());
                all.jobs.resize(start + place.of, None);
                all.durations.resize(start + place.of, None);
                all.outputs.resize(start + place.of, None);
                // SQL arrays are one-based.
                let bound = |at: usize| i32::try_from(at).unwrap_or(i32::MAX);
                all.low.push(bound(start + 1));
                all.high.push(bound(start + place.of));
                start
            });
            let at = start + place.at;
            all.jobs[at] = Some(settlement.token.job.uuid());
            all.durations[at] = Some(micros(settlement.duration));
            if let Verdict::Succeed { output: Some(output) } = &settlement.verdict {
                all.outputs[at] = Some(cleaned(output));
            }
            all.count += 1;
            all.keyed |= place.keyed;
        }
        all
    }
}

/// The result of an exchange, apart from the claimed jobs.
#[derive(Debug)]
pub(crate) struct ExchangeStatus {
    pub(crate) now: i64,
    /// A job is due and must be promoted first. Nothing was claimed.
    pub(crate) due_waits: bool,
    /// A key or a suspect job requires the slow path. Nothing was claimed.
    pub(crate) long: bool,
    /// The statement supports neither lookups nor breakers. Then `long` may mean only that one of them was needed.
    pub(crate) plain: bool,
    /// The jobs that were applied, if some successes were not.
    pub(crate) applied: Option<Vec<Uuid>>,
    /// Queues in which a slot was freed.
    pub(crate) freed: Vec<String>,
}

impl ExchangeStatus {
    /// Returns whether the claim was answered.
    pub(crate) fn answered(&self) -> bool {
        !self.due_waits && !self.long
    }
}

impl Inner {
    /// Settles and claims. If the job of a success already has an outcome, the whole statement fails with a unique
    /// violation.
    pub(crate) async fn exchange(
        &self,
        db: &mut PgConnection,
        successes: Successes<'_>,
        request: Option<&ClaimRequest>,
        in_flight: &ClaimInFlight<'_>,
    ) -> Result<(ExchangeStatus, ClaimReply), Fault> {
        let demands = request.map_or(&[][..], |request| &request.queues);
        let known = request.map(Known::of).unwrap_or_default();
        let leases: Vec<_> = demands.iter().map(|_| self.ids.lease().uuid()).collect();
        let node = request.map_or_else(|| NodeId::from_uuid(Uuid::nil()), |request| request.node);
        in_flight.expect(&leases);
        let turn = match request {
            Some(_) => Some(self.claim_turnstile.wait().await),
            None => None,
        };
        let (began, start) = (Instant::now(), self.bounds.of(node, demands));
        let from = &start.from;
        crash_point(CrashPoint::ExchangeBefore);
        // A statement has a startup cost that depends on its size. It is a fifth lower without the part for keys, at
        // least a quarter lower without lookups, breakers and conditions, and half for a claim alone, which determines
        // the latency of a single job.
        let settles = successes.count > 0;
        let plain = !self.plain_claims.need_lookups() && !successes.keyed;
        let statement = match (settles, plain) {
            (true, _) if successes.keyed => self.sql.exchange_keyed(),
            (true, true) => self.sql.exchange_plain(),
            (true, false) => self.sql.exchange(),
            (false, true) => self.sql.claim_plain(),
            (false, false) => self.sql.claim_only(),
        };
        let mut query = db::query(statement)
            .bind(demands.iter().map(|demand| demand.queue.as_str()).collect::<Vec<_>>())
            .bind(demands.iter().map(|demand| to_i32(demand.limit)).collect::<Vec<_>>())
            .bind(&leases)
            .bind(from.iter().map(|rank| rank.sort_key).collect::<Vec<_>>())
            .bind(node.uuid())
            .bind(known.names)
            .bind(known.versions)
            .bind(request.map_or(i32::MAX, |request| suspect_from(request.suspects)))
            .bind(request.is_some_and(|request| request.starting))
            .bind(from.iter().map(|rank| rank.due).collect::<Vec<_>>())
            .bind(from.iter().map(|rank| rank.job).collect::<Vec<_>>());
        if settles {
            query = query
                .bind(successes.leases)
                .bind(successes.low)
                .bind(successes.high)
                .bind(successes.jobs)
                .bind(successes.durations)
                .bind(successes.outputs)
                .bind(successes.count);
        }
        let rows = query.fetch_all(&mut *db).await?;
        if let Some(turn) = turn {
            turn.over().await;
        }
        crash_point(CrashPoint::ExchangeAfter);
        self.bounds.took(node, demands, &start, began.elapsed());
        let (mut status_row, mut lines, mut rest) = (None, Vec::new(), Vec::new());
        for row in &rows {
            if let Some(now) = row.try_get::<Option<i64>, _>(0)? {
                status_row = Some((status(row, now, plain)?, next_due(row, now)?));
            } else if let Some(line) = ClaimedColumns::of(row)? {
                lines.push(line);
            } else {
                rest.push(row);
            }
        }
        let ((status_row, emptied), next_due) =
            status_row.ok_or_else(|| protocol_error("an exchange returned no status row"))?;
        self.leases.forget(&emptied);
        if !rest.is_empty() || status_row.long {
            self.plain_claims.lookup_needed();
        } else if !lines.is_empty() {
            self.plain_claims.lookup_avoided();
        }
        let mut reply = ClaimReply { next_due, ..ClaimReply::default() };
        if let Some(request) = request.filter(|_| status_row.answered()) {
            let claims = Claims { request, leases: &leases, now: status_row.now };
            let taken = claims.in_line(lines, &rest, claimed_columns::JOB)?;
            let jobs = self.claimed(db, &leases, taken).await?;
            let claimed = |(queue, lease): (_, &Uuid)| {
                let of_queue = |job: &&Claimed| job.token.lease.uuid() == *lease;
                Some((queue, Rank::of(jobs.iter().rfind(of_queue)?)))
            };
            let queues = demands.iter().map(|demand| demand.queue.as_str());
            let claimed = queues.zip(&leases).filter_map(claimed);
            self.bounds.raise(request.node, &start, claimed);
            reply.jobs = jobs;
        }
        Ok((status_row, reply))
    }

    /// Remembers the leases of claimed jobs, which must be in the order of their leases. Returns the jobs in queue
    /// order. Jobs that cannot be read are noted.
    pub(crate) async fn claimed(
        &self,
        db: &mut PgConnection,
        leases: &[Uuid],
        taken: Taken,
    ) -> Result<Vec<Claimed>, Fault> {
        let Taken { mut jobs, unread } = taken;
        // A lease with a gap is not remembered, because its positions would be wrong.
        let to_u64 =
            |job: &Claimed| unread.iter().all(|unread| unread.lease != Some(job.token.lease));
        self.leases.remember(
            leases,
            jobs.iter().filter(|(_, job)| to_u64(job)).map(|(place, job)| {
                let step = job.spec.step.as_deref().map(graph::Place::of);
                (*place, job.token, step, has_keys(&job.spec))
            }),
        );
        // The database returns them in this order, but does not guarantee it.
        let order = |(place, job): &(usize, Claimed)| {
            (*place, job.spec.sort_key(job.due.as_microsecond()), job.due, job.id())
        };
        if !jobs.is_sorted_by_key(order) {
            jobs.sort_by_key(order);
        }
        self.noted.note(unread);
        let mut jobs: Vec<_> = jobs.into_iter().map(|(_, job)| job).collect();
        self.add_notes(db, &mut jobs).await?;
        Ok(jobs)
    }

    /// Adds the notes of earlier runs. A first run has none. A job whose notes cannot be read is removed.
    async fn add_notes(&self, db: &mut PgConnection, jobs: &mut Vec<Claimed>) -> Result<(), Fault> {
        let again: Vec<_> =
            jobs.iter().filter(|job| job.run > 1).map(|job| job.id().uuid()).collect();
        if again.is_empty() {
            return Ok(());
        }
        let mut found = HashMap::new();
        for row in db::query(self.sql.select_notes()).bind(again).fetch_all(db).await? {
            found.insert(JobId::from_uuid(row.try_get("job")?), notes_of(&row));
        }
        let mut failed = None;
        jobs.retain_mut(|job| match found.remove(&job.id()) {
            None => true,
            Some(Ok(notes)) => {
                (job.progress, job.checkpoint) = notes;
                true
            }
            Some(Err(error)) if is_unreadable(&error) => {
                self.noted.note([Unread::new(job.id(), Some(job.token.lease), &error)]);
                false
            }
            Some(Err(error)) => {
                failed = Some(error);
                true
            }
        });
        failed.map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Returns whether a run of this job frees a key or slot when it ends.
fn has_keys(spec: &JobSpec) -> bool {
    spec.business_key.is_some() || spec.concurrency.is_some()
}

fn status(row: &PgRow, now: i64, plain: bool) -> Result<(ExchangeStatus, Vec<Uuid>), sqlx::Error> {
    let status_row = ExchangeStatus {
        now,
        due_waits: row.try_get("due_waits")?,
        long: row.try_get("long")?,
        plain,
        applied: row.try_get("applied")?,
        freed: row.try_get("freed")?,
    };
    Ok((status_row, row.try_get("emptied")?))
}

fn next_due(row: &PgRow, now: i64) -> Result<Option<Duration>, sqlx::Error> {
    let next: Option<i64> = row.try_get("next_due")?;
    Ok(next.map(|next| duration(next - now)))
}
