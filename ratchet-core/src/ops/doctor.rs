//! [`Ratchet::diagnose`]: looks for known problems and their remedies.

use jiff::{SignedDuration, Timestamp};
use ratchet_store::StoreError;
use ratchet_store::model::{
    AuditFilter, BreakerState, Channel, Filter, GroupFilter, GroupState, JobState, PageRequest,
    Target,
};
use ratchet_store::model::{NodeAction, OperationFilter, OperationState, Vitals};
use serde::Serialize;

use super::{FailureGroups, Overview};
use crate::client::{Ratchet, ScheduleView};

mod condition;
mod table;

pub use table::CHECKS;

/// How serious a finding is.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// use ratchet::manage::Severity;
///
/// // Fails a deploy only for what keeps jobs from running.
/// let findings = ratchet.diagnose().await?;
/// let is_healthy = findings.iter().all(|finding| finding.severity < Severity::Error);
/// # assert!(is_healthy); Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Somebody should look at it.
    Warning,
    /// Jobs do not run, or will not run.
    Error,
}

/// A check of [`Ratchet::diagnose`].
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// use ratchet::manage::CHECKS;
///
/// let breakers = CHECKS.iter().find(|check| check.id == "BRK-01").expect("it is a check");
/// assert_eq!(breakers.healthy, "no breaker is open");
/// println!("{}: {}", breakers.id, breakers.meaning);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Check {
    /// The stable id, such as `JOB-01`.
    pub id: &'static str,
    /// How serious a finding of this check is.
    pub severity: Severity,
    /// What is true if the check finds nothing.
    pub healthy: &'static str,
    /// What a finding means.
    pub meaning: &'static str,
}

impl Check {
    /// Returns `true` if the check applies to a store with these measurements. The checks of a server do not apply to a
    /// file, and those of a file do not apply to a server.
    fn applies(&self, vitals: &Vitals) -> bool {
        match self.id.split_once('-') {
            Some(("PGS", _)) => vitals.connections.is_some() || vitals.partitions_until.is_some(),
            Some(("SQL", _)) => vitals.file.is_some(),
            _ => true,
        }
    }
}

/// A problem that [`Ratchet::diagnose`] found.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// use ratchet::manage::{Finding, Severity};
///
/// fn show(finding: &Finding) {
///     let mark = if finding.severity == Severity::Error { "error" } else { "warning" };
///     println!("{mark} {}: {}", finding.id, finding.problem);
///     println!("  {}", finding.remedy);
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The id of the [`Check`].
    pub id: &'static str,
    /// How serious it is.
    pub severity: Severity,
    /// What was found.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

/// A due job that waits longer than this is reported.
const LATE: SignedDuration = SignedDuration::from_mins(10);

/// A schedule may be late by this before it is reported.
const OVERDUE: SignedDuration = SignedDuration::from_mins(2);

/// A run may exceed its timeout by this before it is reported.
const GRACE: SignedDuration = SignedDuration::from_mins(1);

/// A greater difference between the clocks is reported.
const SKEW: SignedDuration = SignedDuration::from_secs(2);

/// A node that is quiet for longer is reported.
const QUIET: SignedDuration = SignedDuration::from_hours(1);

/// A queue that is paused for longer is reported.
const PAUSED: SignedDuration = SignedDuration::from_hours(24);

/// An operation that has not changed for longer is reported.
const NO_PROGRESS: SignedDuration = SignedDuration::from_mins(10);

/// A message that waits longer for its sink is reported.
const UNDELIVERED: SignedDuration = SignedDuration::from_hours(1);

/// How many failed, running and grouped jobs are read.
const READ: u32 = 1000;

