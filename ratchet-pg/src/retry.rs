//! Retries failed jobs on command, and reopens the steps that were canceled because of them.

use std::collections::{BTreeMap, BTreeSet};

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    ArchivedJobs, AuditNote, Change, Command, CommandError, CommandReply, Envelope, Filter, JobId,
    JobRecord, JobState, Redriven, TransitionKind,
};
use ratchet_store::rules::graph::{Changes, GraphEvent};
use uuid::Uuid;

use crate::command::{Looked, illegal};
use crate::db;
use crate::fault::{Fault, transact};
use crate::insert::{Scoped, business_key};
use crate::query::bind_filter;
use crate::record::text;
use crate::settle::{Lines, PostCommit};
use crate::spec::json;
use crate::store::Inner;
use crate::unreadable::or_report;
use sqlx::{PgConnection, Row};

/// The number of failed jobs that a redrive examines in one transaction.
const PAGE: i64 = 200;

impl Inner {
    /// Returns a failed job to the queue with the next generation. The caller must have locked its graph.
    pub(crate) async fn retry(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        post_commit: &mut PostCommit,
    ) -> Looked {
        let (id, from) = (job.id, job.state);
        if from != JobState::Failed {
            return Err(illegal(job, TransitionKind::RetryManually));
        }
        self.check_successor(db, id).await?;
        let now = self.now(&mut *db).await?;
        let opened = match &job.spec.step {
            Some(_) => self.walk(db, vec![GraphEvent::Retry { member: job.member() }], now).await?,
            None => Changes::default(),
        };
        let keys = self.take_keys(db, job, &opened).await?;
        db::query(self.sql.lock_outcome()).bind(id.uuid()).fetch_optional(&mut *db).await?;
        // Checked again, because an operator may have edited the job before the lock.
        if let Err(refused) = self.check_successor(db, id).await {
            self.give_back(db, keys).await?;
            return Err(refused);
        }
        let undone = db::query(self.sql.delete_outcome()).bind(id.uuid()).bind(&job.spec.queue);
        let Some(outcome) = undone.fetch_optional(&mut *db).await? else {
            self.give_back(db, keys).await?;
            return Ok(None);
        };
        let envelope = outcome.try_get::<Option<&str>, _>("envelope")?.map(json).transpose();
        let envelope: Option<Envelope> = or_report("envelope", envelope)?.flatten();
        let error = envelope.and_then(|envelope| text(&envelope.failure));
        let mut lines = Lines::default();
        lines.push_undone(id.uuid(), &outcome, error)?;
        lines.write(self, db).await?;
        let mut row = self.fixed(db, id.uuid()).await?;
        row.due_at(now);
        row.version = outcome.try_get::<i64, _>("version")? + 1;
        row.run = outcome.try_get("run")?;
        row.generation = outcome.try_get::<i32, _>("generation")?.saturating_add(1);
        self.put_back(db, &[row], now, &mut post_commit.hints).await?;
        if job.spec.expires.is_some() {
            self.delete_expiry(db, id).await?;
        }
        let effects = self.apply(db, opened, now, post_commit).await?;
        Ok(Some(CommandReply::moved(from, JobState::Pending, effects)))
    }

    /// Takes the business keys of a job and of all steps that are reopened with it, or none. Returns the keys that were
    /// free.
    async fn take_keys(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        opened: &Changes,
    ) -> Result<Vec<Scoped>, Fault> {
        let mut owners = BTreeMap::new();
        let reopened: Vec<_> = opened.reopened().map(JobId::uuid).collect();
        if !reopened.is_empty() {
            let steps = self.jobs(db, reopened).await?;
            owners.extend(steps.iter().filter_map(|job| Some((business_key(&job.spec)?, job.id))));
        }
        owners.extend(business_key(&job.spec).map(|key| (key, job.id)));
        if owners.is_empty() {
            return Ok(Vec::new());
        }
        let mut won = owners.clone();
        let holders = self.take_business(db, &mut won).await?;
        let own: BTreeMap<_, _> =
            owners.iter().filter(|(key, owner)| holders.get(*key) == Some(*owner)).collect();
        for (key, holder) in &holders {
            if let Some(owner) = owners.get(key).filter(|owner| *owner != holder) {
                self.give_back(db, won.into_keys().collect()).await?;
                let taken = CommandError::BusinessKeyTaken {
                    job: *owner,
                    key: key.1.clone(),
                    holder: *holder,
                };
                return Err(Fault::Command(taken));
            }
        }
        self.keep_keys(db, &own).await?;
        Ok(won.into_keys().collect())
    }

