//! Changes of operators, and the audit trail.

use ratchet_store::model::{
    Actor, AuditFilter, AuditHash, AuditHead, AuditNote, AuditRecord, BreakerRecord, Change,
    ChangeError, ChangeReply, Changed, ErasedRows, Target,
};
use ratchet_store::rules::audit;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::gates::{breaker, rules};
use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::value::{counter, signed, time};

pub(crate) type Answer = Result<Result<Changed, ChangeError>, sqlx::Error>;

impl Session<'_> {
    pub(crate) async fn operate(&mut self, change: &Change, note: Option<&AuditNote>) -> Answer {
        let target = change.target();
        let before = self.audited(&target).await?;
        let reply = match self.change(change).await? {
            Ok(reply) => reply,
            Err(refused) => return Ok(Err(refused)),
        };
        let after = match audit::of_reply(&reply) {
            Some(after) => Some(after),
            None => self.audited(&target).await?,
        };
        let Some(note) = note.filter(|_| audit::is_recorded(&reply, &before, &after)) else {
            return Ok(Ok(Changed::new(reply, None)));
        };
        let head = head(self.conn).await?;
        let entry = audit::entry(head, self.now, note, &target, before, after);
        self.append(&entry).await?;
        Ok(Ok(Changed::new(reply, Some(entry.number))))
    }

    /// Applies a change of an operation, for which this was deleted before.
    pub(crate) async fn operate_erasure(
        &mut self,
        change: &Change,
        note: Option<&AuditNote>,
        erased: ErasedRows,
    ) -> Answer {
        self.erased = erased;
        let answer = self.operate(change, note).await;
        self.erased = ErasedRows::default();
        answer
    }

    /// Adds an entry about a change that was made elsewhere. Returns its number.
    pub(crate) async fn record_change(
        &mut self,
        target: &Target,
        note: &AuditNote,
        reply: &ChangeReply,
    ) -> Result<u64, sqlx::Error> {
        let head = head(self.conn).await?;
        let entry = audit::entry(head, self.now, note, target, None, audit::of_reply(reply));
        self.append(&entry).await?;
        Ok(entry.number)
    }

    async fn change(
        &mut self,
        change: &Change,
    ) -> Result<Result<ChangeReply, ChangeError>, sqlx::Error> {
        Ok(Ok(match change {
            Change::Command { command, version } => {
                if let Target::Job(id) = change.target()
                    && let Some(row) = self.load(id).await?
                    && let Err(moved) = audit::check_version(&row.job, *version)
                {
                    return Ok(Err(moved.into()));
                }
                match self.command(command).await? {
                    Ok(reply) => ChangeReply::Command(reply),
                    Err(refused) => return Ok(Err(refused.into())),
                }
            }
            Change::Queue { queue, update } => {
                ChangeReply::Queue(self.update_queue(queue, update.clone()).await?)
            }
            Change::Breaker { service, update } => {
                ChangeReply::Breaker(self.update_breaker(service, update.clone()).await?)
            }
            Change::Schedule(write) => ChangeReply::Schedule(self.write_schedule(write).await?),
            Change::Submit(jobs) => match self.insert(jobs).await? {
                Ok(inserted) => ChangeReply::Submitted(inserted),
                Err(refused) => return Ok(Err(refused.into())),
            },
            Change::Successor { original, version, successor } => {
                match self.submit_successor(*original, *version, successor).await? {
                    Ok(()) => ChangeReply::Successor(successor.id),
                    Err(refused) => return Ok(Err(refused)),
                }
            }
            Change::RepairUnreadable(id) => {
                ChangeReply::Unreadable(self.repair_unreadable(*id).await?)
            }
            Change::DropUnreadable(id) => ChangeReply::Unreadable(self.drop_unreadable(*id).await?),
            Change::ForgetRejects(rejects) => {
                self.forget_rejects(rejects).await?;
                ChangeReply::Forgotten
            }
            Change::PurgeKeys(keys) => ChangeReply::KeysPurged(self.purge_keys(keys).await?),
            // The archive is another file, see `SqliteStore::operate_archive`.
            Change::PurgeArchive { .. } => ChangeReply::ArchivePurged(0),
            Change::Reveal(_) => ChangeReply::Revealed,
            Change::Operation(update) => match self.update_operation(update).await? {
                Ok(reply) => ChangeReply::Operation(Box::new(reply)),
                Err(refused) => return Ok(Err(refused)),
            },
            Change::Reprotect(rewrites) => ChangeReply::Reprotected(self.rewrite(rewrites).await?),
            Change::Failure(mark) => ChangeReply::Failure(self.mark_failure(mark).await?),
            Change::Node { node, update, actor } => {
                ChangeReply::Node(self.update_node(*node, *update, actor.as_ref()).await?)
            }
        }))
    }

    /// Returns what the audit trail says about the present state of a target.
    async fn audited(&mut self, target: &Target) -> Result<Option<String>, sqlx::Error> {
        Ok(match target {
            Target::Job(id) => self.load(*id).await?.map(|row| audit::of_job(&row.job)),
            Target::Group(id) => self.look().group(*id).await?.as_ref().map(audit::of_group),
            Target::Queue(queue) => {
                let stored = rules(self.conn, queue).await?;
                Some(audit::of_queue(&stored.unwrap_or_default()))
            }
            Target::Breaker(service) => breaker(self.conn, service).await?.map(|breaker| {
                let state = breaker.state(self.now);
                audit::of_breaker(&BreakerRecord { service: service.clone(), breaker, state })
            }),
            Target::Schedule(name) => {
                self.look().schedule(name).await?.as_ref().map(audit::of_schedule)
            }
            Target::Operation(id) => {
                self.find_operation(*id).await?.as_ref().map(audit::of_operation)
            }
            Target::Failure { job_name, fingerprint } => {
                let mark = self.failure_mark(job_name, fingerprint).await?;
                Some(audit::of_failure(mark.as_ref()))
            }
            Target::Node(id) => {
                self.node_request(*id).await?.map(|live| audit::of_node(live.request.as_ref()))
            }
            _ => None,
        })
    }

    fn look(&mut self) -> Look<'_> {
        let now = self.micros();
        Look { conn: self.conn, templates: self.templates, now, unreadable: Vec::new() }
    }

    async fn append(&mut self, entry: &AuditRecord) -> Result<(), sqlx::Error> {
        let actor = &entry.actor;
        sqlx::query(sql::audit::INSERT_ENTRY)
            .bind(signed(entry.number))
            .bind(entry.at.as_microsecond())
            .bind(&actor.name)
            .bind(&actor.via)
            .bind(&actor.address)
            .bind(&actor.reason)
            .bind(&entry.verb)
            .bind(&entry.target)
            .bind(&entry.before)
            .bind(&entry.after)
            .bind(entry.hash.0.as_slice())
            .bind(&entry.signature)
            .execute(&mut *self.conn)
            .await?;
        sqlx::query(sql::audit::SAVE_HEAD)
            .bind(signed(entry.number))
            .bind(entry.hash.0.as_slice())
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }
}