impl Ratchet {
    /// Looks for known problems: everything in [`CHECKS`]. Returns the findings, errors first.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// for finding in ratchet.diagnose().await? {
    ///     println!("{} {}: {}", finding.id, finding.problem, finding.remedy);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn diagnose(&self) -> Result<Vec<Finding>, StoreError> {
        self.examine(false).await
    }

    /// Diagnoses like [`diagnose`](Self::diagnose), and reads every page of an SQLite file. It takes about a second per gigabyte.
    pub async fn diagnose_thoroughly(&self) -> Result<Vec<Finding>, StoreError> {
        self.examine(true).await
    }

    /// Returns the checks that apply to the store, ordered by id.
    ///
    /// ```
    /// # use ratchet_core::{CHECKS, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let checks = ratchet.checks().await?;
    /// assert!(checks.len() < CHECKS.len());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn checks(&self) -> Result<Vec<Check>, StoreError> {
        let vitals = self.core.store.vitals(false).await?;
        Ok(CHECKS.into_iter().filter(|check| check.applies(&vitals)).collect())
    }

    async fn examine(&self, thorough: bool) -> Result<Vec<Finding>, StoreError> {
        let local = self.core.clock.now();
        let overview = self.overview().await?;
        let mut findings = Findings::default();
        clocks(&mut findings, local, overview.now);
        nodes(&mut findings, &overview);
        queues(&mut findings, &overview);
        self.pauses(&mut findings, &overview).await?;
        breakers(&mut findings, &overview);
        jobs(&mut findings, &overview);
        failures(&mut findings, &self.failures().groups(&Filter::any(), READ).await?);
        self.runs(&mut findings, overview.now).await?;
        self.batches(&mut findings, overview.now).await?;
        self.operations_of(&mut findings, overview.now).await?;
        self.undelivered(&mut findings, overview.now).await?;
        self.archived_too_long(&mut findings, overview.now).await?;
        schedules(&mut findings, &self.schedules().list().await?, &overview);
        let vitals = self.core.store.vitals(thorough).await?;
        condition::condition(&mut findings, &vitals, &overview);
        let mut findings = findings.0;
        findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.id.cmp(b.id)));
        Ok(findings)
    }

    /// Finds queues that are paused for long. The audit trail says since when.
    async fn pauses(&self, findings: &mut Findings, overview: &Overview) -> Result<(), StoreError> {
        for queue in &overview.queues {
            if !queue.rules.as_ref().is_some_and(|record| record.rules.paused) {
                continue;
            }
            let filter = AuditFilter {
                verb: Some("queues.pause".to_owned()),
                target: Some(Target::Queue(queue.queue.clone()).to_string()),
                ..AuditFilter::default()
            };
            let entries = self.core.store.audit(&filter, None, false, 1).await?;
            let Some(entry) = entries.first() else { continue };
            if overview.now.duration_since(entry.at) > PAUSED {
                findings.add(
                    "QUE-04",
                    format!(
                        "queue `{}` is paused since {} by {}",
                        queue.queue, entry.at, entry.actor
                    ),
                    format!("resume it: ratchet queues resume {}", queue.queue),
                );
            }
        }
        Ok(())
    }

    async fn operations_of(
        &self,
        findings: &mut Findings,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let active = OperationFilter { id: None, active: true };
        for operation in self.core.store.operations(active, READ).await? {
            let (id, idle) = (operation.id, now.duration_since(operation.updated_at));
            if idle <= NO_PROGRESS {
                continue;
            }
            if operation.state == OperationState::Running {
                findings.add(
                    "OPR-02",
                    format!("operation {id} has made no progress for {}", seconds(idle)),
                    "a worker that leads maintenance runs it; start one, or look at its log lines",
                );
            } else {
                let state = operation.state.name();
                findings.add(
                    "OPR-01",
                    format!(
                        "operation {id} waits for its operator ({state}) for {}",
                        seconds(idle)
                    ),
                    format!("ratchet operations resume {id}, or: ratchet operations abort {id}"),
                );
            }
        }
        Ok(())
    }

    /// Finds messages that wait for a sink. Alerts are stored even if no program has a sink for them.
    async fn undelivered(&self, findings: &mut Findings, now: Timestamp) -> Result<(), StoreError> {
        for backlog in self.core.store.backlogs(READ).await? {
            let Some(oldest) = backlog.oldest else { continue };
            if backlog.channel == Channel::Alerts || now.duration_since(oldest) <= UNDELIVERED {
                continue;
            }
            let name = backlog.channel.name();
            let more = if backlog.waiting == u64::from(READ) { "at least " } else { "" };
            findings.add(
                "OUT-01",
                format!(
                    "{name} wait for their sink since {oldest} ({more}{} messages)",
                    backlog.waiting
                ),
                "start a worker that has the sink; if one is alive, look for `a sink failed` in its log",
            );
        }
        Ok(())
    }

    async fn runs(&self, findings: &mut Findings, now: Timestamp) -> Result<(), StoreError> {
        let running = Filter::any().state(JobState::Running).oldest_first();
        let page = PageRequest { before: None, limit: READ };
        for job in self.core.store.list(&running, page).await?.jobs {
            let limit = job.spec.options.timeout;
            let Some(started) = job.started_at else { continue };
            let running = now.duration_since(started);
            let allowed = SignedDuration::try_from(limit).unwrap_or(SignedDuration::MAX);
            if limit.is_zero() || running <= allowed.saturating_add(GRACE) {
                continue;
            }
            findings.add(
                "JOB-04",
                format!(
                    "job {} ({}) has run for {}; its timeout is {limit:?}",
                    job.id,
                    job.spec.name,
                    seconds(running)
                ),
                format!("look at its handler, or cancel it: ratchet jobs cancel {}", job.id),
            );
        }
        Ok(())
    }

    async fn batches(&self, findings: &mut Findings, now: Timestamp) -> Result<(), StoreError> {
        let open = GroupFilter::any().state(GroupState::Running);
        for group in self.core.store.groups(&open, None, READ).await? {
            if group.sealed || now.duration_since(group.queued_at) < SignedDuration::from_hours(24)
            {
                continue;
            }
            findings.add(
                "FLW-01",
                format!("batch {} ({}) is open since {}", group.id, group.name, group.queued_at),
                format!(
                    "seal it in the program that opened it, or cancel it: ratchet flows cancel {}",
                    group.id
                ),
            );
        }
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    /// Adds a finding of the check with this id.
    pub(super) fn add(&mut self, id: &'static str, problem: String, remedy: impl Into<String>) {
        let severity = CHECKS
            .iter()
            .find(|check| check.id == id)
            .map_or(Severity::Error, |check| check.severity);
        self.0.push(Finding { id, severity, problem, remedy: remedy.into() });
    }
}

