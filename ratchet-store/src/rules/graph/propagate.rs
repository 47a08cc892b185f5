//! The propagation through a graph: from the vertices that changed to everything that depends on them. It proceeds
//! level by level instead of recursively, so that a chain with a hundred thousand steps does not overflow the stack.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::changes::{Changes, JobChange};
use super::rules::{End, EndClass, WaitStatus, resolve};
use crate::model::{
    CancelCause, Edge, EdgeTrigger, GroupId, GroupRecord, GroupState, JobId, JobState, Member,
    Resolution, Vertex,
};

/// Access to the rows of a graph, within the transaction that will write the changes. If transactions can overlap, the
/// rows must be locked when they are read, in the order of ids.
pub trait GraphRows: Send {
    /// The error of the store.
    type Error: Send;

    /// Returns the outgoing edges of these vertices.
    fn edges_from(
        &mut self,
        parents: &[Vertex],
    ) -> impl Future<Output = Result<Vec<Edge>, Self::Error>> + Send;

    /// Returns these jobs. Jobs that do not exist are left out.
    fn jobs(
        &mut self,
        ids: &[JobId],
    ) -> impl Future<Output = Result<Vec<Member>, Self::Error>> + Send;

    /// Returns these groups. Groups that do not exist are left out.
    fn groups(
        &mut self,
        ids: &[GroupId],
    ) -> impl Future<Output = Result<Vec<GroupRecord>, Self::Error>> + Send;

    /// Returns the direct members of a group.
    fn inside(
        &mut self,
        group: GroupId,
    ) -> impl Future<Output = Result<GroupContents, Self::Error>> + Send;
}

/// The direct members of a group.
#[derive(Debug, Clone, Default)]
pub struct GroupContents {
    /// The jobs of the group.
    pub jobs: Vec<Member>,
    /// The groups nested directly in the group.
    pub groups: Vec<GroupRecord>,
}

/// The event that starts a propagation.
#[derive(Debug, Clone)]
pub enum GraphEvent {
    /// A job has ended.
    Ended {
        /// The job in its new state.
        member: Member,
        /// The results of the conditions on its edges.
        condition_results: Vec<(String, bool)>,
    },
    /// A group was inserted, extended or sealed, which may end it.
    Check(GroupId),
    /// A group is canceled on request.
    CancelGroup(GroupId),
    /// A failed job is retried.
    Retry {
        /// The job in its old, failed state.
        member: Member,
    },
}

/// A pending step of the propagation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// A vertex has ended.
    End(Vertex),
    /// A group begins.
    Start(GroupId),
    /// The members of a canceled group must be canceled.
    CallOff(GroupId),
    /// A vertex that had ended is reopened.
    Open(Vertex, EndClass),
}

/// Computes the changes that follow from the events. Writes nothing: the caller must write the changes in the commit of
/// their cause.
pub async fn propagate<R: GraphRows>(
    rows: &mut R,
    events: Vec<GraphEvent>,
    now: Timestamp,
) -> Result<Changes, R::Error> {
    let mut propagation = Propagation {
        rows,
        now,
        jobs: BTreeMap::new(),
        groups: BTreeMap::new(),
        edges: BTreeMap::new(),
        condition_results: HashMap::new(),
        work: Vec::new(),
    };
    propagation.enqueue(events).await?;
    while !propagation.work.is_empty() {
        propagation.step().await?;
    }
    Ok(propagation.changes())
}

pub(super) struct Propagation<'r, R> {
    pub(super) rows: &'r mut R,
    now: Timestamp,
    /// Every job that was read: its old and its new state.
    jobs: BTreeMap<JobId, (Member, Member)>,
    groups: BTreeMap<GroupId, (GroupRecord, GroupRecord)>,
    /// Every changed edge.
    pub(super) edges: BTreeMap<(Vertex, u32), Edge>,
    condition_results: HashMap<JobId, Vec<(String, bool)>>,
    pub(super) work: Vec<Work>,
}

