//! Erasures: deletes everything of a tenant or of a correlation id, page by page. Each page is one transaction.

use std::collections::{BTreeSet, HashSet};

use jiff::Timestamp;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    ErasedRows, ErasurePhase, ErasureSubject, GroupRecord, JobId, JobRecord, JobState, KeyKind,
    OperationPage, OperationRecord, PurgeKeys,
};
use ratchet_store::rules::{erasure, operation};
use serde::Deserialize;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use crate::db;
use crate::fault::Fault;
use crate::settle::PostCommit;
use crate::spec::{clean, clean_option, json, micros, scope, to_u64};
use crate::store::Inner;
use crate::unreadable::{or_report, readable};

/// The owner of a message, as far as an erasure reads it.
#[derive(Deserialize)]
struct Owner {
    job_id: JobId,
    tenant: Option<String>,
    correlation_id: Option<String>,
}

/// Returns a text that the stored records of a subject contain.
fn needle(subject: &ErasureSubject) -> String {
    let text = |text: &str| serde_json::Value::from(clean(text)).to_string();
    match subject.tenant() {
        Some(tenant) => format!("\"tenant\":{}", text(tenant)),
        None => {
            format!("\"correlation_id\":{}", text(subject.correlation_id().unwrap_or_default()))
        }
    }
}

/// Returns whether a stored tenant and correlation id are those of a subject. The database cannot store NUL characters.
fn covers(
    subject: &ErasureSubject,
    tenant: Option<&String>,
    correlation_id: Option<&String>,
) -> bool {
    match subject.tenant() {
        Some(own) => clean_option(tenant).is_some_and(|tenant| tenant == clean(own)),
        None => subject
            .correlation_id()
            .is_some_and(|own| clean_option(correlation_id).is_some_and(|id| id == clean(own))),
    }
}

impl Inner {
    /// Runs a page of an erasure.
    pub(crate) async fn erase(
        &self,
        db: &mut PgConnection,
        stored: &OperationRecord,
        phase: ErasurePhase,
        jobs: &[JobId],
        post_commit: &mut PostCommit,
    ) -> Result<OperationPage, Fault> {
        match phase {
            ErasurePhase::Cancel | ErasurePhase::Remove => {
                self.erase_jobs(db, stored, jobs, post_commit).await
            }
            ErasurePhase::Archive => self.erase_archived(db, stored, jobs).await,
            ErasurePhase::Rest => self.erase_rest(db, stored).await,
            // A vacuum reclaims the space. It cannot run in a transaction.
            _ => Ok(OperationPage::default()),
        }
    }

    async fn erase_jobs(
        &self,
        db: &mut PgConnection,
        stored: &OperationRecord,
        jobs: &[JobId],
        post_commit: &mut PostCommit,
    ) -> Result<OperationPage, Fault> {
        let mut page = OperationPage::default();
        let ids: Vec<_> = jobs.iter().map(|id| id.uuid()).collect();
        self.lock_graphs(db, ids.clone(), BTreeSet::new()).await?;
        let mut ended = Vec::new();
        for job in self.jobs(db, ids).await?.into_iter().rev() {
            if operation::command(stored, &job).is_some() {
                self.visit_job(db, stored, job, &mut page, post_commit).await?;
                page.left += 1;
            } else if erasure::selects(stored, &job) {
                ended.push(job);
            }
        }
        if !erasure::removes(stored) {
            page.left = 0;
            return Ok(page);
        }
        let passed: Vec<_> = ended.iter().filter_map(erasure::passed_turn).collect();
        let now = self.now(&mut *db).await?;
        self.propagate(db, passed, now, post_commit).await?;
        self.remove_ended(db, &ended).await?;
        let ids: Vec<_> = ended.iter().map(|job| job.id.uuid()).collect();
        let used: Vec<Uuid> =
            db::query_scalar(self.sql.select_ids()).bind(ids).fetch_all(&mut *db).await?;
        let used: HashSet<_> = used.into_iter().map(JobId::from_uuid).collect();
        ended.retain(|job| !used.contains(&job.id));
        page.left += used.len() as u64;
        page.erased.jobs = ended.len() as u64;
        page.erased.add(&self.erase_belongings(db, &ended).await?);
        crash_point(CrashPoint::PurgeRemoved);
        Ok(page)
    }

