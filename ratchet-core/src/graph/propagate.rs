//! The walk: from what ended to everything that follows, wave by wave and never by recursion, so that a chain of a
//! hundred thousand steps is as good as one of two.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::changes::{Changes, JobChange};
use super::rules::{Class, End, Waited, resolve};
use crate::model::{
    CancelCause, Edge, GroupId, GroupRecord, GroupState, JobId, JobState, Member, Point, Resolution,
};

/// The rows of a graph as a store has them, read within the transaction that will write the changes. Where transactions
/// can overlap, what is read is locked, in the order of ids.
pub trait GraphRows: Send {
    /// What the store fails with.
    type Error: Send;

    /// The edges that lead from these points.
    fn edges_from(
        &mut self,
        parents: &[Point],
    ) -> impl Future<Output = Result<Vec<Edge>, Self::Error>> + Send;

    /// These jobs. One that is not there is left out.
    fn jobs(
        &mut self,
        ids: &[JobId],
    ) -> impl Future<Output = Result<Vec<Member>, Self::Error>> + Send;

    /// These groups. One that is not there is left out.
    fn groups(
        &mut self,
        ids: &[GroupId],
    ) -> impl Future<Output = Result<Vec<GroupRecord>, Self::Error>> + Send;

    /// What is directly in a group.
    fn inside(
        &mut self,
        group: GroupId,
    ) -> impl Future<Output = Result<Inside, Self::Error>> + Send;
}

/// What is directly in a group.
#[derive(Debug, Clone, Default)]
pub struct Inside {
    /// Its jobs.
    pub jobs: Vec<Member>,
    /// The groups in it.
    pub groups: Vec<GroupRecord>,
}

/// What sets off a walk.
#[derive(Debug, Clone)]
pub enum Seed {
    /// A job has ended.
    Ended {
        /// The job, as it is now.
        member: Member,
        /// How the conditions on its edges were judged.
        answers: Vec<(String, bool)>,
    },
    /// Something about a group has changed that may end it: it was inserted, or sealed.
    Check(GroupId),
    /// A group is called off by somebody.
    CancelGroup(GroupId),
    /// A failed job is tried again.
    Retry {
        /// The job, as it was: failed.
        member: Member,
    },
}

/// Something to be done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// A point has ended.
    End(Point),
    /// A group begins.
    Start(GroupId),
    /// A group is called off.
    CallOff(GroupId),
    /// A point that had ended has not, after all.
    Open(Point, Class),
}

/// What follows from some seeds. Nothing is written: the caller does that, in the commit of what set it off.
pub async fn propagate<R: GraphRows>(
    rows: &mut R,
    seeds: Vec<Seed>,
    now: Timestamp,
) -> Result<Changes, R::Error> {
    let mut walk = Walk {
        rows,
        now,
        jobs: BTreeMap::new(),
        groups: BTreeMap::new(),
        edges: BTreeMap::new(),
        answers: HashMap::new(),
        work: Vec::new(),
    };
    walk.seed(seeds).await?;
    while !walk.work.is_empty() {
        walk.wave().await?;
    }
    Ok(walk.changes())
}

pub(super) struct Walk<'r, R> {
    pub(super) rows: &'r mut R,
    now: Timestamp,
    /// Every job that was read: as it was, and as it is now.
    jobs: BTreeMap<JobId, (Member, Member)>,
    groups: BTreeMap<GroupId, (GroupRecord, GroupRecord)>,
    /// Every edge that has changed.
    pub(super) edges: BTreeMap<(Point, u32), Edge>,
    answers: HashMap<JobId, Vec<(String, bool)>>,
    pub(super) work: Vec<Work>,
}

