//! Claims: one statement on the fast path, and a transaction on the slow path if a key, an isolated job or a due time
//! requires it.

mod key_rates;
mod turns;

use std::collections::BTreeMap;
use std::time::Duration;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    ClaimReply, ClaimRequest, ConcurrencyKey, QueueDemand, Suspects, Suspicion,
};
use ratchet_store::rules::claim::{Accepted, Candidate, ClaimPlan, Holders, Obstacle};
use uuid::Uuid;

use self::key_rates::Refused;
use crate::db;
use crate::decode_claim::Claims;
use crate::exchange::Successes;
use crate::fault::{Fault, transact};
use crate::gates::probe_key;
use crate::scan_start::{FIRST, Rank};
use crate::spec::{duration, instant, to_i32, to_u32, to_u64};
use crate::store::Inner;
use crate::unclaimable::is_unclaimable;
use crate::unconfirmed_claims::ClaimInFlight;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// The most due jobs that one claim promotes per queue.
const PROMOTED: i64 = 5000;

/// The number of candidates that the slow path examines at once.
const WINDOW: u32 = 100;

/// The number of candidates that the slow path examines at once when it sets aside jobs.
const LONG_WINDOW: u32 = 1000;

/// How often a claim tries the fast path, promoting due jobs in between, before it takes the slow path.
const TURNS: u32 = 3;

/// The job names and versions that the claiming node knows, as columns.
#[derive(Debug, Default)]
pub(crate) struct Known<'a> {
    pub(crate) names: Vec<&'a str>,
    pub(crate) versions: Vec<i32>,
}

impl<'a> Known<'a> {
    pub(crate) fn of(request: &'a ClaimRequest) -> Self {
        let (names, versions) =
            request.known.0.iter().map(|(name, version)| (name.as_str(), to_i32(*version))).unzip();
        Self { names, versions }
    }
}

/// Returns the number of crashes from which on the fast path leaves a job to the slow path.
pub(crate) fn suspect_from(suspects: Suspects) -> i32 {
    to_i32(Suspicion::begins_after(suspects.isolate_after))
}

impl Inner {
    pub(crate) async fn claim(&self, request: &ClaimRequest) -> Result<ClaimReply, Fault> {
        self.give_back_lost(false).await?;
        let mut reply = self.claim_all(request).await;
        if reply.as_ref().is_err_and(is_unclaimable)
            && self.set_aside_unclaimable(request).await? > 0
        {
            reply = self.claim_all(request).await;
        }
        self.try_to_set_aside_unreadable().await;
        reply
    }

    async fn claim_all(&self, request: &ClaimRequest) -> Result<ClaimReply, Fault> {
        let in_flight = self.unconfirmed_claims.begin();
        let mut db = self.pool.acquire().await?;
        let short = self.claim_fast(&mut db, request, &in_flight).await?;
        db.done().await?;
        let reply = match short {
            Some(reply) => reply,
            None => transact!(self, |db| self.claim_general(db, request, &in_flight).await?)?,
        };
        in_flight.confirm();
        Ok(reply)
    }

    /// Claims on the fast path, in one statement. Returns `None` if the slow path is required.
    async fn claim_fast(
        &self,
        db: &mut PgConnection,
        request: &ClaimRequest,
        in_flight: &ClaimInFlight<'_>,
    ) -> Result<Option<ClaimReply>, Fault> {
        for _ in 0..TURNS {
            let (status, reply) =
                self.exchange(db, Successes::default(), Some(request), in_flight).await?;
            if status.answered() {
                return Ok(Some(reply));
            }
            if status.long && status.plain {
                continue;
            }
            if status.long {
                break;
            }
            // Due jobs that another transaction has locked cannot be promoted. The slow path does without them.
            if self.promote(db, request, status.now).await? == 0 {
                break;
            }
        }
        Ok(None)
    }

    /// Moves due jobs to `ready`. Returns how many were moved.
    async fn promote(
        &self,
        db: &mut PgConnection,
        request: &ClaimRequest,
        now: i64,
    ) -> Result<u64, Fault> {
        let queues: Vec<_> = request.queues.iter().map(|demand| demand.queue.as_str()).collect();
        let moved = db::query(self.sql.promote_due())
            .bind(queues)
            .bind(now)
            .bind(PROMOTED)
            .execute(db)
            .await?;
        self.bounds.clear();
        Ok(moved.rows_affected())
    }

