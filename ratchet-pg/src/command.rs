//! Commands on jobs from operators and clients. A command reads the job, then moves it from its current state. If the
//! job has moved in between, the command reads it again.

use std::collections::BTreeSet;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    AttemptOutcome, CancelCause, Command, CommandError, CommandReply, Due, JobRecord, JobState,
    LeaseId, Placement, Token, TransitionKind,
};
use ratchet_store::rules::graph::GraphEvent;
use ratchet_store::{StoreError, StoreErrorKind, Wake};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, exactly, transact};
use crate::job_row::WaitingRow;
use crate::record::due_micros;
use crate::settle::{Ends, Left, PostCommit, RunEnd};
use crate::spec::{instant, to_u64};
use crate::store::Inner;
use sqlx::{PgConnection, Row};

/// How often a command tries again if the job keeps moving.
pub(crate) const LOOKS: u32 = 50;

/// The result of one try, or `None` if the job has moved in the meantime.
pub(crate) type Looked = Result<Option<CommandReply>, Fault>;

impl Inner {
    pub(crate) async fn command(&self, command: Command) -> Result<CommandReply, Fault> {
        if let Command::Redrive { filter, limit } = &command {
            return self.redrive(filter, *limit).await;
        }
        let done = transact!(self, |db| {
            let mut post_commit = PostCommit { unsettled: true, ..PostCommit::default() };
            (self.command_within(db, &command, &mut post_commit).await?, post_commit)
        });
        let (reply, post_commit) = match done {
            Ok(done) => done,
            Err(fault) => return Err(self.refused(fault).await),
        };
        self.tell(post_commit);
        Ok(reply)
    }

    pub(crate) async fn command_within(
        &self,
        db: &mut PgConnection,
        command: &Command,
        post_commit: &mut PostCommit,
    ) -> Result<CommandReply, Fault> {
        let id = match command {
            Command::Pause(id)
            | Command::Resume(id)
            | Command::Cancel(id, _)
            | Command::Reschedule(id, _)
            | Command::Move(id, _)
            | Command::Retry(id) => *id,
            Command::CancelGroup(id) => return self.cancel_group(db, *id, post_commit).await,
            Command::Redrive { .. } => {
                return Err(unavailable("a redrive is not one transaction"));
            }
        };
        self.lock_graphs(db, vec![id.uuid()], BTreeSet::new()).await?;
        for _ in 0..LOOKS {
            let (mut jobs, unread) = self.read_jobs(db, vec![id.uuid()]).await?;
            let Some(job) = jobs.pop() else {
                let refusal = unread.first().map(|unread| Fault::Store(unread.refusal()));
                self.noted.note(unread);
                return Err(refusal.unwrap_or(Fault::Command(CommandError::NotFound(id))));
            };
            let done = self.command_on(db, command, &job, post_commit).await?;
            if let Some(reply) = done {
                crash_point(CrashPoint::CommandDone);
                return Ok(reply);
            }
        }
        Err(unavailable("the job was changed concurrently on every try; try again"))
    }

    /// Applies a command to a job as it was read. The caller must have locked its graph.
    pub(crate) async fn command_on(
        &self,
        db: &mut PgConnection,
        command: &Command,
        job: &JobRecord,
        post_commit: &mut PostCommit,
    ) -> Looked {
        match command {
            Command::Pause(_) => self.pause(db, job).await,
            Command::Resume(_) => self.resume(db, job, post_commit).await,
            Command::Cancel(_, cause) => self.cancel_step(db, job, *cause, post_commit).await,
            Command::Reschedule(_, due) => self.reschedule(db, job, *due, post_commit).await,
            Command::Move(_, placement) => self.relocate(db, job, placement, post_commit).await,
            Command::Retry(_) | Command::Redrive { .. } | Command::CancelGroup(_) => {
                self.retry(db, job, post_commit).await
            }
        }
    }

    async fn pause(&self, db: &mut PgConnection, job: &JobRecord) -> Looked {
        let (id, from) = (job.id.uuid(), job.state);
        let row = match from {
            JobState::Paused => return Ok(Some(CommandReply::Unchanged { state: from })),
            JobState::Pending => self.take_pending(db, id).await?,
            JobState::Failed => self.failed(db, id).await?,
            _ => return Err(illegal(job, TransitionKind::Pause)),
        };
        let Some(mut row) = row else { return Ok(None) };
        row.version += 1;
        let failed = from == JobState::Failed;
        self.put_paused(db, &row, failed).await?;
        if failed {
            self.tally_failed(db, row.job, &row.queue, -1).await?;
        }
        done(from, JobState::Paused)
    }