impl Look<'_> {
    pub(crate) async fn audit(
        &mut self,
        filter: &AuditFilter,
        from: Option<u64>,
        oldest_first: bool,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, sqlx::Error> {
        let (statement, start) = match oldest_first {
            true => (sql::audit::LIST_ENTRIES_OLDEST_FIRST, 0),
            false => (sql::audit::LIST_ENTRIES, u64::MAX),
        };
        let rows = sqlx::query(statement)
            .bind(signed(from.unwrap_or(start)))
            .bind(&filter.actor)
            .bind(&filter.verb)
            .bind(&filter.target)
            .bind(i64::from(limit))
            .fetch_all(&mut *self.conn)
            .await?;
        rows.iter().map(entry).collect()
    }

    pub(crate) async fn audit_head(&mut self) -> Result<AuditHead, sqlx::Error> {
        head(self.conn).await
    }
}

/// Returns the end of the audit trail. If its row is missing, that is the last entry.
async fn head(conn: &mut SqliteConnection) -> Result<AuditHead, sqlx::Error> {
    let mut row = sqlx::query(sql::audit::GET_HEAD).fetch_optional(&mut *conn).await?;
    if row.is_none() {
        row = sqlx::query(sql::audit::GET_LAST).fetch_optional(conn).await?;
    }
    row.map_or_else(
        || Ok(AuditHead::default()),
        |row| Ok(AuditHead { number: counter(row.try_get(0)?)?, hash: hash(&row, 1)? }),
    )
}

fn entry(row: &SqliteRow) -> Result<AuditRecord, sqlx::Error> {
    let mut actor = Actor::new(row.try_get::<&str, _>("actor")?);
    actor.via = row.try_get("via")?;
    actor.address = row.try_get("address")?;
    actor.reason = row.try_get("reason")?;
    Ok(AuditRecord::stored(
        counter(row.try_get("number")?)?,
        time(row.try_get("at")?)?,
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
fn hash(row: &SqliteRow, column: usize) -> Result<AuditHash, sqlx::Error> {
    let bytes: &[u8] = row.try_get(column)?;
    Ok(AuditHash(bytes.try_into().unwrap_or([0xff; 32])))
}
