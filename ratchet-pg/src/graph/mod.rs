//! Graphs of jobs that depend on each other. [`ratchet_store::rules::graph`] decides how a change propagates; this module
//! reads, locks and writes the rows.
//!
//! Every change to a graph locks the row of the graph first, then leases, then keys. Therefore the rows that a walk has
//! read do not change until it writes, counts are exact, and transactions do not deadlock. A claim moves members
//! without that lock: for a walk, there is no difference between waiting and running.

mod apply;
mod key;
mod look;
mod rows;
mod spawn;

use std::collections::BTreeSet;

use jiff::Timestamp;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    CommandError, CommandReply, Edge, Extend, GraphInserted, GroupId, GroupRecord, InsertError,
    Inserted, JobId, JobRecord, JobSpec, JobState, KnownJobs, Member, NewGraph, NewJob, Step,
};
use ratchet_store::rules::graph::GraphEvent;
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::insert::{EarlierTry, Fresh, Ids, Stored, Witness, graph_of};
use crate::record::text;
use crate::settle::PostCommit;
use crate::spec::{instant, micros, to_i32};
use crate::store::Inner;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{PgConnection, Postgres, Row};

/// Returns whether a job waits for other steps.
pub(crate) fn waits(job: &NewJob) -> bool {
    job.wait().is_some()
}

/// The place of a job in its graph, reduced to what a walk needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    group: Option<GroupId>,
    linked: bool,
    first_match: bool,
}

impl Place {
    pub(crate) fn read(row: &PgRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            group: row.try_get::<Option<Uuid>, _>("grp")?.map(GroupId::from_uuid),
            linked: row.try_get("linked")?,
            first_match: row.try_get("first_match")?,
        })
    }

    pub(crate) fn of(step: &Step) -> Self {
        Self { group: step.group, linked: step.edges, first_match: step.first_match }
    }

    /// Returns the group that counts this step.
    pub(crate) fn group(self) -> Option<GroupId> {
        self.group
    }

    /// Builds a member at this place that has the given state and waits for nothing.
    pub(crate) fn member(self, id: JobId, name: &str, state: JobState) -> Member {
        let mut step = Step::default();
        step.group = self.group;
        step.edges = self.linked;
        step.first_match = self.first_match;
        let mut spec = JobSpec::new(name, Vec::new());
        spec.step = Some(Box::new(step));
        let mut job = JobRecord::pending(id, spec, Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH);
        job.state = state;
        job.member()
    }
}

/// The additional columns of steps.
#[derive(Default)]
pub(crate) struct StepColumns {
    graph: Vec<Option<Uuid>>,
    group: Vec<Option<Uuid>>,
    delay: Vec<i64>,
    linked: Vec<bool>,
    first_match: Vec<bool>,
    judges: Vec<Option<String>>,
    wait: Vec<Option<String>>,
}

impl StepColumns {
    /// Adds a job. A step that is submitted by itself is a graph of its own.
    pub(crate) fn push(&mut self, job: &NewJob, graph: Option<Uuid>) {
        let step = job.spec.step.as_deref();
        self.graph.push(step.map(|_| graph.or(graph_of(job)).unwrap_or(job.id.uuid())));
        self.group.push(step.and_then(|step| step.group).map(GroupId::uuid));
        self.delay.push(step.map_or(0, |step| micros(step.delay)));
        self.linked.push(step.is_some_and(|step| step.edges));
        self.first_match.push(step.is_some_and(|step| step.first_match));
        let conditions = step.map(|step| step.conditions.as_slice()).unwrap_or_default();
        let judges: Vec<_> = conditions.iter().map(|name| KnownJobs::condition(name)).collect();
        self.judges.push(text(&judges).filter(|_| !judges.is_empty()));
        self.wait.push(job.wait().and_then(|wait| text(&wait)));
    }

    pub(crate) fn bind(
        self,
        query: Query<'_, Postgres, PgArguments>,
    ) -> Query<'_, Postgres, PgArguments> {
        query
            .bind(self.graph)
            .bind(self.group)
            .bind(self.delay)
            .bind(self.linked)
            .bind(self.first_match)
            .bind(self.judges)
            .bind(self.wait)
    }
}

