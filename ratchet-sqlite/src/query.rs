//! Queries on the read connections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ratchet_store::model::{
    Alert, AttemptRecord, Counts, Declarations, Filter, JobId, JobSpec, JobState, KnownJobs,
    LogLine, NodeInfo, NodeRecord, Page, PageRequest, UnknownJob,
};
use ratchet_store::rules::search::Search;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::error::is_unreadable;
use crate::nodes::request;
use crate::outbox::alert;
use crate::row::{JobRow, job_row};
use crate::sql;
use crate::template::{self, Templates};
use crate::unreadable::{or_report, readable};
use crate::value::{bytes, json, node_id, number, parse, state, time};

/// Where jobs are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListedPlace {
    Live,
    Archive,
}

/// A read connection with the context needed to decode rows.
pub(crate) struct Look<'a> {
    pub(crate) conn: &'a mut SqliteConnection,
    pub(crate) templates: &'a Templates,
    pub(crate) now: i64,
    /// Jobs that could not be read, to be set aside by the writer.
    pub(crate) unreadable: Vec<i64>,
}

impl Look<'_> {
    pub(crate) async fn get(&mut self, id: JobId) -> Result<Option<JobRow>, sqlx::Error> {
        let row = sqlx::query(sql::job::GET_JOB)
            .bind(bytes(id.uuid()))
            .fetch_optional(&mut *self.conn)
            .await?;
        match row {
            Some(row) => self.job_row(&row).await.map(Some),
            None => Ok(None),
        }
    }

    /// Lists jobs. In the archive, jobs with a business key are found through an index.
    pub(crate) async fn list(
        &mut self,
        place: ListedPlace,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Page, sqlx::Error> {
        if !filter.ids.is_empty() {
            return self.list_by_id(filter, page).await;
        }
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let states = if filter.states.is_empty() { &JobState::ALL[..] } else { &filter.states };
        let states: i64 = states.iter().map(|state| 1 << state.code()).fold(0, |a, b| a | b);
        // One more than the limit shows whether there is another page.
        let chunk = if filter.searches() { 1000 } else { limit.saturating_add(1).clamp(2, 1000) };
        // The empty cursor sorts before every id. The other one is longer than every id, so it sorts after all of them.
        let start = if filter.oldest_first { Vec::new() } else { vec![0xff; 17] };
        let mut cursor = page.before.map_or(start, |id| bytes(id.uuid()));
        let key = filter.business_key.as_ref().filter(|_| place == ListedPlace::Archive);
        let key = key.map(json).transpose()?;
        let statement = match (filter.group, filter.expires_by, filter.oldest_first) {
            (_, _, false) if key.is_some() => sql::archive::LIST_BY_KEY,
            (_, _, true) if key.is_some() => sql::archive::LIST_BY_KEY_OLDEST_FIRST,
            (None, None, false) => sql::job::LIST_JOBS,
            (None, None, true) => sql::job::LIST_JOBS_OLDEST_FIRST,
            (None, Some(_), false) => sql::job::LIST_EXPIRING,
            (None, Some(_), true) => sql::job::LIST_EXPIRING_OLDEST_FIRST,
            (Some(_), _, false) => sql::job::LIST_GROUP_JOBS,
            (Some(_), _, true) => sql::job::LIST_GROUP_JOBS_OLDEST_FIRST,
        };
        let mut search = Search::new(filter, page);
        'page: loop {
            let mut query = sqlx::query(statement)
                .bind(cursor.as_slice())
                .bind(states)
                .bind(only(&filter.queues))
                .bind(only(&filter.names))
                .bind(i64::try_from(chunk).unwrap_or(i64::MAX));
            if let Some(key) = &key {
                query = query.bind(key.as_str());
            } else if let Some(group) = filter.group {
                query = query.bind(bytes(group.uuid()));
            } else if let Some(instant) = filter.expires_by {
                query = query.bind(instant.as_microsecond());
            }
            let rows = query.fetch_all(&mut *self.conn).await?;
            let end = rows.len() < chunk;
            for row in rows {
                cursor = row.try_get("id")?;
                let Some(JobRow { job, .. }) = self.readable_row(&row).await? else { continue };
                if !search.add(&job) {
                    break 'page;
                }
            }
            if end {
                break;
            }
        }
        Ok(search.finish())
    }

    /// Reads the jobs that a filter names by their ids, in the order of the listing.
    async fn list_by_id(
        &mut self,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Page, sqlx::Error> {
        let ids: BTreeSet<_> = filter.ids.iter().copied().collect();
        let mut ids: Vec<_> = ids.into_iter().collect();
        if filter.oldest_first {
            ids.retain(|id| page.before.is_none_or(|before| *id > before));
        } else {
            ids.retain(|id| page.before.is_none_or(|before| *id < before));
            ids.reverse();
        }
        let mut search = Search::new(filter, page);
        for id in ids {
            let row = sqlx::query(sql::job::GET_JOB).bind(bytes(id.uuid()));
            let Some(row) = row.fetch_optional(&mut *self.conn).await? else { continue };
            let Some(JobRow { job, .. }) = self.readable_row(&row).await? else { continue };
            if !search.add(&job) {
                break;
            }
        }
        Ok(search.finish())
    }

    pub(crate) async fn counts(&mut self) -> Result<Counts, sqlx::Error> {
        let mut counts = Counts::default();
        for row in sqlx::query(sql::count::LIST_COUNTS).fetch_all(&mut *self.conn).await? {
            let read = || Ok((state(row.try_get(1)?)?, number::<u64>(row.try_get(2)?)?));
            let Some((state, jobs)) = or_report("count", read())? else { continue };
            // The name of a queue may be damaged, but its jobs still count.
            let queue = String::from_utf8_lossy(row.try_get(0)?).into_owned();
            *counts.queues.entry(queue).or_default().states.entry(state).or_default() += jobs;
        }
        Ok(counts)
    }

    pub(crate) async fn attempts(&mut self, id: JobId) -> Result<Vec<AttemptRecord>, sqlx::Error> {
        let Some(row) = self.get(id).await? else { return Ok(Vec::new()) };
        let stored = sqlx::query(sql::job::LIST_ATTEMPTS).bind(bytes(id.uuid()));
        let stored = stored.fetch_all(&mut *self.conn).await?;
        let mut lines: Vec<AttemptRecord> =
            readable("attempt", &stored, |row| parse(row.try_get(0)?))?;
        let is_recorded = lines.last().is_some_and(|line| line.run == row.job.run);
        if row.job.state == JobState::Succeeded && !is_recorded {
            lines.extend(row.implied_line());
        }
        Ok(lines)
    }

    pub(crate) async fn logs(&mut self, id: JobId) -> Result<Vec<LogLine>, sqlx::Error> {
        let lines = sqlx::query(sql::job::LIST_LOG_LINES).bind(bytes(id.uuid()));
        let lines = lines.fetch_all(&mut *self.conn).await?;
        readable("log line", &lines, |row| parse(row.try_get(0)?))
    }

    pub(crate) async fn nodes(&mut self) -> Result<Vec<NodeRecord>, sqlx::Error> {
        let nodes = sqlx::query(sql::node::LIST_NODES).bind(self.now);
        let nodes = nodes.fetch_all(&mut *self.conn).await?;
        readable("node", &nodes, |row| node(row, self.now))
    }

    pub(crate) async fn unknown_jobs(&mut self) -> Result<Vec<UnknownJob>, sqlx::Error> {
        let nodes =
            sqlx::query(sql::node::LIST_KNOWN).bind(self.now).fetch_all(&mut *self.conn).await?;
        let known = readable("node", &nodes, |row| parse(row.try_get(0)?).map(KnownJobs))?;
        let (mut unknown, mut kinds) = (BTreeMap::<String, u64>::new(), Vec::new());
        for row in sqlx::query(sql::count::LIST_WAITING).fetch_all(&mut *self.conn).await? {
            let read = || Ok((row.try_get::<String, _>(0)?, number(row.try_get(1)?)?));
            let Some((name, version)) = or_report("template", read())? else { continue };
            if !known.iter().any(|known| known.knows(&name, version)) {
                *unknown.entry(name.clone()).or_default() += number::<u64>(row.try_get(2)?)?;
                kinds.push((name, version));
            }
        }
        let mut oldest = BTreeMap::<String, i64>::new();
        if !kinds.is_empty() {
            let list = sqlx::query(sql::count::LIST_OLDEST).bind(json(&kinds)?);
            for row in list.fetch_all(&mut *self.conn).await? {
                oldest.insert(row.try_get(0)?, row.try_get(1)?);
            }
        }
        let report = |(name, waiting): (String, u64)| {
            let oldest = oldest.get(&name).copied().unwrap_or(self.now);
            // The time of a damaged row may be out of range. It must not hide the other jobs.
            let oldest = time(oldest).or_else(|_| time(self.now))?;
            Ok(UnknownJob::new(name, waiting, oldest))
        };
        unknown.into_iter().map(report).collect()
    }

    pub(crate) async fn alerts(&mut self, limit: u32) -> Result<Vec<Alert>, sqlx::Error> {
        let alerts = sqlx::query(sql::outbox::LIST_ALERTS).bind(i64::from(limit));
        readable("alert", &alerts.fetch_all(&mut *self.conn).await?, |row| alert(row, 0))
    }

    /// Reads a job. A job that cannot be read is noted for the writer.
    async fn job_row(&mut self, row: &SqliteRow) -> Result<JobRow, sqlx::Error> {
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
    pub(crate) async fn readable_row(
        &mut self,
        row: &SqliteRow,
    ) -> Result<Option<JobRow>, sqlx::Error> {
        match self.job_row(row).await {
            Ok(row) => Ok(Some(row)),
            Err(error) if is_unreadable(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn template(&mut self, id: i64) -> Result<Arc<JobSpec>, sqlx::Error> {
        if let Some(template) = self.templates.get(id) {
            return Ok(template);
        }
        let template = template::load(self.conn, id).await?;
        self.templates.add(id, Arc::clone(&template));
        Ok(template)
    }
}

fn node(row: &SqliteRow, now: i64) -> Result<NodeRecord, sqlx::Error> {
    let mut info = NodeInfo::new(node_id(row.try_get(0)?)?);
    info.host = row.try_get(1)?;
    info.pid = number(row.try_get(2)?)?;
    info.binary_version = row.try_get(3)?;
    info.queues = parse(row.try_get(4)?)?;
    info.known = Arc::new(KnownJobs(parse(row.try_get(5)?)?));
    let lease_until: i64 = row.try_get(7)?;
    let fingerprint = row.try_get::<i64, _>(9)?.cast_unsigned();
    info.declarations = Declarations { program: row.try_get(8)?, fingerprint };
    info.request = or_report("request to a node", request(row))?.flatten();
    Ok(NodeRecord {
        info,
        joined_at: time(row.try_get(6)?)?,
        lease_until: time(lease_until)?,
        alive: lease_until > now,
    })
}

/// Returns the only value of a list. A statement selects by a single queue or name; [`Search`] compares the others.
fn only(values: &[String]) -> Option<&str> {
    match values {
        [value] => Some(value),
        _ => None,
    }
}