    /// Locks the keys that the jobs still hold because a late handler of theirs is running, so that its end does not
    /// free them.
    async fn keep_keys(
        &self,
        db: &mut PgConnection,
        own: &BTreeMap<&Scoped, &JobId>,
    ) -> Result<(), Fault> {
        if own.is_empty() {
            return Ok(());
        }
        let (scopes, keys): (Vec<_>, Vec<_>) = own.keys().map(|key| (*key).clone()).unzip();
        let locked = db::query(self.sql.lock_own_business()).bind(scopes).bind(keys);
        let locked = locked.bind(own.values().map(|job| job.uuid()).collect::<Vec<_>>());
        // If a key was freed in the meantime, the next try takes it again.
        if locked.fetch_all(db).await?.len() == own.len() { Ok(()) } else { Err(Fault::Conflict) }
    }

    async fn give_back(&self, db: &mut PgConnection, keys: Vec<Scoped>) -> Result<(), Fault> {
        if !keys.is_empty() {
            let (scopes, keys): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
            let freed = db::query(self.sql.delete_business()).bind(scopes).bind(keys);
            freed.execute(db).await?;
        }
        Ok(())
    }

    /// Retries the failed jobs that match `filter`, page by page. Each page is a transaction of its own: two
    /// transactions that lock graphs in several steps could deadlock.
    pub(crate) async fn redrive(&self, filter: &Filter, limit: u32) -> Result<CommandReply, Fault> {
        Ok(CommandReply::Redriven(self.redrive_pages(filter, limit, None).await?.0))
    }

    /// Retries failed jobs page by page. With a note, each page that retried a job has an entry in the audit trail; also
    /// returns the number of the last one.
    pub(crate) async fn redrive_pages(
        &self,
        filter: &Filter,
        limit: u32,
        note: Option<&AuditNote>,
    ) -> Result<(Redriven, Option<u64>), Fault> {
        let target = Command::Redrive { filter: filter.clone(), limit };
        let target = Change::Command { command: target, version: None }.target();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (mut redriven, mut after, mut audit) = (Redriven::default(), None, None);
        while redriven.retried.len() < limit {
            let most = limit - redriven.retried.len();
            let (page, last, entry, post_commit) = transact!(self, |db| {
                let mut post_commit = PostCommit { unsettled: true, ..PostCommit::default() };
                let (page, last) =
                    self.redrive_page(db, filter, after, most, &mut post_commit).await?;
                let mut entry = None;
                if let Some(note) = note.filter(|_| !page.retried.is_empty()) {
                    entry = Some(self.append_redriven(db, note, &target, &page).await?);
                }
                crash_point(CrashPoint::CommandDone);
                (page, last, entry, post_commit)
            })?;
            self.tell(post_commit);
            audit = entry.or(audit);
            redriven.retried.extend(page.retried);
            redriven.key_taken.extend(page.key_taken);
            let Some(last) = last else { break };
            after = Some(last);
        }
        Ok((redriven, audit))
    }

    /// Retries the failed jobs of one page. Also returns the last job that was examined, or `None` if there was none.
    async fn redrive_page(
        &self,
        db: &mut PgConnection,
        filter: &Filter,
        after: Option<Uuid>,
        most: usize,
        post_commit: &mut PostCommit,
    ) -> Result<(Redriven, Option<Uuid>), Fault> {
        let mut redriven = Redriven::default();
        if filter.archived == ArchivedJobs::Only {
            return Ok((redriven, None));
        }
        db::query(self.sql.plan_anew()).execute(&mut *db).await?;
        let query = db::query_scalar(self.sql.select_failed()).bind(PAGE).bind(after);
        let ids: Vec<Uuid> = bind_filter!(query, filter).fetch_all(&mut *db).await?;
        let Some(last) = ids.last().copied() else { return Ok((redriven, None)) };
        self.lock_graphs(db, ids.clone(), BTreeSet::new()).await?;
        let mut jobs = self.jobs(db, ids).await?;
        jobs.reverse();
        // The statement does not select by every condition.
        for job in jobs.into_iter().filter(|job| filter.finds(job)) {
            if redriven.retried.len() >= most {
                break;
            }
            match self.retry(db, &job, post_commit).await {
                Ok(Some(_)) => redriven.retried.push(job.id),
                // Another process moved the job first.
                Ok(None) | Err(Fault::Command(CommandError::IllegalTransition { .. })) => {}
                Err(Fault::Command(_)) => redriven.key_taken.push(job.id),
                Err(fault) => return Err(fault),
            }
        }
        Ok((redriven, Some(last)))
    }
}
