//! Deletes and archives jobs whose retention time has passed. The work is divided into short steps with pauses, so that
//! workers keep their speed.

use std::collections::VecDeque;
use std::time::Duration;

use ratchet_store::StoreError;
use ratchet_store::model::JobState;

use crate::config::{ArchiveFor, Config, Retention};
use crate::runtime::Core;

/// How long a step should take.
const STEP: Duration = Duration::from_millis(50);

/// The pause after a step, as a multiple of its duration. The steps take at most a twentieth of the time.
const PAUSE: u32 = 19;

/// The longest pause, after a step that took very long.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// The fewest and the most jobs of one step. A store may move a whole partition in addition.
const JOBS: (u32, u32) = (100, 1000);

/// What becomes of old jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removal {
    Delete,
    Archive,
    DeleteArchived,
}

/// One kind of old jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kind {
    removal: Removal,
    state: JobState,
    age: Duration,
}

/// A kind of which more jobs are left than the last step could remove.
#[derive(Debug, Clone, Copy)]
struct Backlog {
    kind: Kind,
    limit: u32,
}

/// The old jobs that this node removes while it leads maintenance.
#[derive(Debug, Default)]
pub(super) struct OldJobs {
    backlogs: VecDeque<Backlog>,
    /// When the next step begins, on the monotonic clock.
    resume: Duration,
}

impl OldJobs {
    /// Removes some jobs of each kind. Does nothing outside of the configured window. What is left is removed by
    /// [`Self::step`].
    pub(super) async fn begin(&mut self, core: &Core) -> Result<(), StoreError> {
        if let Some(window) = &core.config.purge_window
            && !window.is_open(core.store.now().await?)
        {
            self.stop();
            return Ok(());
        }
        for kind in kinds(&core.config) {
            // A backlog has its own steps.
            if !self.backlogs.iter().any(|backlog| backlog.kind == kind) {
                self.remove(core, Backlog { kind, limit: JOBS.0 }).await?;
            }
        }
        Ok(())
    }

    /// Forgets what is left, because another node leads maintenance or the window has closed.
    pub(super) fn stop(&mut self) {
        self.backlogs.clear();
    }

    /// Returns how long to wait before the next step. `None` if nothing is left.
    pub(super) fn pause(&self, now: Duration) -> Option<Duration> {
        (!self.backlogs.is_empty()).then(|| self.resume.saturating_sub(now))
    }

    /// Removes more jobs of the kind that has waited longest. After an error, the kind is tried again by the next
    /// [`Self::begin`].
    pub(super) async fn step(&mut self, core: &Core) {
        let Some(backlog) = self.backlogs.pop_front() else { return };
        if let Err(error) = self.remove(core, backlog).await {
            core.meter.store_error("sweep", &error);
            tracing::warn!(%error, "old jobs could not be removed; the next try is in a minute");
        }
    }

    async fn remove(&mut self, core: &Core, backlog: Backlog) -> Result<(), StoreError> {
        let Backlog { kind: Kind { removal, state, age }, limit } = backlog;
        let began = core.clock.monotonic();
        let removed = match removal {
            Removal::Delete => core.store.purge(state, age, limit).await,
            Removal::Archive => core.store.archive(state, age, limit).await,
            Removal::DeleteArchived => core.store.purge_archive(state, age, limit).await,
        };
        let now = core.clock.monotonic();
        let took = now.saturating_sub(began);
        // Steps of several kinds without a pause between them are followed by the pauses of all.
        self.resume = self.resume.max(now) + pause_after(took);
        if removed? >= u64::from(limit) {
            self.backlogs.push_back(Backlog { limit: next_limit(limit, took), ..backlog });
        }
        Ok(())
    }
}

/// Returns the kinds of old jobs that are deleted or archived.
fn kinds(config: &Config) -> Vec<Kind> {
    let mut kinds = Vec::new();
    for Retention { state, keep, archive } in config.retentions() {
        let removal = match archive {
            ArchiveFor::Off => Removal::Delete,
            ArchiveFor::Forever | ArchiveFor::Time(_) => Removal::Archive,
        };
        kinds.extend(keep.map(|age| Kind { removal, state, age }));
        if let ArchiveFor::Time(age) = archive {
            kinds.push(Kind { removal: Removal::DeleteArchived, state, age });
        }
    }
    kinds
}

fn pause_after(took: Duration) -> Duration {
    took.saturating_mul(PAUSE).min(LONGEST_PAUSE)
}