/// Returns a duration in whole seconds, without its sign, for display.
pub(super) fn seconds(duration: SignedDuration) -> String {
    format!("{:#}", SignedDuration::from_secs(duration.as_secs().saturating_abs()))
}

fn clocks(findings: &mut Findings, local: Timestamp, store: Timestamp) {
    let skew = store.duration_since(local);
    if skew.abs() > SKEW {
        findings.add(
            "CLK-01",
            format!(
                "the clock of the store differs from the clock of this host by {}",
                seconds(skew)
            ),
            "synchronize both clocks with NTP",
        );
    }
}

fn nodes(findings: &mut Findings, overview: &Overview) {
    let waiting = overview.count(JobState::Pending);
    let mut versions: Vec<_> =
        overview.live_nodes().map(|node| node.info.binary_version.as_str()).collect();
    if versions.is_empty() && waiting > 0 {
        findings.add(
            "NOD-01",
            format!("no worker is alive (waiting jobs: {waiting})"),
            "start a worker process",
        );
    }
    for node in overview.nodes.iter().filter(|node| !node.alive) {
        findings.add(
            "NOD-02",
            format!(
                "node {} ({}, process {}) is dead since {} and still holds jobs",
                node.info.id, node.info.host, node.info.pid, node.lease_until
            ),
            "a live worker rescues them within seconds; start one if none is alive",
        );
    }
    for node in overview.live_nodes() {
        let Some(request) = &node.info.request else { continue };
        if request.action == NodeAction::Quiet && overview.now.duration_since(request.at) > QUIET {
            findings.add(
                "NOD-04",
                format!(
                    "node {} ({}, process {}) is quiet since {}, at the request of {request}",
                    node.info.id, node.info.host, node.info.pid, request.at
                ),
                format!("let it claim jobs again: ratchet nodes resume {}", node.info.id),
            );
        }
    }
    versions.sort_unstable();
    versions.dedup();
    if versions.len() > 1 {
        findings.add(
            "NOD-03",
            format!("{} versions are live: {}", versions.len(), versions.join(", ")),
            "finish the deployment",
        );
    }
}

