//! Claiming: one statement where nothing is odd, a closer look where a key, a lonely job or a due time needs one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ratchet_core::model::{Alone, ClaimReply, ClaimRequest, NodeId, QueueRoom};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};
use tokio::time::Instant;
use uuid::Uuid;

use crate::record::claimed;
use crate::spec::{duration, small};
use crate::store::{Fault, Inner, transact};

/// How many jobs that fell due one claim moves at most, per queue.
const PROMOTED: i64 = 5000;

/// How many candidates are looked at in one go on the long way.
const WINDOW: u32 = 100;

/// What the claimer knows, as columns.
struct Known {
    names: Vec<String>,
    versions: Vec<i32>,
}

impl Known {
    fn of(request: &ClaimRequest) -> Self {
        let (names, versions) =
            request.known.0.iter().map(|(name, version)| (name.clone(), small(*version))).unzip();
        Self { names, versions }
    }
}

fn lonely_from(alone: Alone) -> i32 {
    let (Alone::No { crashes } | Alone::Yes { crashes }) = alone;
    small(crashes)
}

impl Inner {
    pub(crate) async fn claim(&self, request: &ClaimRequest) -> Result<ClaimReply, Fault> {
        let mut db = self.pool.acquire().await?;
        if let Some(reply) = self.claim_shortly(&mut db, request).await? {
            return Ok(reply);
        }
        drop(db);
        transact!(self, |db| self.claim_closely(db, request).await?)
    }

    /// Claims within a transaction.
    pub(crate) async fn claim_within(
        &self,
        db: &mut PgConnection,
        request: &ClaimRequest,
    ) -> Result<ClaimReply, Fault> {
        match self.claim_shortly(db, request).await? {
            Some(reply) => Ok(reply),
            None => self.claim_closely(db, request).await,
        }
    }

    /// Claims in one statement, unless something needs a closer look.
    async fn claim_shortly(
        &self,
        db: &mut PgConnection,
        request: &ClaimRequest,
    ) -> Result<Option<ClaimReply>, Fault> {
        let known = Known::of(request);
        let asked: Vec<_> = request.queues.iter().collect();
        let bounds = self.bounds.of(request.node, &asked);
        let rows = sqlx::query(self.sql.take_ready())
            .bind(asked.iter().map(|room| room.queue.clone()).collect::<Vec<_>>())
            .bind(asked.iter().map(|room| small(room.room)).collect::<Vec<_>>())
            .bind(asked.iter().map(|_| self.ids.lease().uuid()).collect::<Vec<_>>())
            .bind(bounds)
            .bind(request.node.uuid())
            .bind(known.names)
            .bind(known.versions)
            .bind(lonely_from(request.alone))
            .bind(request.starting)
            .fetch_all(db)
            .await?;
        let mut reply = ClaimReply::default();
        let mut last = HashMap::new();
        for row in &rows {
            if row.try_get::<bool, _>("long")? {
                return Ok(None);
            }
            reply.next_due = next_due(row)?;
            if row.try_get::<Option<Uuid>, _>("job")?.is_some() {
                let job = claimed(row, request.node)?;
                last.insert(job.spec.queue.clone(), row.try_get::<i64, _>("sort_key")?);
                reply.jobs.push(job);
            }
        }
        self.bounds.raise(request.node, last);
        Ok(Some(reply))
    }

