//! Queries on the read connections.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ratchet_store::model::{
    Alert, AttemptRecord, Counts, Declarations, Filter, JobId, JobSpec, JobState, KnownJobs,
    LogLine, NodeInfo, NodeRecord, Page, PageRequest, UnknownJob,
};
use ratchet_store::rules::search::{Place, Search, Source, most};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::error::is_unreadable;
use crate::nodes::request;
use crate::outbox::alert;
use crate::row::{JobRow, job_row};
use crate::sql;
use crate::template::{self, Templates};
use crate::unreadable::{or_report, readable};
use crate::value::{bytes, job_id, json, node_id, number, parse, state, time};

/// What a statement needs to find the jobs of a source.
enum OfSource {
    None,
    Number(i64),
    Group(Vec<u8>),
    Key(String),
}

/// Returns the statement that lists the jobs of a source, and its parameter.
fn listing(
    source: &Source<'_>,
    oldest_first: bool,
) -> Result<(&'static str, OfSource), sqlx::Error> {
    let (newest, oldest, of_source) = match source {
        Source::Group(group) => (
            sql::job::LIST_GROUP_JOBS,
            sql::job::LIST_GROUP_JOBS_OLDEST_FIRST,
            OfSource::Group(bytes(group.uuid())),
        ),
        Source::Expiring(instant) => (
            sql::job::LIST_EXPIRING,
            sql::job::LIST_EXPIRING_OLDEST_FIRST,
            OfSource::Number(instant.as_microsecond()),
        ),
        Source::BusinessKey(key) => (
            sql::archive::LIST_BY_KEY,
            sql::archive::LIST_BY_KEY_OLDEST_FIRST,
            OfSource::Key(json(key)?),
        ),
        Source::States(states) => (
            sql::job::LIST_JOBS_IN_STATES,
            sql::job::LIST_JOBS_IN_STATES_OLDEST_FIRST,
            OfSource::Number(states.iter().map(|state| 1 << state.code()).fold(0, |a, b| a | b)),
        ),
        _ => (sql::job::LIST_JOBS, sql::job::LIST_JOBS_OLDEST_FIRST, OfSource::None),
    };
    Ok((if oldest_first { oldest } else { newest }, of_source))
}

/// Returns `false` if the row cannot match, which its columns show before it is read as a whole.
fn may_match(row: &SqliteRow, filter: &Filter) -> Result<bool, sqlx::Error> {
    if !filter.queues.is_empty() {
        let queue: &[u8] = row.try_get_unchecked("queue")?;
        return Ok(filter.queues.iter().any(|wanted| wanted.as_bytes() == queue));
    }
    Ok(true)
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

    pub(crate) async fn list(
        &mut self,
        place: Place,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Page, sqlx::Error> {
        let waiting = match place {
            Place::Live => self.counts().await?.state(JobState::Pending),
            Place::Archive => 0,
        };
        let source = Source::of(filter, place, waiting);
        if let Source::Ids(ids) = &source {
            return self.list_by_id(ids, filter, page).await;
        }
        let (statement, of_source) = listing(&source, filter.oldest_first)?;
        let mut search = Search::new(filter, source.clone(), page);
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        let chunk = match &source {
            // Every chunk sorts the waiting jobs.
            Source::States(states) if search.compares() && states.contains(&JobState::Pending) => {
                usize::try_from(most(page)).unwrap_or(usize::MAX).saturating_add(1)
            }
            _ if search.compares() => 1000,
            // One more than the limit shows whether there is another page.
            _ => limit.saturating_add(1).clamp(2, 1000),
        };
        // The empty cursor sorts before every id. The other one is longer than every id, so it sorts after all of them.
        let start = if filter.oldest_first { Vec::new() } else { vec![0xff; 17] };
        let mut cursor = page.before.map_or(start, |id| bytes(id.uuid()));
        'page: loop {
            let query = sqlx::query(statement)
                .bind(cursor.as_slice())
                .bind(i64::try_from(chunk).unwrap_or(i64::MAX));
            let query = match &of_source {
                OfSource::None => query,
                OfSource::Number(number) => query.bind(*number),
                OfSource::Group(group) => query.bind(group.as_slice()),
                OfSource::Key(key) => query.bind(key.as_str()),
            };
            let rows = query.fetch_all(&mut *self.conn).await?;
            let end = rows.len() < chunk;
            for row in rows {
                cursor = row.try_get("id")?;
                let goes_on = if may_match(&row, filter)? {
                    match self.readable_row(&row).await? {
                        Some(JobRow { job, .. }) => search.add(&job),
                        None => true,
                    }
                } else {
                    job_id(&cursor).map_or(true, |id| search.pass(id))
                };
                if !goes_on {
                    break 'page;
                }
            }
            if end {
                break;
            }
        }
        Ok(search.finish())
    }

    /// Lists the jobs among those with these ids.
    async fn list_by_id(
        &mut self,
        ids: &[JobId],
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Page, sqlx::Error> {
        let ids: BTreeSet<_> = ids.iter().copied().collect();
        let mut ids: Vec<_> = ids.into_iter().collect();
        if filter.oldest_first {
            ids.retain(|id| page.before.is_none_or(|before| *id > before));
        } else {
            ids.retain(|id| page.before.is_none_or(|before| *id < before));
            ids.reverse();
        }
        let mut search = Search::new(filter, Source::Ids(&filter.ids), page);
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
