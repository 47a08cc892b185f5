//! The expectations for each feature, in addition to the general ones.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ratchet::JobState;
use ratchet::model::{AttemptOutcome, BreakerState, GroupState, JobRecord, Missed};
use uuid::Uuid;

use crate::Problem;
use crate::address::Opened;
use crate::audit::{Findings, describe, orders};
use crate::feature::Feature;

impl Findings {
    pub async fn promised(
        &mut self,
        feature: Feature,
        store: &Opened,
        address: &str,
    ) -> Result<(), Problem> {
        self.states(feature);
        match feature {
            Feature::Retry => self.attempts("proof.work", 2),
            Feature::DeadLetter => {
                self.attempts("proof.doomed", 2);
                let failed = self.of("proof.doomed").len() as u64;
                let alerts = store.shared().alerts(100).await?;
                let counted: u64 = alerts.iter().map(|alert| 1 + alert.suppressed).sum();
                self.check(alerts.len() <= 1 && counted == failed, || {
                    format!("{failed} failed, alerts: {alerts:?}")
                });
            }
            Feature::Chain => self.groups_of(3, 0, |jobs| outputs(jobs) == ["1", "2", "3"]),
            Feature::Workflow => self.groups_of(4, 0, |jobs| outputs(jobs) == ["1", "2", "2", "4"]),
            Feature::Batch => {
                self.groups_of(6, 1, |_| true);
                let (reports, batches) = (self.of("proof.report"), self.groups.len());
                self.check(reports.len() == batches, || {
                    format!("{batches} batches, {} reports", reports.len())
                });
                for report in reports {
                    let said = report.output.clone().unwrap_or_default();
                    self.check(said == "\"5+1/6\"", || format!("the report says {said}"));
                }
            }
            Feature::Recurring => self.occurrences(store).await?,
            Feature::ConcurrencyKey => self.never_two(),
            Feature::Keys => {
                let keys: BTreeSet<_> =
                    self.jobs.iter().map(|job| job.spec.idempotency_key.clone()).collect();
                let jobs = self.jobs.len();
                self.check(jobs == keys.len() && jobs == 3, || format!("{keys:?}: {jobs} jobs"));
            }
            Feature::Callbacks => self.callbacks(),
            Feature::Breaker => {
                for breaker in store.shared().breakers().await? {
                    let closed = breaker.state == BreakerState::Closed;
                    self.check(closed, || format!("the breaker is left {breaker:?}"));
                }
            }
            Feature::Limits => {
                self.never_two();
                let queues = store.shared().queues().await?;
                let narrow = queues
                    .iter()
                    .any(|queue| queue.rules.limits.concurrency == Some(1) && queue.running == 0);
                self.check(narrow, || format!("the limit is not there, or not free: {queues:?}"));
            }
            Feature::Snooze => {
                for job in self.of("proof.sleepy") {
                    let snoozed = self.lines(&job, AttemptOutcome::Snoozed);
                    let fits = (job.attempts, job.deferrals) == (0, 2) && snoozed == 2;
                    self.check(fits, || {
                        format!("{}: {} deferrals, {snoozed} lines", describe(&job), job.deferrals)
                    });
                }
            }
            Feature::Again => {
                for job in self.of("proof.mended") {
                    // A first run that was lost is not a failure.
                    let failed = self.lines(&job, AttemptOutcome::Failure);
                    let fits = job.generation as usize == 1 + failed;
                    self.check(fits, || {
                        format!(
                            "{}: generation {}, {failed} failures",
                            describe(&job),
                            job.generation
                        )
                    });
                }
            }
            Feature::HandOff => {
                let accepted: Vec<_> = self.of("proof.accept");
                let got = outputs(&accepted.iter().collect::<Vec<_>>());
                self.check(got == ["0", "1", "2"], || format!("accepted: {got:?}"));
            }
            Feature::Archive => {
                let left = self.jobs.iter().filter(|job| job.archived_at.is_none()).count();
                self.check(left == 0, || format!("{left} jobs were not archived"));
            }
            Feature::Purge => {
                let left = self.jobs.len();
                self.check(left == 0, || format!("{left} jobs were not purged"));
            }
            Feature::Children => self.children(),
            Feature::Transaction => {
                let orders: BTreeSet<Uuid> = orders(address).await?.into_iter().collect();
                let jobs: BTreeSet<_> = self.jobs.iter().map(|job| job.id.uuid()).collect();
                self.check(orders == jobs, || format!("orders {orders:?}, jobs {jobs:?}"));
            }
            Feature::Plain
            | Feature::Cancel
            | Feature::Rescue
            | Feature::Migration
            | Feature::Create => {}
        }
        Ok(())
    }