impl<R: GraphRows> Walk<'_, R> {
    async fn seed(&mut self, seeds: Vec<Seed>) -> Result<(), R::Error> {
        for seed in seeds {
            match seed {
                Seed::Ended { member, answers } => {
                    let id = member.id;
                    self.answers.insert(id, answers);
                    self.jobs.insert(id, (member.clone(), member));
                    self.work.push(Work::End(Point::Job(id)));
                }
                Seed::Check(id) => {
                    self.load_groups(&[id]).await?;
                    self.end_if_done(id);
                }
                Seed::CancelGroup(id) => {
                    self.load_groups(&[id]).await?;
                    let root = Point::Group(id);
                    if let Some(group) = self.group(id).filter(|group| !group.state.is_ended()) {
                        call_off(group, CancelCause::Requested, root);
                        self.work.push(Work::CallOff(id));
                    }
                }
                Seed::Retry { member } => {
                    let (id, class) = (member.id, member.class());
                    let revived = Member { state: JobState::Pending, ..member };
                    self.jobs.insert(id, (revived.clone(), revived));
                    self.work.extend(class.map(|class| Work::Open(Point::Job(id), class)));
                }
            }
        }
        Ok(())
    }

    async fn wave(&mut self) -> Result<(), R::Error> {
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

    /// The edges of points that have ended fire, or never will.
    async fn resolve_edges(&mut self, ended: &[Point]) -> Result<(), R::Error> {
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
                let edge = Edge { resolution: Some(resolution), ..edge.clone() };
                self.touch(edge.child, resolution);
                self.edges.insert((edge.parent, edge.ordinal), edge);
            }
        }
        Ok(())
    }

    fn resolutions(&mut self, family: &[Edge]) -> Vec<Resolution> {
        match family.first().map(|edge| edge.parent) {
            Some(Point::Job(id)) => {
                let answers = self.answers.remove(&id).unwrap_or_default();
                let Some((_, member)) = self.jobs.get(&id) else { return Vec::new() };
                resolve(family, &End::Job { member, answers: &answers })
            }
            Some(Point::Group(id)) => {
                let Some((_, group)) = self.groups.get(&id) else { return Vec::new() };
                resolve(family, &End::Group(group))
            }
            None => Vec::new(),
        }
    }

    /// An edge to this point was resolved.
    fn touch(&mut self, child: Point, resolution: Resolution) {
        match child {
            Point::Job(id) => {
                let Some(job) = self.job(id) else { return };
                let Some(wait) = &mut job.wait else { return };
                wait.resolved(resolution);
                // What has ended, or was called off by hand, only counts.
                match (job.is_ended(), job.wait.map(|wait| wait.waited()), resolution) {
                    (false, Some(Waited::Enough), _) => job.wait = None,
                    (false, Some(Waited::InVain), Resolution::Dead { cause, root }) => {
                        cancel(job, cause, root);
                        self.work.push(Work::End(child));
                    }
                    _ => {}
                }
            }
            Point::Group(id) => {
                let Some(group) = self.group(id) else { return };
                let Some(wait) = &mut group.wait else { return };
                wait.resolved(resolution);
                let waited = wait.waited();
                match (group.canceled.is_some(), waited, resolution) {
                    (false, Waited::Enough, _) => self.work.push(Work::Start(id)),
                    (false, Waited::InVain, Resolution::Dead { cause, root }) => {
                        call_off(group, cause, root);
                        self.work.push(Work::CallOff(id));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Points that have ended count in their groups.
    async fn count(&mut self, ended: &[Point]) -> Result<(), R::Error> {
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

    /// A group begins: what waits for nothing else in it begins too.
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

    /// A group was called off: so is everything in it that has not ended.
    async fn call_off_members(&mut self, id: GroupId) -> Result<(), R::Error> {
        let (jobs, groups) = self.load_inside(id).await?;
        let Some(group) = self.group(id) else { return Ok(()) };
        let (cause, root) = (group.canceled.unwrap_or(CancelCause::Requested), group.root());
        for job in jobs {
            if let Some(job) = self.job(job).filter(|job| !job.is_ended()) {
                cancel(job, cause, root);
                let point = Point::Job(job.id);
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
            self.work.push(Work::End(Point::Group(id)));
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

// Reading, each row once.
impl<R: GraphRows> Walk<'_, R> {
    pub(super) fn job(&mut self, id: JobId) -> Option<&mut Member> {
        self.jobs.get_mut(&id).map(|(_, now)| now)
    }

    pub(super) fn group(&mut self, id: GroupId) -> Option<&mut GroupRecord> {
        self.groups.get_mut(&id).map(|(_, now)| now)
    }

    pub(super) fn has_edges(&self, point: Point) -> bool {
        match point {
            Point::Job(id) => self.jobs.get(&id).is_some_and(|(_, job)| job.edges),
            Point::Group(id) => self.groups.get(&id).is_some_and(|(_, group)| group.edges),
        }
    }

    pub(super) fn owner(&self, point: Point) -> Option<GroupId> {
        match point {
            Point::Job(id) => self.jobs.get(&id).and_then(|(_, job)| job.group),
            Point::Group(id) => self.groups.get(&id).and_then(|(_, group)| group.owner),
        }
    }

    fn class(&self, point: Point) -> Option<(Class, Point)> {
        match point {
            Point::Job(id) => {
                let (_, job) = self.jobs.get(&id)?;
                Some((job.class()?, job.root()))
            }
            Point::Group(id) => {
                let (_, group) = self.groups.get(&id)?;
                Some((group.class()?, group.root()))
            }
        }
    }

    /// The edges of these points as they are now, in their order.
    pub(super) async fn open_edges(&mut self, parents: &[Point]) -> Result<Vec<Edge>, R::Error> {
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
        points: impl Iterator<Item = Point> + Clone,
    ) -> Result<(), R::Error> {
        let jobs: Vec<_> = points.clone().filter_map(Point::job).collect();
        let groups: Vec<_> = points.filter_map(Point::group).collect();
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
            // What was read before may have changed since.
            self.jobs.entry(job.id).or_insert_with(|| (job.clone(), job));
        }
        for group in inside.groups {
            groups.push(group.id);
            self.groups.entry(group.id).or_insert_with(|| (group.clone(), group));
        }
        Ok((jobs, groups))
    }
}

fn cancel(job: &mut Member, cause: CancelCause, root: Point) {
    job.state = JobState::Canceled;
    job.paused_from = None;
    job.canceled = Some(cause);
    job.root_cause = Some(root);
}

fn call_off(group: &mut GroupRecord, cause: CancelCause, root: Point) {
    group.canceled = Some(cause);
    group.root_cause = Some(root);
    group.sealed = true;
}