impl Inner {
    pub(crate) async fn insert_graph(&self, graph: NewGraph) -> Result<GraphInserted, Fault> {
        self.check_ids(&graph.jobs)?;
        // Ids are assumed to be new. If one is not, the second try finds out which.
        let (mut ids, mut earlier) = (Ids::Trusted, EarlierTry::default());
        transact!(repeatable self, |db| {
            if !earlier.is_committed(self, db).await? {
                let stored = Stored { ids: std::mem::take(&mut ids), ..Stored::default() };
                let done = self.insert_graph_within(db, &graph, stored).await;
                let done = done.map(|(inserted, post_commit)| {
                    let witness = witness(&graph, &inserted);
                    ((inserted, post_commit), witness)
                });
                earlier.replace(self, db, done).await?;
            }
        })?;
        let (inserted, post_commit) = earlier.answer()?;
        self.tell(post_commit);
        Ok(inserted)
    }

    /// Inserts a graph within a transaction. `stored.now` is the time of the insert, if it is already decided.
    pub(crate) async fn insert_graph_within(
        &self,
        db: &mut PgConnection,
        graph: &NewGraph,
        stored: Stored,
    ) -> Result<(GraphInserted, PostCommit), Fault> {
        if let Some(original) = self.reserve_graph(db, graph).await? {
            return Ok((GraphInserted::repeat_of(original), PostCommit::default()));
        }
        let ids: Vec<_> = graph.groups.iter().map(|group| group.id).collect();
        if let Some(there) = self.read_groups(db, &ids).await?.first() {
            return Err(Fault::Insert(InsertError::GroupSealed(there.id)));
        }
        let first_job = || graph.jobs.first().map(|job| job.id.uuid());
        let id = ids.first().map(|id| id.uuid()).or_else(first_job).unwrap_or_default();
        let now = match stored.now {
            Some(now) => now,
            None => self.now(&mut *db).await?,
        };
        db::query(self.sql.insert_graph()).bind(id).execute(&mut *db).await?;
        let stored = Stored { now: Some(now), graph: Some(id), ..stored };
        let (jobs, absent, fresh) = self.insert_members(db, &graph.jobs, stored).await?;
        let mut groups = graph.groups.clone();
        for group in &mut groups {
            group.queued_at = instant(now);
            if absent.is_empty() {
                continue;
            }
            let gone = graph.jobs.iter().filter(|job| job.owner() == Some(group.id));
            let gone = gone.filter(|job| absent.contains(&job.id)).count();
            let gone = u64::try_from(gone).unwrap_or(u64::MAX);
            group.counts.total = group.counts.total.saturating_sub(gone);
        }
        self.write_groups(db, id, &groups).await?;
        crash_point(CrashPoint::InsertGroups);
        self.write_edges(db, &graph.edges).await?;
        let mut post_commit =
            PostCommit { hints: fresh.hints(), unsettled: true, ..PostCommit::default() };
        let events = ids.into_iter().map(GraphEvent::Check).collect();
        let effects = self.propagate(db, events, now, &mut post_commit).await?;
        Ok((GraphInserted { jobs, effects, original: None }, post_commit))
    }

    pub(crate) async fn add_members(&self, extend: Extend) -> Result<GraphInserted, Fault> {
        self.check_ids(&extend.jobs)?;
        let (mut ids, mut earlier) = (Ids::Trusted, EarlierTry::default());
        transact!(repeatable self, |db| {
            if !earlier.is_committed(self, db).await? {
                let done = self.extend_within(db, &extend, std::mem::take(&mut ids)).await;
                let done = done.map(|(inserted, post_commit, fresh)| {
                    let witness = match fresh.witness() {
                        Witness::Nothing if extend.seal => Witness::Seal(extend.group),
                        witness => witness,
                    };
                    ((inserted, post_commit), witness)
                });
                earlier.replace(self, db, done).await?;
            }
        })?;
        let (inserted, post_commit) = earlier.answer()?;
        self.tell(post_commit);
        Ok(inserted)
    }

    /// Adds members to a group within a transaction.
    pub(crate) async fn extend_within(
        &self,
        db: &mut PgConnection,
        extend: &Extend,
        ids: Ids,
    ) -> Result<(GraphInserted, PostCommit, Fresh), Fault> {
        let id = extend.group;
        let Some((graph, mut group)) = self.lock_group(db, id).await? else {
            return Err(Fault::Insert(InsertError::GroupNotFound(id)));
        };
        if group.sealed {
            return Err(Fault::Insert(InsertError::GroupSealed(id)));
        }
        let now = self.now(&mut *db).await?;
        let stored = Stored { now: Some(now), graph: Some(graph), ids, standalone: false };
        let (jobs, absent, fresh) = self.insert_members(db, &extend.jobs, stored).await?;
        let more = extend.jobs.len() - absent.len();
        group.counts.total += u64::try_from(more).unwrap_or(u64::MAX);
        group.sealed = extend.seal;
        self.save_groups(db, &[group]).await?;
        let mut post_commit =
            PostCommit { hints: fresh.hints(), unsettled: true, ..PostCommit::default() };
        let effects =
            self.propagate(db, vec![GraphEvent::Check(id)], now, &mut post_commit).await?;
        Ok((GraphInserted { jobs, effects, original: None }, post_commit, fresh))
    }

