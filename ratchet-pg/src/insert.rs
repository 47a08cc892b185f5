//! Inserting: keys are reserved first, in one order, then the batch is planned, then it is written.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use ratchet_core::crash::{CrashPoint, crash_point};
use ratchet_core::graph::admit;
use ratchet_core::model::{
    Due, GroupId, InsertError, Inserted, JobId, JobSpec, NewJob, OnTaken, TakenKey,
};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::error::is_unique_violation;
use crate::fault::{Fault, transact};
use crate::graph::{StepColumns, waits};
use crate::group::Group;
use crate::record::due_micros;
use crate::spec::{Columns, clean, cleaned, extra, scope};
use crate::sqlx::{self, PgConnection, Row};
use crate::store::Inner;
use crate::wake::Hint;

/// A key within its scope.
pub(crate) type Scoped = (String, String);

/// What an idempotency key was used for.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    job: JobId,
    name: String,
    digest: Vec<u8>,
}

impl Entry {
    fn of(job: &NewJob) -> Self {
        let digest = Sha256::digest(&job.spec.payload).to_vec();
        Self { job: job.id, name: clean(&job.spec.name), digest }
    }
}

/// What was there before this batch.
#[derive(Default)]
struct Before {
    ids: HashSet<JobId>,
    ledger: HashMap<Scoped, Entry>,
    business: HashMap<Scoped, JobId>,
}

/// What this batch does.
#[derive(Default)]
struct Plan {
    ids: HashSet<JobId>,
    ledger: BTreeMap<Scoped, Entry>,
    business: BTreeMap<Scoped, JobId>,
}

/// Keys that were free and are held by this transaction until it is known who gets them.
#[derive(Default)]
struct Reserved {
    ledger: BTreeMap<Scoped, Entry>,
    business: BTreeMap<Scoped, JobId>,
}

/// When jobs are stored, if that is decided already, and the graph that steps among them are part of.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stored {
    pub(crate) now: Option<i64>,
    pub(crate) graph: Option<Uuid>,
    pub(crate) ids: Ids,
    /// They are all of their commit: a hint may go with it.
    pub(crate) alone: bool,
}

impl Stored {
    /// Jobs that are all of their commit.
    pub(crate) fn alone() -> Self {
        Self { alone: true, ..Self::default() }
    }
}

/// Whether ids are looked for before they are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ids {
    #[default]
    Looked,
    /// They are believed to be new: one that is not fails the statement, and with it the transaction.
    Trusted,
}

/// Jobs that are due at once, to be told once they are committed: the first place in each queue.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    due: BTreeMap<String, i64>,
    /// Other processes hear of them with the commit.
    hinted: bool,
}

impl Fresh {
    fn add(&mut self, queue: &str, sort_key: i64) {
        let queue = cleaned(queue);
        match self.due.get_mut(queue.as_ref()) {
            Some(first) => *first = sort_key.min(*first),
            None => drop(self.due.insert(queue.into_owned(), sort_key)),
        }
    }

    pub(crate) fn hints(&self) -> Vec<Hint> {
        self.due.iter().map(|(queue, first)| Hint::put(queue.clone(), *first)).collect()
    }
}