    async fn resume(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        post_commit: &mut PostCommit,
    ) -> Looked {
        if job.state != JobState::Paused {
            return Err(illegal(job, TransitionKind::Resume));
        }
        let Some((mut row, failed)) = self.take_paused(db, job.id.uuid()).await? else {
            return Ok(None);
        };
        row.version += 1;
        if failed {
            let raised = db::query(self.sql.update_outcome()).bind(row.job).bind(row.version);
            exactly(1, &raised.execute(&mut *db).await?)?;
            self.tally_failed(db, row.job, &row.queue, 1).await?;
            return done(JobState::Paused, JobState::Failed);
        }
        let now = self.now(&mut *db).await?;
        self.requeue(db, job, row, now, post_commit).await?;
        done(JobState::Paused, JobState::Pending)
    }

    /// Cancels a job and propagates that through its graph.
    async fn cancel_step(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        cause: CancelCause,
        post_commit: &mut PostCommit,
    ) -> Looked {
        let done = self.cancel(db, job, cause, post_commit).await?;
        match done {
            Some(CommandReply::Done { from, to }) if job.spec.step.is_some() => {
                let now = self.now(&mut *db).await?;
                let mut canceled = job.clone();
                canceled.cancel(cause, None, instant(now));
                let event =
                    GraphEvent::Ended { member: canceled.member(), condition_results: Vec::new() };
                let effects = self.propagate(db, vec![event], now, post_commit).await?;
                Ok(Some(CommandReply::moved(from, to, effects)))
            }
            done => Ok(done),
        }
    }

    async fn cancel(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        cause: CancelCause,
        post_commit: &mut PostCommit,
    ) -> Looked {
        let (id, from) = (job.id, job.state);
        if from.is_terminal() {
            return Ok(Some(CommandReply::Unchanged { state: from }));
        }
        if cause == CancelCause::Expired && !job.is_expired(instant(self.now(&mut *db).await?)) {
            return Ok(Some(CommandReply::Unchanged { state: from }));
        }
        if job.paused_from == Some(JobState::Failed) {
            return Err(illegal(job, TransitionKind::Cancel));
        }
        let row = match from {
            JobState::Running => return self.cancel_run(db, job, cause, post_commit).await,
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
        post_commit.hints.push(Wake::Finished(id).into());
        done(from, JobState::Canceled)
    }

    /// Cancels a running job. The run keeps its slot and keys until its handler has stopped.
    async fn cancel_run(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        cause: CancelCause,
        post_commit: &mut PostCommit,
    ) -> Looked {
        let leases: Vec<Uuid> =
            db::query_scalar(self.sql.find_lease()).bind(job.id.uuid()).fetch_all(&mut *db).await?;
        let token =
            |lease, version| Token { job: job.id, lease: LeaseId::from_uuid(lease), version };
        let tokens: Vec<_> = leases.into_iter().map(|lease| token(lease, job.version)).collect();
        let (now, mut members) = self.members(db, &tokens).await?;
        let Some(member) = members.remove(&job.id) else { return Ok(None) };
        // The run that is there now. It may be another one than the job was read with.
        let token = token(member.lease, to_u64(member.row.version));
        let end = RunEnd {
            outcome: AttemptOutcome::Canceled,
            duration: now.saturating_sub(member.started_at).max(0),
        };
        let mut ends = Ends::default();
        let left = Left { cause: Some(cause), ..Left::default() };
        ends.push(&member.row, Some((&member, end)), JobState::Canceled, left);
        ends.write(self, db, now).await?;
        self.leave_leases(db, vec![(member.lease, member.row.job)]).await?;
        self.linger(db, &[token], vec![member.node], true).await?;
        post_commit.hints.extend([Wake::Finished(job.id).into(), Wake::Canceled(token).into()]);
        done(JobState::Running, JobState::Canceled)
    }

    pub(crate) async fn reschedule(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        due: Due,
        post_commit: &mut PostCommit,
    ) -> Looked {
        if job.state != JobState::Pending {
            return Err(illegal(job, TransitionKind::Reschedule));
        }
        let Some(mut row) = self.take_pending(db, job.id.uuid()).await? else { return Ok(None) };
        let now = self.now(&mut *db).await?;
        row.due_at(due_micros(due, now));
        row.version += 1;
        self.requeue(db, job, row, now, post_commit).await?;
        done(JobState::Pending, JobState::Pending)
    }

    /// Returns a job to waiting: for other steps, for a worker, or for its due time.
    /// Moves a job to another queue or priority. Its narrow row is found by the columns of the job row, so the narrow row
    /// is taken first.
    async fn relocate(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        placement: &Placement,
        post_commit: &mut PostCommit,
    ) -> Looked {
        let (id, state) = (job.id.uuid(), job.state);
        if !state.allows(TransitionKind::Move) {
            return Err(illegal(job, TransitionKind::Move));
        }
        let Some(moved) = placement.of(&job.spec) else {
            return Ok(Some(CommandReply::Unchanged { state }));
        };
        let taken = match state {
            JobState::Paused => self.take_paused(db, id).await?,
            _ => self.take_pending(db, id).await?.map(|row| (row, false)),
        };
        let Some((mut row, failed)) = taken else { return Ok(None) };
        row.version += 1;
        row.sort_key = moved.sort_key(row.due);
        row.queue.clone_from(&moved.queue);
        let update = db::query(self.sql.move_job())
            .bind(id)
            .bind(&moved.queue)
            .bind(i16::from(moved.priority.level()))
            .bind(-moved.sort_key(0));
        exactly(1, &update.execute(&mut *db).await?)?;
        if state == JobState::Paused {
            self.put_paused(db, &row, failed).await?;
        } else {
            let now = self.now(&mut *db).await?;
            self.requeue(db, job, row, now, post_commit).await?;
        }
        done(state, state)
    }

    async fn requeue(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        row: WaitingRow,
        now: i64,
        post_commit: &mut PostCommit,
    ) -> Result<(), Fault> {
        match job.wait {
            Some(_) => self.put_waiting(db, &[row]).await,
            None => self.put_back(db, &[row], now, &mut post_commit.hints).await,
        }
    }

    async fn put_paused(
        &self,
        db: &mut PgConnection,
        row: &WaitingRow,
        failed: bool,
    ) -> Result<(), Fault> {
        db::query(self.sql.insert_paused())
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
            .bind(&row.judges)
            .bind(failed)
            .execute(db)
            .await?;
        Ok(())
    }

    async fn take_pending(
        &self,
        db: &mut PgConnection,
        id: Uuid,
    ) -> Result<Option<WaitingRow>, Fault> {
        let row = db::query(self.sql.take_pending()).bind(id).fetch_optional(db).await?;
        Ok(row.as_ref().map(WaitingRow::read).transpose()?)
    }

    async fn take_paused(
        &self,
        db: &mut PgConnection,
        id: Uuid,
    ) -> Result<Option<(WaitingRow, bool)>, Fault> {
        let row = db::query(self.sql.delete_paused()).bind(id).fetch_optional(db).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((WaitingRow::read(&row)?, row.try_get("failed")?)))
    }

