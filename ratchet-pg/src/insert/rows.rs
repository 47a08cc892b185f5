//! Writes new jobs in one statement, and sends their hints.

use std::collections::BTreeMap;

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{Due, GroupId, JobId, NewJob};
use uuid::Uuid;

use super::{Witness, is_keyless};
use crate::db;
use crate::fault::Fault;
use crate::graph::{StepColumns, waits};
use crate::record::due_micros;
use crate::spec::{Columns, cleaned, extra};
use crate::store::Inner;
use crate::wake::Hint;
use sqlx::{PgConnection, Row};

/// How to store jobs: `now` is the time of the insert, if it is already decided, and `graph` is the graph of steps.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stored {
    pub(crate) now: Option<i64>,
    pub(crate) graph: Option<Uuid>,
    pub(crate) ids: Ids,
    /// The jobs have a commit of their own, which may carry the hint.
    pub(crate) standalone: bool,
}

impl Stored {
    /// For jobs that have a commit of their own.
    pub(crate) fn standalone() -> Self {
        Self { standalone: true, ..Self::default() }
    }
}

/// Whether to check that ids are new before they are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Ids {
    #[default]
    Looked,
    /// The ids are assumed to be new. If one is not, the statement and its transaction fail.
    Trusted,
}

/// The lowest sort key per queue of the inserted jobs that are due now, for hints after the commit.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    due: BTreeMap<String, i64>,
    /// The commit itself notifies other processes.
    hinted: bool,
    /// The first job, if any was inserted.
    first: Option<JobId>,
}

impl Fresh {
    /// Returns the hints of jobs that were stored at this time.
    pub(super) fn of<'a>(jobs: impl Iterator<Item = &'a NewJob>, now: i64) -> Self {
        let mut fresh = Self::default();
        for job in jobs {
            fresh.first.get_or_insert(job.id);
            let due = due_micros(job.due, now);
            if due <= now && !waits(job) {
                fresh.add(&job.spec.queue, job.spec.sort_key(due));
            }
        }
        fresh
    }

    /// Returns what proves that the jobs were committed.
    pub(crate) fn witness(&self) -> Witness {
        self.first.map_or(Witness::Nothing, Witness::Job)
    }

    fn add(&mut self, queue: &str, sort_key: i64) {
        let queue = cleaned(queue);
        match self.due.get_mut(queue.as_ref()) {
            Some(first) => *first = sort_key.min(*first),
            None => drop(self.due.insert(queue.into_owned(), sort_key)),
        }
    }

    pub(crate) fn hints(&self) -> Vec<Hint> {
        self.due.iter().map(|(queue, first)| Hint::put(queue.clone(), *first)).collect()
    }
}

impl Inner {
    /// Stores jobs whose keys are already assigned.
    pub(crate) async fn store<'a>(
        &self,
        db: &mut PgConnection,
        jobs: impl ExactSizeIterator<Item = &'a NewJob> + Clone,
        stored: Stored,
    ) -> Result<Fresh, Fault> {
        if jobs.len() == 0 {
            return Ok(Fresh::default());
        }
        // A step that is submitted by itself is a graph of its own, which needs the general statement.
        let shared = shared(jobs.clone())
            .filter(|first| first.spec.step.is_none() || stored.graph.is_some());
        let children = shared.and_then(|first| Some((stored.graph?, first.spec.step.as_ref()?)));
        let mut columns = Columns::default();
        let written = if shared.is_some() { 1 } else { usize::MAX };
        jobs.clone().take(written).for_each(|job| columns.push(job));
        let ids = || jobs.clone().map(|job| job.id.uuid()).collect();
        let payloads = || jobs.clone().map(|job| job.spec.payload.as_slice()).collect();
        let mut hinted = false;
        let query = if let Some((graph, step)) = children {
            let query = db::query(self.sql.insert_children());
            let extras: Vec<_> = jobs.clone().map(|job| extra(&job.spec)).collect();
            let query = columns.bind_shared(query, ids(), payloads(), stored.now);
            query.bind(extras).bind(graph).bind(step.group.map(GroupId::uuid))
        } else if let Some(first) = shared {
            let query = db::query(self.sql.insert_alike());
            hinted = stored.standalone && self.wakes.may_hint();
            let channel = hinted.then_some(&self.channel);
            let query = columns.bind_shared(query, ids(), payloads(), stored.now);
            query.bind(extra(&first.spec)).bind(channel).bind(self.wakes.put_by())
        } else if jobs.clone().any(|job| job.spec.step.is_some()) {
            let mut steps = StepColumns::default();
            jobs.clone().for_each(|job| steps.push(job, stored.graph));
            steps.bind(columns.bind(db::query(self.sql.insert_steps())).bind(stored.now))
        } else {
            columns.bind(db::query(self.sql.insert_jobs())).bind(stored.now)
        };
        let now: i64 = query.fetch_one(&mut *db).await?.try_get("now")?;
        self.store_expiries(db, jobs.clone(), now).await?;
        if stored.now.is_none() {
            self.clock.saw(now);
        }
        crash_point(CrashPoint::InsertRows);
        Ok(Fresh { hinted, ..Fresh::of(jobs, now) })
    }

    /// Sends hints for jobs that are committed.
    pub(crate) fn announce(&self, fresh: &Fresh) {
        for (queue, sort_key) in &fresh.due {
            self.bounds.lower(queue, *sort_key);
        }
        if fresh.hinted {
            self.wakes.send_here(fresh.hints());
        } else {
            self.wakes.send(fresh.hints());
        }
    }
}

/// Returns the first job if all jobs are due now, have no keys, and differ only in their payloads and, as children of
/// one batch, in their number.
fn shared<'a>(mut jobs: impl Iterator<Item = &'a NewJob>) -> Option<&'a NewJob> {
    let plain = |job: &&NewJob| {
        let spec = &job.spec;
        job.due == Due::Now
            && spec.step.as_ref().is_none_or(|step| step.is_child())
            && is_keyless(job)
    };
    let first = jobs.next().filter(plain)?;
    jobs.all(|job| job.due == Due::Now && job.spec.same_except_payload(&first.spec))
        .then_some(first)
}