impl Inner {
    pub(crate) async fn insert(
        self: &Arc<Self>,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<Inserted>, Fault> {
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        match jobs.iter().all(is_keyless) {
            true if jobs.len() <= Group::MOST_JOBS => self.insert_together(jobs).await,
            true => self.insert_plain(&jobs).await,
            false => self.insert_closely(&jobs).await,
        }
    }

    /// Inserts jobs without keys in one statement.
    pub(crate) async fn insert_plain(&self, jobs: &[NewJob]) -> Result<Vec<Inserted>, Fault> {
        let stored = async {
            let mut db = self.pool.acquire().await?;
            let fresh = self.store(&mut db, jobs.iter(), Stored::alone()).await?;
            db.done().await?;
            Ok(fresh)
        };
        match stored.await {
            Ok(fresh) => {
                self.told(&fresh);
                Ok(jobs.iter().map(|job| Inserted::Created(job.id)).collect())
            }
            // An id was used before; the long way finds out which.
            Err(Fault::Database(error)) if is_unique_violation(&error) => {
                self.insert_closely(jobs).await
            }
            Err(fault) => Err(fault),
        }
    }

    async fn insert_closely(&self, jobs: &[NewJob]) -> Result<Vec<Inserted>, Fault> {
        let (answers, fresh) = transact!(self, |db| self.insert_within(db, jobs).await?)?;
        self.told(&fresh);
        Ok(answers)
    }

    /// Inserts within a transaction, all or none.
    pub(crate) async fn insert_within(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
    ) -> Result<(Vec<Inserted>, Fresh), Fault> {
        let (before, reserved) = self.reserve(db, jobs).await?;
        crash_point(CrashPoint::InsertKeys);
        let (plan, answers) = plan_all(jobs, &before).map_err(Fault::Insert)?;
        let fresh = self.write_jobs(db, jobs, plan, reserved, Stored::default()).await?;
        Ok((answers, fresh))
    }

    /// Inserts jobs of a graph within a transaction, all or none. Answers also with those that exist already and are no
    /// members of it.
    pub(crate) async fn insert_members(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
        stored: Stored,
    ) -> Result<(Vec<Inserted>, HashSet<JobId>, Fresh), Fault> {
        if stored.ids == Ids::Trusted && jobs.iter().all(is_keyless) {
            let fresh = self.store(db, jobs.iter(), stored).await?;
            let created = jobs.iter().map(|job| Inserted::Created(job.id)).collect();
            return Ok((created, HashSet::new(), fresh));
        }
        let (before, reserved) = self.reserve(db, jobs).await?;
        let (plan, answers) = plan_all(jobs, &before).map_err(Fault::Insert)?;
        let mut absent = HashSet::new();
        for (job, answer) in jobs.iter().zip(&answers) {
            if !admit(job, *answer).map_err(Fault::Insert)? {
                absent.insert(job.id);
            }
        }
        let fresh = self.write_jobs(db, jobs, plan, reserved, stored).await?;
        Ok((answers, absent, fresh))
    }

    /// Inserts children within a transaction, at the time of their parent's end: a refused one is dropped alone.
    pub(crate) async fn insert_children(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
        now: i64,
    ) -> Result<(Vec<Result<Inserted, InsertError>>, Fresh), Fault> {
        let (before, reserved) = self.reserve(db, jobs).await?;
        let mut plan = Plan::default();
        let answers = jobs.iter().map(|job| plan_one(job, &before, &mut plan)).collect();
        let stored = Stored { now: Some(now), ..Stored::default() };
        let fresh = self.write_jobs(db, jobs, plan, reserved, stored).await?;
        Ok((answers, fresh))
    }

    async fn reserve(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
    ) -> Result<(Before, Reserved), Fault> {
        let ids: Vec<_> = jobs.iter().map(|job| job.id.uuid()).collect();
        let there: Vec<Uuid> =
            sqlx::query_scalar(self.sql.select_ids()).bind(ids).fetch_all(&mut *db).await?;
        let mut before =
            Before { ids: there.into_iter().map(JobId::from_uuid).collect(), ..Before::default() };
        let mut reserved = Reserved::default();
        for job in jobs {
            if let Some(key) = idempotency_key(&job.spec) {
                reserved.ledger.entry(key).or_insert_with(|| Entry::of(job));
            }
            if let Some(key) = business_key(&job.spec) {
                reserved.business.entry(key).or_insert(job.id);
            }
        }
        if !reserved.ledger.is_empty() {
            let lost = self.reserve_ledger(db, &mut reserved.ledger).await?;
            let (scopes, keys): (Vec<_>, Vec<_>) = lost.into_iter().unzip();
            let entries = sqlx::query(self.sql.select_idempotency()).bind(scopes).bind(keys);
            for row in entries.fetch_all(&mut *db).await? {
                let entry = Entry {
                    job: JobId::from_uuid(row.try_get("job")?),
                    name: row.try_get("name")?,
                    digest: row.try_get("digest")?,
                };
                before.ledger.insert((row.try_get("scope")?, row.try_get("key")?), entry);
            }
        }
        if !reserved.business.is_empty() {
            let lost = self.reserve_business(db, &mut reserved.business).await?;
            for (key, holder) in self.holders(db, lost).await? {
                before.business.insert(key, holder);
            }
        }
        Ok((before, reserved))
    }

    /// Takes idempotency keys that are free. Answers with those that are not, and leaves them out.
    async fn reserve_ledger(
        &self,
        db: &mut PgConnection,
        wanted: &mut BTreeMap<Scoped, Entry>,
    ) -> Result<Vec<Scoped>, Fault> {
        let (scopes, keys): (Vec<_>, Vec<_>) = wanted.keys().cloned().unzip();
        let rows = sqlx::query(self.sql.reserve_idempotency())
            .bind(scopes)
            .bind(keys)
            .bind(wanted.values().map(|entry| entry.job.uuid()).collect::<Vec<_>>())
            .bind(wanted.values().map(|entry| entry.name.clone()).collect::<Vec<_>>())
            .bind(wanted.values().map(|entry| entry.digest.clone()).collect::<Vec<_>>())
            .fetch_all(db)
            .await?;
        Ok(split(wanted, &rows)?)
    }

    /// Takes business keys that are free. Answers with those that are not, and leaves them out.
    pub(crate) async fn reserve_business(
        &self,
        db: &mut PgConnection,
        wanted: &mut BTreeMap<Scoped, JobId>,
    ) -> Result<Vec<Scoped>, Fault> {
        let (scopes, keys): (Vec<_>, Vec<_>) = wanted.keys().cloned().unzip();
        let rows = sqlx::query(self.sql.reserve_business())
            .bind(scopes)
            .bind(keys)
            .bind(wanted.values().map(|job| job.uuid()).collect::<Vec<_>>())
            .fetch_all(db)
            .await?;
        Ok(split(wanted, &rows)?)
    }

    pub(crate) async fn holders(
        &self,
        db: &mut PgConnection,
        keys: Vec<Scoped>,
    ) -> Result<Vec<(Scoped, JobId)>, Fault> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (scopes, keys): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
        let rows = sqlx::query(self.sql.select_business()).bind(scopes).bind(keys);
        let mut holders = Vec::new();
        for row in rows.fetch_all(db).await? {
            let key = (row.try_get("scope")?, row.try_get("key")?);
            holders.push((key, JobId::from_uuid(row.try_get("job")?)));
        }
        Ok(holders)
    }

