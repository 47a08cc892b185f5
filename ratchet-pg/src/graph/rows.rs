//! Reads and caches the rows of a graph for a walk. The graph is locked, so rows do not change.

use std::collections::HashMap;

use ratchet_store::model::{Edge, GroupId, GroupRecord, JobId, JobState, Member, Vertex};
use ratchet_store::rules::graph::{GraphRows, GroupContents};
use uuid::Uuid;

use super::Place;
use crate::db;
use crate::fault::Fault;
use crate::record::{cancel_cause, parsed, state};
use crate::spec::{json, to_u32};
use crate::store::Inner;
use crate::unreadable::{or_report, readable};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// The most vertices to read ahead during a long walk.
const AHEAD: usize = 16_384;

/// The rows that a walk has read in its transaction.
pub(super) struct Rows<'a> {
    inner: &'a Inner,
    db: &'a mut PgConnection,
    /// Edges by parent.
    edges: HashMap<Uuid, Vec<Edge>>,
    /// Jobs that were read. `None` if the job does not exist.
    jobs: HashMap<JobId, Option<Member>>,
    /// Children of the edges read so far, which the walk may need next.
    next: Vec<JobId>,
    /// The number of vertices to read ahead next time.
    ahead: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(inner: &'a Inner, db: &'a mut PgConnection) -> Self {
        let (edges, jobs, next) = (HashMap::new(), HashMap::new(), Vec::new());
        Self { inner, db, edges, jobs, next, ahead: 0 }
    }

    /// Reads the edges of these vertices, and of more vertices that follow them as the walk gets longer.
    async fn read_edges(&mut self, points: Vec<Uuid>) -> Result<(), Fault> {
        let most = points.len() + self.ahead;
        self.ahead = (self.ahead * 4).clamp(16, AHEAD);
        let rows = db::query(self.inner.sql.walk_edges())
            .bind(points)
            .bind(i64::try_from(most).unwrap_or(i64::MAX))
            .fetch_all(&mut *self.db)
            .await?;
        for row in &rows {
            let edges = self.edges.entry(row.try_get("point")?).or_default();
            if row.try_get::<Option<Uuid>, _>("parent")?.is_none() {
                continue;
            }
            let Some(edge) = or_report("edge", edge(row))? else { continue };
            // A vertex may have been read twice.
            if edges.iter().all(|other| other.ordinal != edge.ordinal) {
                self.next.extend(edge.child.job());
                edges.push(edge);
            }
        }
        Ok(())
    }
}

impl GraphRows for Rows<'_> {
    type Error = Fault;

    async fn edges_from(&mut self, parents: &[Vertex]) -> Result<Vec<Edge>, Fault> {
        let missing = parents.iter().map(|point| point.uuid());
        let missing: Vec<_> = missing.filter(|point| !self.edges.contains_key(point)).collect();
        if !missing.is_empty() {
            self.read_edges(missing).await?;
        }
        let edges = parents.iter().filter_map(|point| self.edges.get(&point.uuid()));
        Ok(edges.flatten().cloned().collect())
    }

    async fn jobs(&mut self, ids: &[JobId]) -> Result<Vec<Member>, Fault> {
        if ids.iter().any(|id| !self.jobs.contains_key(id)) {
            let mut missing = std::mem::take(&mut self.next);
            missing.extend(ids);
            missing.retain(|id| !self.jobs.contains_key(id));
            missing.sort_unstable();
            missing.dedup();
            let found = self.inner.steps(self.db, &missing).await?;
            self.jobs.extend(missing.into_iter().map(|id| (id, None)));
            self.jobs.extend(found.into_iter().map(|job| (job.id, Some(job))));
        }
        Ok(ids.iter().filter_map(|id| self.jobs.get(id)).flatten().cloned().collect())
    }

    async fn groups(&mut self, ids: &[GroupId]) -> Result<Vec<GroupRecord>, Fault> {
        self.inner.read_groups(self.db, ids).await
    }

    async fn inside(&mut self, group: GroupId) -> Result<GroupContents, Fault> {
        let ids = self.inner.member_ids(self.db, group, None, i64::MAX).await?;
        let jobs = self.inner.steps(self.db, &ids).await?;
        let groups = self.inner.inner_groups(self.db, group).await?;
        Ok(GroupContents { jobs, groups })
    }
}

pub(super) fn edge(row: &PgRow) -> Result<Edge, sqlx::Error> {
    let point = |id: &str, group: &str| {
        let id = row.try_get(id)?;
        Ok::<_, sqlx::Error>(match row.try_get(group)? {
            true => Vertex::Group(GroupId::from_uuid(id)),
            false => Vertex::Job(JobId::from_uuid(id)),
        })
    };
    Ok(Edge {
        parent: point("parent", "parent_group")?,
        ordinal: to_u32(row.try_get("ordinal")?),
        child: point("child", "child_group")?,
        when: json(row.try_get("condition")?)?,
        resolution: parsed(row, "resolution")?,
    })
}

impl Inner {
    /// Returns these members as a walk needs them. Missing ones are left out.
    pub(crate) async fn steps(
        &self,
        db: &mut PgConnection,
        ids: &[JobId],
    ) -> Result<Vec<Member>, Fault> {
        let ids: Vec<_> = ids.iter().map(|id| id.uuid()).collect();
        let rows = db::query(self.sql.select_steps()).bind(ids).fetch_all(db).await?;
        Ok(readable("step", &rows, step)?)
    }
}

fn step(row: &PgRow) -> Result<Member, sqlx::Error> {
    let paused: Option<bool> = row.try_get("failed")?;
    let ended: Option<i16> = row.try_get("state")?;
    let (state, paused_from) = match (paused, ended) {
        (Some(true), _) => (JobState::Paused, Some(JobState::Failed)),
        (Some(false), _) => (JobState::Paused, Some(JobState::Pending)),
        (None, Some(code)) => (state(code)?, None),
        // The job may also be running, which makes no difference to a walk.
        (None, None) => (JobState::Pending, None),
    };
    let mut member = Place::read(row)?.member(JobId::from_uuid(row.try_get("job")?), "", state);
    member.paused_from = paused_from;
    // A step whose details cannot be read still counts, so that steps waiting for it can continue.
    member.wait = or_report("step", parsed(row, "wait"))?.flatten();
    member.root_cause = or_report("step", parsed(row, "root"))?.flatten();
    member.canceled = row.try_get::<Option<i16>, _>("cause")?.map(cancel_cause).transpose()?;
    Ok(member)
}
