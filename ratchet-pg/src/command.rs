//! Commands: what operators and clients do to a job. Each finds the job where it is and takes it from there; if it has
//! moved on in between, it looks again.

use std::collections::BTreeMap;

use ratchet_core::model::{
    AttemptOutcome, CancelCause, Command, CommandError, CommandReply, Due, Envelope, Filter, JobId,
    JobRecord, JobState, LeaseId, Move, Redriven, Token,
};
use ratchet_core::store::{StoreError, StoreErrorKind, Wake};
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::insert::business_key;
use crate::moving::Moving;
use crate::query::bind_filter;
use crate::record::{due_micros, text};
use crate::settle::{Ends, Left, Lines, News, RunEnd};
use crate::spec::json;
use crate::store::{Fault, Inner, transact};

/// How often a command looks again for a job that keeps moving.
const LOOKS: u32 = 50;

/// How many failed jobs a re-drive looks at in one go.
const PAGE: i64 = 200;

/// The answer of a look: none if the job has moved on meanwhile.
type Looked = Result<Option<CommandReply>, Fault>;

impl Inner {
    pub(crate) async fn command(&self, command: Command) -> Result<CommandReply, Fault> {
        let (reply, news) = transact!(self, |db| {
            let mut news = News { unsettled: true, ..News::default() };
            (self.command_within(db, &command, &mut news).await?, news)
        })?;
        self.tell(news);
        Ok(reply)
    }

    pub(crate) async fn command_within(
        &self,
        db: &mut PgConnection,
        command: &Command,
        news: &mut News,
    ) -> Result<CommandReply, Fault> {
        let id = match command {
            Command::Pause(id)
            | Command::Resume(id)
            | Command::Cancel(id, _)
            | Command::Reschedule(id, _)
            | Command::Retry(id) => *id,
            Command::Redrive { filter, limit } => {
                return self.redrive(db, filter, *limit, news).await;
            }
            _ => return Err(unavailable("this store does not know the command")),
        };
        for _ in 0..LOOKS {
            let job = self.jobs(db, vec![id.uuid()]).await?.pop();
            let Some(job) = job else {
                return Err(Fault::Command(CommandError::NotFound(id)));
            };
            let done = match command {
                Command::Pause(_) => self.pause(db, &job).await?,
                Command::Resume(_) => self.resume(db, &job, news).await?,
                Command::Cancel(_, cause) => self.cancel(db, &job, *cause, news).await?,
                Command::Reschedule(_, due) => self.reschedule(db, &job, *due, news).await?,
                _ => self.retry(db, &job, news).await?,
            };
            if let Some(reply) = done {
                return Ok(reply);
            }
        }
        Err(unavailable("the job keeps moving"))
    }

    async fn pause(&self, db: &mut PgConnection, job: &JobRecord) -> Looked {
        let (id, from) = (job.id.uuid(), job.state);
        let row = match from {
            JobState::Paused => return Ok(Some(CommandReply::Unchanged { state: from })),
            JobState::Pending => self.take_pending(db, id).await?,
            JobState::Failed => self.failed(db, id).await?,
            _ => return Err(illegal(job, Move::Pause)),
        };
        let Some(mut row) = row else { return Ok(None) };
        row.version += 1;
        let failed = from == JobState::Failed;
        sqlx::query(self.sql.insert_paused())
            .bind(row.job)
            .bind(row.sort_key)
            .bind(row.due)
            .bind(row.version)
            .bind(row.run)
            .bind(row.job_version)
            .bind(row.attempts)
            .bind(row.crashes)
            .bind(row.deferrals)
            .bind(row.generation)
            .bind(row.climit)
            .bind(row.keyed)
            .bind(&row.queue)
            .bind(&row.name)
            .bind(&row.ckey)
            .bind(&row.service)
            .bind(failed)
            .execute(&mut *db)
            .await?;
        if failed {
            self.tally_failed(db, row.job, &row.queue, -1).await?;
        }
        done(from, JobState::Paused)
    }

    async fn resume(&self, db: &mut PgConnection, job: &JobRecord, news: &mut News) -> Looked {
        if job.state != JobState::Paused {
            return Err(illegal(job, Move::Resume));
        }
        let Some((mut row, failed)) = self.take_paused(db, job.id.uuid()).await? else {
            return Ok(None);
        };
        row.version += 1;
        if failed {
            let raised = sqlx::query(self.sql.update_outcome()).bind(row.job).bind(row.version);
            raised.execute(&mut *db).await?;
            self.tally_failed(db, row.job, &row.queue, 1).await?;
            return done(JobState::Paused, JobState::Failed);
        }
        let now = self.now(&mut *db).await?;
        self.put_back(db, &[row], now, &mut news.wakes).await?;
        done(JobState::Paused, JobState::Pending)
    }