    /// Gives the reserved keys to those who get them, and stores the planned jobs.
    async fn write_jobs(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
        mut plan: Plan,
        reserved: Reserved,
        stored: Stored,
    ) -> Result<Fresh, Fault> {
        let wrong =
            reserved.ledger.iter().filter(|(key, entry)| plan.ledger.get(*key) != Some(entry));
        let wrong: BTreeSet<_> = wrong.map(|(key, _)| key.clone()).collect();
        if !wrong.is_empty() {
            let (scopes, keys): (Vec<_>, Vec<_>) = wrong.iter().cloned().unzip();
            let gone = sqlx::query(self.sql.delete_idempotency()).bind(scopes).bind(keys);
            gone.execute(&mut *db).await?;
            plan.ledger.retain(|key, _| wrong.contains(key));
            self.reserve_ledger(db, &mut plan.ledger).await?;
        }
        let spare = reserved.business.keys().filter(|key| !plan.business.contains_key(*key));
        let (scopes, keys): (Vec<_>, Vec<_>) = spare.cloned().unzip();
        if !keys.is_empty() {
            let gone = sqlx::query(self.sql.delete_business()).bind(scopes).bind(keys);
            gone.execute(&mut *db).await?;
        }
        plan.business.retain(|key, job| reserved.business.get(key) != Some(job));
        if !plan.business.is_empty() {
            let (scopes, keys): (Vec<_>, Vec<_>) = plan.business.keys().cloned().unzip();
            let holders: Vec<_> = plan.business.values().map(|job| job.uuid()).collect();
            let given = sqlx::query(self.sql.assign_business()).bind(scopes).bind(keys);
            given.bind(holders).execute(&mut *db).await?;
        }
        // An idempotent repeat of a stored job answers `Created` too, but is not planned.
        let planned: Vec<_> = jobs.iter().filter(|job| plan.ids.remove(&job.id)).collect();
        self.store(db, planned.into_iter(), stored).await
    }

