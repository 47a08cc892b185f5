//! Inserts jobs: plans a batch first, then writes it, so that a refused batch writes nothing.

use jiff::Timestamp;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{InsertError, Inserted, JobId, JobState, NewJob, OnConflict};
use ratchet_store::rules::erasure;
use ratchet_store::rules::graph::sequence;
use ratchet_store::rules::insert::{
    Answers, Existing, IdempotencyRecord, KeyHolder, KeyUse, Keys, Plan,
};
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, Row as _};

use crate::session::Session;
use crate::sql;
use crate::template::PerJobFields;
use crate::value::{
    business_key, bytes, changed, idempotency_key, job_id, optional_json, second_place, time,
    unscoped,
};

/// The encoded tenant and key.
pub(crate) type Key = Vec<u8>;

/// The plan of a batch, and the answers for its jobs.
type Planned = (Plan<Key>, Vec<Inserted>);

/// Returns whether a job has neither a business key nor an idempotency key, and does not run in order.
pub(crate) fn is_plain(job: &NewJob) -> bool {
    job.spec.business_key.is_none()
        && job.spec.idempotency_key.is_none()
        && sequence(&job.spec).is_none()
}

impl Session<'_> {
    pub(crate) async fn insert(
        &mut self,
        jobs: &[NewJob],
    ) -> Result<Result<Vec<Inserted>, InsertError>, sqlx::Error> {
        let (plan, answers) = match self.planned(jobs, None).await? {
            Ok(planned) => planned,
            Err(refused) => return Ok(Err(refused)),
        };
        self.carry_out(jobs, plan).await?;
        Ok(Ok(answers))
    }

    /// Plans a batch, or returns why it is refused. `key` is the idempotency key of a graph, which comes first.
    pub(crate) async fn planned(
        &mut self,
        jobs: &[NewJob],
        key: Option<&(Key, KeyUse)>,
    ) -> Result<Result<Planned, InsertError>, sqlx::Error> {
        Ok(match self.plan(jobs, key).await? {
            // A repeated id takes precedence over other refusals, so check for it.
            Err(_) if !self.check_ids => {
                self.check_ids = true;
                let plan = self.plan(jobs, key).await;
                self.check_ids = false;
                plan?
            }
            planned => planned,
        })
    }

    pub(crate) async fn carry_out(
        &mut self,
        jobs: &[NewJob],
        mut plan: Plan<Key>,
    ) -> Result<(), sqlx::Error> {
        for (key, entry) in &plan.idempotency {
            sqlx::query(sql::key::INSERT_LEDGER_ENTRY)
                .bind(key.as_slice())
                .bind(bytes(entry.job.uuid()))
                .bind(entry.name.as_str())
                .bind(entry.digest.as_slice())
                .bind(entry.expires(self.now).map(Timestamp::as_microsecond))
                .execute(&mut *self.conn)
                .await?;
        }
        for (key, job) in &plan.business {
            let taken = sqlx::query(sql::key::TAKE_BUSINESS_KEY)
                .bind(key.as_slice())
                .bind(bytes(job.uuid()))
                .execute(&mut *self.conn)
                .await?;
            // The plan found the key free in this transaction.
            changed(&taken, 1)?;
        }
        if !(plan.idempotency.is_empty() && plan.business.is_empty()) {
            crash_point(CrashPoint::InsertKeys);
        }
        let jobs = plan.marked(jobs);
        let jobs = plan.stored(jobs.iter());
        self.insert_rows(&jobs).await?;
        self.extend_sequences(&jobs, &plan.sequences).await?;
        for (id, due) in plan.delayed {
            if let Some(mut row) = self.load(id).await? {
                self.advance(&mut row, |job| job.due = due).await?;
            }
        }
        Ok(())
    }

    async fn plan(
        &mut self,
        jobs: &[NewJob],
        key: Option<&(Key, KeyUse)>,
    ) -> Result<Result<Planned, InsertError>, sqlx::Error> {
        let (mut plan, mut answers) = (Plan::default(), Answers::default());
        plan.idempotency.extend(key.map(|(key, used)| (key.clone(), used.record.clone())));
        for job in jobs {
            let key = idempotency_key(&job.spec).map(|key| (key, KeyUse::of(job)));
            let business = business_key(&job.spec);
            let coalesces = matches!(job.on_conflict, OnConflict::Coalesce(_));
            let second = business.as_deref().filter(|_| coalesces).map(second_place);
            let keys = Keys { idempotency: key, business, second };
            let there = self.there(job, &keys, &plan).await?;
            if let Err(refused) = answers.push(plan.add(job, keys, &there)) {
                return Ok(Err(refused));
            }
        }
        Ok(answers.all().map(|answers| (plan, answers)))
    }

    /// Returns what is already stored for a job and its keys, unless the plan of this batch decides it.
    async fn there(
        &mut self,
        job: &NewJob,
        keys: &Keys<Key>,
        plan: &Plan<Key>,
    ) -> Result<Existing, sqlx::Error> {
        let mut there = Existing::default();
        if let Some((key, _)) = &keys.idempotency {
            if plan.idempotency.contains_key(key) {
                return Ok(there);
            }
            there.used = self.earlier_use(key, job.id).await?;
            if there.used.is_some() {
                return Ok(there);
            }
        }
        there.exists = self.check_ids && self.exists(job.id).await?;
        let free = |key: &&Key| !plan.business.contains_key(*key);
        if let Some(key) = keys.business.as_ref().filter(free) {
            there.holder = self.key_holder(key, keys.second.is_some()).await?;
        }
        if let Some(key) = keys.second.as_ref().filter(free) {
            there.second = self.key_holder(key, true).await?;
        }
        there.held_up_by = self.held_up_by(job, plan).await?;
        Ok(there)
    }

    /// Returns the holder of a business key, and its state if the insert coalesces.
    async fn key_holder(
        &mut self,
        key: &[u8],
        coalesces: bool,
    ) -> Result<Option<KeyHolder>, sqlx::Error> {
        let Some(id) = self.holder(key).await? else { return Ok(None) };
        let row = if coalesces { self.load(id).await? } else { None };
        let read = row.map(|row| KeyHolder::read(&row.job, self.now));
        Ok(Some(read.unwrap_or(KeyHolder::unread(id))))
    }

    /// Inserts jobs whose keys are already taken. Fails if one of the ids exists.
    pub(crate) async fn insert_rows(&mut self, jobs: &[&NewJob]) -> Result<(), sqlx::Error> {
        let mut rest = jobs;
        for (size, rows) in sql::INSERT_SIZES.into_iter().enumerate() {
            while let Some((chunk, behind)) = rest.split_at_checked(rows) {
                rest = behind;
                let mut arguments = SqliteArguments::default();
                arguments.reserve(rows * 17, 0);
                for job in chunk {
                    self.bind_row(job, &mut arguments).await?;
                }
                sqlx::query_with(sql::insert_jobs(size), arguments)
                    .execute(&mut *self.conn)
                    .await?;
                crash_point(CrashPoint::InsertRows);
            }
        }
        Ok(())
    }

    async fn bind_row(
        &mut self,
        job: &NewJob,
        arguments: &mut SqliteArguments,
    ) -> Result<(), sqlx::Error> {
        let spec = &job.spec;
        let template = self.template_for(spec).await?;
        let due = job.due.at(self.now);
        let step = spec.step.as_deref();
        let wait = job.wait();
        let ready = wait.is_none() && due <= self.now;
        let slot = spec.concurrency.as_ref();
        let waiting = optional_json(wait.as_ref())?;
        let expires = spec.expires_at(self.now, 1);
        let mut add = || {
            arguments.add(bytes(job.id.uuid()))?;
            arguments.add(if wait.is_some() { 3 } else { i64::from(ready) })?;
            arguments.add(spec.queue.as_str())?;
            arguments.add(spec.sort_key(due.as_microsecond()))?;
            arguments.add(due.as_microsecond())?;
            arguments.add(self.now.as_microsecond())?;
            arguments.add(template)?;
            arguments.add(spec.payload.as_slice())?;
            arguments.add(PerJobFields::of(spec)?)?;
            arguments.add(business_key(spec))?;
            arguments.add(slot.map(|slot| slot.key.as_str()))?;
            arguments.add(slot.map(|slot| i64::from(slot.limit)))?;
            arguments.add(step.and_then(|step| step.group).map(|group| bytes(group.uuid())))?;
            arguments.add(step.map(|step| i64::from(step.edges)))?;
            arguments.add(waiting.as_deref())?;
            arguments.add(expires.map(Timestamp::as_microsecond))?;
            arguments.add(spec.tenant.as_deref())
        };
        add().map_err(sqlx::Error::Encode)?;
        self.effects.count(template, JobState::Pending, 1);
        if ready {
            self.effects.wake_queue(&spec.queue);
        }
        Ok(())
    }

    async fn exists(&mut self, id: JobId) -> Result<bool, sqlx::Error> {
        let found = sqlx::query(sql::insert::FIND_JOB).bind(bytes(id.uuid()));
        Ok(found.fetch_optional(&mut *self.conn).await?.is_some())
    }

    /// Returns the earlier use of an idempotency key that counts when `user` uses it.
    pub(crate) async fn earlier_use(
        &mut self,
        key: &[u8],
        user: JobId,
    ) -> Result<Option<IdempotencyRecord>, sqlx::Error> {
        let entry = sqlx::query(sql::key::GET_LEDGER_ENTRY).bind(key);
        if let Some(row) = entry.fetch_optional(&mut *self.conn).await? {
            let job = job_id(row.try_get(0)?)?;
            let (name, digest) = (row.try_get(1)?, row.try_get(2)?);
            let record = IdempotencyRecord { job, name, digest, lifetime: None };
            // A damaged time counts as none, so that the key keeps its job.
            let expires = row.try_get::<Option<i64>, _>(3)?.and_then(|expires| time(expires).ok());
            if record.counts(expires, user, self.now) {
                return Ok(Some(record));
            }
        }
        let Some((tenant, key)) = unscoped(key) else { return Ok(None) };
        let digest = erasure::key_digest(tenant, key);
        let erased = sqlx::query(sql::erasure::GET_DIGEST).bind(digest.as_slice());
        let Some(row) = erased.fetch_optional(&mut *self.conn).await? else { return Ok(None) };
        let record = IdempotencyRecord::erased(job_id(row.try_get(0)?)?);
        let expires = row.try_get::<Option<i64>, _>(1)?.and_then(|expires| time(expires).ok());
        Ok(Some(record).filter(|record| record.counts(expires, user, self.now)))
    }

    pub(crate) async fn holder(&mut self, key: &[u8]) -> Result<Option<JobId>, sqlx::Error> {
        let holder = sqlx::query(sql::key::GET_HOLDER).bind(key);
        let holder = holder.fetch_optional(&mut *self.conn).await?;
        holder.map(|row| job_id(row.try_get(0)?)).transpose()
    }
}
