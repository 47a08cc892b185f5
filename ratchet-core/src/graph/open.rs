//! The way back: a failed step is tried again, and what was called off because of it waits again.

use super::propagate::{GraphRows, Walk, Work};
use super::rules::{Class, Waited};
use crate::model::{
    CancelCause, Edge, GroupId, GroupRecord, GroupState, JobState, Member, Point, Resolution, Wait,
};

impl<R: GraphRows> Walk<'_, R> {
    /// These points had ended and have not, after all: they count no longer, and what could never fire may.
    pub(super) async fn open(&mut self, points: Vec<(Point, Class)>) -> Result<(), R::Error> {
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
        // What has fired has begun something: that is not taken back.
        edges.retain(|edge| matches!(edge.resolution, Some(Resolution::Dead { .. })));
        self.load(edges.iter().map(|edge| edge.child)).await?;
        for edge in edges {
            let child = edge.child;
            let edge = Edge { resolution: None, ..edge };
            self.edges.insert((edge.parent, edge.ordinal), edge);
            match child {
                Point::Job(id) => {
                    if let Some(class) = self.job(id).and_then(open_job) {
                        self.work.push(Work::Open(child, class));
                    }
                }
                Point::Group(id) => self.open_group(id).await?,
            }
        }
        Ok(())
    }

    fn uncount(&mut self, owner: GroupId, class: Class, member: Point) {
        let Some(group) = self.group(owner) else { return };
        group.uncount(class, member);
        if let Some(class) = group.class() {
            wait_again(group);
            self.work.push(Work::Open(Point::Group(owner), class));
        }
    }

    /// An edge to a group may fire again. If the group was called off because of it, it waits again, and so does what
    /// begins with it.
    async fn open_group(&mut self, id: GroupId) -> Result<(), R::Error> {
        let Some(group) = self.group(id) else { return Ok(()) };
        let Some(wait) = &mut group.wait else { return Ok(()) };
        wait.dead = wait.dead.saturating_sub(1);
        if wait.waited() == Waited::InVain
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
            self.work.extend(class.map(|class| Work::Open(Point::Group(id), class)));
            for job in jobs {
                let begins = |job: &Member| job.wait.is_some_and(|wait| wait.edges == 0);
                if let Some(job) = self.job(job).filter(|job| begins(job))
                    && let Some(class) = reopen(job)
                {
                    let point = Point::Job(job.id);
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

/// An edge to a job may fire again; answers how the job had ended if it waits again.
fn open_job(job: &mut Member) -> Option<Class> {
    let wait = job.wait.as_mut()?;
    wait.dead = wait.dead.saturating_sub(1);
    if wait.waited() == Waited::InVain { None } else { reopen(job) }
}

/// A job that was called off because of another waits again.
fn reopen(job: &mut Member) -> Option<Class> {
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
    let begun = group.wait.as_ref().is_none_or(|wait: &Wait| wait.waited() == Waited::Enough);
    group.state = if begun { GroupState::Running } else { GroupState::Waiting };
    group.finished_at = None;
}