impl<R: GraphRows> Propagation<'_, R> {
    async fn enqueue(&mut self, events: Vec<GraphEvent>) -> Result<(), R::Error> {
        for event in events {
            match event {
                GraphEvent::Ended { member, condition_results } => {
                    let id = member.id;
                    self.condition_results.insert(id, condition_results);
                    self.jobs.insert(id, (member.clone(), member));
                    self.work.push(Work::End(Vertex::Job(id)));
                }
                GraphEvent::Check(id) => {
                    self.load_groups(&[id]).await?;
                    self.end_if_done(id);
                }
                GraphEvent::CancelGroup(id) => {
                    self.load_groups(&[id]).await?;
                    let root = Vertex::Group(id);
                    if let Some(group) = self.group(id).filter(|group| !group.state.is_ended()) {
                        call_off(group, CancelCause::Requested, root);
                        self.work.push(Work::CallOff(id));
                    }
                }
                GraphEvent::Retry { member } => {
                    let (id, class) = (member.id, member.class());
                    let revived = Member { state: JobState::Pending, ..member };
                    self.jobs.insert(id, (revived.clone(), revived));
                    self.work.extend(class.map(|class| Work::Open(Vertex::Job(id), class)));
                }
            }
        }
        Ok(())
    }

    async fn step(&mut self) -> Result<(), R::Error> {
        let mut ended = Vec::new();
        let mut opened = Vec::new();
        for work in std::mem::take(&mut self.work) {
            match work {
                Work::End(point) => ended.push(point),
                Work::Open(point, class) => opened.push((point, class)),
                Work::Start(group) => self.start(group).await?,
                Work::CallOff(group) => self.call_off_members(group).await?,
            }
        }
        self.resolve_edges(&ended).await?;
        self.count(&ended).await?;
        self.open(opened).await
    }

    /// Resolves the edges of ended vertices.
    async fn resolve_edges(&mut self, ended: &[Vertex]) -> Result<(), R::Error> {
        let parents: Vec<_> =
            ended.iter().copied().filter(|point| self.has_edges(*point)).collect();
        if parents.is_empty() {
            return Ok(());
        }
        let mut edges = self.open_edges(&parents).await?;
        edges.retain(|edge| edge.resolution.is_none());
        self.load(edges.iter().map(|edge| edge.child)).await?;
        for family in edges.chunk_by(|a, b| a.parent == b.parent) {
            for (edge, resolution) in family.iter().zip(self.resolutions(family)) {
                let Some(resolution) = resolution else { continue };
                let edge = Edge { resolution: Some(resolution), ..edge.clone() };
                self.touch(edge.child, resolution);
                self.pass_turn(&edge);
                self.edges.insert((edge.parent, edge.ordinal), edge);
            }
        }
        Ok(())
    }

    fn resolutions(&mut self, family: &[Edge]) -> Vec<Option<Resolution>> {
        match family.first().map(|edge| edge.parent) {
            Some(Vertex::Job(id)) => {
                let condition_results = self.condition_results.remove(&id).unwrap_or_default();
                let Some((_, member)) = self.jobs.get(&id) else { return Vec::new() };
                resolve(family, &End::Job { member, condition_results: &condition_results })
            }
            Some(Vertex::Group(id)) => {
                let Some((_, group)) = self.groups.get(&id) else { return Vec::new() };
                resolve(family, &End::Group(group))
            }
            None => Vec::new(),
        }
    }

    /// Applies the resolution of an edge to its child.
    fn touch(&mut self, child: Vertex, resolution: Resolution) {
        match child {
            Vertex::Job(id) => {
                let Some(job) = self.job(id) else { return };
                let Some(wait) = &mut job.wait else { return };
                wait.resolved(resolution);
                // If the job has already ended, the resolution is only counted.
                match (job.is_ended(), job.wait.map(|wait| wait.waited()), resolution) {
                    (false, Some(WaitStatus::Ready), _) => job.wait = None,
                    (false, Some(WaitStatus::Impossible), Resolution::Dead { cause, root }) => {
                        cancel(job, cause, root);
                        self.work.push(Work::End(child));
                    }
                    _ => {}
                }
            }
            Vertex::Group(id) => {
                let Some(group) = self.group(id) else { return };
                let Some(wait) = &mut group.wait else { return };
                wait.resolved(resolution);
                let waited = wait.waited();
                match (group.canceled.is_some(), waited, resolution) {
                    (false, WaitStatus::Ready, _) => self.work.push(Work::Start(id)),
                    (false, WaitStatus::Impossible, Resolution::Dead { cause, root }) => {
                        call_off(group, cause, root);
                        self.work.push(Work::CallOff(id));
                    }
                    _ => {}
                }
            }
        }
    }

    /// If the turn of a job has come that had ended before, its end holds up the next job no longer.
    fn pass_turn(&mut self, edge: &Edge) {
        if matches!(edge.when, EdgeTrigger::Turn(_))
            && edge.child.job().and_then(|id| self.job(id)).is_some_and(|job| job.is_ended())
        {
            self.work.push(Work::End(edge.child));
        }
    }

    /// Counts ended vertices in their groups.
    async fn count(&mut self, ended: &[Vertex]) -> Result<(), R::Error> {
        let owners: Vec<_> = ended.iter().filter_map(|point| self.owner(*point)).collect();
        self.load_groups(&owners).await?;
        for point in ended {
            let (Some(owner), Some((class, root))) = (self.owner(*point), self.class(*point))
            else {
                continue;
            };
            if let Some(group) = self.group(owner) {
                group.count(class, root);
            }
        }
        for owner in owners {
            self.end_if_done(owner);
        }
        Ok(())
    }

    /// Begins a group, and the members that wait only for it.
    async fn start(&mut self, id: GroupId) -> Result<(), R::Error> {
        let (jobs, groups) = self.load_inside(id).await?;
        let Some(group) = self.group(id) else { return Ok(()) };
        group.wait = None;
        group.state = GroupState::Running;
        for job in jobs {
            if let Some(job) = self.job(job)
                && !job.is_ended()
                && job.wait.is_some_and(|wait| wait.edges == 0)
            {
                job.wait = None;
            }
        }
        for inner in groups {
            let waits = |group: &GroupRecord| group.wait.is_some_and(|wait| wait.edges == 0);
            if self.group(inner).is_some_and(|group| waits(group) && group.canceled.is_none()) {
                self.work.push(Work::Start(inner));
            }
        }
        self.end_if_done(id);
        Ok(())
    }

    /// Cancels the members of a canceled group that have not ended.
    async fn call_off_members(&mut self, id: GroupId) -> Result<(), R::Error> {
        let (jobs, groups) = self.load_inside(id).await?;
        let Some(group) = self.group(id) else { return Ok(()) };
        let (cause, root) = (group.canceled.unwrap_or(CancelCause::Requested), group.root());
        for job in jobs {
            if let Some(job) = self.job(job).filter(|job| !job.is_ended()) {
                cancel(job, cause, root);
                let point = Vertex::Job(job.id);
                self.work.push(Work::End(point));
            }
        }
        for inner in groups {
            if let Some(group) = self.group(inner)
                && !group.state.is_ended()
                && group.canceled.is_none()
            {
                call_off(group, cause, root);
                self.work.push(Work::CallOff(inner));
            }
        }
        self.end_if_done(id);
        Ok(())
    }

    fn end_if_done(&mut self, id: GroupId) {
        let now = self.now;
        if self.group(id).is_some_and(|group| group.end_if_done(now)) {
            self.work.push(Work::End(Vertex::Group(id)));
        }
    }

    fn changes(self) -> Changes {
        let jobs = self.jobs.values();
        let groups = self.groups.into_values().filter(|(before, now)| before != now);
        Changes {
            jobs: jobs.filter_map(|(before, now)| JobChange::between(before, now)).collect(),
            groups: groups.map(|(_, now)| now).collect(),
            edges: self.edges.into_values().collect(),
        }
    }
}