    fn of(&self, name: &str) -> Vec<JobRecord> {
        self.jobs.iter().filter(|job| job.spec.name == name).cloned().collect()
    }

    /// Returns the number of lines with this outcome in the history of a job.
    fn lines(&self, job: &JobRecord, outcome: AttemptOutcome) -> usize {
        let lines = self.history.get(&job.id).into_iter().flatten();
        lines.filter(|line| line.outcome == outcome).count()
    }

    /// Checks that every job is in the state that its code leads to.
    fn states(&mut self, feature: Feature) {
        let failing: HashSet<_> =
            self.entries.effects.iter().filter(|e| e.what == "err").map(|e| e.job).collect();
        for job in self.jobs.clone() {
            let wanted = match job.spec.name.as_str() {
                _ if feature == Feature::Cancel => JobState::Canceled,
                "proof.doomed" => JobState::Failed,
                "proof.parent" if failing.contains(&job.id) => JobState::Failed,
                _ => JobState::Succeeded,
            };
            self.check(job.state == wanted, || format!("{}: {}", describe(&job), job.state));
        }
        let least = match feature {
            Feature::Plain | Feature::Create => 8,
            Feature::Migration => 9,
            Feature::Rescue | Feature::Chain | Feature::HandOff | Feature::Archive => 6,
            Feature::Retry | Feature::DeadLetter | Feature::Keys => 3,
            Feature::Batch => 7,
            Feature::Workflow | Feature::Callbacks => 8,
            Feature::Recurring => 3,
            Feature::ConcurrencyKey | Feature::Transaction => 4,
            Feature::Children => 9,
            Feature::Cancel => 5,
            Feature::Breaker | Feature::Limits => 4,
            Feature::Snooze | Feature::Again => 3,
            Feature::Purge => 0,
        };
        let jobs = self.jobs.len();
        self.check(jobs >= least, || format!("{jobs} jobs, there must be {least}"));
    }

    /// Checks the number of attempts: a crash must neither use nor hide one.
    fn attempts(&mut self, name: &str, wanted: u32) {
        for job in self.of(name) {
            self.check(job.attempts == wanted, || {
                format!("{}: not {wanted} attempts", describe(&job))
            });
        }
    }

    /// Checks that every group has `total` members, of which `failed` failed, and that their outputs fit.
    fn groups_of(&mut self, total: u64, failed: u64, fits: impl Fn(&[&JobRecord]) -> bool) {
        for group in self.groups.clone() {
            let members: Vec<_> = self
                .jobs
                .iter()
                .filter(|job| {
                    job.spec.step.as_ref().is_some_and(|step| step.group == Some(group.id))
                })
                .collect();
            let outputs_fit = fits(&members);
            let wanted = if failed == 0 { GroupState::Succeeded } else { GroupState::Failed };
            let counts = group.counts;
            let exact = members.len() as u64 == total
                && counts.total == total
                && counts.failed == failed
                && counts.succeeded == total - failed;
            self.check(exact && outputs_fit && group.state == wanted, || {
                format!(
                    "group {}: {:?} {counts:?}, outputs fit: {outputs_fit}",
                    group.id, group.state
                )
            });
        }
        self.check(!self.groups.is_empty(), || "there is no group".to_owned());
    }