    /// Removes jobs that have ended, except those that are still in use. Their graphs are locked.
    async fn remove_ended(&self, db: &mut PgConnection, ended: &[JobRecord]) -> Result<(), Fault> {
        if ended.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = ended.iter().map(|job| job.id.uuid()).collect();
        let locked = db::query(self.sql.lock_outcomes()).bind(ids).fetch_all(&mut *db).await?;
        let mut leases = Vec::<Uuid>::new();
        let mut by_state: Vec<_> = [JobState::Succeeded, JobState::Failed, JobState::Canceled]
            .map(|state| (state.code(), Vec::<Uuid>::new()))
            .into();
        for row in &locked {
            let state: i16 = row.try_get("state")?;
            if let Some((_, jobs)) = by_state.iter_mut().find(|(code, _)| *code == state) {
                jobs.push(row.try_get("job")?);
            }
            leases.extend(row.try_get::<Option<Uuid>, _>("lease")?);
        }
        // Waiting for the lock of a lease could deadlock. The next pass takes its jobs.
        let leases = db::query_scalar(self.sql.try_lock_leases()).bind(leases);
        let leases: Vec<Uuid> = leases.fetch_all(&mut *db).await?;
        for (state, jobs) in by_state {
            if jobs.is_empty() {
                continue;
            }
            let removed = db::query(self.sql.purge_jobs())
                .bind(state)
                .bind(jobs)
                .bind(Vec::<Uuid>::new())
                .bind(leases.as_slice())
                .fetch_one(&mut *db)
                .await?;
            let graphs: Vec<Uuid> = removed.try_get("graphs")?;
            if !graphs.is_empty() {
                db::query(self.sql.purge_graphs()).bind(graphs).execute(&mut *db).await?;
            }
        }
        Ok(())
    }

    async fn erase_archived(
        &self,
        db: &mut PgConnection,
        stored: &OperationRecord,
        jobs: &[JobId],
    ) -> Result<OperationPage, Fault> {
        let mut page = OperationPage::default();
        let ids: Vec<_> = jobs.iter().map(|id| id.uuid()).collect();
        let mut own = self.archived_jobs(db, ids).await?;
        own.retain(|job| erasure::selects(stored, job));
        if own.is_empty() {
            return Ok(page);
        }
        let ids: Vec<_> = own.iter().map(|job| job.id.uuid()).collect();
        let deleted: i64 =
            db::query_scalar(self.sql.erase_archived()).bind(ids).fetch_one(&mut *db).await?;
        page.erased.archived = to_u64(deleted);
        page.erased.add(&self.erase_belongings(db, &own).await?);
        Ok(page)
    }

    /// Deletes the alerts, messages and hand-offs of deleted jobs, and replaces their idempotency keys.
    async fn erase_belongings(
        &self,
        db: &mut PgConnection,
        jobs: &[JobRecord],
    ) -> Result<ErasedRows, Fault> {
        let mut erased = ErasedRows::default();
        if jobs.is_empty() {
            return Ok(erased);
        }
        let ids: Vec<_> = jobs.iter().map(|job| job.id.uuid()).collect();
        let row = db::query(self.sql.delete_belongings()).bind(ids).fetch_one(&mut *db).await?;
        erased.alerts = to_u64(row.try_get("alerts")?);
        erased.deliveries = to_u64(row.try_get("deliveries")?);
        erased.hand_offs = to_u64(row.try_get("hand_offs")?);
        let mut keys = Vec::new();
        for job in jobs {
            if let Some(key) = &job.spec.idempotency_key {
                keys.push((scope(job.spec.tenant.as_deref()), clean(key), job.id.uuid()));
            }
        }
        erased.keys = self.erase_keys(db, keys).await?;
        Ok(erased)
    }