    async fn cancel(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        cause: CancelCause,
        news: &mut News,
    ) -> Looked {
        let (id, from) = (job.id, job.state);
        if from.is_terminal() {
            return Ok(Some(CommandReply::Unchanged { state: from }));
        }
        if job.paused_from == Some(JobState::Failed) {
            return Err(illegal(job, Move::Cancel));
        }
        let row = match from {
            JobState::Running => return self.cancel_run(db, job, cause, news).await,
            JobState::Paused => self.take_paused(db, id.uuid()).await?.map(|(row, _)| row),
            _ => self.take_pending(db, id.uuid()).await?,
        };
        let Some(row) = row else { return Ok(None) };
        let now = self.now(&mut *db).await?;
        let mut ends = Ends::default();
        let left = Left { cause: Some(cause), ..Left::default() };
        ends.push(&row, None, JobState::Canceled, left);
        ends.write(self, db, now).await?;
        self.free(db, &[], vec![row.job]).await?;
        news.wakes.push(Wake::Finished(id));
        done(from, JobState::Canceled)
    }

    /// Cancels a job that is running; its run keeps what it holds until it has heard.
    async fn cancel_run(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        cause: CancelCause,
        news: &mut News,
    ) -> Looked {
        let leases: Vec<Uuid> = sqlx::query_scalar(self.sql.find_lease())
            .bind(job.id.uuid())
            .fetch_all(&mut *db)
            .await?;
        let token =
            |lease| Token { job: job.id, lease: LeaseId::from_uuid(lease), version: job.version };
        let tokens: Vec<_> = leases.into_iter().map(token).collect();
        let (now, mut members) = self.members(db, &tokens).await?;
        let Some(member) = members.remove(&job.id) else { return Ok(None) };
        let token = token(member.lease);
        let end = RunEnd {
            outcome: AttemptOutcome::Canceled,
            duration: now.saturating_sub(member.started_at).max(0),
        };
        let mut ends = Ends::default();
        let left = Left { cause: Some(cause), ..Left::default() };
        ends.push(&member.moving, Some((&member, end)), JobState::Canceled, left);
        ends.write(self, db, now).await?;
        self.leave_leases(db, vec![(member.lease, member.moving.job)]).await?;
        self.linger(db, &[token], vec![member.node], true).await?;
        news.wakes.extend([Wake::Finished(job.id), Wake::Canceled(token)]);
        done(JobState::Running, JobState::Canceled)
    }

    async fn reschedule(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        due: Due,
        news: &mut News,
    ) -> Looked {
        if job.state != JobState::Pending {
            return Err(illegal(job, Move::Reschedule));
        }
        let Some(mut row) = self.take_pending(db, job.id.uuid()).await? else { return Ok(None) };
        let now = self.now(&mut *db).await?;
        row.due_at(due_micros(due, now));
        row.version += 1;
        self.put_back(db, &[row], now, &mut news.wakes).await?;
        done(JobState::Pending, JobState::Pending)
    }

    async fn retry(&self, db: &mut PgConnection, job: &JobRecord, news: &mut News) -> Looked {
        let (id, from) = (job.id, job.state);
        if from != JobState::Failed {
            return Err(illegal(job, Move::RetryManually));
        }
        let key = business_key(&job.spec);
        let mut wanted: BTreeMap<_, _> = key.into_iter().map(|key| (key, id)).collect();
        if !wanted.is_empty() {
            let lost = self.reserve_business(db, &mut wanted).await?;
            for (key, holder) in self.holders(db, lost).await? {
                if holder != id {
                    let taken = CommandError::BusinessKeyTaken { job: id, key: key.1, holder };
                    return Err(Fault::Command(taken));
                }
            }
        }
        let undone = sqlx::query(self.sql.delete_outcome()).bind(id.uuid()).bind(&job.spec.queue);
        let Some(outcome) = undone.fetch_optional(&mut *db).await? else {
            let (scopes, keys): (Vec<_>, Vec<_>) = wanted.into_keys().unzip();
            let freed = sqlx::query(self.sql.delete_business()).bind(scopes).bind(keys);
            freed.execute(db).await?;
            return Ok(None);
        };
        let envelope: Option<Envelope> =
            outcome.try_get::<Option<&str>, _>("envelope")?.map(json).transpose()?;
        let error = envelope.and_then(|envelope| text(&envelope.failure));
        let mut lines = Lines::default();
        lines.push_undone(id.uuid(), &outcome, error)?;
        lines.write(self, db).await?;
        let now = self.now(&mut *db).await?;
        let mut row = self.fixed(db, id.uuid()).await?;
        row.due_at(now);
        row.version = outcome.try_get::<i64, _>("version")? + 1;
        row.run = outcome.try_get("run")?;
        row.generation = outcome.try_get::<i32, _>("generation")?.saturating_add(1);
        self.put_back(db, &[row], now, &mut news.wakes).await?;
        done(from, JobState::Pending)
    }

