//! Notes of runs: progress, checkpoints, warnings and log lines.

use std::collections::HashSet;

use ratchet_store::MAX_LOG_LINES;
use ratchet_store::model::{RunNotes, Token};
use uuid::Uuid;

use super::Tokens;
use crate::db;
use crate::fault::Fault;
use crate::record::text;
use crate::spec::{clean, micros, to_i64};
use crate::store::Inner;
use sqlx::PgConnection;

/// Notes as columns, with one row per job. Later notes override earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    job: Vec<Uuid>,
    percent: Vec<Option<f32>>,
    message: Vec<Option<String>>,
    checkpoint: Vec<Option<String>>,
    warnings: Vec<Vec<String>>,
    logs: Logs,
}

#[derive(Debug, Default)]
struct Logs {
    job: Vec<Uuid>,
    run: Vec<i64>,
    after: Vec<i64>,
    level: Vec<i16>,
    message: Vec<String>,
}

impl Notes {
    pub(crate) fn push(&mut self, job: Uuid, notes: &RunNotes) {
        if notes.is_empty() {
            return;
        }
        let row = self.row(job);
        if let Some(progress) = &notes.progress {
            self.percent[row] = Some(progress.percent);
            self.message[row] = Some(clean(&progress.message));
        }
        if let Some(checkpoint) = &notes.checkpoint {
            self.checkpoint[row] = text(checkpoint);
        }
        self.warnings[row].extend(notes.warnings.iter().map(|warning| clean(warning)));
        for line in &notes.logs {
            self.logs.job.push(job);
            self.logs.run.push(to_i64(line.run));
            self.logs.after.push(micros(line.after));
            self.logs.level.push(line.level.code());
            self.logs.message.push(clean(&line.message));
        }
    }

    pub(crate) fn warn(&mut self, job: Uuid, warning: &str) {
        let row = self.row(job);
        self.warnings[row].push(clean(warning));
    }

    fn row(&mut self, job: Uuid) -> usize {
        if let Some(row) = self.job.iter().position(|other| *other == job) {
            return row;
        }
        self.job.push(job);
        self.percent.push(None);
        self.message.push(None);
        self.checkpoint.push(None);
        self.warnings.push(Vec::new());
        self.job.len() - 1
    }

    pub(crate) async fn write(self, inner: &Inner, db: &mut PgConnection) -> Result<(), Fault> {
        if !self.job.is_empty() {
            let warnings: Vec<_> = self.warnings.iter().map(text).collect();
            db::query(inner.sql.upsert_notes())
                .bind(self.job)
                .bind(self.percent)
                .bind(self.message)
                .bind(self.checkpoint)
                .bind(warnings)
                .execute(&mut *db)
                .await?;
        }
        let logs = self.logs;
        if !logs.job.is_empty() {
            let jobs: HashSet<_> = logs.job.iter().copied().collect();
            db::query(inner.sql.insert_logs())
                .bind(logs.job)
                .bind(logs.run)
                .bind(logs.after)
                .bind(logs.level)
                .bind(logs.message)
                .execute(&mut *db)
                .await?;
            let most = i64::try_from(MAX_LOG_LINES).unwrap_or(i64::MAX);
            db::query(inner.sql.trim_logs())
                .bind(jobs.into_iter().collect::<Vec<_>>())
                .bind(most)
                .execute(db)
                .await?;
        }
        Ok(())
    }
}

impl Inner {
    /// Writes the notes of running handlers. Returns whether each token was current.
    pub(crate) async fn report_within(
        &self,
        db: &mut PgConnection,
        notes: &[(Token, RunNotes)],
    ) -> Result<Vec<bool>, Fault> {
        let tokens: Vec<_> = notes.iter().map(|(token, _)| *token).collect();
        let columns = Tokens::of(&tokens);
        db::query(self.sql.lock_leases()).bind(&columns.lease).fetch_all(&mut *db).await?;
        let rows = db::query(self.sql.select_members())
            .bind(columns.distinct_leases())
            .bind(columns.job)
            .fetch_all(&mut *db)
            .await?;
        let held: HashSet<_> = rows.iter().map(crate::record::token).collect::<Result<_, _>>()?;
        let current: Vec<_> = tokens.iter().map(|token| held.contains(token)).collect();
        let mut kept = Notes::default();
        for ((token, notes), _) in notes.iter().zip(&current).filter(|(_, current)| **current) {
            kept.push(token.job.uuid(), notes);
        }
        kept.write(self, db).await?;
        Ok(current)
    }
}
