//! Schedules of recurring jobs: one row each, fenced by its version.

use jiff::Timestamp;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    DroppedChild, Inserted, ScheduleRecord, ScheduleWritten, WriteSchedule,
};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::readable;
use crate::value::{json, number, parse, signed};

fn schedule(row: &SqliteRow) -> Result<ScheduleRecord, sqlx::Error> {
    let mut schedule: ScheduleRecord = parse(row.try_get(1)?)?;
    schedule.version = number(row.try_get(0)?)?;
    Ok(schedule)
}

impl Look<'_> {
    pub(crate) async fn schedules(&mut self) -> Result<Vec<ScheduleRecord>, sqlx::Error> {
        let rows = sqlx::query(sql::schedule::LIST_SCHEDULES).fetch_all(&mut *self.conn).await?;
        readable("schedule", &rows, schedule)
    }

    pub(crate) async fn schedule(
        &mut self,
        name: &str,
    ) -> Result<Option<ScheduleRecord>, sqlx::Error> {
        let row = sqlx::query(sql::schedule::GET_SCHEDULE).bind(name);
        Ok(readable("schedule", &row.fetch_all(&mut *self.conn).await?, schedule)?.pop())
    }

    pub(crate) async fn due_schedules(
        &mut self,
        limit: u32,
    ) -> Result<Vec<ScheduleRecord>, sqlx::Error> {
        let due = sqlx::query(sql::schedule::LIST_DUE).bind(self.now).bind(i64::from(limit));
        readable("schedule", &due.fetch_all(&mut *self.conn).await?, schedule)
    }
}

impl Session<'_> {
    pub(crate) async fn write_schedule(
        &mut self,
        write: &WriteSchedule,
    ) -> Result<ScheduleWritten, sqlx::Error> {
        let there = sqlx::query(sql::schedule::GET_VERSION).bind(write.name.as_str());
        let there = there.fetch_optional(&mut *self.conn).await?;
        let version: Option<u64> = there.map(|row| number(row.try_get(0)?)).transpose()?;
        if version != write.replaces || !self.may_write(write).await? {
            return Ok(ScheduleWritten::Stale);
        }
        if write.record.as_ref().is_none_or(|record| record.name != write.name) {
            let delete = sqlx::query(sql::schedule::DELETE_SCHEDULE).bind(write.name.as_str());
            delete.execute(&mut *self.conn).await?;
        }
        if let Some(record) = &write.record {
            sqlx::query(sql::schedule::SAVE_SCHEDULE)
                .bind(record.name.as_str())
                .bind(signed(version.unwrap_or(0) + 1))
                .bind(record.next.map(Timestamp::as_microsecond))
                .bind(record.is_stopped())
                .bind(json(record)?)
                .execute(&mut *self.conn)
                .await?;
        }
        crash_point(CrashPoint::FireMoved);
        let (mut created, mut dropped) = (Vec::new(), Vec::new());
        for job in &write.jobs {
            let check_ids = std::mem::replace(&mut self.check_ids, true);
            let inserted = self.insert(std::slice::from_ref(job)).await;
            self.check_ids = check_ids;
            match inserted?.as_deref() {
                Ok([Inserted::Created(id)]) => created.push(*id),
                Ok(_) => {}
                Err(refused) => {
                    let (id, name) = (job.id, job.spec.name.clone());
                    dropped.push(DroppedChild { id, name, why: refused.to_string() });
                }
            }
        }
        self.record(&write.notices).await?;
        crash_point(CrashPoint::FireStored);
        Ok(ScheduleWritten::Written { created, dropped })
    }

    /// Returns `false` if the new name is taken, or the declarations are no longer the newest of their program.
    async fn may_write(&mut self, write: &WriteSchedule) -> Result<bool, sqlx::Error> {
        let renamed = write.record.as_ref().filter(|record| record.name != write.name);
        if let Some(renamed) = renamed {
            let taken = sqlx::query(sql::schedule::GET_VERSION).bind(renamed.name.as_str());
            if taken.fetch_optional(&mut *self.conn).await?.is_some() {
                return Ok(false);
            }
        }
        self.are_newest(write.declarations.as_ref()).await
    }
}