    async fn redrive(
        &self,
        db: &mut PgConnection,
        filter: &Filter,
        limit: u32,
        news: &mut News,
    ) -> Result<CommandReply, Fault> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (mut redriven, mut after) = (Redriven::default(), None);
        sqlx::query(self.sql.plan_anew()).execute(&mut *db).await?;
        'pages: loop {
            let query = sqlx::query_scalar(self.sql.select_failed());
            let query = query.bind(PAGE).bind(after);
            let ids: Vec<Uuid> = bind_filter(query, filter).fetch_all(&mut *db).await?;
            let Some(last) = ids.last() else { break };
            after = Some(*last);
            let mut jobs = self.jobs(db, ids).await?;
            jobs.reverse();
            for job in jobs {
                if redriven.retried.len() >= limit {
                    break 'pages;
                }
                match self.retry(db, &job, news).await {
                    Ok(Some(_)) => redriven.retried.push(job.id),
                    // Somebody else was quicker.
                    Ok(None) | Err(Fault::Command(CommandError::IllegalTransition { .. })) => {}
                    Err(Fault::Command(_)) => redriven.key_taken.push(job.id),
                    Err(fault) => return Err(fault),
                }
            }
        }
        Ok(CommandReply::Redriven(redriven))
    }

    async fn take_pending(&self, db: &mut PgConnection, id: Uuid) -> Result<Option<Moving>, Fault> {
        let row = sqlx::query(self.sql.take_pending()).bind(id).fetch_optional(db).await?;
        Ok(row.as_ref().map(Moving::read).transpose()?)
    }

    async fn take_paused(
        &self,
        db: &mut PgConnection,
        id: Uuid,
    ) -> Result<Option<(Moving, bool)>, Fault> {
        let row = sqlx::query(self.sql.delete_paused()).bind(id).fetch_optional(db).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((Moving::read(&row)?, row.try_get("failed")?)))
    }

    /// The moving row of a job that has failed, locked.
    async fn failed(&self, db: &mut PgConnection, id: Uuid) -> Result<Option<Moving>, Fault> {
        let outcome = sqlx::query(self.sql.lock_outcome()).bind(id).fetch_optional(&mut *db);
        let Some(outcome) = outcome.await? else { return Ok(None) };
        let mut row = self.fixed(db, id).await?;
        row.due_at(outcome.try_get("due")?);
        row.version = outcome.try_get("version")?;
        row.run = outcome.try_get("run")?;
        row.attempts = outcome.try_get("attempts")?;
        row.crashes = outcome.try_get("crashes")?;
        row.deferrals = outcome.try_get("deferrals")?;
        row.generation = outcome.try_get("generation")?;
        Ok(Some(row))
    }

    /// The moving row of a job as its submit made it, due at the start of time.
    async fn fixed(&self, db: &mut PgConnection, id: Uuid) -> Result<Moving, Fault> {
        let row = sqlx::query(self.sql.select_pending()).bind(id).fetch_one(db).await?;
        Ok(Moving {
            job: id,
            sort_key: -row.try_get::<i64, _>("head")?,
            due: 0,
            version: 0,
            run: 0,
            job_version: row.try_get("job_version")?,
            attempts: 0,
            crashes: 0,
            deferrals: 0,
            generation: 1,
            climit: row.try_get("climit")?,
            keyed: row.try_get("keyed")?,
            queue: row.try_get("queue")?,
            name: row.try_get("name")?,
            ckey: row.try_get("ckey")?,
            service: row.try_get("service")?,
        })
    }

    async fn tally_failed(
        &self,
        db: &mut PgConnection,
        job: Uuid,
        queue: &str,
        change: i64,
    ) -> Result<(), Fault> {
        let tallied = sqlx::query(self.sql.insert_tally()).bind(job).bind(queue).bind(change);
        tallied.execute(db).await?;
        Ok(())
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the end of a look")]
fn done(from: JobState, to: JobState) -> Looked {
    Ok(Some(CommandReply::Done { from, to }))
}

fn illegal(job: &JobRecord, verb: Move) -> Fault {
    let error = CommandError::IllegalTransition { job: job.id, state: job.state, verb };
    Fault::Command(error)
}

fn unavailable(why: &str) -> Fault {
    Fault::Command(CommandError::Store(StoreError::new(StoreErrorKind::Unavailable, why)))
}
