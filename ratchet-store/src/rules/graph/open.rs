//! Reopening: when a failed step is retried, steps that were canceled because of it wait again.

use super::propagate::{GraphRows, Propagation, Work};
use super::rules::{EndClass, WaitStatus};
use crate::model::{
    CancelCause, Edge, GroupId, GroupRecord, GroupState, JobState, Member, Resolution, Vertex, Wait,
};

impl<R: GraphRows> Propagation<'_, R> {
    /// Reverts the end of these vertices: they no longer count in their groups, and their dead edges can fire again.
    pub(super) async fn open(&mut self, points: Vec<(Vertex, EndClass)>) -> Result<(), R::Error> {
        if points.is_empty() {
            return Ok(());
        }
        let owners: Vec<_> = points.iter().filter_map(|(point, _)| self.owner(*point)).collect();
        self.load_groups(&owners).await?;
        for (point, class) in &points {
            if let Some(owner) = self.owner(*point) {
                self.uncount(owner, *class, *point);
            }
        }
        let parents: Vec<_> =
            points.iter().map(|(point, _)| *point).filter(|point| self.has_edges(*point)).collect();
        if parents.is_empty() {
            return Ok(());
        }
        let mut edges = self.open_edges(&parents).await?;
        // An edge that has fired is final, because its child may have begun.
        edges.retain(|edge| matches!(edge.resolution, Some(Resolution::Dead { .. })));
        self.load(edges.iter().map(|edge| edge.child)).await?;
        for edge in edges {
            let child = edge.child;
            let edge = Edge { resolution: None, ..edge };
            self.edges.insert((edge.parent, edge.ordinal), edge);
            match child {
                Vertex::Job(id) => {
                    if let Some(class) = self.job(id).and_then(open_job) {
                        self.work.push(Work::Open(child, class));
                    }
                }
                Vertex::Group(id) => self.open_group(id).await?,
            }
        }
        Ok(())
    }

    fn uncount(&mut self, owner: GroupId, class: EndClass, member: Vertex) {
        let Some(group) = self.group(owner) else { return };
        group.uncount(class, member);
        if let Some(class) = group.class() {
            wait_again(group);
            self.work.push(Work::Open(Vertex::Group(owner), class));
        }
    }

    /// An edge to a group can fire again. If the group was canceled because of that edge, the group and the members
    /// that begin with it wait again.
    async fn open_group(&mut self, id: GroupId) -> Result<(), R::Error> {
        let Some(group) = self.group(id) else { return Ok(()) };
        let Some(wait) = &mut group.wait else { return Ok(()) };
        wait.dead = wait.dead.saturating_sub(1);
        if wait.waited() == WaitStatus::Impossible
            || !group.canceled.is_some_and(CancelCause::is_propagated)
        {
            return Ok(());
        }
        let mut groups = vec![id];
        while let Some(id) = groups.pop() {
            let (jobs, inner) = self.load_inside(id).await?;
            let Some(group) = self.group(id) else { continue };
            let class = group.class();
            group.canceled = None;
            group.root_cause = None;
            wait_again(group);
            self.work.extend(class.map(|class| Work::Open(Vertex::Group(id), class)));
            for job in jobs {
                let begins = |job: &Member| job.wait.is_some_and(|wait| wait.edges == 0);
                if let Some(job) = self.job(job).filter(|job| begins(job))
                    && let Some(class) = reopen(job)
                {
                    let point = Vertex::Job(job.id);
                    self.work.push(Work::Open(point, class));
                }
            }
            for inner in inner {
                let begins = |group: &GroupRecord| {
                    group.wait.is_some_and(|wait| wait.edges == 0)
                        && group.canceled.is_some_and(CancelCause::is_propagated)
                };
                if self.group(inner).is_some_and(|group| begins(group)) {
                    groups.push(inner);
                }
            }
        }
        Ok(())
    }
}

/// An edge to a job can fire again. If the job waits again, returns how it had ended.
fn open_job(job: &mut Member) -> Option<EndClass> {
    let wait = job.wait.as_mut()?;
    wait.dead = wait.dead.saturating_sub(1);
    if wait.waited() == WaitStatus::Impossible { None } else { reopen(job) }
}

/// Returns a job to waiting that was canceled because of another, and returns how it had ended.
fn reopen(job: &mut Member) -> Option<EndClass> {
    if job.state != JobState::Canceled || !job.canceled.is_some_and(CancelCause::is_propagated) {
        return None;
    }
    let class = job.class();
    job.state = JobState::Pending;
    job.canceled = None;
    job.root_cause = None;
    class
}

fn wait_again(group: &mut GroupRecord) {
    let begun = group.wait.as_ref().is_none_or(|wait: &Wait| wait.waited() == WaitStatus::Ready);
    group.state = if begun { GroupState::Running } else { GroupState::Waiting };
    group.finished_at = None;
}
