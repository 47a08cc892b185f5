//! Queries on the read connections.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use ratchet_store::model::{
    Alert, AttemptRecord, Counts, Declarations, Filter, JobId, JobState, KnownJobs, LogLine,
    NodeInfo, NodeRecord, Page, PageRequest, UnknownJob,
};
use ratchet_store::rules::search::{Place, Search, Source};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::error::is_unreadable;
use crate::listing::{Statement, columns_can_match};
use crate::nodes::request;
use crate::outbox::alert;
use crate::read_jobs::ListedJob;
use crate::row::JobRow;
use crate::sql;
use crate::template::Templates;
use crate::unreadable::{or_report, readable};
use crate::value::{bytes, job_id, json, node_id, number, parse, state, time};

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
        let row = sqlx::query(sql::job::GET_JOB.as_str())
            .bind(bytes(id.uuid()))
            .fetch_optional(&mut *self.conn)
            .await?;
        match row {
            Some(row) => self.job_row(&row).await.map(Some),
            None => Ok(None),
        }
    }

    /// Lists jobs of this file, which is that of the live jobs or the archive.
    pub(crate) async fn list(
        &mut self,
        place: Place,
        filter: &Filter,
        page: PageRequest,
    ) -> Result<Page, sqlx::Error> {
        let waiting = match filter.states.contains(&JobState::Pending) {
            true => self.counts().await?.state(JobState::Pending),
            false => 0,
        };
        let source = Source::of(filter, place, waiting);
        if let Source::Ids(ids) = &source {
            return self.list_by_id(ids, filter, page).await;
        }
        let mut search = Search::new(filter, source.clone(), page);
        let statement = Statement::of(&source, filter, search.compares())?;
        let limit = usize::try_from(page.limit).unwrap_or(usize::MAX);
        // One more than the limit shows whether there is another page. Chunks grow, because each of them sorts the waiting
        // jobs again if these are the source.
        let mut chunk = limit.saturating_add(1).clamp(2, 1001);
        // The empty cursor sorts before every id. The other one is longer than every id, so it sorts after all of them.
        let start = if filter.oldest_first { Vec::new() } else { vec![0xff; 17] };
        let mut cursor = page.before.map_or(start, |id| bytes(id.uuid()));
        loop {
            let query = statement.query(&cursor, chunk);
            let (last, goes_on) = if search.compares() {
                let rows = query.fetch_all(&mut *self.conn).await?;
                let last = rows.get(chunk - 1).map(|row| row.try_get("id")).transpose()?;
                (last, self.compare(&mut search, &rows, filter).await?)
            } else {
                let listed = self.read_jobs(query).await?;
                let goes_on = add(&mut search, &listed);
                (listed.into_iter().nth(chunk - 1).map(|last| last.id), goes_on)
            };
            match last {
                Some(last) if goes_on => cursor = last,
                _ => return Ok(search.finish()),
            }
            if search.compares() {
                chunk = (chunk * 10).min(5000);
            }
        }
    }

    /// Compares jobs of which a few columns were read. Reads the whole of those that may match. Returns `false` if the page
    /// is full.
    async fn compare(
        &mut self,
        search: &mut Search<'_>,
        rows: &[SqliteRow],
        filter: &Filter,
    ) -> Result<bool, sqlx::Error> {
        let mut rest = rows.iter();
        while !rest.as_slice().is_empty() {
            // One job more than are missing shows whether there is another page.
            let wanted = search.missing().saturating_add(1);
            let (mut compared, mut can_match) = (Vec::new(), Vec::new());
            for row in rest.by_ref() {
                let seq = row.try_get::<i64, _>("seq")?;
                if self.may_match(row, filter).await? {
                    can_match.push(seq);
                }
                compared.push((row, seq));
                if can_match.len() >= wanted {
                    break;
                }
            }
            let whole =
                self.read_jobs(sqlx::query(sql::job::GET_JOBS.as_str()).bind(json(&can_match)?));
            let whole = whole.await?.into_iter().map(|listed| (listed.seq, listed));
            let mut whole: HashMap<i64, ListedJob> = whole.collect();
            for (row, seq) in compared {
                let goes_on = match whole.remove(&seq) {
                    Some(listed) => add(search, &[listed]),
                    None => job_id(row.try_get("id")?).map_or(true, |id| search.pass(id)),
                };
                if !goes_on {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Returns `false` if a job cannot match, which a few of its columns show.
    async fn may_match(&mut self, row: &SqliteRow, filter: &Filter) -> Result<bool, sqlx::Error> {
        if !columns_can_match(row, filter) {
            return Ok(false);
        }
        if filter.names.is_empty() {
            return Ok(true);
        }
        let Ok(id) = row.try_get("template") else { return Ok(true) };
        match self.template(id).await {
            Ok(template) => Ok(filter.names.contains(&template.name)),
            Err(error) if is_unreadable(&error) => Ok(true),
            Err(error) => Err(error),
        }
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
            let row = sqlx::query(sql::job::GET_JOB.as_str()).bind(bytes(id.uuid()));
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
}

/// Adds jobs to a page. Returns `false` if it is full.
fn add(search: &mut Search<'_>, listed: &[ListedJob]) -> bool {
    let mut jobs = listed.iter().filter_map(|listed| listed.job.as_ref());
    jobs.all(|row| search.add(&row.job))
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