    /// Stores jobs whose keys are settled.
    pub(crate) async fn store<'a>(
        &self,
        db: &mut PgConnection,
        jobs: impl ExactSizeIterator<Item = &'a NewJob> + Clone,
        stored: Stored,
    ) -> Result<Fresh, Fault> {
        if jobs.len() == 0 {
            return Ok(Fresh::default());
        }
        // A step that is submitted on its own is a graph on its own: that takes the long statement.
        let shared = shared(jobs.clone())
            .filter(|first| first.spec.step.is_none() || stored.graph.is_some());
        let children = shared.and_then(|first| Some((stored.graph?, first.spec.step.as_ref()?)));
        let mut columns = Columns::default();
        let written = if shared.is_some() { 1 } else { usize::MAX };
        jobs.clone().take(written).for_each(|job| columns.push(job));
        let ids = || jobs.clone().map(|job| job.id.uuid()).collect();
        let payloads = || jobs.clone().map(|job| job.spec.payload.as_slice()).collect();
        let mut fresh = Fresh::default();
        let query = if let Some((graph, step)) = children {
            let query = sqlx::query(self.sql.insert_children());
            let extras: Vec<_> = jobs.clone().map(|job| extra(&job.spec)).collect();
            let query = columns.bind_shared(query, ids(), payloads(), stored.now);
            query.bind(extras).bind(graph).bind(step.group.map(GroupId::uuid))
        } else if let Some(first) = shared {
            let query = sqlx::query(self.sql.insert_alike());
            fresh.hinted = stored.alone && self.wakes.may_hint();
            let channel = fresh.hinted.then_some(&self.channel);
            let query = columns.bind_shared(query, ids(), payloads(), stored.now);
            query.bind(extra(&first.spec)).bind(channel).bind(self.wakes.put_by())
        } else if jobs.clone().any(|job| job.spec.step.is_some()) {
            let mut steps = StepColumns::default();
            jobs.clone().for_each(|job| steps.push(job, stored.graph));
            steps.bind(columns.bind(sqlx::query(self.sql.insert_steps())).bind(stored.now))
        } else {
            columns.bind(sqlx::query(self.sql.insert_jobs())).bind(stored.now)
        };
        let now: i64 = query.fetch_one(db).await?.try_get("now")?;
        crash_point(CrashPoint::InsertRows);
        for job in jobs {
            let due = due_micros(job.due, now);
            if due <= now && !waits(job) {
                fresh.add(&job.spec.queue, job.spec.sort_key(due));
            }
        }
        Ok(fresh)
    }

    /// Tells of jobs that are committed.
    pub(crate) fn told(&self, fresh: &Fresh) {
        for (queue, sort_key) in &fresh.due {
            self.bounds.lower(queue, *sort_key);
        }
        if fresh.hinted {
            self.wakes.send_here(fresh.hints());
        } else {
            self.wakes.send(fresh.hints());
        }
    }
}

/// The first of these jobs if they are due at once, have no keys, and differ in nothing but their arguments and, as
/// children of one batch, in their number.
fn shared<'a>(mut jobs: impl Iterator<Item = &'a NewJob>) -> Option<&'a NewJob> {
    let plain = |job: &&NewJob| {
        let spec = &job.spec;
        job.due == Due::Now
            && spec.step.as_ref().is_none_or(|step| step.is_child())
            && is_keyless(job)
    };
    let first = jobs.next().filter(plain)?;
    jobs.all(|job| job.due == Due::Now && job.spec.is_like(&first.spec)).then_some(first)
}

