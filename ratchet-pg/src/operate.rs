//! Changes of operators, and the audit trail. An entry is the last write of a transaction, because its lock orders all
//! changes.

use jiff::Timestamp;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Actor, AuditFilter, AuditHash, AuditHead, AuditNote, AuditRecord, Change, ChangeReply, Changed,
    Command, CommandError, JobRecord, Redriven, Target,
};
use ratchet_store::rules::audit;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::db;
use crate::fault::{Fault, exactly, transact};
use crate::insert::Fresh;
use crate::settle::PostCommit;
use crate::spec::{clean, clean_option, instant, to_i64, to_u64};
use crate::store::Inner;

/// What to announce after a change is committed.
#[derive(Default)]
struct Announce {
    post_commit: PostCommit,
    fresh: Fresh,
    unblocked: bool,
}

impl Inner {
    pub(crate) async fn operate(
        &self,
        change: Change,
        note: Option<AuditNote>,
    ) -> Result<Changed, Fault> {
        if let Change::Command { command: Command::Redrive { filter, limit }, .. } = &change {
            let (redriven, audit) = self.redrive_pages(filter, *limit, note.as_ref()).await?;
            let reply = ratchet_store::model::CommandReply::Redriven(redriven);
            return Ok(Changed::new(ChangeReply::Command(reply), audit));
        }
        if let Change::Submit(jobs) = &change {
            self.check_ids(jobs)?;
        }
        if let Change::Successor { successor, .. } = &change {
            self.check_ids(std::slice::from_ref(successor))?;
        }
        let target = change.target();
        let done = transact!(self, |db| {
            let mut announce = Announce {
                post_commit: PostCommit { unsettled: true, ..PostCommit::default() },
                ..Announce::default()
            };
            let before = self.audited(db, &target).await?;
            let reply = self.change(db, &change, &mut announce).await?;
            let after = match audit::of_reply(&reply) {
                Some(after) => Some(after),
                None => self.audited(db, &target).await?,
            };
            let recorded = audit::is_recorded(&reply, &before, &after);
            let mut number = None;
            if let Some(note) = note.as_ref().filter(|_| recorded) {
                number = Some(self.append(db, note, &target, before, after).await?);
            }
            crash_point(CrashPoint::CommandDone);
            (Changed::new(reply, number), announce)
        });
        let (changed, announce) = match done {
            Ok(done) => done,
            Err(fault) => return Err(self.refused(fault).await),
        };
        self.tell(announce.post_commit);
        self.announce(&announce.fresh);
        if announce.unblocked {
            self.unblocked();
        }
        if matches!(change, Change::RepairUnreadable(_)) {
            self.try_to_set_aside_unreadable().await;
        }
        Ok(changed)
    }