    /// Returns the narrow row of a failed job, locked.
    async fn failed(&self, db: &mut PgConnection, id: Uuid) -> Result<Option<WaitingRow>, Fault> {
        db::query(self.sql.lock_outcome()).bind(id).fetch_optional(&mut *db).await?;
        let outcome = db::query(self.sql.select_outcome()).bind(id).fetch_optional(&mut *db);
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

    /// Returns the narrow row of a job as it was submitted, with the Unix epoch as due time.
    pub(crate) async fn fixed(&self, db: &mut PgConnection, id: Uuid) -> Result<WaitingRow, Fault> {
        let row = db::query(self.sql.select_pending()).bind(id).fetch_one(db).await?;
        Ok(WaitingRow {
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
            judges: row.try_get("judges")?,
            tenant: row.try_get("tenant")?,
        })
    }

    async fn tally_failed(
        &self,
        db: &mut PgConnection,
        job: Uuid,
        queue: &str,
        change: i64,
    ) -> Result<(), Fault> {
        let tallied = db::query(self.sql.insert_tally()).bind(job).bind(queue).bind(change);
        exactly(1, &tallied.execute(db).await?)
    }
}

#[allow(clippy::unnecessary_wraps, reason = "the end of a look")]
fn done(from: JobState, to: JobState) -> Looked {
    Ok(Some(CommandReply::Done { from, to }))
}

pub(crate) fn illegal(job: &JobRecord, verb: TransitionKind) -> Fault {
    let error = CommandError::IllegalTransition { job: job.id, state: job.state, verb };
    Fault::Command(error)
}

fn unavailable(why: &str) -> Fault {
    Fault::Command(CommandError::Store(StoreError::new(StoreErrorKind::Unavailable, why)))
}