// Row access. Each row is read once.
impl<R: GraphRows> Propagation<'_, R> {
    pub(super) fn job(&mut self, id: JobId) -> Option<&mut Member> {
        self.jobs.get_mut(&id).map(|(_, now)| now)
    }

    pub(super) fn group(&mut self, id: GroupId) -> Option<&mut GroupRecord> {
        self.groups.get_mut(&id).map(|(_, now)| now)
    }

    pub(super) fn has_edges(&self, point: Vertex) -> bool {
        match point {
            Vertex::Job(id) => self.jobs.get(&id).is_some_and(|(_, job)| job.edges),
            Vertex::Group(id) => self.groups.get(&id).is_some_and(|(_, group)| group.edges),
        }
    }

    pub(super) fn owner(&self, point: Vertex) -> Option<GroupId> {
        match point {
            Vertex::Job(id) => self.jobs.get(&id).and_then(|(_, job)| job.group),
            Vertex::Group(id) => self.groups.get(&id).and_then(|(_, group)| group.owner),
        }
    }

    fn class(&self, point: Vertex) -> Option<(EndClass, Vertex)> {
        match point {
            Vertex::Job(id) => {
                let (_, job) = self.jobs.get(&id)?;
                Some((job.class()?, job.root()))
            }
            Vertex::Group(id) => {
                let (_, group) = self.groups.get(&id)?;
                Some((group.class()?, group.root()))
            }
        }
    }

    /// Returns the edges of these vertices in their new state, in order.
    pub(super) async fn open_edges(&mut self, parents: &[Vertex]) -> Result<Vec<Edge>, R::Error> {
        let mut edges = self.rows.edges_from(parents).await?;
        for edge in &mut edges {
            if let Some(changed) = self.edges.get(&(edge.parent, edge.ordinal)) {
                edge.clone_from(changed);
            }
        }
        edges.sort_by_key(|edge| (edge.parent, edge.ordinal));
        Ok(edges)
    }

    pub(super) async fn load(
        &mut self,
        points: impl Iterator<Item = Vertex> + Clone,
    ) -> Result<(), R::Error> {
        let jobs: Vec<_> = points.clone().filter_map(Vertex::job).collect();
        let groups: Vec<_> = points.filter_map(Vertex::group).collect();
        self.load_jobs(&jobs).await?;
        self.load_groups(&groups).await
    }

    async fn load_jobs(&mut self, ids: &[JobId]) -> Result<(), R::Error> {
        let mut missing: Vec<_> =
            ids.iter().copied().filter(|id| !self.jobs.contains_key(id)).collect();
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            let jobs = self.rows.jobs(&missing).await?;
            self.jobs.extend(jobs.into_iter().map(|job| (job.id, (job.clone(), job))));
        }
        Ok(())
    }

    pub(super) async fn load_groups(&mut self, ids: &[GroupId]) -> Result<(), R::Error> {
        let mut missing: Vec<_> =
            ids.iter().copied().filter(|id| !self.groups.contains_key(id)).collect();
        missing.sort_unstable();
        missing.dedup();
        if !missing.is_empty() {
            let groups = self.rows.groups(&missing).await?;
            self.groups.extend(groups.into_iter().map(|group| (group.id, (group.clone(), group))));
        }
        Ok(())
    }

    pub(super) async fn load_inside(
        &mut self,
        id: GroupId,
    ) -> Result<(Vec<JobId>, Vec<GroupId>), R::Error> {
        let inside = self.rows.inside(id).await?;
        let (mut jobs, mut groups) = (Vec::new(), Vec::new());
        for job in inside.jobs {
            jobs.push(job.id);
            // A row that was read before may have been changed by the propagation.
            self.jobs.entry(job.id).or_insert_with(|| (job.clone(), job));
        }
        for group in inside.groups {
            groups.push(group.id);
            self.groups.entry(group.id).or_insert_with(|| (group.clone(), group));
        }
        Ok((jobs, groups))
    }
}

fn cancel(job: &mut Member, cause: CancelCause, root: Vertex) {
    job.state = JobState::Canceled;
    job.paused_from = None;
    job.canceled = Some(cause);
    job.root_cause = Some(root);
}

fn call_off(group: &mut GroupRecord, cause: CancelCause, root: Vertex) {
    group.canceled = Some(cause);
    group.root_cause = Some(root);
    group.sealed = true;
}
