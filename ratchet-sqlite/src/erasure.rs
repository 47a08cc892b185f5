//! Erasures: deletes everything of a tenant or of a correlation id, page by page.
//!
//! Archived jobs are in another file, and no commit covers both. A page of archived jobs therefore first deletes what
//! belongs to them here, then the jobs there, and then commits its progress. An interrupted page is repeated.

use jiff::Timestamp;
use ratchet_store::model::{
    ErasedRows, ErasurePhase, ErasureSubject, GroupRecord, JobId, JobRecord, KeyKind,
    OperationPage, OperationRecord, PurgeKeys,
};
use ratchet_store::rules::{erasure, operation};
use serde::Deserialize;
use sqlx::Row as _;

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::or_report;
use crate::value::{
    bytes, idempotency_key, job_id, json, keys_from, keys_of_tenant, number, parse, unscoped,
};

/// The owner of a message, as far as an erasure reads it.
#[derive(Deserialize)]
struct Owner {
    job_id: JobId,
    tenant: Option<String>,
    correlation_id: Option<String>,
}

impl Owner {
    fn is(&self, subject: &ErasureSubject) -> bool {
        subject.covers(self.tenant.as_deref(), self.correlation_id.as_deref())
    }
}

/// Returns a text that every message of a subject contains.
fn needle(subject: &ErasureSubject) -> Result<String, sqlx::Error> {
    match (subject.tenant(), subject.correlation_id()) {
        (Some(tenant), _) => Ok(format!("\"tenant\":{}", json(&tenant)?)),
        (None, id) => Ok(format!("\"correlation_id\":{}", json(&id.unwrap_or_default())?)),
    }
}

/// A job whose belongings are deleted, with its idempotency key.
pub(crate) type Erased = (JobId, Option<Vec<u8>>);

pub(crate) fn erased(job: &JobRecord) -> Erased {
    (job.id, idempotency_key(&job.spec))
}

