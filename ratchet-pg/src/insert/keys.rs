//! Reserves the keys of a batch in a fixed order before it is planned, and assigns them afterwards.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use ratchet_store::model::{JobId, NewJob};
use ratchet_store::rules::insert::IdempotencyRecord;
use uuid::Uuid;

use super::plan::{Before, Plan, Scoped, business_key, coalesces, idempotency_key, second_place};
use crate::db;
use crate::fault::{Fault, TRIES, exactly};
use crate::spec::micros;
use crate::sql::Statement;
use crate::store::Inner;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// Keys that were free and are held by this transaction until they are assigned.
#[derive(Default)]
pub(super) struct Reserved {
    ledger: BTreeMap<Scoped, IdempotencyRecord>,
    business: BTreeMap<Scoped, JobId>,
}

impl Inner {
    /// Reserves the keys of a batch. Also returns the ids and keys that existed before.
    pub(super) async fn reserve(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
    ) -> Result<(Before, Reserved), Fault> {
        let ids: Vec<_> = jobs.iter().map(|job| job.id.uuid()).collect();
        let there: Vec<Uuid> =
            db::query_scalar(self.sql.select_ids()).bind(ids).fetch_all(&mut *db).await?;
        let mut before = Before {
            ids: there.into_iter().map(JobId::from_uuid).collect(),
            last: self.lock_sequences(db, jobs).await?,
            ..Before::default()
        };
        let mut reserved = Reserved::default();
        for job in jobs {
            if let Some((key, used)) = idempotency_key(job) {
                reserved.ledger.entry(key).or_insert(used.record);
            }
            if let Some(key) = business_key(&job.spec) {
                if coalesces(job) {
                    reserved.business.entry(second_place(&key)).or_insert(job.id);
                }
                reserved.business.entry(key).or_insert(job.id);
            }
        }
        if !reserved.ledger.is_empty() {
            before.idempotency = self.take_ledger(db, &mut reserved.ledger).await?;
        }
        if !reserved.business.is_empty() {
            let holders = self.take_business(db, &mut reserved.business).await?;
            before.business = self.read_holders(db, jobs, holders).await?;
        }
        Ok((before, reserved))
    }

    /// Takes the business keys that are free, and keeps only those in `wanted`. Returns the holders of the rest.
    ///
    /// A key may be freed after the reservation failed and before its holder is read. Then it is requested again.
    pub(crate) async fn take_business(
        &self,
        db: &mut PgConnection,
        wanted: &mut BTreeMap<Scoped, JobId>,
    ) -> Result<HashMap<Scoped, JobId>, Fault> {
        let (mut open, mut holders) = (std::mem::take(wanted), HashMap::new());
        for _ in 0..TRIES {
            let mut won = open.clone();
            let lost = self.reserve_business(db, &mut won).await?;
            wanted.append(&mut won);
            holders.extend(self.holders(db, lost.clone()).await?);
            open.retain(|key, _| lost.contains(key) && !holders.contains_key(key));
            let Some((first, _)) = open.first_key_value() else { return Ok(holders) };
            // Keys are taken in a fixed order. Waiting for a key while this transaction holds a later one could
            // deadlock, so the whole transaction is retried instead.
            if wanted.last_key_value().is_some_and(|(last, _)| last > first) {
                break;
            }
        }
        Err(Fault::Conflict)
    }

    /// Takes the idempotency keys that are free or have expired, and keeps only those in `wanted`. Returns the uses of the
    /// rest.
    ///
    /// Expired keys are taken after all free ones, each kind in a fixed order. So a transaction that waits for an expired
    /// key waits only for one that waits for no free key, and there is no deadlock. An expired key that is renewed or
    /// deleted by another transaction meanwhile is requested again.
    pub(crate) async fn take_ledger(
        &self,
        db: &mut PgConnection,
        wanted: &mut BTreeMap<Scoped, IdempotencyRecord>,
    ) -> Result<HashMap<Scoped, IdempotencyRecord>, Fault> {
        let (mut open, mut uses) = (std::mem::take(wanted), HashMap::new());
        for _ in 0..TRIES {
            let (free, erased) = self.reserve_ledger(db, &open).await?;
            uses.extend(erased);
            open.retain(|key, _| !uses.contains_key(key));
            wanted.append(&mut take_keys(&mut open, &free));
            if open.is_empty() {
                return Ok(uses);
            }
            let mut expired = BTreeMap::new();
            for (key, (record, is_expired)) in self.uses(db, &open).await? {
                let Some((key, own)) = open.remove_entry(&key) else { continue };
                // Its own use counts: the reply to this insert was lost.
                if is_expired && own.job != record.job {
                    expired.insert(key, own);
                } else {
                    uses.insert(key, record);
                }
            }
            if !expired.is_empty() {
                let renewed = self.write_ledger(db, self.sql.renew_idempotency(), &expired).await?;
                wanted.append(&mut take_keys(&mut expired, &renewed));
                open.append(&mut expired);
            }
            if open.is_empty() {
                return Ok(uses);
            }
        }
        Err(Fault::Conflict)
    }

