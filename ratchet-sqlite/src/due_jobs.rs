//! The due jobs of a queue in order, read in pages.

use std::borrow::Cow;
use std::sync::Arc;

use ratchet_store::model::{ClaimRequest, Claimed, ConcurrencyKey, LeaseId, Token};
use ratchet_store::rules::claim::Candidate;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Row as _, Sqlite};

use crate::row::job_row;
use crate::session::Session;
use crate::value::{
    counter, in_column, job_id, number, parse_borrowed, parse_optional, time, unhex,
};
use crate::{sql, template};

/// A row of the line: numbers first, then text fields.
pub(crate) type Row<'a> = (
    [Option<i64>; 12],
    &'a str,
    &'a str,
    Option<Cow<'a, str>>,
    Option<Cow<'a, str>>,
    Option<Cow<'a, str>>,
    Option<Cow<'a, str>>,
);

/// The position of a job in the line of its queue: sort key, due time, id.
pub(crate) type Place = (i64, i64, Vec<u8>);

/// A part of the line of a queue.
pub(crate) struct DuePage<'q> {
    queue: &'q str,
    /// Rows as JSON.
    text: String,
    /// The rows contained invalid UTF-8, which was replaced.
    damaged: bool,
}

/// A job in the line, with all data that its claimer needs.
#[derive(Debug)]
pub(crate) struct DueJob {
    pub(crate) seq: i64,
    pub(crate) template: i64,
    /// Its position in the line. Lower positions come first.
    pub(crate) place: Place,
    /// The job as it is returned if it is chosen.
    pub(crate) claimed: Claimed,
}

impl DueJob {
    /// Returns what the rules of a claim need to know about the job.
    pub(crate) fn candidate(&self, request: &ClaimRequest) -> Candidate<'_> {
        let spec = &self.claimed.spec;
        Candidate {
            queue: &spec.queue,
            known: request.known.can_run(spec),
            crashes: self.claimed.crashes,
            concurrency: spec.concurrency.as_ref(),
            service: spec.service.as_deref(),
            // The line contains no expired jobs.
            expired: false,
        }
    }
}

impl DuePage<'_> {
    pub(crate) fn rows(&self) -> Result<Vec<Row<'_>>, sqlx::Error> {
        parse_borrowed(&self.text)
    }
}

impl Session<'_> {
    pub(crate) async fn line<'q>(
        &mut self,
        queue: &'q str,
        limit: usize,
        after: Option<&Place>,
    ) -> Result<DuePage<'q>, sqlx::Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let now = self.micros();
        let query = match after {
            None => sqlx::query(sql::claim::LIST_LINE).bind(queue).bind(limit).bind(now),
            Some((sort_key, due, id)) => sqlx::query(sql::claim::LIST_LINE_AFTER)
                .bind(queue)
                .bind(limit)
                .bind(now)
                .bind(*sort_key)
                .bind(*due)
                .bind(id.as_slice()),
        };
        self.due_page(queue, query).await
    }

    /// Returns the jobs of a tenant in the line of a queue, after a position.
    pub(crate) async fn line_of_tenant<'q>(
        &mut self,
        queue: &'q str,
        tenant: &str,
        limit: usize,
        after: Option<&Place>,
    ) -> Result<DuePage<'q>, sqlx::Error> {
        let first = (i64::MIN, i64::MIN, Vec::new());
        let (sort_key, due, id) = after.unwrap_or(&first);
        let query = sqlx::query(sql::claim::LIST_LINE_OF_TENANT)
            .bind(queue)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .bind(self.micros())
            .bind(*sort_key)
            .bind(*due)
            .bind(id.as_slice())
            .bind(tenant);
        self.due_page(queue, query).await
    }

    async fn due_page<'q>(
        &mut self,
        queue: &'q str,
        query: Query<'_, Sqlite, SqliteArguments>,
    ) -> Result<DuePage<'q>, sqlx::Error> {
        let row = query.fetch_one(&mut *self.conn).await?;
        Ok(match row.try_get(0) {
            Ok(text) => DuePage { queue, text, damaged: false },
            // One of the rows contains invalid UTF-8.
            Err(_) => {
                let text = String::from_utf8_lossy(row.try_get(0)?).into_owned();
                DuePage { queue, text, damaged: true }
            }
        })
    }

    /// Returns an error if a row contains replaced text and cannot be read completely.
    async fn check(&mut self, row: &Row<'_>) -> Result<(), sqlx::Error> {
        let (numbers, _, _, own, slot_key, progress, checkpoint) = row;
        let odd = |text: &Option<Cow<'_, str>>| {
            text.as_ref().is_some_and(|text| text.contains(char::REPLACEMENT_CHARACTER))
        };
        if [own, slot_key, progress, checkpoint].into_iter().any(odd) {
            let row = sqlx::query(sql::unreadable::GET_JOB.as_str()).bind(numbers[0]);
            let row = row.fetch_one(&mut *self.conn).await?;
            let template = self.template(row.try_get("template")?).await?;
            job_row(&row, &template)?;
        }
        Ok(())
    }

    pub(crate) async fn read(
        &mut self,
        row: Row<'_>,
        place: Place,
        line: &DuePage<'_>,
        request: &ClaimRequest,
        lease: LeaseId,
    ) -> Result<DueJob, sqlx::Error> {
        if line.damaged {
            self.check(&row).await?;
        }
        let (numbers, _, payload, own, slot_key, progress, checkpoint) = row;
        let limit = numbers[11];
        // Only the limit may be NULL.
        let [
            seq,
            template,
            _,
            due,
            queued_at,
            fence,
            run,
            generation,
            attempts,
            crashes,
            deferrals,
            _,
        ] = numbers.map(Option::unwrap_or_default);
        let concurrency = match (slot_key, limit) {
            (Some(key), Some(limit)) => {
                let limit = in_column("slot_limit", number(limit))?;
                Some(ConcurrencyKey { key: key.into_owned(), limit })
            }
            _ => None,
        };
        let common = self.template(template).await?;
        if common.queue != line.queue {
            let why = "it is not the queue that the job was submitted to";
            return in_column("queue", Err(sqlx::Error::Decode(why.into())));
        }
        let spec = template::spec(&common, unhex(payload)?, own.as_deref(), concurrency)?;
        let job = in_column("id", job_id(&place.2))?;
        let version = in_column("fence", counter(fence))? + 1;
        Ok(DueJob {
            seq,
            template,
            claimed: Claimed {
                token: Token { job, lease, version },
                spec: Arc::new(spec),
                run: in_column("run", counter(run))? + 1,
                generation: in_column("generation", number(generation))?,
                attempts: in_column("attempts", number(attempts))?,
                crashes: in_column("crashes", number(crashes))?,
                deferrals: in_column("deferrals", number(deferrals))?,
                queued_at: in_column("queued_at", time(queued_at))?,
                due: in_column("due", time(due))?,
                claimed_at: self.now,
                node: request.node,
                progress: in_column("progress", parse_optional(progress.as_deref()))?,
                checkpoint: in_column("checkpoint", parse_optional(checkpoint.as_deref()))?,
                probe: None,
            },
            place,
        })
    }
}

pub(crate) fn place((numbers, id, ..): &Row<'_>) -> Result<Place, sqlx::Error> {
    Ok((numbers[2].unwrap_or_default(), numbers[3].unwrap_or_default(), unhex(id)?))
}