fn is_keyless(job: &NewJob) -> bool {
    job.spec.idempotency_key.is_none() && job.spec.business_key.is_none()
}

/// Splits off the keys that were not won.
fn split<T>(
    wanted: &mut BTreeMap<Scoped, T>,
    won: &[sqlx::postgres::PgRow],
) -> Result<Vec<Scoped>, sqlx::Error> {
    let mut keys = HashSet::new();
    for row in won {
        keys.insert((row.try_get::<String, _>("scope")?, row.try_get::<String, _>("key")?));
    }
    let lost = wanted.keys().filter(|key| !keys.contains(*key)).cloned().collect();
    wanted.retain(|key, _| keys.contains(key));
    Ok(lost)
}

/// Plans all of them, or refuses all of them.
fn plan_all(jobs: &[NewJob], before: &Before) -> Result<(Plan, Vec<Inserted>), InsertError> {
    let (mut plan, mut answers, mut taken) = (Plan::default(), Vec::new(), Vec::new());
    for job in jobs {
        match plan_one(job, before, &mut plan) {
            Ok(answer) => answers.push(answer),
            Err(InsertError::BusinessKeysTaken(keys)) => taken.extend(keys),
            Err(refused) => return Err(refused),
        }
    }
    if taken.is_empty() { Ok((plan, answers)) } else { Err(InsertError::BusinessKeysTaken(taken)) }
}

/// Plans one job after those before it, exactly as the store in memory does.
fn plan_one(job: &NewJob, before: &Before, plan: &mut Plan) -> Result<Inserted, InsertError> {
    let idempotency = idempotency_key(&job.spec);
    let entry = idempotency.as_ref().map(|_| Entry::of(job));
    if let (Some(key), Some(entry)) = (&idempotency, &entry)
        && let Some(original) = before.ledger.get(key).or_else(|| plan.ledger.get(key))
    {
        return repeat(original, entry, &key.1);
    }
    if before.ids.contains(&job.id) || plan.ids.contains(&job.id) {
        return Err(InsertError::DuplicateId(job.id));
    }
    if let Some(key) = business_key(&job.spec) {
        let holder = before.business.get(&key).or_else(|| plan.business.get(&key)).copied();
        match (holder, job.on_taken) {
            (Some(holder), OnTaken::ReturnHolder) => return Ok(Inserted::Holder(holder)),
            (Some(holder), OnTaken::Refuse) => {
                let taken = TakenKey { job: job.id, key: key.1, holder };
                return Err(InsertError::BusinessKeysTaken(vec![taken]));
            }
            (None, _) => plan.business.insert(key, job.id),
        };
    }
    if let (Some(key), Some(entry)) = (idempotency, entry) {
        plan.ledger.insert(key, entry);
    }
    plan.ids.insert(job.id);
    Ok(Inserted::Created(job.id))
}

/// The answer to an idempotency key that was used before.
fn repeat(original: &Entry, entry: &Entry, key: &str) -> Result<Inserted, InsertError> {
    if original.name != entry.name || original.digest != entry.digest {
        return Err(InsertError::IdempotencyMismatch {
            job: entry.job,
            key: key.to_owned(),
            original: original.job,
        });
    }
    // The same job again: the first answer was lost, so it is given again.
    let same = original.job == entry.job;
    Ok(if same { Inserted::Created(entry.job) } else { Inserted::Duplicate(original.job) })
}

pub(crate) fn business_key(spec: &JobSpec) -> Option<Scoped> {
    let key = spec.business_key.as_ref()?;
    Some((scope(spec.tenant.as_deref()), clean(key)))
}

fn idempotency_key(spec: &JobSpec) -> Option<Scoped> {
    let key = spec.idempotency_key.as_ref()?;
    Some((scope(spec.tenant.as_deref()), clean(key)))
}