    /// Claims by looking at candidates one by one. Keys that another claim decides on are passed over.
    async fn claim_closely(
        &self,
        db: &mut PgConnection,
        request: &ClaimRequest,
    ) -> Result<ClaimReply, Fault> {
        let now: Option<i64> = sqlx::query_scalar(self.sql.select_room())
            .bind(request.node.uuid())
            .fetch_optional(&mut *db)
            .await?;
        let Some(now) = now else { return Ok(ClaimReply::default()) };
        self.bounds.clear();
        let queues: Vec<_> = request.queues.iter().map(|room| room.queue.clone()).collect();
        sqlx::query(self.sql.promote_due())
            .bind(&queues)
            .bind(now)
            .bind(PROMOTED)
            .execute(&mut *db)
            .await?;
        let known = Known::of(request);
        let mut walk = Walk { inner: self, known, slots: HashMap::new() };
        let mut chosen = Vec::new();
        let mut lonely_waiting = false;
        if let Some(first) = walk.first_if_lonely(db, request).await? {
            chosen.push((first, self.ids.lease().uuid()));
        } else {
            for room in &request.queues {
                let lease = self.ids.lease().uuid();
                let jobs = walk.queue(db, room, request.alone, &mut lonely_waiting).await?;
                chosen.extend(jobs.into_iter().map(|job| (job, lease)));
            }
        }
        let next_due = walk.next_due(db, &queues, now).await?;
        let (jobs, leases): (Vec<_>, Vec<_>) = chosen.into_iter().unzip();
        let rows = sqlx::query(self.sql.take_chosen())
            .bind(jobs)
            .bind(leases)
            .bind(request.node.uuid())
            .bind(now)
            .bind(request.starting)
            .fetch_all(db)
            .await?;
        let jobs = rows.iter().map(|row| claimed(row, request.node)).collect::<Result<_, _>>()?;
        Ok(ClaimReply { jobs, lonely_waiting, next_due })
    }
}

fn next_due(row: &PgRow) -> Result<Option<Duration>, sqlx::Error> {
    let (now, next): (i64, Option<i64>) = (row.try_get("now")?, row.try_get("next_due")?);
    Ok(next.map(|next| duration(next - now)))
}

/// A due job that might be claimed.
#[derive(Debug, Clone)]
struct Candidate {
    job: Uuid,
    place: (i64, i64, Uuid),
    crashes: i32,
    key: Option<(String, i32)>,
}

/// A walk along the due jobs of some queues.
struct Walk<'a> {
    inner: &'a Inner,
    known: Known,
    /// How many runs hold each key this claim may decide on; none for a key that another claim has locked.
    slots: HashMap<String, Option<i64>>,
}

impl Walk<'_> {
    /// Takes jobs of one queue, in order.
    async fn queue(
        &mut self,
        db: &mut PgConnection,
        room: &QueueRoom,
        alone: Alone,
        lonely_waiting: &mut bool,
    ) -> Result<Vec<Uuid>, Fault> {
        let mut chosen = Vec::new();
        let mut after = FIRST;
        let enough = usize::try_from(room.room).unwrap_or(usize::MAX);
        while chosen.len() < enough {
            let window = self.window(db, &room.queue, after, room.room.max(WINDOW)).await?;
            let Some(last) = window.last() else { break };
            after = last.place;
            for candidate in window {
                if chosen.len() >= enough {
                    break;
                }
                if !self.has_slot(&candidate) {
                    continue;
                }
                if candidate.crashes >= lonely_from(alone) {
                    *lonely_waiting = true;
                    continue;
                }
                self.take_slot(&candidate);
                chosen.push(candidate.job);
            }
        }
        Ok(chosen)
    }

    /// The job that stands first of all that could be claimed, if it must run alone and may.
    async fn first_if_lonely(
        &mut self,
        db: &mut PgConnection,
        request: &ClaimRequest,
    ) -> Result<Option<Uuid>, Fault> {
        if matches!(request.alone, Alone::No { .. }) {
            return Ok(None);
        }
        let mut first: Option<Candidate> = None;
        for room in request.queues.iter().filter(|room| room.room > 0) {
            let mut after = FIRST;
            let found = 'queue: loop {
                let window = self.window(db, &room.queue, after, WINDOW).await?;
                let Some(last) = window.last() else { break None };
                after = last.place;
                for candidate in window {
                    if self.has_slot(&candidate) {
                        break 'queue Some(candidate);
                    }
                }
            };
            if let Some(found) = found
                && first.as_ref().is_none_or(|first| found.place < first.place)
            {
                first = Some(found);
            }
        }
        let lonely = first.filter(|first| first.crashes >= lonely_from(request.alone));
        Ok(lonely.map(|first| {
            self.take_slot(&first);
            first.job
        }))
    }

    async fn window(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
        after: (i64, i64, Uuid),
        limit: u32,
    ) -> Result<Vec<Candidate>, Fault> {
        let rows = sqlx::query(self.inner.sql.select_candidates())
            .bind(queue)
            .bind(after.0)
            .bind(after.1)
            .bind(after.2)
            .bind(&self.known.names)
            .bind(&self.known.versions)
            .bind(i64::from(limit))
            .fetch_all(&mut *db)
            .await?;
        let window = rows.iter().map(candidate).collect::<Result<Vec<_>, _>>()?;
        let mut keys: Vec<_> = window
            .iter()
            .filter_map(|candidate| Some(candidate.key.as_ref()?.0.clone()))
            .filter(|key| !self.slots.contains_key(key))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        self.lock(db, keys).await?;
        Ok(window)
    }

    /// Locks keys, then counts who holds them.
    async fn lock(&mut self, db: &mut PgConnection, keys: Vec<String>) -> Result<(), Fault> {
        if keys.is_empty() {
            return Ok(());
        }
        let sql = &self.inner.sql;
        let locked: Vec<String> =
            sqlx::query_scalar(sql.lock_keys()).bind(&keys).fetch_all(&mut *db).await?;
        self.slots.extend(keys.into_iter().map(|key| (key, None)));
        self.slots.extend(locked.iter().map(|key| (key.clone(), Some(0))));
        for row in sqlx::query(sql.count_slots()).bind(locked).fetch_all(db).await? {
            self.slots.insert(row.try_get("key")?, Some(row.try_get("count")?));
        }
        Ok(())
    }

    fn has_slot(&self, candidate: &Candidate) -> bool {
        let Some((key, limit)) = &candidate.key else { return true };
        let held = self.slots.get(key).copied().flatten();
        held.is_some_and(|held| held < i64::from(*limit))
    }

    fn take_slot(&mut self, candidate: &Candidate) {
        if let Some((key, _)) = &candidate.key
            && let Some(Some(held)) = self.slots.get_mut(key)
        {
            *held += 1;
        }
    }

    async fn next_due(
        &self,
        db: &mut PgConnection,
        queues: &[String],
        now: i64,
    ) -> Result<Option<Duration>, Fault> {
        let next: Option<i64> = sqlx::query_scalar(self.inner.sql.select_next_due())
            .bind(queues)
            .bind(&self.known.names)
            .bind(&self.known.versions)
            .fetch_one(db)
            .await?;
        Ok(next.map(|next| duration(next - now)))
    }
}