    /// Replaces idempotency keys by digests, if these jobs or graphs have used them. Returns their number.
    async fn erase_keys(
        &self,
        db: &mut PgConnection,
        keys: Vec<(String, String, Uuid)>,
    ) -> Result<u64, Fault> {
        if keys.is_empty() {
            return Ok(0);
        }
        let (mut scopes, mut names, mut jobs) = (Vec::new(), Vec::new(), Vec::new());
        for (scope, key, job) in keys {
            scopes.push(scope);
            names.push(key);
            jobs.push(job);
        }
        let erased = db::query_scalar(self.sql.erase_keys()).bind(scopes).bind(names).bind(jobs);
        let erased: i64 = erased.fetch_one(db).await?;
        Ok(to_u64(erased))
    }

    /// Deletes what remains of jobs that are not stored anymore.
    async fn erase_rest(
        &self,
        db: &mut PgConnection,
        stored: &OperationRecord,
    ) -> Result<OperationPage, Fault> {
        let mut page = OperationPage::default();
        let Some(subject) = erasure::subject(stored) else { return Ok(page) };
        let groups = self.erase_groups(db, &subject, stored.cutoff).await?;
        page.erased.groups = groups.len() as u64;
        page.erased.keys = self.erase_keys_of(db, &subject, &groups).await?;
        let (statement, own) = match subject.tenant() {
            Some(tenant) => (self.sql.delete_hand_offs_of_tenant(), tenant),
            None => (
                self.sql.delete_hand_offs_of_correlation(),
                subject.correlation_id().unwrap_or_default(),
            ),
        };
        let handed: i64 = db::query_scalar(statement)
            .bind(clean(own))
            .bind(stored.cutoff.as_microsecond())
            .bind(i64::from(erasure::REST))
            .fetch_one(&mut *db)
            .await?;
        page.erased.hand_offs = to_u64(handed);
        page.erased.deliveries = self.erase_deliveries(db, &subject).await?;
        let most = u64::from(erasure::REST);
        let ErasedRows { groups, keys, hand_offs, deliveries, .. } = page.erased;
        page.more = groups > 0 || keys >= most || hand_offs >= most || deliveries >= most;
        Ok(page)
    }

    async fn erase_groups(
        &self,
        db: &mut PgConnection,
        subject: &ErasureSubject,
        cutoff: Timestamp,
    ) -> Result<Vec<GroupRecord>, Fault> {
        let rows = db::query(self.sql.lock_empty_groups())
            .bind(needle(subject))
            .bind(i64::from(erasure::REST))
            .fetch_all(&mut *db)
            .await?;
        let (mut graphs, mut erased) = (Vec::<Uuid>::new(), Vec::<GroupRecord>::new());
        for row in &rows {
            let Some(group) = or_report("group", json::<GroupRecord>(row.try_get("body")?))? else {
                continue;
            };
            let (tenant, id) = (group.tenant.as_ref(), group.correlation_id.as_ref());
            if covers(subject, tenant, id) && group.queued_at < cutoff {
                graphs.push(row.try_get("graph")?);
                erased.push(group);
            }
        }
        if !erased.is_empty() {
            let ids: Vec<_> = erased.iter().map(|group| group.id.uuid()).collect();
            db::query(self.sql.delete_groups()).bind(ids).execute(&mut *db).await?;
            db::query(self.sql.purge_graphs()).bind(graphs).execute(db).await?;
        }
        Ok(erased)
    }

    /// Replaces the keys of a tenant whose jobs and graphs are not stored anymore, or those of these graphs.
    async fn erase_keys_of(
        &self,
        db: &mut PgConnection,
        subject: &ErasureSubject,
        groups: &[GroupRecord],
    ) -> Result<u64, Fault> {
        let query = match subject.tenant() {
            Some(tenant) => db::query(self.sql.select_keys_of_tenant())
                .bind(scope(Some(tenant)))
                .bind(i64::from(erasure::REST)),
            None if groups.is_empty() => return Ok(0),
            None => {
                let scopes: Vec<_> =
                    groups.iter().map(|group| scope(group.tenant.as_deref())).collect();
                let ids: Vec<_> = groups.iter().map(|group| group.id.uuid()).collect();
                db::query(self.sql.select_keys_of_graphs()).bind(scopes).bind(ids)
            }
        };
        let mut keys = Vec::new();
        for row in query.fetch_all(&mut *db).await? {
            keys.push((row.try_get("scope")?, row.try_get("key")?, row.try_get("job")?));
        }
        self.erase_keys(db, keys).await
    }

