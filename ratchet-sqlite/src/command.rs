//! Commands on jobs from operators and clients.

use std::sync::Arc;

use ratchet_store::Wake;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    AttemptOutcome, CancelCause, Command, CommandError, CommandReply, Due, Filter, JobState,
    Placement, Redriven, TransitionKind, Vertex,
};
use sqlx::Row as _;

use crate::graph::ended;
use crate::row::{Held, JobRow};
use crate::session::Session;
use crate::sql;
use crate::unreadable::refusal;
use crate::value::{bytes, changed};

pub(crate) type Answer = Result<Result<CommandReply, CommandError>, sqlx::Error>;

impl Session<'_> {
    pub(crate) async fn command(&mut self, command: &Command) -> Answer {
        let id = match command {
            Command::Pause(id)
            | Command::Resume(id)
            | Command::Cancel(id, _)
            | Command::Reschedule(id, _)
            | Command::Move(id, _)
            | Command::Retry(id) => *id,
            Command::Redrive { filter, limit } => {
                return Ok(Ok(self.redrive(filter, *limit).await?));
            }
            Command::CancelGroup(id) => return self.cancel_group(*id).await,
        };
        let Some(mut row) = self.load(id).await? else {
            return Ok(Err(match self.find_unreadable(id).await? {
                Some((_, column, why)) => refusal(id, &column, &why).into(),
                None => CommandError::NotFound(id),
            }));
        };
        let done = match command {
            Command::Pause(_) => self.pause(&mut row).await,
            Command::Resume(_) => self.resume(&mut row).await,
            Command::Cancel(_, cause) => self.cancel(&mut row, *cause).await,
            Command::Reschedule(_, due) => self.reschedule(&mut row, *due).await,
            Command::Move(_, placement) => self.relocate(&mut row, placement).await,
            Command::Retry(_) | Command::Redrive { .. } | Command::CancelGroup(_) => {
                self.retry(&mut row).await
            }
        };
        crash_point(CrashPoint::CommandDone);
        done
    }

    async fn pause(&mut self, row: &mut JobRow) -> Answer {
        let from = row.job.state;
        if from == JobState::Paused {
            return Ok(Ok(CommandReply::Unchanged { state: from }));
        }
        if let Some(refused) = refuse(row, TransitionKind::Pause) {
            return Ok(Err(refused));
        }
        self.advance(row, |job| {
            job.paused_from = Some(job.state);
            job.state = JobState::Paused;
        })
        .await?;
        Ok(Ok(CommandReply::Done { from, to: JobState::Paused }))
    }

    async fn resume(&mut self, row: &mut JobRow) -> Answer {
        if let Some(refused) = refuse(row, TransitionKind::Resume) {
            return Ok(Err(refused));
        }
        let from = row.job.state;
        let to = row.job.paused_from.unwrap_or(JobState::Pending);
        self.advance(row, |job| {
            job.paused_from = None;
            job.state = to;
        })
        .await?;
        Ok(Ok(CommandReply::Done { from, to }))
    }

    async fn cancel(&mut self, row: &mut JobRow, cause: CancelCause) -> Answer {
        let from = row.job.state;
        if from.is_terminal() {
            return Ok(Ok(CommandReply::Unchanged { state: from }));
        }
        if cause == CancelCause::Expired && !row.job.is_expired(self.now) {
            return Ok(Ok(CommandReply::Unchanged { state: from }));
        }
        let refused = if row.job.paused_from == Some(JobState::Failed) {
            Some(illegal(row, TransitionKind::Cancel))
        } else {
            refuse(row, TransitionKind::Cancel)
        };
        if let Some(refused) = refused {
            return Ok(Err(refused));
        }
        self.call_off(row, cause, None).await?;
        let events = ended(&row.job).into_iter().collect();
        let effects = self.propagate(events).await?;
        Ok(Ok(CommandReply::moved(from, JobState::Canceled, effects)))
    }

    /// Cancels a job that has not ended.
    pub(crate) async fn call_off(
        &mut self,
        row: &mut JobRow,
        cause: CancelCause,
        root: Option<Vertex>,
    ) -> Result<(), sqlx::Error> {
        let now = self.now;
        match row.token() {
            None => self.advance(row, |job| job.cancel(cause, root, now)).await?,
            // The run keeps its slot and key until its handler has stopped.
            Some(token) => {
                let duration = row.job.elapsed(now);
                if let Some(mut line) = row.line(now, AttemptOutcome::Canceled) {
                    line.duration = duration;
                    self.add_line(token.job, &line).await?;
                }
                self.end_run(row, token, Held::Canceled, |job| {
                    job.duration = Some(duration);
                    job.cancel(cause, root, now);
                })
                .await?;
                self.effects.wakes.push(Wake::Canceled(token));
            }
        }
        Ok(())
    }

    async fn reschedule(&mut self, row: &mut JobRow, due: Due) -> Answer {
        if let Some(refused) = refuse(row, TransitionKind::Reschedule) {
            return Ok(Err(refused));
        }
        let (from, now) = (row.job.state, self.now);
        self.advance(row, |job| job.due = due.at(now)).await?;
        Ok(Ok(CommandReply::Done { from, to: from }))
    }

    /// The row keeps its queue in a column, and its template has the queue and the priority.
    async fn relocate(&mut self, row: &mut JobRow, placement: &Placement) -> Answer {
        if let Some(refused) = refuse(row, TransitionKind::Move) {
            return Ok(Err(refused));
        }
        let state = row.job.state;
        let Some(moved) = placement.of(&row.job.spec) else {
            return Ok(Ok(CommandReply::Unchanged { state }));
        };
        let template = self.template_for(&moved).await?;
        self.effects.count(row.template, state, -1);
        self.effects.count(template, state, 1);
        row.template = template;
        let moves =
            sqlx::query(sql::job::MOVE_JOB).bind(row.seq).bind(template).bind(moved.queue.as_str());
        changed(&moves.execute(&mut *self.conn).await?, 1)?;
        self.advance(row, |job| job.spec = Arc::new(moved)).await?;
        Ok(Ok(CommandReply::Done { from: state, to: state }))
    }

    async fn retry(&mut self, row: &mut JobRow) -> Answer {
        if let Some(refused) = refuse(row, TransitionKind::RetryManually) {
            return Ok(Err(refused));
        }
        let (id, from, now) = (row.job.id, row.job.state, self.now);
        if let Err(refused) = self.check_successor(id).await? {
            return Ok(Err(refused));
        }
        let opened = match self.opened(row).await? {
            Ok(opened) => opened,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Some(key) = row.scoped_key.clone() {
            if let Some(holder) = self.holder(&key).await?.filter(|holder| *holder != id) {
                let key = row.job.spec.business_key.clone().unwrap_or_default();
                return Ok(Err(CommandError::BusinessKeyTaken { job: id, key, holder }));
            }
            sqlx::query(sql::key::TAKE_BUSINESS_KEY)
                .bind(key)
                .bind(bytes(id.uuid()))
                .execute(&mut *self.conn)
                .await?;
        }
        self.advance(row, |job| job.revive(now)).await?;
        if row.job.spec.expires.is_some() {
            sqlx::query(sql::job::KEEP_LATE_JOB).bind(row.seq).execute(&mut *self.conn).await?;
        }
        let effects = self.apply(opened).await?;
        Ok(Ok(CommandReply::moved(from, JobState::Pending, effects)))
    }

    async fn redrive(&mut self, filter: &Filter, limit: u32) -> Result<CommandReply, sqlx::Error> {
        const CHUNK: i64 = 256;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut done = Redriven::default();
        let mut after = Vec::new();
        while done.retried.len() < limit {
            let failed =
                sqlx::query(sql::job::LIST_FAILED.as_str()).bind(after.as_slice()).bind(CHUNK);
            let failed = failed.fetch_all(&mut *self.conn).await?;
            if failed.is_empty() {
                break;
            }
            for row in failed {
                after = row.try_get("id")?;
                let Some(mut row) = self.decode(&row).await? else { continue };
                if done.retried.len() >= limit || !filter.matches(&row.job) {
                    continue;
                }
                match self.retry(&mut row).await? {
                    Ok(_) => done.retried.push(row.job.id),
                    Err(_) => done.key_taken.push(row.job.id),
                }
            }
        }
        Ok(CommandReply::Redriven(done))
    }
}

/// Returns an error if the state of the job does not allow this move.
fn refuse(row: &JobRow, verb: TransitionKind) -> Option<CommandError> {
    (!row.job.state.allows(verb)).then(|| illegal(row, verb))
}

fn illegal(row: &JobRow, verb: TransitionKind) -> CommandError {
    CommandError::IllegalTransition { job: row.job.id, state: row.job.state, verb }
}