    /// Claims on the slow path, by examining candidates one by one. Keys that another claim has locked are skipped.
    async fn claim_general(
        &self,
        db: &mut PgConnection,
        request: &ClaimRequest,
        in_flight: &ClaimInFlight<'_>,
    ) -> Result<ClaimReply, Fault> {
        let now: Option<i64> = db::query_scalar(self.sql.select_room())
            .bind(request.node.uuid())
            .fetch_optional(&mut *db)
            .await?;
        let Some(now) = now else { return Ok(ClaimReply::default()) };
        let promoted = self.promote(db, request, now).await?;
        let queues: Vec<_> = request.queues.iter().map(|demand| demand.queue.as_str()).collect();
        let known = Known::of(request);
        let plan = self.claim_plan(db, request, now).await?;
        let mut walk = Walk::new(self, known, plan, now);
        let rated = walk.has_key_rates(request);
        let mut more = i64::try_from(promoted).is_ok_and(|promoted| promoted >= PROMOTED);
        if rated {
            for queue in &queues {
                more |= walk.bring_back_lanes(db, queue).await?;
            }
        }
        let mut chosen = Vec::new();
        if let Some(first) = walk.first_if_isolated(db, request).await? {
            chosen.push(first);
        } else {
            for demand in &request.queues {
                chosen.extend(match walk.plan.turns(&demand.queue) {
                    None => walk.queue(db, demand).await?,
                    Some(turns) => walk.queue_in_turns(db, &demand.queue, turns).await?,
                });
            }
        }
        // A claim promotes and brings back a limited number of jobs. If it reached the limit, more may be due.
        let next_due =
            if more { Some(Duration::ZERO) } else { walk.next_due(db, &queues, now).await? };
        // Read after all locks, so that the runs that freed these slots ended before these runs start.
        let now = self.now(&mut *db).await?;
        let leases: Vec<_> = queues.iter().map(|_| self.ids.lease().uuid()).collect();
        in_flight.expect(&leases);
        let rows = db::query(self.sql.take_chosen())
            .bind(chosen)
            .bind(&queues)
            .bind(&leases)
            .bind(request.node.uuid())
            .bind(now)
            .bind(request.starting)
            .bind(walk.probes.iter().map(|probe| probe.ctid.as_str()).collect::<Vec<_>>())
            .bind(walk.probes.iter().map(|probe| probe.key.as_str()).collect::<Vec<_>>())
            .fetch_all(&mut *db)
            .await?;
        crash_point(CrashPoint::ClaimTaken);
        let rows: Vec<_> = rows.iter().collect();
        let taken = Claims { request, leases: &leases, now }.looked_up(&rows, 0)?;
        let mut jobs = self.claimed(db, &leases, taken).await?;
        for job in &mut jobs {
            let probe = walk.probes.iter().find(|probe| probe.job == job.id().uuid());
            job.probe = probe.map(|probe| probe.opening);
        }
        let (isolated_waiting, suspects_waiting) =
            (walk.plan.isolated_waiting(), walk.plan.suspects_waiting());
        // `opens_in` counts from the time of the claim, so that a wait is not longer than its rule.
        for (queue, rules) in walk.plan.spend(instant(now)) {
            self.save_rules(db, queue, rules).await?;
        }
        let key_frees_in = if rated { walk.save_key_rates(db, &queues, now).await? } else { None };
        let next_due = [next_due, walk.plan.opens_in(), key_frees_in].into_iter().flatten().min();
        Ok(ClaimReply { jobs, isolated_waiting, suspects_waiting, next_due })
    }
}

/// A due job that may be claimed.
#[derive(Debug, Clone)]
struct DueJob {
    /// The `ctid` of its row. The row is locked, so it does not move.
    ctid: String,
    rank: Rank,
    crashes: u32,
    key: Option<ConcurrencyKey>,
    service: Option<String>,
    tenant: Option<String>,
}

