//! Reads jobs on the read connections. Jobs that cannot be read are noted for the writer.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use ratchet_store::model::JobSpec;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteRow};
use sqlx::{Error, Row as _};

use crate::error::is_unreadable;
use crate::query::Look;
use crate::row::{JobRow, job_row};
use crate::template;

/// A statement whose rows are jobs.
pub(crate) type JobQuery<'q> = sqlx::query::Query<'q, Sqlite, SqliteArguments>;

/// A row of a list of jobs.
pub(crate) struct ListedJob {
    pub(crate) seq: i64,
    /// The stored id, which may be damaged.
    pub(crate) id: Vec<u8>,
    /// `None` if the job cannot be read.
    pub(crate) job: Option<JobRow>,
}

impl Look<'_> {
    /// Reads the jobs that a statement returns. Decodes each of them while the database reads the next ones.
    pub(crate) async fn read_jobs(&mut self, query: JobQuery<'_>) -> Result<Vec<ListedJob>, Error> {
        let mut listed = Vec::new();
        // The rows of jobs that could not be decoded at once: they are damaged, or their template is not in the cache.
        let mut later = Vec::new();
        let mut rows = query.fetch(&mut *self.conn);
        while let Some(row) = rows.try_next().await? {
            let template = self.templates.get(row.try_get("template").unwrap_or_default());
            let job = template.and_then(|template| job_row(&row, &template).ok());
            let (seq, id) = (row.try_get("seq")?, row.try_get("id")?);
            if job.is_none() {
                later.push((listed.len(), row));
            }
            listed.push(ListedJob { seq, id, job });
        }
        drop(rows);
        for (at, row) in later {
            listed[at].job = self.readable_row(&row).await?;
        }
        Ok(listed)
    }

    /// Reads a job. A job that cannot be read is noted for the writer.
    pub(crate) async fn job_row(&mut self, row: &SqliteRow) -> Result<JobRow, Error> {
        let read = match self.template(row.try_get("template")?).await {
            Ok(template) => job_row(row, &template),
            Err(error) => Err(error),
        };
        if read.as_ref().is_err_and(is_unreadable) {
            self.unreadable.push(row.try_get("seq")?);
        }
        read
    }

    /// Reads a job of a list. Returns `None` if it cannot be read.
    pub(crate) async fn readable_row(&mut self, row: &SqliteRow) -> Result<Option<JobRow>, Error> {
        match self.job_row(row).await {
            Ok(row) => Ok(Some(row)),
            Err(error) if is_unreadable(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn template(&mut self, id: i64) -> Result<Arc<JobSpec>, Error> {
        if let Some(template) = self.templates.get(id) {
            return Ok(template);
        }
        let template = template::load(self.conn, id).await?;
        self.templates.add(id, Arc::clone(&template));
        Ok(template)
    }
}