/// Returns how many jobs the next step may remove, so that it takes as long as it should.
fn next_limit(limit: u32, took: Duration) -> u32 {
    let fits = u128::from(limit) * STEP.as_micros() / took.as_micros().max(1);
    let most = limit.saturating_mul(2).min(JOBS.1);
    u32::try_from(fits).unwrap_or(u32::MAX).clamp(JOBS.0, most)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ratchet_memory::MemoryStore;
    use ratchet_store::env::{Clock as _, IdSource, SeededEntropy, VirtualClock};
    use ratchet_store::model::{CancelCause, Command, JobSpec, NewJob};

    use super::*;
    use crate::Ratchet;

    const DAY: Duration = Duration::from_hours(24);

    /// Makes a runtime that archives canceled jobs after a day, with this many jobs that are old enough.
    async fn with_old_jobs(jobs: usize) -> (Ratchet, VirtualClock) {
        let clock = VirtualClock::new();
        let shared: Arc<VirtualClock> = Arc::new(clock.clone());
        let store = MemoryStore::with_clock(Arc::clone(&shared) as _);
        let ids = IdSource::new(shared, Arc::new(SeededEntropy::new(0)));
        let builder = Ratchet::builder(store).clock(clock.clone()).jobs([]).config(|config| {
            config.keep_canceled = Some(DAY);
            config.archive_canceled = ArchiveFor::Forever;
        });
        let ratchet = builder.build().await.expect("builds");
        let job = || NewJob::new(ids.job(), JobSpec::new("old", b"{}".to_vec()));
        let new: Vec<_> = std::iter::repeat_with(job).take(jobs).collect();
        let created: Vec<_> = new.iter().map(|job| job.id).collect();
        ratchet.core.store.insert(new).await.expect("inserts");
        for id in created {
            let cancel = Command::Cancel(id, CancelCause::Requested);
            ratchet.core.store.command(cancel).await.expect("cancels");
        }
        clock.advance(2 * DAY);
        (ratchet, clock)
    }

    async fn archived(ratchet: &Ratchet) -> u64 {
        ratchet.archive().status().await.expect("reads").jobs()
    }

    #[tokio::test]
    async fn a_01_a_backlog_is_archived_in_steps() {
        let (ratchet, clock) = with_old_jobs(450).await;
        let mut old = OldJobs::default();
        old.begin(&ratchet.core).await.expect("archives");
        assert_eq!(archived(&ratchet).await, 100);
        old.begin(&ratchet.core).await.expect("archives");
        assert_eq!(archived(&ratchet).await, 100, "the rest has its own steps");
        let mut steps = Vec::new();
        while old.pause(clock.monotonic()).is_some() {
            old.step(&ratchet.core).await;
            steps.push(archived(&ratchet).await);
        }
        assert_eq!(
            steps,
            [300, 450],
            "a step that took no time is followed by one of twice as many jobs"
        );
    }

    #[tokio::test]
    async fn a_01_a_node_that_no_longer_leads_maintenance_archives_nothing() {
        let (ratchet, clock) = with_old_jobs(250).await;
        let mut old = OldJobs::default();
        old.begin(&ratchet.core).await.expect("archives");
        old.stop();
        assert_eq!(old.pause(clock.monotonic()), None);
        old.step(&ratchet.core).await;
        assert_eq!(archived(&ratchet).await, 100);
    }

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn a_01_steps_take_a_twentieth_of_the_time() {
        for took in [1, 50, 3000] {
            let took = took * MILLISECOND;
            assert_eq!((took + pause_after(took)) / 20, took);
        }
        assert_eq!(pause_after(Duration::from_hours(1)), LONGEST_PAUSE);
    }

    #[test]
    fn a_01_a_step_removes_as_many_jobs_as_its_time_allows() {
        for (limit, took, next) in [
            (100, 5, 200),
            (200, 50, 200),
            (800, 40, 1000),
            (1000, 100, 500),
            (1000, 60_000, 100),
            (100, 500, 100),
            (1000, 0, 1000),
        ] {
            assert_eq!(next_limit(limit, took * MILLISECOND), next, "{limit} jobs in {took} ms");
        }
    }

    #[test]
    fn a_01_each_state_is_deleted_or_archived_as_configured() {
        let hour = Duration::from_hours(1);
        let config = Config {
            keep_succeeded: Some(hour),
            archive_succeeded: ArchiveFor::Time(2 * hour),
            keep_canceled: None,
            archive_canceled: ArchiveFor::Time(3 * hour),
            keep_failed: Some(4 * hour),
            ..Config::default()
        };
        let kind = |removal, state, hours| Kind { removal, state, age: hours * hour };
        let expected = [
            kind(Removal::Archive, JobState::Succeeded, 1),
            kind(Removal::DeleteArchived, JobState::Succeeded, 2),
            kind(Removal::DeleteArchived, JobState::Canceled, 3),
            kind(Removal::Delete, JobState::Failed, 4),
        ];
        assert_eq!(kinds(&config), expected);
    }
}