    /// Checks that there is exactly one job for every second from the first to the last.
    async fn occurrences(&mut self, store: &Opened) -> Result<(), Problem> {
        // A rescue changes the due time of a job. The history line of its first run has the original one.
        let first_due = |job: &JobRecord| {
            let line = self.history.get(&job.id)?.first()?;
            let due = line.started_at.checked_sub(line.queue_wait).ok()?;
            Some(due.as_second())
        };
        let ticks = self.of("proof.tick");
        let mut due: Vec<_> = ticks.iter().filter_map(first_due).collect();
        self.check(due.len() == ticks.len(), || "an occurrence never ran".to_owned());
        due.sort_unstable();
        let every_second = due.windows(2).all(|pair| pair[1] == pair[0] + 1);
        self.check(every_second, || format!("occurrences at {due:?}"));
        for schedule in store.shared().schedules().await? {
            let last = schedule.last.map(|last| last.as_second());
            self.check(
                due.last().copied() == last && schedule.missed == Missed::CatchUp(1000),
                || format!("the schedule is at {last:?}, its jobs at {due:?}"),
            );
        }
        Ok(())
    }

    /// Checks that no run started while another one was still running.
    fn never_two(&mut self) {
        let mut inside: Option<(ratchet::JobId, u64)> = None;
        for effect in self.entries.effects.clone() {
            let run = (effect.job, effect.run);
            if effect.what == "start" {
                // For the store, a lost run ends when it is rescued, even if its process is still running.
                let lost = |(job, run): (ratchet::JobId, u64)| {
                    let lines = self.history.get(&job);
                    let line = lines.and_then(|lines| lines.iter().find(|line| line.run == run));
                    line.is_some_and(|line| line.outcome == AttemptOutcome::Crashed)
                };
                let alone = inside.is_none_or(|inside| lost(inside) || lost(run));
                self.check(alone, || format!("{run:?} began within {inside:?}"));
                inside = Some(run);
            } else if inside == Some(run) {
                inside = None;
            }
        }
    }

    /// Checks that every parent has exactly one callback, of the right kind.
    fn callbacks(&mut self) {
        let mut callbacks_of = BTreeMap::<String, Vec<String>>::new();
        for (name, callbacks) in
            [("thank", self.of("proof.thank")), ("sorry", self.of("proof.sorry"))]
        {
            for callback in callbacks {
                let about = callback.output.unwrap_or_default().trim_matches('"').to_owned();
                callbacks_of.entry(about).or_default().push(name.to_owned());
            }
        }
        for parent in self.of("proof.parent") {
            let wanted = if parent.state == JobState::Failed { "sorry" } else { "thank" };
            let got = callbacks_of.remove(&parent.id.to_string()).unwrap_or_default();
            self.check(got == [wanted], || format!("{}: callbacks {got:?}", describe(&parent)));
        }
        self.check(callbacks_of.is_empty(), || {
            format!("callbacks without a parent: {callbacks_of:?}")
        });
    }

    /// Checks that every parent has two children, regardless of its earlier runs.
    fn children(&mut self) {
        let mut children = BTreeMap::<String, usize>::new();
        for child in self.of("proof.work") {
            *children.entry(child.spec.correlation_id.clone().unwrap_or_default()).or_default() +=
                1;
        }
        for parent in self.of("proof.spawner") {
            let got = children.remove(&parent.id.to_string()).unwrap_or(0);
            self.check(got == 2, || format!("{}: {got} children", describe(&parent)));
        }
        self.check(children.is_empty(), || format!("children without a parent: {children:?}"));
    }
}

/// Returns the outputs of jobs, sorted.
fn outputs(jobs: &[&JobRecord]) -> Vec<String> {
    let mut outputs: Vec<_> =
        jobs.iter().map(|job| job.output.clone().unwrap_or_default()).collect();
    outputs.sort();
    outputs
}
