//! Inserting: first the plan, then the rows, so that a refused batch leaves no trace.

use std::collections::{HashMap, HashSet};

use ratchet_core::crash::{CrashPoint, crash_point};
use ratchet_core::model::{InsertError, Inserted, JobId, JobState, NewJob, OnTaken, TakenKey};
use sha2::{Digest, Sha256};
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, Row as _};

use crate::session::Session;
use crate::sql;
use crate::template::Own;
use crate::value::{business_key, bytes, idempotency_key, job_id, optional_json};

/// What an idempotency key was used for.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) job: JobId,
    pub(crate) name: String,
    pub(crate) digest: Vec<u8>,
}

/// What the batch itself has claimed so far.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) answers: Vec<Inserted>,
    ids: HashSet<JobId>,
    ledger: HashMap<Vec<u8>, Entry>,
    business: HashMap<Vec<u8>, JobId>,
    taken: Vec<TakenKey>,
}

/// Whether a job claims nothing but its id.
pub(crate) fn is_plain(job: &NewJob) -> bool {
    job.spec.business_key.is_none() && job.spec.idempotency_key.is_none()
}

impl Session<'_> {
    pub(crate) async fn insert(
        &mut self,
        jobs: &[NewJob],
    ) -> Result<Result<Vec<Inserted>, InsertError>, sqlx::Error> {
        let plan = match self.planned(jobs, None).await? {
            Ok(plan) => plan,
            Err(refused) => return Ok(Err(refused)),
        };
        self.carry_out(jobs, plan).await.map(Ok)
    }

    /// What is to be inserted, or why nothing is: the key of a graph first, if it has one.
    pub(crate) async fn planned(
        &mut self,
        jobs: &[NewJob],
        key: Option<&(Vec<u8>, Entry)>,
    ) -> Result<Result<Plan, InsertError>, sqlx::Error> {
        Ok(match self.plan(jobs, key).await? {
            // A repeated id comes before other refusals, so it must be looked for.
            Err(_) if !self.careful => {
                self.careful = true;
                let plan = self.plan(jobs, key).await;
                self.careful = false;
                plan?
            }
            planned => planned,
        })
    }

    pub(crate) async fn carry_out(
        &mut self,
        jobs: &[NewJob],
        mut plan: Plan,
    ) -> Result<Vec<Inserted>, sqlx::Error> {
        for (key, entry) in &plan.ledger {
            sqlx::query(sql::key::INSERT_LEDGER_ENTRY)
                .bind(key.as_slice())
                .bind(bytes(entry.job.uuid()))
                .bind(entry.name.as_str())
                .bind(entry.digest.as_slice())
                .execute(&mut *self.conn)
                .await?;
        }
        for (key, job) in &plan.business {
            sqlx::query(sql::key::TAKE_BUSINESS_KEY)
                .bind(key.as_slice())
                .bind(bytes(job.uuid()))
                .execute(&mut *self.conn)
                .await?;
        }
        if !(plan.ledger.is_empty() && plan.business.is_empty()) {
            crash_point(CrashPoint::InsertKeys);
        }
        // An idempotent repeat of a stored job answers `Created` too, but is not planned.
        let planned: Vec<_> = jobs.iter().filter(|job| plan.ids.remove(&job.id)).collect();
        self.insert_rows(&planned).await?;
        Ok(plan.answers)
    }

    async fn plan(
        &mut self,
        jobs: &[NewJob],
        key: Option<&(Vec<u8>, Entry)>,
    ) -> Result<Result<Plan, InsertError>, sqlx::Error> {
        let mut plan = Plan::default();
        plan.ledger.extend(key.cloned());
        for job in jobs {
            if let Err(refused) = self.plan_insert(job, &mut plan).await? {
                return Ok(Err(refused));
            }
        }
        if !plan.taken.is_empty() {
            return Ok(Err(InsertError::BusinessKeysTaken(plan.taken)));
        }
        Ok(Ok(plan))
    }

    async fn plan_insert(
        &mut self,
        job: &NewJob,
        plan: &mut Plan,
    ) -> Result<Result<(), InsertError>, sqlx::Error> {
        let idempotency = idempotency_key(&job.spec).map(|key| {
            let digest = Sha256::digest(&job.spec.payload).to_vec();
            (key, Entry { job: job.id, name: job.spec.name.clone(), digest })
        });
        if let Some((key, entry)) = &idempotency {
            let original = match plan.ledger.get(key) {
                Some(original) => Some(original.clone()),
                None => self.ledger_entry(key).await?,
            };
            if let Some(original) = original {
                let key = job.spec.idempotency_key.as_deref().unwrap_or_default();
                return Ok(repeat(&original, entry, key).map(|answer| plan.answers.push(answer)));
            }
        }
        if plan.ids.contains(&job.id) || (self.careful && self.exists(job.id).await?) {
            return Ok(Err(InsertError::DuplicateId(job.id)));
        }
        if let Some(key) = business_key(&job.spec) {
            let holder = match plan.business.get(&key) {
                Some(holder) => Some(*holder),
                None => self.holder(&key).await?,
            };
            match (holder, job.on_taken) {
                (Some(holder), OnTaken::ReturnHolder) => {
                    plan.answers.push(Inserted::Holder(holder));
                    return Ok(Ok(()));
                }
                (Some(holder), OnTaken::Refuse) => {
                    let key = job.spec.business_key.clone().unwrap_or_default();
                    plan.taken.push(TakenKey { job: job.id, key, holder });
                    return Ok(Ok(()));
                }
                (None, _) => plan.business.insert(key, job.id),
            };
        }
        plan.ledger.extend(idempotency);
        plan.ids.insert(job.id);
        plan.answers.push(Inserted::Created(job.id));
        Ok(Ok(()))
    }

    /// Inserts jobs whose keys are settled. Fails if one of the ids exists.
    pub(crate) async fn insert_rows(&mut self, jobs: &[&NewJob]) -> Result<(), sqlx::Error> {
        let mut rest = jobs;
        for (size, rows) in sql::INSERT_SIZES.into_iter().enumerate() {
            while let Some((chunk, behind)) = rest.split_at_checked(rows) {
                rest = behind;
                let mut arguments = SqliteArguments::default();
                arguments.reserve(rows * 15, 0);
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
        let wait = step.and_then(|step| step.wait);
        let ready = wait.is_none() && due <= self.now;
        let slot = spec.concurrency.as_ref();
        let waiting = optional_json(wait.as_ref())?;
        let mut add = || {
            arguments.add(bytes(job.id.uuid()))?;
            arguments.add(if wait.is_some() { 3 } else { i64::from(ready) })?;
            arguments.add(spec.queue.as_str())?;
            arguments.add(spec.sort_key(due.as_microsecond()))?;
            arguments.add(due.as_microsecond())?;
            arguments.add(self.now.as_microsecond())?;
            arguments.add(template)?;
            arguments.add(spec.payload.as_slice())?;
            arguments.add(Own::of(spec)?)?;
            arguments.add(business_key(spec))?;
            arguments.add(slot.map(|slot| slot.key.as_str()))?;
            arguments.add(slot.map(|slot| i64::from(slot.limit)))?;
            arguments.add(step.and_then(|step| step.group).map(|group| bytes(group.uuid())))?;
            arguments.add(step.map(|step| i64::from(step.edges)))?;
            arguments.add(waiting.as_deref())
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

    pub(crate) async fn ledger_entry(&mut self, key: &[u8]) -> Result<Option<Entry>, sqlx::Error> {
        let entry = sqlx::query(sql::key::GET_LEDGER_ENTRY).bind(key);
        let Some(row) = entry.fetch_optional(&mut *self.conn).await? else { return Ok(None) };
        let job = job_id(row.try_get(0)?)?;
        Ok(Some(Entry { job, name: row.try_get(1)?, digest: row.try_get(2)? }))
    }

    pub(crate) async fn holder(&mut self, key: &[u8]) -> Result<Option<JobId>, sqlx::Error> {
        let holder = sqlx::query(sql::key::GET_HOLDER).bind(key);
        let holder = holder.fetch_optional(&mut *self.conn).await?;
        holder.map(|row| job_id(row.try_get(0)?)).transpose()
    }
}

/// The answer to an idempotency key that was used before.
pub(crate) fn repeat(original: &Entry, entry: &Entry, key: &str) -> Result<Inserted, InsertError> {
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