const FIRST: (i64, i64, Uuid) = (i64::MIN, i64::MIN, Uuid::nil());

fn candidate(row: &PgRow) -> Result<Candidate, sqlx::Error> {
    let job = row.try_get("job")?;
    let key: Option<String> = row.try_get("ckey")?;
    let limit = row.try_get::<Option<i32>, _>("climit")?.unwrap_or(1);
    Ok(Candidate {
        job,
        place: (row.try_get("sort_key")?, row.try_get("due")?, job),
        crashes: row.try_get("crashes")?,
        key: key.map(|key| (key, limit)),
    })
}

/// Below which place a queue has nothing for a node, for a short while: a scan from the start of the index would walk
/// over the dead entries of everything claimed lately.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    known: Mutex<HashMap<(NodeId, String), Bound>>,
}

#[derive(Debug)]
struct Bound {
    sort_key: i64,
    /// When the queue was last looked at from its start.
    since: Instant,
}

/// How long a job may be overlooked that another process has put before the bound.
const RESCAN: Duration = Duration::from_millis(100);

impl Bounds {
    fn of(&self, node: NodeId, asked: &[&QueueRoom]) -> Vec<i64> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let mut bound = |room: &&QueueRoom| {
            let key = (node, room.queue.clone());
            match known.get(&key) {
                Some(bound) if now.duration_since(bound.since) < RESCAN => bound.sort_key,
                _ => {
                    known.insert(key, Bound { sort_key: i64::MIN, since: now });
                    i64::MIN
                }
            }
        };
        asked.iter().map(&mut bound).collect()
    }

    /// Everything up to here was claimed.
    fn raise(&self, node: NodeId, last: HashMap<String, i64>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (queue, sort_key) in last {
            if let Some(bound) = known.get_mut(&(node, queue)) {
                bound.sort_key = bound.sort_key.max(sort_key);
            }
        }
    }

    /// This process has put a job there.
    pub(crate) fn lower(&self, queue: &str, sort_key: i64) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for ((_, name), bound) in known.iter_mut() {
            if name == queue {
                bound.sort_key = bound.sort_key.min(sort_key);
            }
        }
    }

    /// Something has changed that may free a job anywhere.
    pub(crate) fn clear(&self) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
