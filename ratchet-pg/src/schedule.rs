//! Schedules of recurring jobs: one row each, fenced by its version.

use jiff::Timestamp;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    DroppedChild, Inserted, ScheduleRecord, ScheduleWritten, WriteSchedule,
};

use crate::db;
use crate::fault::{Fault, exactly, transact};
use crate::insert::Fresh;
use crate::record::text;
use crate::settle::any_keyed;
use crate::spec::{clean, json, to_i64, to_u64};
use crate::store::Inner;
use crate::unreadable::readable;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

impl Inner {
    pub(crate) async fn schedules(&self) -> Result<Vec<ScheduleRecord>, Fault> {
        let rows = db::query(self.sql.select_schedules()).fetch_all(&self.pool).await?;
        Ok(readable("schedule", &rows, schedule)?)
    }

    pub(crate) async fn schedule(&self, name: &str) -> Result<Option<ScheduleRecord>, Fault> {
        let row = db::query(self.sql.select_schedule()).bind(clean(name));
        Ok(readable("schedule", &row.fetch_all(&self.pool).await?, schedule)?.pop())
    }

    pub(crate) async fn schedule_within(
        &self,
        db: &mut PgConnection,
        name: &str,
    ) -> Result<Option<ScheduleRecord>, Fault> {
        let row = db::query(self.sql.select_schedule()).bind(name).fetch_all(db).await?;
        Ok(readable("schedule", &row, schedule)?.pop())
    }

    pub(crate) async fn due_schedules(&self, limit: u32) -> Result<Vec<ScheduleRecord>, Fault> {
        let rows = db::query(self.sql.select_due()).bind(i64::from(limit));
        Ok(readable("schedule", &rows.fetch_all(&self.pool).await?, schedule)?)
    }

    pub(crate) async fn write_schedule(
        &self,
        write: WriteSchedule,
    ) -> Result<ScheduleWritten, Fault> {
        let (written, fresh) =
            transact!(self, |db| self.write_schedule_within(db, &write).await?)?;
        self.announce(&fresh);
        Ok(written)
    }

    pub(crate) async fn write_schedule_within(
        &self,
        db: &mut PgConnection,
        write: &WriteSchedule,
    ) -> Result<(ScheduleWritten, Fresh), Fault> {
        let name = clean(&write.name);
        let there = db::query_scalar(self.sql.lock_schedule()).bind(&name);
        let version: Option<i64> = there.fetch_optional(&mut *db).await?;
        if version.map(to_u64) != write.replaces || !self.may_write(db, write).await? {
            return Ok((ScheduleWritten::Stale, Fresh::default()));
        }
        let kept = write.record.as_ref().is_some_and(|record| record.name == write.name);
        if !kept {
            db::query(self.sql.delete_schedule()).bind(name).execute(&mut *db).await?;
        }
        if let Some(record) = &write.record {
            let save = if kept && version.is_some() {
                self.sql.update_schedule()
            } else {
                self.sql.insert_schedule()
            };
            let saved = db::query(save)
                .bind(clean(&record.name))
                .bind(to_i64(version.map_or(0, to_u64) + 1))
                .bind(record.next.map(Timestamp::as_microsecond))
                .bind(record.is_stopped())
                .bind(text(record))
                .execute(&mut *db)
                .await?;
            exactly(1, &saved)?;
        }
        crash_point(CrashPoint::FireMoved);
        let now = self.now(&mut *db).await?;
        // A wait for a key would delay other schedules.
        if any_keyed(&write.jobs) {
            self.limit_key_waits(db).await?;
        }
        let (inserted, fresh) = self.insert_children(db, &write.jobs, now).await?;
        let (mut created, mut dropped) = (Vec::new(), Vec::new());
        for (job, inserted) in write.jobs.iter().zip(inserted) {
            match inserted {
                Ok(Inserted::Created(id)) => created.push(id),
                Ok(_) => {}
                Err(refused) => {
                    let (id, name) = (job.id, job.spec.name.clone());
                    dropped.push(DroppedChild { id, name, why: refused.to_string() });
                }
            }
        }
        let notices = write.notices.iter().map(|notice| (now, notice.clone())).collect();
        self.record(db, notices, now).await?;
        crash_point(CrashPoint::FireStored);
        Ok((ScheduleWritten::Written { created, dropped }, fresh))
    }

    /// Returns `false` if the new name is taken, or the declarations are no longer the newest of their program.
    async fn may_write(&self, db: &mut PgConnection, write: &WriteSchedule) -> Result<bool, Fault> {
        let renamed = write.record.as_ref().filter(|record| record.name != write.name);
        if let Some(renamed) = renamed {
            let taken = db::query(self.sql.lock_schedule()).bind(clean(&renamed.name));
            if taken.fetch_optional(&mut *db).await?.is_some() {
                return Ok(false);
            }
        }
        self.lock_newest(db, write.declarations.as_ref()).await
    }
}

fn schedule(row: &PgRow) -> Result<ScheduleRecord, sqlx::Error> {
    let mut schedule: ScheduleRecord = json(row.try_get("body")?)?;
    schedule.version = to_u64(row.try_get("version")?);
    Ok(schedule)
}