impl Session<'_> {
    /// Runs a page of an erasure.
    pub(crate) async fn erase(
        &mut self,
        stored: &OperationRecord,
        phase: ErasurePhase,
        jobs: &[JobId],
    ) -> Result<OperationPage, sqlx::Error> {
        match phase {
            ErasurePhase::Cancel | ErasurePhase::Remove => self.erase_jobs(stored, jobs).await,
            ErasurePhase::Rest => self.erase_rest(stored).await,
            // The archived jobs of the page are deleted already.
            _ => Ok(OperationPage { erased: self.erased, ..OperationPage::default() }),
        }
    }

    async fn erase_jobs(
        &mut self,
        stored: &OperationRecord,
        jobs: &[JobId],
    ) -> Result<OperationPage, sqlx::Error> {
        let mut page = OperationPage::default();
        let mut ended = Vec::new();
        for id in jobs {
            let Some(row) = self.load(*id).await? else { continue };
            if let Some(command) = operation::command(stored, &row.job) {
                let answer = self.command(&command).await?;
                // An error undoes the whole page.
                operation::add(&mut page, *id, answer)
                    .map_err(|error| sqlx::Error::Protocol(error.to_string()))?;
                page.left += 1;
            } else if erasure::selects(stored, &row.job) {
                ended.push(row);
            }
        }
        if !erasure::removes(stored) {
            page.left = 0;
            return Ok(page);
        }
        let passed = ended.iter().filter_map(|row| erasure::passed_turn(&row.job)).collect();
        self.propagate(passed).await?;
        let seqs: Vec<_> = ended.iter().map(|row| row.seq).collect();
        let free = sqlx::query(sql::erasure::LIST_REMOVABLE).bind(json(&seqs)?);
        let free = free.fetch_all(&mut *self.conn).await?;
        let free: Vec<i64> = free.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        let (free, used): (Vec<_>, Vec<_>) =
            ended.into_iter().partition(|row| free.contains(&row.seq));
        page.left += used.len() as u64;
        page.erased.jobs = free.len() as u64;
        let belongings: Vec<_> = free.iter().map(|row| erased(&row.job)).collect();
        page.erased.add(&self.erase_belongings(&belongings).await?);
        if !free.is_empty() {
            for row in &free {
                self.effects.count(row.template, row.job.state, -1);
            }
            let seqs: Vec<_> = free.iter().map(|row| row.seq).collect();
            self.delete_jobs(&seqs).await?;
        }
        Ok(page)
    }

    /// Deletes the alerts, messages, hand-offs and rejected items of jobs, and replaces their idempotency keys.
    pub(crate) async fn erase_belongings(
        &mut self,
        jobs: &[Erased],
    ) -> Result<ErasedRows, sqlx::Error> {
        let mut erased = ErasedRows::default();
        for (id, key) in jobs {
            if let Some(key) = key {
                erased.keys += u64::from(self.erase_key(key, *id).await?);
            }
            let id = bytes(id.uuid());
            erased.deliveries += self.delete_of(sql::erasure::DELETE_ALERT_DELIVERIES, &id).await?;
            erased.deliveries += self.delete_of(sql::erasure::DELETE_OUTCOMES, &id).await?;
            erased.alerts += self.delete_of(sql::erasure::DELETE_ALERTS, &id).await?;
            erased.hand_offs += self.delete_of(sql::erasure::DELETE_HAND_OFFS, &id).await?;
            self.delete_of(sql::erasure::DELETE_ADMISSIONS, &id).await?;
        }
        Ok(erased)
    }

    /// Deletes rows that belong to a job. Returns their number.
    async fn delete_of(&mut self, statement: &'static str, job: &[u8]) -> Result<u64, sqlx::Error> {
        let deleted = sqlx::query(statement).bind(job).execute(&mut *self.conn).await?;
        Ok(deleted.rows_affected())
    }

    /// Replaces an idempotency key by its digest, if this job has used it. Returns `true` if it has.
    async fn erase_key(&mut self, scoped: &[u8], job: JobId) -> Result<bool, sqlx::Error> {
        let Some((tenant, key)) = unscoped(scoped) else { return Ok(false) };
        let digest = erasure::key_digest(tenant, key);
        let job = bytes(job.uuid());
        let gone = sqlx::query(sql::erasure::DELETE_KEY).bind(scoped).bind(job.as_slice());
        let Some(row) = gone.fetch_optional(&mut *self.conn).await? else { return Ok(false) };
        let expires: Option<i64> = row.try_get(0)?;
        sqlx::query(sql::erasure::INSERT_DIGEST)
            .bind(digest.as_slice())
            .bind(job)
            .bind(expires)
            .execute(&mut *self.conn)
            .await?;
        Ok(true)
    }

    /// Deletes what remains of jobs that are not stored anymore.
    async fn erase_rest(&mut self, stored: &OperationRecord) -> Result<OperationPage, sqlx::Error> {
        let mut page = OperationPage::default();
        let Some(subject) = erasure::subject(stored) else { return Ok(page) };
        let groups = self.erase_groups(&subject, stored.cutoff).await?;
        page.erased.groups = groups.len() as u64;
        page.erased.keys = self.erase_keys(&subject, &groups).await?;
        page.erased.hand_offs = self.erase_hand_offs(&subject, stored.cutoff).await?;
        page.erased.deliveries = self.erase_deliveries(&subject).await?;
        let most = u64::from(erasure::REST);
        let ErasedRows { groups, keys, hand_offs, deliveries, .. } = page.erased;
        page.more = groups > 0 || keys >= most || hand_offs >= most || deliveries >= most;
        Ok(page)
    }

    async fn erase_groups(
        &mut self,
        subject: &ErasureSubject,
        cutoff: Timestamp,
    ) -> Result<Vec<GroupRecord>, sqlx::Error> {
        let rows = sqlx::query(sql::erasure::LIST_GROUPS)
            .bind(subject.tenant())
            .bind(subject.correlation_id())
            .bind(i64::from(erasure::REST))
            .fetch_all(&mut *self.conn)
            .await?;
        let mut erased = Vec::new();
        for row in &rows {
            let Some(group) = or_report("group", parse::<GroupRecord>(row.try_get(1)?))? else {
                continue;
            };
            if group.queued_at < cutoff {
                self.delete_group(group.id).await?;
                erased.push(group);
            }
        }
        Ok(erased)
    }

    /// Replaces the keys of a tenant whose jobs and graphs are not stored anymore, or those of these graphs.
    async fn erase_keys(
        &mut self,
        subject: &ErasureSubject,
        groups: &[GroupRecord],
    ) -> Result<u64, sqlx::Error> {
        let mut found = Vec::new();
        if let Some(tenant) = subject.tenant() {
            let (first, end) = keys_of_tenant(Some(tenant));
            let rows = sqlx::query(sql::erasure::LIST_KEYS_OF_TENANT)
                .bind(first)
                .bind(end)
                .bind(i64::from(erasure::REST));
            found.extend(rows.fetch_all(&mut *self.conn).await?);
        }
        for group in groups.iter().filter(|_| subject.tenant().is_none()) {
            let (first, end) = keys_of_tenant(group.tenant.as_deref());
            let rows = sqlx::query(sql::erasure::LIST_KEYS_OF_GRAPH)
                .bind(first)
                .bind(end)
                .bind(bytes(group.id.uuid()));
            found.extend(rows.fetch_all(&mut *self.conn).await?);
        }
        let mut erased = 0;
        for row in &found {
            let key: &[u8] = row.try_get(0)?;
            let Some(job) = or_report("idempotency key", job_id(row.try_get(1)?))? else {
                continue;
            };
            erased += u64::from(self.erase_key(key, job).await?);
        }
        Ok(erased)
    }

    async fn erase_hand_offs(
        &mut self,
        subject: &ErasureSubject,
        cutoff: Timestamp,
    ) -> Result<u64, sqlx::Error> {
        let (statement, own) = match (subject.tenant(), subject.correlation_id()) {
            (Some(tenant), _) => (sql::erasure::TAKE_HAND_OFFS_OF_TENANT, tenant),
            (None, id) => (sql::erasure::TAKE_HAND_OFFS_OF_CORRELATION, id.unwrap_or_default()),
        };
        let taken = sqlx::query(statement)
            .bind(own)
            .bind(cutoff.as_microsecond())
            .bind(i64::from(erasure::REST))
            .fetch_all(&mut *self.conn)
            .await?;
        for row in &taken {
            sqlx::query(sql::erasure::DELETE_ADMISSION)
                .bind(row.try_get::<&[u8], _>(0)?)
                .bind(row.try_get::<&str, _>(1)?)
                .bind(row.try_get::<&str, _>(2)?)
                .execute(&mut *self.conn)
                .await?;
        }
        Ok(taken.len() as u64)
    }

    /// Deletes messages about jobs that are not stored anymore.
    async fn erase_deliveries(&mut self, subject: &ErasureSubject) -> Result<u64, sqlx::Error> {
        let rows = sqlx::query(sql::erasure::LIST_DELIVERIES)
            .bind(needle(subject)?)
            .bind(i64::from(erasure::REST))
            .fetch_all(&mut *self.conn)
            .await?;
        let mut erased = 0;
        for row in &rows {
            let Some(owner) = or_report("message", parse::<Owner>(row.try_get(1)?))? else {
                continue;
            };
            if owner.is(subject) && !self.is_stored(owner.job_id).await? {
                let gone = sqlx::query(sql::erasure::DELETE_DELIVERY);
                gone.bind(row.try_get::<i64, _>(0)?).execute(&mut *self.conn).await?;
                erased += 1;
            }
        }
        Ok(erased)
    }

    async fn is_stored(&mut self, id: JobId) -> Result<bool, sqlx::Error> {
        let found = sqlx::query(sql::insert::FIND_JOB).bind(bytes(id.uuid()));
        Ok(found.fetch_optional(&mut *self.conn).await?.is_some())
    }

    /// Deletes idempotency keys.
    pub(crate) async fn purge_keys(&mut self, keys: &PurgeKeys) -> Result<u64, sqlx::Error> {
        let Some(until) = keys.until(self.now) else { return Ok(0) };
        let first = bytes(erasure::first_id(until).uuid());
        let limit = i64::from(keys.limit);
        let deleted = match &keys.kind {
            KeyKind::Clear { tenant, prefix } => {
                let (low, high) = keys_from(tenant.as_deref(), prefix);
                let purge = sqlx::query(sql::erasure::PURGE_KEYS).bind(low).bind(high);
                purge.bind(first).bind(limit).execute(&mut *self.conn).await?
            }
            KeyKind::Erased => {
                let purge = sqlx::query(sql::erasure::PURGE_DIGESTS).bind(first).bind(limit);
                purge.execute(&mut *self.conn).await?
            }
            _ => return Ok(0),
        };
        Ok(deleted.rows_affected())
    }
}

