//! What a request may read: every query of the pages and of the API, restricted to the scope of its access.

use std::collections::BTreeMap;

use ratchet_core::{
    FailureGroup, FailureGroups, Filter, GroupFilter, GroupId, JobId, JobRecord, JobState,
    Overview, PageRequest, ScheduleView,
};
use ratchet_store::model::{Alert, GroupRecord};

use crate::problem::Problem;
use crate::request::Request;
use crate::text::brief;

/// The place in a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// The first page.
    First,
    /// The page behind this job.
    Behind(JobId),
    /// The page in front of this job.
    InFrontOf(JobId),
}

/// A page of jobs.
#[derive(Debug, Default)]
pub(crate) struct JobPage {
    pub(crate) jobs: Vec<JobRecord>,
    /// The job behind which the next page begins.
    pub(crate) next: Option<JobId>,
    /// The job in front of which the previous page ends.
    pub(crate) previous: Option<JobId>,
    /// How many jobs were compared with conditions that have no index, if there are any.
    pub(crate) examined: Option<u64>,
    /// Whether the page ended because as many jobs as allowed were examined.
    pub(crate) limited: bool,
}

impl Request {
    /// Returns a page of the jobs that match a filter.
    pub(crate) async fn job_page(
        &self,
        filter: &Filter,
        cursor: Cursor,
        limit: u32,
    ) -> Result<JobPage, Problem> {
        let mut filter = filter.clone();
        let backward = matches!(cursor, Cursor::InFrontOf(_));
        // The page in front of a job is the page behind it in the opposite order.
        filter.oldest_first ^= backward;
        let before = match cursor {
            Cursor::First => None,
            Cursor::Behind(id) | Cursor::InFrontOf(id) => Some(id),
        };
        self.may_search(&filter).await?;
        let filters = self.access.scope().narrow(&filter);
        let request = PageRequest { before, limit };
        // How far each listing was read, if it goes on.
        let (mut jobs, mut ends, mut examined) = (Vec::new(), Vec::new(), None);
        let mut limited = false;
        for narrowed in &filters {
            let page = self.ratchet().jobs().list(narrowed, request).await?;
            limited |= page.is_limited(request);
            if let Some(more) = page.examined {
                *examined.get_or_insert(0) += more;
            }
            ends.extend(page.next);
            jobs.extend(self.ratchet().jobs().for_display(page.jobs).await?);
        }
        // Behind the nearest of these ends, a listing may have jobs that were not read.
        let end = if filter.oldest_first { ends.iter().min() } else { ends.iter().max() }.copied();
        let is_read = |id: JobId| {
            end.is_none_or(|end| if filter.oldest_first { id <= end } else { id >= end })
        };
        jobs.retain(|job| is_read(job.id));
        if filters.len() > 1 {
            jobs.sort_by_key(|job| job.id);
            if !filter.oldest_first {
                jobs.reverse();
            }
        }
        let full = jobs.len() > limit as usize;
        jobs.truncate(limit as usize);
        let end = if full { jobs.last().map(|job| job.id) } else { end };
        let started = jobs.first().map(|job| job.id).or(before);
        if backward {
            jobs.reverse();
        }
        let (next, previous) = match cursor {
            Cursor::First => (end, None),
            Cursor::Behind(_) => (end, started),
            Cursor::InFrontOf(_) => (started, end),
        };
        Ok(JobPage { jobs, next, previous, examined, limited: limited && !full })
    }

    /// Refuses a filter that would reveal arguments which the access may not see.
    pub(crate) async fn may_search(&self, filter: &Filter) -> Result<(), Problem> {
        if filter.arguments.is_empty() {
            return Ok(());
        }
        if !self.access.sees_arguments() {
            return Err(Problem::new(
                "denied",
                "your access does not include arguments, so a filter cannot test them",
            ));
        }
        let tests = |name: &str| {
            filter.arguments.iter().any(|test| test.path.first().is_some_and(|first| first == name))
        };
        for job in self.ratchet().definitions() {
            let found =
                job.args.iter().find(|argument| tests(argument.name) && argument.has_secret());
            if let Some(argument) = found {
                return Err(secret(argument.name, job.name));
            }
        }
        for record in self.ratchet().catalog().list().await? {
            let entry = &record.record.entry;
            let found = entry.args.iter().find(|argument| argument.secret && tests(&argument.name));
            if let Some(argument) = found {
                return Err(secret(&argument.name, &entry.name));
            }
        }
        Ok(())
    }

    /// Returns a job. A job outside of the scope does not exist.
    pub(crate) async fn job(&self, id: JobId) -> Result<JobRecord, Problem> {
        let job = self.ratchet().jobs().get(id).await?;
        let job = job.filter(|job| self.access.scope().job(job)).ok_or_else(|| {
            Problem::not_found(format!("there is no job {id}; it may have been purged"))
        })?;
        let mut shown = self.ratchet().jobs().for_display(vec![job]).await?;
        shown.pop().ok_or_else(|| Problem::not_found(format!("there is no job {id}")))
    }

    /// Returns the state of the cluster without what is outside of the scope.
    pub(crate) async fn overview(&self) -> Result<Overview, Problem> {
        let mut overview = self.ratchet().overview().await?;
        let scope = self.access.scope();
        overview.queues.retain(|queue| scope.queue(&queue.queue));
        if !scope.is_everything() {
            overview.nodes.clear();
            overview.breakers.clear();
            overview.unknown.clear();
            overview.unreadable = 0;
        }
        Ok(overview)
    }

