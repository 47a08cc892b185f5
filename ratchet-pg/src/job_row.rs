//! The narrow row of a waiting job, and a way to bind many such rows as columns.

use ratchet_store::model::{JobState, Verdict};
use ratchet_store::rules::Standing;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{Postgres, Row};
use uuid::Uuid;

use crate::spec::{instant, to_i32, to_u32};

/// The narrow row of a job, which moves between the tables of waiting jobs.
#[derive(Debug, Clone)]
pub(crate) struct WaitingRow {
    pub(crate) job: Uuid,
    pub(crate) sort_key: i64,
    pub(crate) due: i64,
    pub(crate) version: i64,
    pub(crate) run: i64,
    pub(crate) job_version: i32,
    pub(crate) attempts: i32,
    pub(crate) crashes: i32,
    pub(crate) deferrals: i32,
    pub(crate) generation: i32,
    pub(crate) climit: Option<i32>,
    pub(crate) keyed: bool,
    pub(crate) queue: String,
    pub(crate) name: String,
    pub(crate) ckey: Option<String>,
    pub(crate) service: Option<String>,
    pub(crate) judges: Option<String>,
    /// Only rows of `ready` have it, for the turns in fair queues.
    pub(crate) tenant: Option<String>,
}

impl WaitingRow {
    pub(crate) fn read(row: &PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            job: row.try_get("job")?,
            sort_key: row.try_get("sort_key")?,
            due: row.try_get("due")?,
            version: row.try_get("version")?,
            run: row.try_get("run")?,
            job_version: row.try_get("job_version")?,
            attempts: row.try_get("attempts")?,
            crashes: row.try_get("crashes")?,
            deferrals: row.try_get("deferrals")?,
            generation: row.try_get("generation")?,
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

    /// Applies a verdict to the row of a running job. Returns the new state.
    pub(crate) fn settle(&mut self, verdict: &Verdict, now: i64) -> JobState {
        let before = Standing {
            state: JobState::Running,
            due: instant(self.due),
            attempts: to_u32(self.attempts),
            crashes: to_u32(self.crashes),
            deferrals: to_u32(self.deferrals),
        };
        let after = before.after(verdict, instant(now));
        if after.due != before.due {
            self.due_at(after.due.as_microsecond());
        }
        self.attempts = to_i32(after.attempts);
        self.crashes = to_i32(after.crashes);
        self.deferrals = to_i32(after.deferrals);
        after.state
    }

    /// Sets the due time. The sort key moves by the same amount.
    pub(crate) fn due_at(&mut self, due: i64) {
        let head = self.due - self.sort_key;
        self.due = due;
        self.sort_key = due - head;
    }
}

/// Binds many rows as columns.
pub(crate) fn bind_all<'q>(
    query: Query<'q, Postgres, PgArguments>,
    rows: &[WaitingRow],
) -> Query<'q, Postgres, PgArguments> {
    fn column<T>(rows: &[WaitingRow], value: impl Fn(&WaitingRow) -> T) -> Vec<T> {
        rows.iter().map(value).collect()
    }
    query
        .bind(column(rows, |row| row.job))
        .bind(column(rows, |row| row.sort_key))
        .bind(column(rows, |row| row.due))
        .bind(column(rows, |row| row.version))
        .bind(column(rows, |row| row.run))
        .bind(column(rows, |row| row.job_version))
        .bind(column(rows, |row| row.attempts))
        .bind(column(rows, |row| row.crashes))
        .bind(column(rows, |row| row.deferrals))
        .bind(column(rows, |row| row.generation))
        .bind(column(rows, |row| row.climit))
        .bind(column(rows, |row| row.keyed))
        .bind(column(rows, |row| row.queue.clone()))
        .bind(column(rows, |row| row.name.clone()))
        .bind(column(rows, |row| row.ckey.clone()))
        .bind(column(rows, |row| row.service.clone()))
        .bind(column(rows, |row| row.judges.clone()))
        .bind(column(rows, |row| row.tenant.clone()))
}