    async fn change(
        &self,
        db: &mut PgConnection,
        change: &Change,
        announce: &mut Announce,
    ) -> Result<ChangeReply, Fault> {
        Ok(match change {
            Change::Command { command, version } => {
                let before = match change.target() {
                    Target::Job(id) => self.one_job(db, id.uuid()).await?,
                    _ => None,
                };
                if let Some(job) = &before {
                    audit::check_version(job, *version).map_err(Fault::Command)?;
                }
                let reply = match self.command_within(db, command, &mut announce.post_commit).await
                {
                    // A job that moved between the check and the command is reported with its new version.
                    Err(Fault::Command(CommandError::IllegalTransition { .. }))
                        if version.is_some() && self.has_moved(db, before.as_ref()).await? =>
                    {
                        return Err(Fault::Conflict);
                    }
                    reply => reply?,
                };
                if let Some(before) = before.filter(|_| reply.states().is_some())
                    && let Some(after) = self.one_job(db, before.id.uuid()).await?
                    && after.version != before.version + 1
                {
                    // The job moved between the check and the command. The next try sees its new version.
                    return Err(Fault::Conflict);
                }
                ChangeReply::Command(reply)
            }
            Change::Queue { queue, update } => {
                let changed = self.update_queue_within(db, &clean(queue), update).await?;
                announce.unblocked = changed;
                ChangeReply::Queue(changed)
            }
            Change::Breaker { service, update } => {
                let change = self.update_breaker_within(db, &clean(service), update).await?;
                announce.unblocked = change == Some(ratchet_store::model::BreakerChange::Closed);
                ChangeReply::Breaker(change)
            }
            Change::Schedule(write) => {
                let (written, fresh) = self.write_schedule_within(db, write).await?;
                announce.fresh = fresh;
                ChangeReply::Schedule(written)
            }
            Change::Submit(jobs) => {
                let (inserted, fresh) = self.insert_within(db, jobs).await?;
                announce.fresh = fresh;
                ChangeReply::Submitted(inserted)
            }
            Change::Successor { original, version, successor } => {
                announce.fresh =
                    self.submit_successor_within(db, *original, *version, successor).await?;
                ChangeReply::Successor(successor.id)
            }
            Change::RepairUnreadable(id) => ChangeReply::Unreadable(
                self.repair_within(db, *id, &mut announce.post_commit).await?,
            ),
            Change::DropUnreadable(id) => {
                ChangeReply::Unreadable(self.drop_within(db, *id, &mut announce.post_commit).await?)
            }
            Change::ForgetRejects(rejects) => {
                self.forget_rejects_within(db, rejects).await?;
                ChangeReply::Forgotten
            }
            Change::PurgeArchive { state, age, limit } => ChangeReply::ArchivePurged(
                self.purge_archive_within(db, *state, *age, *limit).await?,
            ),
            Change::PurgeKeys(keys) => {
                ChangeReply::KeysPurged(self.purge_keys_within(db, keys).await?)
            }
            Change::Reveal(_) => ChangeReply::Revealed,
            Change::Operation(update) => {
                let post_commit = &mut announce.post_commit;
                let reply = self.update_operation_within(db, update, post_commit).await?;
                ChangeReply::Operation(Box::new(reply))
            }
            Change::Reprotect(rewrites) => {
                ChangeReply::Reprotected(self.rewrite_within(db, rewrites).await?)
            }
            Change::Failure(mark) => {
                let mut mark = mark.clone();
                mark.actor = mark.actor.as_ref().map(cleaned);
                ChangeReply::Failure(self.mark_failure_within(db, &mark).await?)
            }
            Change::Node { node, update, actor } => {
                let actor = actor.as_ref().map(cleaned);
                ChangeReply::Node(
                    self.update_node_within(db, *node, *update, actor.as_ref()).await?,
                )
            }
        })
    }

    /// Returns what the audit trail says about the present state of a target.
    async fn audited(
        &self,
        db: &mut PgConnection,
        target: &Target,
    ) -> Result<Option<String>, Fault> {
        Ok(match target {
            Target::Job(id) => self.one_job(db, id.uuid()).await?.as_ref().map(audit::of_job),
            Target::Group(id) => self.read_groups(db, &[*id]).await?.first().map(audit::of_group),
            Target::Queue(queue) => {
                Some(audit::of_queue(&self.rules_within(db, &clean(queue)).await?))
            }
            Target::Breaker(service) => {
                self.breaker_within(db, &clean(service)).await?.as_ref().map(audit::of_breaker)
            }
            Target::Schedule(name) => {
                self.schedule_within(db, &clean(name)).await?.as_ref().map(audit::of_schedule)
            }
            Target::Operation(id) => {
                self.operation_within(db, *id).await?.as_ref().map(audit::of_operation)
            }
            Target::Failure { job_name, fingerprint } => {
                let mark = self.failure_mark(db, job_name, fingerprint).await?;
                Some(audit::of_failure(mark.as_ref()))
            }
            Target::Node(id) => {
                let live = self.node_request(db, *id).await?;
                live.map(|live| audit::of_node(live.request.as_ref()))
            }
            _ => None,
        })
    }

    /// Returns whether a job has another version than when it was read.
    async fn has_moved(
        &self,
        db: &mut PgConnection,
        before: Option<&JobRecord>,
    ) -> Result<bool, Fault> {
        let Some(before) = before else { return Ok(false) };
        let job = self.one_job(db, before.id.uuid()).await?;
        Ok(job.is_none_or(|job| job.version != before.version))
    }

    /// Returns a job, or `None` if it does not exist or cannot be read.
    async fn one_job(
        &self,
        db: &mut PgConnection,
        id: uuid::Uuid,
    ) -> Result<Option<JobRecord>, Fault> {
        Ok(self.read_jobs(db, vec![id]).await?.0.pop())
    }