    /// Reserves the idempotency keys that are free. Returns them, and the uses of those of which only a digest is kept.
    async fn reserve_ledger(
        &self,
        db: &mut PgConnection,
        entries: &BTreeMap<Scoped, IdempotencyRecord>,
    ) -> Result<(HashSet<Scoped>, Vec<(Scoped, IdempotencyRecord)>), Fault> {
        let statement = self.sql.reserve_idempotency();
        let rows = self.write_ledger_rows(db, statement, entries).await?;
        let (mut free, mut erased) = (HashSet::new(), Vec::new());
        for row in &rows {
            let key: Scoped = (row.try_get("scope")?, row.try_get("key")?);
            match row.try_get::<Option<Uuid>, _>("erased")? {
                None => drop(free.insert(key)),
                Some(job) => {
                    erased.push((key, IdempotencyRecord::erased(JobId::from_uuid(job))));
                }
            }
        }
        if !erased.is_empty() {
            let (scopes, keys): (Vec<_>, Vec<_>) =
                erased.iter().map(|(key, _)| key.clone()).unzip();
            let gone = db::query(self.sql.delete_idempotency()).bind(scopes).bind(keys);
            exactly(erased.len(), &gone.execute(db).await?)?;
        }
        Ok((free, erased))
    }

    /// Returns the recorded uses of idempotency keys, and whether they have expired.
    async fn uses(
        &self,
        db: &mut PgConnection,
        keys: &BTreeMap<Scoped, IdempotencyRecord>,
    ) -> Result<Vec<(Scoped, (IdempotencyRecord, bool))>, Fault> {
        let (scopes, keys): (Vec<_>, Vec<_>) = keys.keys().cloned().unzip();
        let entries = db::query(self.sql.select_idempotency()).bind(scopes).bind(keys);
        let mut uses = Vec::new();
        for row in entries.fetch_all(db).await? {
            let used = IdempotencyRecord {
                job: JobId::from_uuid(row.try_get("job")?),
                name: row.try_get("name")?,
                digest: row.try_get("digest")?,
                lifetime: None,
            };
            let key = (row.try_get("scope")?, row.try_get("key")?);
            uses.push((key, (used, row.try_get("expired")?)));
        }
        Ok(uses)
    }

    /// Writes uses of idempotency keys with a statement that returns the keys it has written.
    async fn write_ledger(
        &self,
        db: &mut PgConnection,
        statement: Statement,
        entries: &BTreeMap<Scoped, IdempotencyRecord>,
    ) -> Result<HashSet<Scoped>, Fault> {
        Ok(keys_of(&self.write_ledger_rows(db, statement, entries).await?)?)
    }

    async fn write_ledger_rows(
        &self,
        db: &mut PgConnection,
        statement: Statement,
        entries: &BTreeMap<Scoped, IdempotencyRecord>,
    ) -> Result<Vec<PgRow>, Fault> {
        let (scopes, keys): (Vec<_>, Vec<_>) = entries.keys().cloned().unzip();
        let rows = db::query(statement)
            .bind(scopes)
            .bind(keys)
            .bind(entries.values().map(|entry| entry.job.uuid()).collect::<Vec<_>>())
            .bind(entries.values().map(|entry| entry.name.clone()).collect::<Vec<_>>())
            .bind(entries.values().map(|entry| entry.digest.clone()).collect::<Vec<_>>())
            .bind(entries.values().map(|entry| entry.lifetime.map(micros)).collect::<Vec<_>>())
            .fetch_all(db)
            .await?;
        Ok(rows)
    }