impl DueJob {
    /// Returns what the rules of a claim need to know. The statement returns only jobs that the claimer knows.
    fn candidate<'a>(&'a self, queue: &'a str) -> Candidate<'a> {
        Candidate {
            queue,
            known: true,
            crashes: self.crashes,
            concurrency: self.key.as_ref(),
            service: self.service.as_deref(),
            // The statement returns no expired jobs.
            expired: false,
        }
    }
}

/// A job that probes a service whose breaker is half open.
struct Probe {
    ctid: String,
    job: Uuid,
    opening: u64,
    /// The slot key that it holds.
    key: String,
}

/// A walk over the due jobs of the requested queues.
struct Walk<'a> {
    inner: &'a Inner,
    known: Known<'a>,
    plan: ClaimPlan,
    /// Keys of which a job was skipped, with the limit up to which they are full. A key that another claim has locked
    /// is full for every job.
    full: BTreeMap<String, i32>,
    /// Jobs whose keys have used up their rate.
    refused: Refused,
    probes: Vec<Probe>,
    /// The time of the claim, by the store's clock.
    now: i64,
}

impl<'a> Walk<'a> {
    fn new(inner: &'a Inner, known: Known<'a>, plan: ClaimPlan, now: i64) -> Self {
        let (full, refused, probes) = (BTreeMap::new(), Refused::default(), Vec::new());
        Self { inner, known, plan, full, refused, probes, now }
    }
}

