//! Groups, edges, and the propagation of changes through them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::convert::Infallible;
use std::ops::Bound;

use futures_util::FutureExt as _;
use jiff::Timestamp;

use super::keys::{Scoped, business_key};
use super::tables::Tables;
use ratchet_store::model::{
    CommandError, Edge, Extend, GraphEffects, GraphInserted, GroupFilter, GroupId, GroupRecord,
    InsertError, JobId, JobRecord, Member, NewGraph, Vertex,
};
use ratchet_store::rules::graph::{self, Changes, GraphEvent, GraphRows, GroupContents, JobChange};
use ratchet_store::rules::insert::{KeyUse, Plan};

#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) groups: BTreeMap<GroupId, GroupRecord>,
    pub(super) edges: BTreeMap<(Vertex, u32), Edge>,
    /// The jobs of each group.
    members: BTreeMap<GroupId, BTreeSet<JobId>>,
    /// The groups of each group.
    inner: BTreeMap<GroupId, BTreeSet<GroupId>>,
    /// The last job of each sequence, by its key.
    pub(super) sequences: BTreeMap<String, JobId>,
}

impl Graph {
    pub(super) fn edges_from(&self, parent: Vertex) -> Vec<Edge> {
        self.edges.range((parent, 0)..=(parent, u32::MAX)).map(|(_, edge)| edge.clone()).collect()
    }

    pub(super) fn list(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Vec<GroupRecord> {
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        let newest_first = self.groups.range((Bound::Unbounded, end)).rev();
        let fitting = newest_first.map(|(_, group)| group).filter(|group| filter.matches(group));
        fitting.take(usize::try_from(limit).unwrap_or(usize::MAX)).cloned().collect()
    }

    fn add_group(&mut self, group: GroupRecord) {
        if let Some(owner) = group.owner {
            self.inner.entry(owner).or_default().insert(group.id);
        }
        self.groups.insert(group.id, group);
    }

    fn add_member(&mut self, group: Option<GroupId>, job: JobId) {
        if let Some(group) = group {
            self.members.entry(group).or_default().insert(job);
        }
    }

    /// Removes a purged job and its outgoing edges.
    pub(super) fn forget(&mut self, job: &JobRecord) {
        let Some(step) = &job.spec.step else { return };
        if let Some(group) = step.group
            && let Some(members) = self.members.get_mut(&group)
        {
            members.remove(&job.id);
            if members.is_empty() {
                self.members.remove(&group);
            }
        }
        if let Some(key) = graph::sequence(&job.spec)
            && self.sequences.get(key) == Some(&job.id)
        {
            self.sequences.remove(key);
        }
        self.forget_edges(Vertex::Job(job.id));
    }

    fn forget_edges(&mut self, parent: Vertex) {
        let gone: Vec<_> =
            self.edges.range((parent, 0)..=(parent, u32::MAX)).map(|(key, _)| *key).collect();
        for key in gone {
            self.edges.remove(&key);
        }
    }
}

impl Tables {
    pub(super) fn insert_graph(
        &mut self,
        graph: NewGraph,
        now: Timestamp,
    ) -> Result<GraphInserted, InsertError> {
        let mut plan = Plan::default();
        if let Some(key) = &graph.key {
            let scoped = (key.tenant.clone(), key.key.clone(), false);
            let again = KeyUse::of_graph(&graph);
            if let Some(again) = &again
                && let Some(original) = self.keys.earlier_use(&scoped, again.record.job, now)
            {
                let original = original.answer(again, &key.key)?.id();
                return Ok(GraphInserted::repeat_of(GroupId::from_uuid(original.uuid())));
            }
            plan.idempotency.extend(again.map(|again| (scoped, again.record)));
        }
        for group in &graph.groups {
            if self.graph.groups.contains_key(&group.id) {
                return Err(InsertError::GroupSealed(group.id));
            }
        }
        let placed: Vec<_> = graph.jobs.iter().map(|job| (job.id, job.owner())).collect();
        let (jobs, absent) = self.insert_members(graph.jobs, plan, now)?;
        let groups: Vec<_> = graph.groups.iter().map(|group| group.id).collect();
        for mut group in graph.groups {
            group.queued_at = now;
            self.graph.add_group(group);
        }
        for edge in graph.edges {
            self.graph.edges.insert((edge.parent, edge.ordinal), edge);
        }
        self.place(&placed, &absent);
        let effects = self.propagate(groups.into_iter().map(GraphEvent::Check).collect(), now);
        Ok(GraphInserted { jobs, effects, original: None })
    }