    pub(crate) async fn cancel_group(
        &self,
        db: &mut PgConnection,
        id: GroupId,
        post_commit: &mut PostCommit,
    ) -> Result<CommandReply, Fault> {
        let Some((_, group)) = self.lock_group(db, id).await? else {
            return Err(Fault::Command(CommandError::GroupNotFound(id)));
        };
        if group.state.is_ended() {
            return Ok(CommandReply::GroupUnchanged { state: group.state });
        }
        let now = self.now(&mut *db).await?;
        let effects =
            self.propagate(db, vec![GraphEvent::CancelGroup(id)], now, post_commit).await?;
        Ok(CommandReply::GroupCanceled(Box::new(effects)))
    }

    /// Locks the graphs of these jobs, if they have one, and of these groups.
    pub(crate) async fn lock_graphs(
        &self,
        db: &mut PgConnection,
        jobs: Vec<Uuid>,
        groups: BTreeSet<GroupId>,
    ) -> Result<(), Fault> {
        if !jobs.is_empty() || !groups.is_empty() {
            let groups: Vec<_> = groups.into_iter().map(GroupId::uuid).collect();
            db::query(self.sql.lock_graphs()).bind(jobs).bind(groups).execute(db).await?;
        }
        Ok(())
    }

    /// Locks the graph of a group. Returns the id of the graph and the group.
    async fn lock_group(
        &self,
        db: &mut PgConnection,
        id: GroupId,
    ) -> Result<Option<(Uuid, GroupRecord)>, Fault> {
        let graph = db::query_scalar(self.sql.lock_group()).bind(id.uuid());
        let Some(graph) = graph.fetch_optional(&mut *db).await? else { return Ok(None) };
        Ok(self.read_groups(db, &[id]).await?.pop().map(|group| (graph, group)))
    }

    async fn write_groups(
        &self,
        db: &mut PgConnection,
        graph: Uuid,
        groups: &[GroupRecord],
    ) -> Result<(), Fault> {
        if groups.is_empty() {
            return Ok(());
        }
        let owner = |group: &GroupRecord| group.owner.map(GroupId::uuid);
        db::query(self.sql.insert_groups())
            .bind(graph)
            .bind(groups.iter().map(|group| group.id.uuid()).collect::<Vec<_>>())
            .bind(groups.iter().map(owner).collect::<Vec<_>>())
            .bind(groups.iter().map(finished_at).collect::<Vec<_>>())
            .bind(groups.iter().map(text).collect::<Vec<_>>())
            .execute(db)
            .await?;
        Ok(())
    }

    pub(crate) async fn write_edges(
        &self,
        db: &mut PgConnection,
        edges: &[Edge],
    ) -> Result<(), Fault> {
        if edges.is_empty() {
            return Ok(());
        }
        db::query(self.sql.insert_edges())
            .bind(edges.iter().map(|edge| edge.parent.uuid()).collect::<Vec<_>>())
            .bind(edges.iter().map(|edge| to_i32(edge.ordinal)).collect::<Vec<_>>())
            .bind(edges.iter().map(|edge| edge.child.uuid()).collect::<Vec<_>>())
            .bind(edges.iter().map(|edge| edge.parent.group().is_some()).collect::<Vec<_>>())
            .bind(edges.iter().map(|edge| edge.child.group().is_some()).collect::<Vec<_>>())
            .bind(edges.iter().map(|edge| text(&edge.when)).collect::<Vec<_>>())
            .execute(db)
            .await?;
        Ok(())
    }
}

/// Returns what proves that a graph was committed.
fn witness(graph: &NewGraph, inserted: &GraphInserted) -> Witness {
    if inserted.original.is_some() {
        return Witness::Nothing;
    }
    let new = |(job, answer): (&NewJob, &Inserted)| {
        (*answer == Inserted::Created(job.id)).then_some(job.id)
    };
    match graph.groups.first() {
        Some(group) => Witness::Group(group.id),
        None => {
            let first = graph.jobs.iter().zip(&inserted.jobs).find_map(new);
            first.map_or(Witness::Nothing, Witness::Job)
        }
    }
}

fn finished_at(group: &GroupRecord) -> Option<i64> {
    group.finished_at.map(Timestamp::as_microsecond)
}