    /// Deletes messages about jobs that are not stored anymore.
    async fn erase_deliveries(
        &self,
        db: &mut PgConnection,
        subject: &ErasureSubject,
    ) -> Result<u64, Fault> {
        let mut found = self.deliveries_of(db, subject, erasure::REST).await?;
        if found.is_empty() {
            return Ok(0);
        }
        let jobs: Vec<_> = found.iter().map(|(_, job)| job.uuid()).collect();
        let archived = self.archived_jobs(db, jobs.clone()).await?;
        let live: Vec<Uuid> =
            db::query_scalar(self.sql.select_ids()).bind(jobs).fetch_all(&mut *db).await?;
        let mut stored: HashSet<_> = live.into_iter().map(JobId::from_uuid).collect();
        stored.extend(archived.iter().map(|job| job.id));
        found.retain(|(_, job)| !stored.contains(job));
        let ids: Vec<_> = found.iter().map(|(id, _)| *id).collect();
        let deleted = db::query(self.sql.delete_deliveries()).bind(ids).execute(db).await?;
        Ok(deleted.rows_affected())
    }

    /// Returns the messages of a subject, each with its job.
    async fn deliveries_of(
        &self,
        db: &mut PgConnection,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<Vec<(i64, JobId)>, Fault> {
        let rows = db::query(self.sql.find_deliveries())
            .bind(needle(subject))
            .bind(i64::from(limit))
            .fetch_all(db)
            .await?;
        let owners = readable("message", &rows, |row| {
            Ok((row.try_get::<i64, _>("id")?, json::<Owner>(row.try_get("envelope")?)?))
        })?;
        let own =
            |owner: &Owner| covers(subject, owner.tenant.as_ref(), owner.correlation_id.as_ref());
        let found = owners.into_iter().filter(|(_, owner)| own(owner));
        Ok(found.map(|(id, owner)| (id, owner.job_id)).collect())
    }

    pub(crate) async fn erasable(
        &self,
        subject: &ErasureSubject,
        limit: u32,
    ) -> Result<ErasedRows, Fault> {
        let mut db = self.pool.begin().await?;
        let mut found = ErasedRows::default();
        let groups = db::query(self.sql.find_groups()).bind(needle(subject));
        let groups = groups.bind(i64::from(limit)).fetch_all(&mut *db).await?;
        let groups = readable("group", &groups, |row| json::<GroupRecord>(row.try_get("body")?))?;
        let own = |group: &&GroupRecord| {
            covers(subject, group.tenant.as_ref(), group.correlation_id.as_ref())
        };
        found.groups = groups.iter().filter(own).count() as u64;
        let (statement, own) = match subject.tenant() {
            Some(tenant) => {
                let keys = db::query_scalar(self.sql.count_keys()).bind(scope(Some(tenant)));
                let keys: i64 = keys.bind(i64::from(limit)).fetch_one(&mut *db).await?;
                found.keys = to_u64(keys);
                (self.sql.count_hand_offs_of_tenant(), tenant)
            }
            None => (
                self.sql.count_hand_offs_of_correlation(),
                subject.correlation_id().unwrap_or_default(),
            ),
        };
        let handed = db::query_scalar(statement).bind(clean(own)).bind(i64::from(limit));
        let handed: i64 = handed.fetch_one(&mut *db).await?;
        found.hand_offs = to_u64(handed);
        found.deliveries = self.deliveries_of(&mut db, subject, limit).await?.len() as u64;
        db.commit().await?;
        Ok(found)
    }

    /// Deletes idempotency keys.
    pub(crate) async fn purge_keys_within(
        &self,
        db: &mut PgConnection,
        keys: &PurgeKeys,
    ) -> Result<u64, Fault> {
        let (age, limit) = (micros(keys.age), i64::from(keys.limit));
        let query = match &keys.kind {
            KeyKind::Clear { tenant, prefix } => db::query(self.sql.purge_keys())
                .bind(scope(tenant.as_deref()))
                .bind(clean(prefix))
                .bind(age)
                .bind(limit),
            KeyKind::Erased => db::query(self.sql.purge_digests()).bind(age).bind(limit),
            _ => return Ok(0),
        };
        Ok(query.execute(db).await?.rows_affected())
    }
}