    pub(super) fn extend(
        &mut self,
        extend: Extend,
        now: Timestamp,
    ) -> Result<GraphInserted, InsertError> {
        let Extend { group: id, jobs, seal } = extend;
        let group = self.graph.groups.get(&id).ok_or(InsertError::GroupNotFound(id))?;
        if group.sealed {
            return Err(InsertError::GroupSealed(id));
        }
        let placed: Vec<_> = jobs.iter().map(|job| (job.id, Some(id))).collect();
        let (jobs, absent) = self.insert_members(jobs, Plan::default(), now)?;
        if let Some(group) = self.graph.groups.get_mut(&id) {
            group.counts.total += u64::try_from(placed.len()).unwrap_or(u64::MAX);
            group.sealed = seal;
        }
        self.place(&placed, &absent);
        let effects = self.propagate(vec![GraphEvent::Check(id)], now);
        Ok(GraphInserted { jobs, effects, original: None })
    }

    /// Inserts the jobs of a graph. Also returns the jobs that were not created, because their keys belong to existing
    /// jobs, and are not members.
    fn insert_members(
        &mut self,
        jobs: Vec<ratchet_store::model::NewJob>,
        mut plan: Plan<Scoped>,
        now: Timestamp,
    ) -> Result<(Vec<ratchet_store::model::Inserted>, HashSet<JobId>), InsertError> {
        let answers = self.plan(&jobs, &mut plan, now)?;
        let mut absent = HashSet::new();
        for (job, answer) in jobs.iter().zip(&answers) {
            if !graph::is_new_member(job, *answer)? {
                absent.insert(job.id);
            }
        }
        self.carry_out(jobs, plan, now);
        Ok((answers, absent))
    }

    fn place(&mut self, placed: &[(JobId, Option<GroupId>)], absent: &HashSet<JobId>) {
        for (job, group) in placed {
            if !absent.contains(job) {
                self.graph.add_member(*group, *job);
            } else if let Some(group) = group.and_then(|group| self.graph.groups.get_mut(&group)) {
                group.counts.total = group.counts.total.saturating_sub(1);
            }
        }
    }

    /// Returns the seed of a propagation if this job has ended and is part of a graph.
    pub(super) fn ended(
        &self,
        id: JobId,
        condition_results: Vec<(String, bool)>,
    ) -> Option<GraphEvent> {
        let job = self.jobs.get(&id).map(|row| &row.job)?;
        let ended = job.spec.step.is_some() && job.state.is_terminal();
        ended.then(|| GraphEvent::Ended { member: job.member(), condition_results })
    }

    /// Propagates changes from the seeds and applies them.
    pub(super) fn propagate(&mut self, events: Vec<GraphEvent>, now: Timestamp) -> GraphEffects {
        if events.is_empty() {
            return GraphEffects::default();
        }
        let changes = self.walk(events, now);
        self.apply(changes, now)
    }

    /// Returns the changes in the graph when this failed job is retried. Fails if a reopened step cannot take its
    /// business key.
    pub(super) fn opened(&mut self, id: JobId, now: Timestamp) -> Result<Changes, CommandError> {
        let Some(row) = self.jobs.get(&id).filter(|row| row.job.spec.step.is_some()) else {
            return Ok(Changes::default());
        };
        let changes = self.walk(vec![GraphEvent::Retry { member: row.job.member() }], now);
        for job in changes.reopened() {
            let Some(key) = self.jobs.get(&job).and_then(|row| business_key(&row.job.spec)) else {
                continue;
            };
            if let Some(holder) = self.keys.business.get(&key).filter(|holder| **holder != job) {
                return Err(CommandError::BusinessKeyTaken { job, key: key.1, holder: *holder });
            }
        }
        Ok(changes)
    }

    fn walk(&mut self, events: Vec<GraphEvent>, now: Timestamp) -> Changes {
        let Ok(changes) = graph::propagate(&mut Rows(self), events, now)
            .now_or_never()
            .expect("rows in memory are there at once");
        changes
    }