fn queues(findings: &mut Findings, overview: &Overview) {
    let anybody = overview.live_nodes().next().is_some();
    for queue in &overview.queues {
        let (name, waiting) = (&queue.queue, queue.count(JobState::Pending));
        if waiting > 0 && queue.workers == 0 && anybody {
            findings.add(
                "QUE-01",
                format!("no live worker serves queue `{name}` (waiting jobs: {waiting})"),
                "start a worker that serves the queue, or add the queue to RATCHET_QUEUES of a worker",
            );
        }
        let paused = queue.rules.as_ref().is_some_and(|record| record.rules.paused);
        if waiting > 0 && paused {
            findings.add(
                "QUE-02",
                format!("queue `{name}` is paused (waiting jobs: {waiting})"),
                format!("resume it: ratchet queues resume {name}"),
            );
        }
        let late = queue.oldest_due.map(|due| overview.now.duration_since(due));
        if let Some(late) = late.filter(|late| *late > LATE) {
            findings.add(
                "QUE-03",
                format!("a job in queue `{name}` has been due for {}", seconds(late)),
                format!("look at its limits and workers: ratchet queues show {name}"),
            );
        }
    }
}

fn breakers(findings: &mut Findings, overview: &Overview) {
    for record in &overview.breakers {
        let until = match &record.state {
            BreakerState::Closed => continue,
            BreakerState::Open { until: Some(until) } => format!("until {until}"),
            BreakerState::Open { until: None } => "until an operator closes it".to_owned(),
            _ => "and sends trial calls".to_owned(),
        };
        findings.add(
            "BRK-01",
            format!("the breaker of service `{}` is open {until}", record.service),
            format!("when the service works again: ratchet breakers close {}", record.service),
        );
    }
}

fn jobs(findings: &mut Findings, overview: &Overview) {
    for unknown in &overview.unknown {
        findings.add(
            "JOB-01",
            format!(
                "no live worker knows the job `{}` (waiting jobs: {}, the oldest since {})",
                unknown.name, unknown.waiting, unknown.oldest
            ),
            format!(
                "deploy a worker that has the job, or give a job `alias = \"{}\"`",
                unknown.name
            ),
        );
    }
    if overview.unreadable > 0 {
        findings.add(
            "JOB-02",
            format!("rows of jobs cannot be read (jobs: {})", overview.unreadable),
            "list them: ratchet unreadable list; then repair or drop each of them",
        );
    }
}

fn failures(findings: &mut Findings, failures: &FailureGroups) {
    let open = || failures.groups.iter().filter(|group| group.state.needs_attention());
    let jobs: u64 = open().map(|group| group.count).sum();
    if jobs > 0 {
        let more = if failures.complete { "" } else { "more than " };
        findings.add(
            "JOB-03",
            format!(
                "jobs have failed permanently (jobs: {more}{jobs}, groups: {})",
                open().count()
            ),
            "look at them: ratchet failures list",
        );
    }
}

fn schedules(findings: &mut Findings, schedules: &[ScheduleView], overview: &Overview) {
    for view in schedules {
        let schedule = &view.schedule;
        let (name, job) = (&schedule.name, &schedule.spec.name);
        let known =
            overview.live_nodes().any(|node| node.info.known.knows(job, schedule.spec.version));
        if !known && !schedule.is_stopped() {
            findings.add(
                "SCH-01",
                format!("schedule `{name}` does not fire: no live worker knows its job `{job}`"),
                format!("deploy a worker that has the job, or: ratchet schedules remove {name}"),
            );
        }
        if schedule.paused {
            findings.add(
                "SCH-03",
                format!("schedule `{name}` is paused"),
                format!("resume it: ratchet schedules resume {name}"),
            );
        } else if let Some(next) = schedule.next.filter(|_| known && !schedule.is_stopped()) {
            let late = overview.now.duration_since(next);
            if late > OVERDUE {
                findings.add(
                    "SCH-02",
                    format!("schedule `{name}` should have fired {} ago", seconds(late)),
                    "start a worker; look at its log lines about maintenance",
                );
            }
        }
    }
}