    /// Takes the business keys that are free, and keeps only those in `wanted`. Returns the rest.
    async fn reserve_business(
        &self,
        db: &mut PgConnection,
        wanted: &mut BTreeMap<Scoped, JobId>,
    ) -> Result<Vec<Scoped>, Fault> {
        let (scopes, keys): (Vec<_>, Vec<_>) = wanted.keys().cloned().unzip();
        let rows = db::query(self.sql.reserve_business())
            .bind(scopes)
            .bind(keys)
            .bind(wanted.values().map(|job| job.uuid()).collect::<Vec<_>>())
            .fetch_all(db)
            .await?;
        Ok(split(wanted, &rows)?)
    }

    /// Returns the jobs that hold these keys.
    pub(super) async fn holders(
        &self,
        db: &mut PgConnection,
        keys: Vec<Scoped>,
    ) -> Result<Vec<(Scoped, JobId)>, Fault> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (scopes, keys): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
        let rows = db::query(self.sql.select_business()).bind(scopes).bind(keys);
        let mut holders = Vec::new();
        for row in rows.fetch_all(db).await? {
            let key = (row.try_get("scope")?, row.try_get("key")?);
            holders.push((key, JobId::from_uuid(row.try_get("job")?)));
        }
        Ok(holders)
    }

    /// Assigns the reserved keys to their jobs according to the plan.
    pub(super) async fn assign(
        &self,
        db: &mut PgConnection,
        plan: &mut Plan,
        reserved: Reserved,
    ) -> Result<(), Fault> {
        let wrong =
            reserved.ledger.iter().filter(|(key, entry)| plan.idempotency.get(*key) != Some(entry));
        let wrong: BTreeSet<_> = wrong.map(|(key, _)| key.clone()).collect();
        if !wrong.is_empty() {
            let (scopes, keys): (Vec<_>, Vec<_>) = wrong.iter().cloned().unzip();
            let gone = db::query(self.sql.delete_idempotency()).bind(scopes).bind(keys);
            gone.execute(&mut *db).await?;
            plan.idempotency.retain(|key, _| wrong.contains(key));
            self.write_ledger(db, self.sql.reserve_idempotency(), &plan.idempotency).await?;
        }
        let spare = reserved.business.keys().filter(|key| !plan.business.contains_key(*key));
        let (scopes, keys): (Vec<_>, Vec<_>) = spare.cloned().unzip();
        if !keys.is_empty() {
            let spare = keys.len();
            let gone = db::query(self.sql.delete_business()).bind(scopes).bind(keys);
            exactly(spare, &gone.execute(&mut *db).await?)?;
        }
        plan.business.retain(|key, job| reserved.business.get(key) != Some(job));
        if !plan.business.is_empty() {
            let (scopes, keys): (Vec<_>, Vec<_>) = plan.business.keys().cloned().unzip();
            let holders: Vec<_> = plan.business.values().map(|job| job.uuid()).collect();
            let given = db::query(self.sql.assign_business()).bind(scopes).bind(keys);
            exactly(plan.business.len(), &given.bind(holders).execute(&mut *db).await?)?;
        }
        Ok(())
    }
}

/// Removes the keys that were not won from `wanted`, and returns them.
fn split<T>(wanted: &mut BTreeMap<Scoped, T>, won: &[PgRow]) -> Result<Vec<Scoped>, sqlx::Error> {
    let keys = keys_of(won)?;
    let lost = wanted.keys().filter(|key| !keys.contains(*key)).cloned().collect();
    wanted.retain(|key, _| keys.contains(key));
    Ok(lost)
}

/// Removes these keys from `from`, and returns them.
fn take_keys<T>(from: &mut BTreeMap<Scoped, T>, keys: &HashSet<Scoped>) -> BTreeMap<Scoped, T> {
    let (taken, rest) = std::mem::take(from).into_iter().partition(|(key, _)| keys.contains(key));
    *from = rest;
    taken
}

fn keys_of(rows: &[PgRow]) -> Result<HashSet<Scoped>, sqlx::Error> {
    rows.iter().map(|row| Ok((row.try_get("scope")?, row.try_get("key")?))).collect()
}