impl Look<'_> {
    pub(crate) async fn erasable(
        &mut self,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<ErasedRows, sqlx::Error> {
        let mut found = ErasedRows::default();
        let limit_bound = i64::from(limit);
        let groups = sqlx::query(sql::erasure::COUNT_GROUPS)
            .bind(subject.tenant())
            .bind(subject.correlation_id())
            .bind(limit_bound);
        found.groups = number(groups.fetch_one(&mut *self.conn).await?.try_get(0)?)?;
        let hand_offs = match subject {
            ErasureSubject::Tenant(tenant) => {
                let (first, end) = keys_of_tenant(Some(tenant));
                let keys = sqlx::query(sql::erasure::COUNT_KEYS).bind(first).bind(end);
                let keys = keys.bind(limit_bound).fetch_one(&mut *self.conn).await?;
                found.keys = number(keys.try_get(0)?)?;
                sqlx::query(sql::erasure::COUNT_HAND_OFFS_OF_TENANT).bind(tenant.as_str())
            }
            other => sqlx::query(sql::erasure::COUNT_HAND_OFFS_OF_CORRELATION)
                .bind(other.correlation_id().unwrap_or_default()),
        };
        let hand_offs = hand_offs.bind(limit_bound).fetch_one(&mut *self.conn).await?;
        found.hand_offs = number(hand_offs.try_get(0)?)?;
        let messages = sqlx::query(sql::erasure::LIST_DELIVERIES)
            .bind(needle(subject)?)
            .bind(limit_bound)
            .fetch_all(&mut *self.conn)
            .await?;
        for row in &messages {
            let owner = or_report("message", parse::<Owner>(row.try_get(1)?))?;
            found.deliveries += u64::from(owner.is_some_and(|owner| owner.is(subject)));
        }
        Ok(found)
    }
}