impl Walk<'_> {
    /// Chooses jobs of one queue in order.
    async fn queue(
        &mut self,
        db: &mut PgConnection,
        QueueDemand { queue, limit }: &QueueDemand,
    ) -> Result<Vec<String>, Fault> {
        let mut chosen = Vec::new();
        let (mut after, mut most) = (FIRST, WINDOW.max(*limit));
        while self.plan.room(queue) > 0 {
            let window = self.window(db, queue, after, most).await?;
            let Some(last) = window.last() else { break };
            after = last.rank;
            for job in window {
                if self.plan.room(queue) == 0 {
                    break;
                }
                match self.plan.offer(&job.candidate(queue)) {
                    Ok(accepted) => {
                        self.note_probe(&job, accepted);
                        chosen.push(job.ctid);
                    }
                    Err(Obstacle::KeyRate { until }) => {
                        self.refuse(queue, job, until);
                        most = LONG_WINDOW;
                    }
                    Err(_) => self.pass_over(&job),
                }
            }
        }
        Ok(chosen)
    }

    /// Chooses the first of all claimable jobs, if it must run in isolation and may run now.
    async fn first_if_isolated(
        &mut self,
        db: &mut PgConnection,
        request: &ClaimRequest,
    ) -> Result<Option<String>, Fault> {
        if !request.suspects.isolated {
            return Ok(None);
        }
        let mut firsts = Vec::new();
        let full = self.full.clone();
        for QueueDemand { queue, .. } in &request.queues {
            if self.plan.room(queue) > 0
                && let Some(job) = self.first(db, queue).await?
            {
                firsts.push((job.rank, job.crashes, (queue, job)));
            }
        }
        // A job whose key has used up its rate must be offered, so that it is set aside.
        self.full = full;
        let Some((queue, first)) = self.plan.first_if_isolated(firsts) else { return Ok(None) };
        let accepted = self.plan.accept(&first.candidate(queue));
        self.note_probe(&first, accepted);
        Ok(Some(first.ctid))
    }

    /// Returns the first job of a queue that can run.
    async fn first(&mut self, db: &mut PgConnection, queue: &str) -> Result<Option<DueJob>, Fault> {
        let mut after = FIRST;
        loop {
            let window = self.window(db, queue, after, WINDOW).await?;
            let Some(last) = window.last() else { return Ok(None) };
            after = last.rank;
            for job in window {
                if self.plan.can_run(&job.candidate(queue)) {
                    return Ok(Some(job));
                }
                self.pass_over(&job);
                if let Some(key) = &job.key
                    && self.plan.key_full_until(queue, &key.key).is_some()
                {
                    self.full.insert(key.key.clone(), i32::MAX);
                }
            }
        }
    }

    async fn window(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
        after: Rank,
        limit: u32,
    ) -> Result<Vec<DueJob>, Fault> {
        let rows = db::query(self.inner.sql.select_candidates())
            .bind(queue)
            .bind(after.sort_key)
            .bind(after.due)
            .bind(after.job)
            .bind(&self.known.names)
            .bind(&self.known.versions)
            .bind(i64::from(limit))
            .bind(self.plan.blocked_services())
            .bind(self.full.keys().collect::<Vec<_>>())
            .bind(self.full.values().copied().collect::<Vec<_>>())
            .bind(self.now)
            .fetch_all(&mut *db)
            .await?;
        self.read(db, queue, &rows).await
    }

    /// Reads due jobs, counts the runs that hold their keys, and reads the states of keys that have a rate.
    async fn read(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
        rows: &[PgRow],
    ) -> Result<Vec<DueJob>, Fault> {
        let window = rows.iter().map(due_job).collect::<Result<Vec<_>, _>>()?;
        let uncounted =
            |job: &DueJob| self.plan.uncounted_key(&job.candidate(queue)).map(str::to_owned);
        let mut keys: Vec<_> = window.iter().filter_map(uncounted).collect();
        keys.sort_unstable();
        keys.dedup();
        self.lock(db, keys).await?;
        self.read_key_rates(db, queue, &window).await?;
        Ok(window)
    }

    /// Locks keys, then counts the runs that hold them.
    async fn lock(&mut self, db: &mut PgConnection, keys: Vec<String>) -> Result<(), Fault> {
        if keys.is_empty() {
            return Ok(());
        }
        let sql = &self.inner.sql;
        let locked: Vec<String> =
            db::query_scalar(sql.lock_keys()).bind(&keys).fetch_all(&mut *db).await?;
        for key in keys {
            let holders = if locked.contains(&key) { Holders::Runs(0) } else { Holders::Locked };
            self.plan.set_holders(key, holders);
        }
        for row in db::query(sql.count_slots()).bind(locked).fetch_all(db).await? {
            let holders = Holders::Runs(to_u64(row.try_get("count")?));
            self.plan.set_holders(row.try_get::<String, _>("key")?, holders);
        }
        Ok(())
    }

    /// Skips a job that cannot run. If its key is the reason, later jobs of this key with the same or a lower limit are
    /// not examined.
    fn pass_over(&mut self, job: &DueJob) {
        if let Some(key) = job.key.as_ref().filter(|key| !self.plan.has_room(key)) {
            let locked = self.plan.is_locked(&key.key);
            let limit = if locked { i32::MAX } else { to_i32(key.limit) };
            let full = self.full.entry(key.key.clone()).or_insert(limit);
            *full = limit.max(*full);
        }
    }

    /// Remembers a job that probes its service.
    fn note_probe(&mut self, job: &DueJob, accepted: Accepted) {
        if let (Some(opening), Some(service)) = (accepted.probe, &job.service) {
            self.probes.push(Probe {
                ctid: job.ctid.clone(),
                job: job.rank.job,
                opening,
                key: probe_key(service, opening),
            });
        }
    }

    async fn next_due(
        &self,
        db: &mut PgConnection,
        queues: &[&str],
        now: i64,
    ) -> Result<Option<Duration>, Fault> {
        let next: Option<i64> = db::query_scalar(self.inner.sql.select_next_due())
            .bind(queues)
            .bind(&self.known.names)
            .bind(&self.known.versions)
            .bind(now)
            .fetch_one(db)
            .await?;
        Ok(next.map(|next| duration(next - now)))
    }
}

fn due_job(row: &PgRow) -> Result<DueJob, sqlx::Error> {
    let key: Option<String> = row.try_get("ckey")?;
    let limit = row.try_get::<Option<i32>, _>("climit")?.map_or(1, to_u32);
    Ok(DueJob {
        ctid: row.try_get("row_id")?,
        rank: Rank {
            sort_key: row.try_get("sort_key")?,
            due: row.try_get("due")?,
            job: row.try_get("job")?,
        },
        crashes: to_u32(row.try_get("crashes")?),
        key: key.map(|key| ConcurrencyKey { key, limit }),
        service: row.try_get("service")?,
        tenant: row.try_get("tenant")?,
    })
}
