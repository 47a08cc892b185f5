//! A transaction in progress: its connection, its time, and the effects to apply when it commits.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use ratchet_store::Wake;
use ratchet_store::model::{ErasedRows, JobSpec, JobState};
use sqlx::SqliteConnection;

use crate::sql;
use crate::template::{self, Templates};
use crate::value::json;

/// A transaction in progress. The operations of the store are methods of this type, implemented in the other modules.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) conn: &'a mut SqliteConnection,
    pub(crate) now: Timestamp,
    pub(crate) templates: &'a Templates,
    pub(crate) effects: &'a mut Effects,
    /// The most blocked jobs that a claim may skip before it sets them aside.
    pub(crate) max_skipped: usize,
    /// Check for existing ids before inserting, instead of relying on the unique index.
    pub(crate) check_ids: bool,
    /// SQLite has reported that the file is damaged. Outcomes are still written, but nothing is claimed.
    pub(crate) damaged: bool,
    /// What the page of an erasure has deleted before this transaction, in and for the archive.
    pub(crate) erased: ErasedRows,
}

/// Changes to apply when a transaction commits. They are discarded if it rolls back.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    /// Changes of job counts by template and state. Written before the commit.
    counts: HashMap<(i64, JobState), i64>,
    /// Wake-ups to send after the commit.
    pub(crate) wakes: Vec<Wake>,
    /// Templates to cache after the commit.
    pub(crate) templates: Vec<(i64, Arc<JobSpec>)>,
}

impl Effects {
    pub(crate) fn count(&mut self, template: i64, state: JobState, jobs: i64) {
        *self.counts.entry((template, state)).or_default() += jobs;
    }

    /// Takes the changed counts as JSON for the statement.
    fn take_counts(&mut self) -> Result<Option<String>, sqlx::Error> {
        let changes: Vec<_> = self
            .counts
            .drain()
            .filter(|(_, jobs)| *jobs != 0)
            .map(|((template, state), jobs)| (template, state.code(), jobs))
            .collect();
        if changes.is_empty() { Ok(None) } else { json(&changes).map(Some) }
    }

    /// Adds a wake-up for a queue, unless the first or the last one is for the same queue.
    pub(crate) fn wake_queue(&mut self, queue: &str) {
        let hinted =
            |wake: &Wake| matches!(wake, Wake::Work { queue: hinted } if hinted.as_str() == queue);
        if !self.wakes.last().is_some_and(hinted) && !self.wakes.first().is_some_and(hinted) {
            self.wakes.push(Wake::Work { queue: queue.to_owned() });
        }
    }
}

impl Session<'_> {
    pub(crate) fn micros(&self) -> i64 {
        self.now.as_microsecond()
    }

    /// Writes the changed counts. Must be called before the stored counts are read.
    pub(crate) async fn write_counts(&mut self) -> Result<(), sqlx::Error> {
        if let Some(changes) = self.effects.take_counts()? {
            sqlx::query(sql::count::ADD_JOBS).bind(changes).execute(&mut *self.conn).await?;
        }
        Ok(())
    }

    /// Writes the changed counts and commits, in one call.
    pub(crate) async fn commit(&mut self) -> Result<(), sqlx::Error> {
        match self.effects.take_counts()? {
            Some(changes) => {
                sqlx::query(sql::count::ADD_JOBS_AND_COMMIT)
                    .bind(changes)
                    .execute(&mut *self.conn)
                    .await?
            }
            None => sqlx::query("COMMIT").execute(&mut *self.conn).await?,
        };
        Ok(())
    }

    /// Returns the template of a new job. Stores it if it does not exist yet.
    pub(crate) async fn template_for(&mut self, spec: &JobSpec) -> Result<i64, sqlx::Error> {
        if let Some(id) =
            self.templates.find(spec).or_else(|| template::find(&self.effects.templates, spec))
        {
            return Ok(id);
        }
        let (id, template, body) = template::template_of(spec)?;
        sqlx::query(sql::insert::INSERT_TEMPLATE)
            .bind(id)
            .bind(spec.queue.as_str())
            .bind(spec.name.as_str())
            .bind(i64::from(spec.version))
            .bind(body)
            .execute(&mut *self.conn)
            .await?;
        self.effects.templates.push((id, template));
        Ok(id)
    }

    /// Returns a stored template.
    pub(crate) async fn template(&mut self, id: i64) -> Result<Arc<JobSpec>, sqlx::Error> {
        if let Some(template) = self.templates.get(id) {
            return Ok(template);
        }
        let fresh = self.effects.templates.iter().find(|(fresh, _)| *fresh == id);
        if let Some((_, template)) = fresh {
            return Ok(Arc::clone(template));
        }
        let template = template::load(self.conn, id).await?;
        self.effects.templates.push((id, Arc::clone(&template)));
        Ok(template)
    }
}