    /// Adds an entry to the audit trail. Returns its number.
    pub(crate) async fn append(
        &self,
        db: &mut PgConnection,
        note: &AuditNote,
        target: &Target,
        before: Option<String>,
        after: Option<String>,
    ) -> Result<u64, Fault> {
        let mut row = db::query(self.sql.lock_audit_head()).fetch_optional(&mut *db).await?;
        if row.is_none() {
            db::query(self.sql.restore_audit_head()).execute(&mut *db).await?;
            row = db::query(self.sql.lock_audit_head()).fetch_optional(&mut *db).await?;
        }
        let head = head(row.as_ref())?;
        let now = instant(self.now(&mut *db).await?);
        let signer = note.signer.clone();
        let note = AuditNote { actor: cleaned(&note.actor), verb: clean(&note.verb), signer };
        let entry = audit::entry(head, now, &note, target, before, after);
        let actor = &entry.actor;
        let hash = entry.hash.0.as_slice();
        let added = db::query(self.sql.insert_audit())
            .bind(to_i64(entry.number))
            .bind(entry.at.as_microsecond())
            .bind(&actor.name)
            .bind(&actor.via)
            .bind(&actor.address)
            .bind(&actor.reason)
            .bind(&entry.verb)
            .bind(&entry.target)
            .bind(&entry.before)
            .bind(&entry.after)
            .bind(hash)
            .bind(&entry.signature);
        added.execute(&mut *db).await?;
        let moved = db::query(self.sql.update_audit_head()).bind(to_i64(entry.number)).bind(hash);
        exactly(1, &moved.execute(db).await?)?;
        Ok(entry.number)
    }

    /// Adds the entry of one page of a redrive.
    pub(crate) async fn append_redriven(
        &self,
        db: &mut PgConnection,
        note: &AuditNote,
        target: &Target,
        redriven: &Redriven,
    ) -> Result<u64, Fault> {
        let reply = ratchet_store::model::CommandReply::Redriven(redriven.clone());
        let after = audit::of_reply(&ChangeReply::Command(reply));
        self.append(db, note, target, None, after).await
    }

    pub(crate) async fn audit(
        &self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, Fault> {
        let (statement, start) = match oldest_first {
            true => (self.sql.list_audit_oldest_first(), 0),
            false => (self.sql.list_audit(), u64::MAX),
        };
        let rows = db::query(statement)
            .bind(to_i64(from.unwrap_or(start)))
            .bind(clean_option(filter.actor.as_ref()))
            .bind(clean_option(filter.verb.as_ref()))
            .bind(clean_option(filter.target.as_ref()))
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        Ok(rows.iter().map(entry).collect::<Result<_, sqlx::Error>>()?)
    }

    pub(crate) async fn audit_head(&self) -> Result<AuditHead, Fault> {
        let row = db::query(self.sql.select_audit_head()).fetch_optional(&self.pool).await?;
        Ok(head(row.as_ref())?)
    }
}

fn cleaned(actor: &Actor) -> Actor {
    let mut clean_actor = Actor::new(clean(&actor.name)).via(clean(&actor.via));
    clean_actor.address = clean_option(actor.address.as_ref());
    clean_actor.reason = clean_option(actor.reason.as_ref());
    clean_actor
}

/// Reads the end of the audit trail. Without a row, the trail is empty.
fn head(row: Option<&PgRow>) -> Result<AuditHead, sqlx::Error> {
    row.map_or_else(
        || Ok(AuditHead::default()),
        |row| Ok(AuditHead { number: to_u64(row.try_get(0)?), hash: hash(row, 1)? }),
    )
}

fn entry(row: &PgRow) -> Result<AuditRecord, sqlx::Error> {
    let mut actor = Actor::new(row.try_get::<&str, _>("actor")?);
    actor.via = row.try_get("via")?;
    actor.address = row.try_get("address")?;
    actor.reason = row.try_get("reason")?;
    let at = Timestamp::from_microsecond(row.try_get("at")?);
    Ok(AuditRecord::stored(
        to_u64(row.try_get("number")?),
        at.map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
        actor,
        row.try_get("verb")?,
        row.try_get("target")?,
        row.try_get("before")?,
        row.try_get("after")?,
        hash(row, 10)?,
        row.try_get("signature")?,
    ))
}

/// Reads a hash. One that was changed to another length does not match any entry.
fn hash(row: &PgRow, column: usize) -> Result<AuditHash, sqlx::Error> {
    let bytes: &[u8] = row.try_get(column)?;
    Ok(AuditHash(bytes.try_into().unwrap_or([0xff; 32])))
}
