//! Frees what a run held: the slots under concurrency limits, and the business key of a job that has ended.

use std::collections::BTreeSet;

use ratchet_store::Wake;
use ratchet_store::model::Token;
use uuid::Uuid;

use crate::db;
use crate::fault::Fault;
use crate::spec::to_i64;
use crate::store::Inner;
use crate::wake::Hint;
use sqlx::{PgConnection, Row as _};

impl Inner {
    /// Frees the slots and keys of lingering runs. Returns hints for the queues that the runs were claimed from, and for those
    /// in which a slot was freed.
    pub(crate) async fn let_go_within(
        &self,
        db: &mut PgConnection,
        tokens: &[Token],
    ) -> Result<Vec<Hint>, Fault> {
        if tokens.is_empty() {
            return Ok(Vec::new());
        }
        let columns = Tokens::of(tokens);
        let rows = db::query(self.sql.delete_lingering())
            .bind(columns.job)
            .bind(columns.lease)
            .bind(columns.version)
            .fetch_all(&mut *db)
            .await?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let gone: Vec<_> = rows.iter().map(crate::record::token).collect::<Result<_, _>>()?;
        let mut hints =
            self.free(db, &gone, gone.iter().map(|token| token.job.uuid()).collect()).await?;
        let queues: BTreeSet<Option<String>> =
            rows.iter().map(|row| row.try_get("queue")).collect::<Result<_, _>>()?;
        hints.extend(queues.into_iter().flatten().map(|queue| Wake::Work { queue }.into()));
        Ok(hints)
    }

    /// Frees the slots of runs, and the business keys of jobs that have ended.
    pub(crate) async fn free(
        &self,
        db: &mut PgConnection,
        runs: &[Token],
        jobs: Vec<Uuid>,
    ) -> Result<Vec<Hint>, Fault> {
        let columns = Tokens::of(runs);
        let queues: Vec<String> = db::query_scalar(self.sql.free_slots())
            .bind(columns.job)
            .bind(columns.lease)
            .bind(columns.version)
            .fetch_all(&mut *db)
            .await?;
        self.free_business(db, jobs).await?;
        let queues: BTreeSet<_> = queues.into_iter().collect();
        Ok(queues.into_iter().map(|queue| Wake::Work { queue }.into()).collect())
    }

    /// Frees the business keys of jobs that have ended and have no lingering run.
    ///
    /// The end of a job and the end of its late handler free a key together, and neither sees the other before its
    /// commit. Therefore both lock the key first, and the second decides based on what the first has committed.
    async fn free_business(&self, db: &mut PgConnection, jobs: Vec<Uuid>) -> Result<(), Fault> {
        if jobs.is_empty() {
            return Ok(());
        }
        let held = db::query(self.sql.lock_business()).bind(&jobs).fetch_all(&mut *db).await?;
        if !held.is_empty() {
            db::query(self.sql.free_business()).bind(jobs).execute(db).await?;
        }
        Ok(())
    }
}

/// Tokens as columns.
pub(crate) struct Tokens {
    pub(crate) job: Vec<Uuid>,
    pub(crate) lease: Vec<Uuid>,
    pub(crate) version: Vec<i64>,
}

impl Tokens {
    pub(crate) fn distinct_leases(&self) -> Vec<Uuid> {
        self.lease.iter().copied().collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub(crate) fn of(tokens: &[Token]) -> Self {
        Self {
            job: tokens.iter().map(|token| token.job.uuid()).collect(),
            lease: tokens.iter().map(|token| token.lease.uuid()).collect(),
            version: tokens.iter().map(|token| to_i64(token.version)).collect(),
        }
    }
}
