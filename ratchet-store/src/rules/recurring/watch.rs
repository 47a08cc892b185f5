//! Decides whether a watched schedule has not succeeded for too long.

use jiff::Timestamp;

use crate::model::{JobId, JobRecord, JobState, ScheduleRecord, Watch, later};

/// What became of a watched schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The new state of the watch.
    pub watch: Watch,
    /// Whether an alert is due: the schedule has not succeeded since the time of the watch.
    pub overdue: bool,
}

impl Watch {
    /// Remembers jobs of the schedule that were submitted.
    pub fn submitted(&mut self, jobs: impl IntoIterator<Item = JobId>) {
        self.recent.extend(jobs);
        let spare = self.recent.len().saturating_sub(Self::RECENT);
        self.recent.drain(..spare);
    }
}

/// Returns the new state of a watch, given those of its [recent](Watch::recent) jobs that exist. Returns `None` if nothing
/// has changed.
pub fn watch(schedule: &ScheduleRecord, jobs: &[JobRecord], now: Timestamp) -> Option<Watched> {
    let before = schedule.watch.as_ref()?;
    let mut watch = before.clone();
    let succeeded = jobs.iter().filter(|job| job.state == JobState::Succeeded);
    if let Some(last) = succeeded.filter_map(|job| job.finished_at).max()
        && last > watch.since
    {
        (watch.since, watch.alerted) = (last, false);
    }
    // A failed job may be retried.
    let open = |id: &JobId| {
        let job = jobs.iter().find(|job| job.id == *id);
        job.is_some_and(|job| !matches!(job.state, JobState::Succeeded | JobState::Canceled))
    };
    watch.recent.retain(open);
    let late = later(watch.since, watch.within) < now;
    let overdue = late && !watch.alerted && !schedule.is_stopped();
    watch.alerted |= overdue;
    (watch != *before).then_some(Watched { watch, overdue })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::JobSpec;

    const START: Timestamp = Timestamp::UNIX_EPOCH;

    fn at(minutes: u64) -> Timestamp {
        later(START, Duration::from_mins(minutes))
    }

    fn id(number: u128) -> JobId {
        JobId::from_uuid(uuid::Uuid::from_u128(number))
    }

    fn job(number: u128, state: JobState, ended: u64) -> JobRecord {
        let spec = JobSpec::new("a", Vec::new());
        let mut job = JobRecord::pending(id(number), spec, START, START);
        job.state = state;
        job.finished_at = state.is_terminal().then(|| at(ended));
        job
    }

    fn schedule() -> ScheduleRecord {
        let mut schedule = ScheduleRecord::new("s", JobSpec::new("a", Vec::new()), "* * * * *");
        let mut watch = Watch::new(Duration::from_mins(10), START);
        watch.submitted([id(1), id(2), id(3)]);
        schedule.watch = Some(watch);
        schedule
    }

    #[test]
    fn t_07_an_alert_is_due_once_until_the_next_success() {
        let mut schedule = schedule();
        let failed = [job(1, JobState::Failed, 5), job(2, JobState::Running, 0)];
        let seen = watch(&schedule, &failed, at(10)).expect("a job is gone");
        assert!(!seen.overdue, "ten minutes are not over");
        assert_eq!(seen.watch.recent, [id(1), id(2)]);
        schedule.watch = Some(seen.watch);
        assert_eq!(watch(&schedule, &failed, at(10)), None, "nothing is new");
        let seen = watch(&schedule, &failed, at(11)).expect("it is late");
        assert!(seen.overdue);
        assert_eq!(seen.watch.since, START);
        schedule.watch = Some(seen.watch);
        assert_eq!(watch(&schedule, &failed, at(99)), None, "once");
        let succeeded = [job(1, JobState::Failed, 5), job(2, JobState::Succeeded, 100)];
        let seen = watch(&schedule, &succeeded, at(101)).expect("a success");
        assert_eq!((seen.overdue, seen.watch.since, seen.watch.alerted), (false, at(100), false));
        assert_eq!(seen.watch.recent, [id(1)]);
        schedule.watch = Some(seen.watch);
        assert!(watch(&schedule, &succeeded[..1], at(111)).expect("it is late again").overdue);
    }

    #[test]
    fn t_07_a_paused_schedule_is_not_overdue() {
        let mut schedule = schedule();
        schedule.paused = true;
        let seen = watch(&schedule, &[], at(99)).expect("the jobs are gone");
        assert!(!seen.overdue && !seen.watch.alerted);
        schedule.watch = None;
        assert_eq!(watch(&schedule, &[], at(99)), None);
    }

    #[test]
    fn t_07_few_jobs_are_remembered() {
        let mut watch = Watch::new(Duration::ZERO, START);
        watch.submitted((0..100).map(id));
        assert_eq!(watch.recent.len(), Watch::RECENT);
        assert_eq!(watch.recent.last(), Some(&id(99)));
    }
}