    pub(super) fn apply(&mut self, changes: Changes, now: Timestamp) -> GraphEffects {
        for change in &changes.jobs {
            match *change {
                JobChange::Wait { job, wait } => {
                    if let Some(row) = self.jobs.get_mut(&job) {
                        row.job.wait = Some(wait);
                    }
                }
                JobChange::Release { job } => self.advance(job, now, |job| job.release(now)),
                JobChange::Cancel { job, cause, root, wait } => {
                    self.call_off(job, cause, Some(root), now);
                    if let Some(row) = self.jobs.get_mut(&job) {
                        row.job.wait = wait;
                    }
                }
                JobChange::Reopen { job, wait } => {
                    let spec = self.jobs.get(&job).map(|row| &row.job.spec);
                    if let Some(key) = spec.and_then(|spec| business_key(spec)) {
                        self.keys.business.insert(key, job);
                    }
                    self.advance(job, now, |job| job.reopen(wait));
                }
            }
        }
        for group in &changes.groups {
            self.graph.groups.insert(group.id, group.clone());
        }
        for edge in &changes.edges {
            self.graph.edges.insert((edge.parent, edge.ordinal), edge.clone());
        }
        changes.into_effects()
    }

    pub(super) fn members(&self, group: GroupId, after: Option<JobId>, limit: u32) -> Vec<Member> {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let Some(members) = self.graph.members.get(&group) else { return Vec::new() };
        let members = members.range((start, Bound::Unbounded));
        let members = members.filter_map(|id| self.jobs.get(id)).map(|row| row.job.member());
        members.take(usize::try_from(limit).unwrap_or(usize::MAX)).collect()
    }

    /// Returns `true` if the job belongs to a group that has not ended, or holds up the jobs after it in a sequence.
    pub(super) fn is_needed(&self, id: JobId) -> bool {
        let Some(row) = self.jobs.get(&id) else { return false };
        let Some(step) = &row.job.spec.step else { return false };
        if step.order.is_some() {
            let edges = self.graph.edges_from(Vertex::Job(id));
            let awaits_turn = row.job.wait.is_some_and(|wait| wait.fired == 0);
            return awaits_turn || edges.iter().any(|edge| edge.resolution.is_none());
        }
        let group = step.group.and_then(|group| self.graph.groups.get(&group));
        group.is_some_and(|group| !group.state.is_ended())
    }

    /// Removes and returns groups that have ended, have no members and are wanted.
    pub(super) fn remove_groups(
        &mut self,
        limit: usize,
        wanted: impl Fn(&GroupRecord) -> bool,
    ) -> Vec<GroupRecord> {
        let old = self.graph.groups.values().filter(|group| {
            let waited_for = || {
                let edges = self.graph.edges_from(Vertex::Group(group.id));
                edges.iter().any(|edge| match edge.child {
                    Vertex::Job(id) => {
                        self.jobs.get(&id).is_some_and(|row| !row.job.state.is_terminal())
                    }
                    Vertex::Group(_) => false,
                })
            };
            group.finished_at.is_some()
                && wanted(group)
                && !self.graph.members.contains_key(&group.id)
                && !self.graph.inner.contains_key(&group.id)
                && !waited_for()
        });
        let old: Vec<_> = old.take(limit).map(|group| (group.id, group.owner)).collect();
        let mut removed = Vec::with_capacity(old.len());
        for (id, owner) in old {
            removed.extend(self.graph.groups.remove(&id));
            self.graph.forget_edges(Vertex::Group(id));
            if let Some(owner) = owner
                && let Some(inner) = self.graph.inner.get_mut(&owner)
            {
                inner.remove(&id);
                if inner.is_empty() {
                    self.graph.inner.remove(&owner);
                }
            }
        }
        removed
    }
}

/// Gives the propagation access to the rows.
struct Rows<'a>(&'a Tables);

impl GraphRows for Rows<'_> {
    type Error = Infallible;

    async fn edges_from(&mut self, parents: &[Vertex]) -> Result<Vec<Edge>, Infallible> {
        Ok(parents.iter().flat_map(|parent| self.0.graph.edges_from(*parent)).collect())
    }

    async fn jobs(&mut self, ids: &[JobId]) -> Result<Vec<Member>, Infallible> {
        let rows = ids.iter().filter_map(|id| self.0.jobs.get(id));
        Ok(rows.map(|row| row.job.member()).collect())
    }

    async fn groups(&mut self, ids: &[GroupId]) -> Result<Vec<GroupRecord>, Infallible> {
        Ok(ids.iter().filter_map(|id| self.0.graph.groups.get(id)).cloned().collect())
    }

    async fn inside(&mut self, group: GroupId) -> Result<GroupContents, Infallible> {
        let inner = self.0.graph.inner.get(&group).into_iter().flatten();
        Ok(GroupContents {
            jobs: self.0.members(group, None, u32::MAX),
            groups: inner.filter_map(|id| self.0.graph.groups.get(id)).cloned().collect(),
        })
    }
}