    /// Returns how many jobs are in each state. `None` if the scope has names or tenants, for which no counts exist.
    pub(crate) async fn counts(&self) -> Result<Option<BTreeMap<JobState, u64>>, Problem> {
        if !self.access.scope().sees_queues() {
            return Ok(None);
        }
        let counts = self.ratchet().jobs().recent_counts().await?;
        let mut states = BTreeMap::new();
        for (queue, counts) in counts.queues {
            if self.access.scope().queue(&queue) {
                for (state, jobs) in counts.states {
                    *states.entry(state).or_insert(0) += jobs;
                }
            }
        }
        Ok(Some(states))
    }

    /// Returns failed jobs, grouped by name and fingerprint. Reads at most `limit` of them.
    pub(crate) async fn failures(
        &self,
        filter: &Filter,
        limit: u32,
    ) -> Result<FailureGroups, Problem> {
        self.may_search(filter).await?;
        let filters = self.access.scope().narrow(filter);
        if let [filter] = filters.as_slice() {
            return Ok(self.ratchet().failures().groups(filter, limit).await?);
        }
        let mut merged = FailureGroups::default();
        merged.complete = true;
        let mut groups: BTreeMap<(String, String), FailureGroup> = BTreeMap::new();
        for filter in &filters {
            let found = self.ratchet().failures().groups(filter, limit).await?;
            merged.jobs += found.jobs;
            merged.complete &= found.complete;
            for group in found.groups {
                let key = (group.job_name.clone(), group.fingerprint.clone());
                match groups.get_mut(&key) {
                    None => drop(groups.insert(key, group)),
                    Some(known) => add(known, group),
                }
            }
        }
        merged.groups = groups.into_values().collect();
        merged.groups.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| b.last.cmp(&a.last)));
        Ok(merged)
    }

    /// Returns the schedules whose jobs are in the scope.
    pub(crate) async fn schedules(&self) -> Result<Vec<ScheduleView>, Problem> {
        let mut schedules = self.ratchet().schedules().list().await?;
        schedules.retain(|view| self.sees_schedule(view));
        Ok(schedules)
    }

    /// Returns a schedule whose jobs are in the scope.
    pub(crate) async fn schedule(&self, name: &str) -> Result<ScheduleView, Problem> {
        let schedule = self.ratchet().schedules().get(name).await?;
        schedule.filter(|view| self.sees_schedule(view)).ok_or_else(|| {
            Problem::not_found(format!("there is no schedule `{}`", brief(name, 80)))
        })
    }

    fn sees_schedule(&self, view: &ScheduleView) -> bool {
        let spec = &view.schedule.spec;
        self.access.scope().allows(&spec.queue, &spec.name, spec.tenant.as_deref())
    }

    /// Returns chains, batches and workflows in the scope, newest first.
    pub(crate) async fn groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, Problem> {
        let mut groups = self.ratchet().groups().list(filter, before, limit).await?;
        groups.retain(|group| self.access.scope().group(group.tenant.as_deref()));
        Ok(groups)
    }

    /// Returns a chain, batch or workflow in the scope.
    pub(crate) async fn group(&self, id: GroupId) -> Result<GroupRecord, Problem> {
        let group = self.ratchet().group(id).record().await?;
        let scope = self.access.scope();
        group.filter(|group| scope.group(group.tenant.as_deref())).ok_or_else(|| {
            Problem::not_found(format!(
                "there is no chain, batch or workflow {id}; it may have been purged"
            ))
        })
    }

    /// Returns the newest alerts about jobs in the scope.
    pub(crate) async fn alerts(&self, limit: u32) -> Result<Vec<Alert>, Problem> {
        let alerts = self.ratchet().alerts().list(limit).await?;
        if self.access.scope().is_everything() {
            return Ok(alerts);
        }
        let mut seen = Vec::new();
        for alert in alerts {
            let job = self.ratchet().jobs().get(alert.job_id).await?;
            if job.is_some_and(|job| self.access.scope().job(&job)) {
                seen.push(alert);
            }
        }
        Ok(seen)
    }

    /// Refuses objects that span queues, names and tenants to an access with a scope.
    pub(crate) fn sees_everything(&self, what: &str) -> Result<(), Problem> {
        if self.access.scope().is_everything() {
            return Ok(());
        }
        Err(Problem::new(
            "denied",
            format!("your access is limited to some jobs, and {what} concern all of them"),
        ))
    }

    /// Returns the name of a queue that is in the scope.
    pub(crate) fn scoped_queue<'a>(&self, queue: &'a str) -> Result<&'a str, Problem> {
        if self.access.scope().queue(queue) {
            return Ok(queue);
        }
        Err(Problem::not_found(format!("there is no queue `{}`", brief(queue, 80))))
    }
}

fn secret(argument: &str, job: &str) -> Problem {
    let (argument, job) = (brief(argument, 80), brief(job, 80));
    Problem::new(
        "denied",
        format!("the argument `{argument}` of `{job}` is secret, so a filter cannot test it"),
    )
}

fn add(known: &mut FailureGroup, group: FailureGroup) {
    known.count += group.count;
    known.first = known.first.min(group.first);
    if group.last > known.last {
        known.last = group.last;
        known.reason = group.reason;
        known.error_type = group.error_type;
        known.message = group.message;
        known.latest = group.latest;
    }
}
