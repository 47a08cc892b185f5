//! Configuration of a runtime.

mod breaker;
mod defaults;
mod env;
mod queue;
mod retention;
mod run_mode;
mod setting;
mod value;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

pub use breaker::BreakerConfig;
pub(crate) use breaker::breaker_settings;
pub use defaults::JobDefaults;
pub use env::{BadVariable, EnvError};
pub use queue::{DepthLimit, QueueConfig};
pub use retention::{ArchiveFor, PurgeWindow, Retention};
pub use run_mode::RunMode;
pub use setting::Setting;

use ratchet_store::model::JobSpec;
use ratchet_store::model::limits::{self, Field};

/// The configuration of a runtime. Every field has a default and a method on the [`Builder`](crate::Builder), and most
/// can be set in the environment, see [`Config::settings`].
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, self as runtime}; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::runtime::Config;
/// use ratchet::{MemoryStore, Ratchet};
///
/// let config = Config::from_env()?;
/// for retention in config.retentions() {
///     println!("{} is kept for {:?}", retention.state, retention.keep);
/// }
/// let ratchet = Ratchet::builder(MemoryStore::new()).with_config(config).build().await?;
/// # drop(ratchet); Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// The name of the program, see [`Builder::program`](crate::Builder::program). By default the file name of the
    /// executable.
    pub program: String,
    /// The version of the program, stored in the history. By default the file name of the executable.
    pub binary_version: String,
    /// The only queues that a worker serves; empty means the queues of its jobs and the configured ones.
    pub only_queues: BTreeSet<String>,
    /// Queues that a worker does not serve.
    pub except_queues: BTreeSet<String>,
    /// When a worker stops by itself.
    pub run: RunMode,
    /// After how many jobs a worker stops by itself; `None` for no limit.
    pub max_jobs: Option<u64>,
    /// After what time a worker stops by itself; `None` for no limit.
    pub max_time: Option<Duration>,
    /// The options of jobs that neither `#[job]` nor the call sets.
    pub defaults: JobDefaults,
    /// Whether a worker must not start if a declared job has no implementation in this program.
    pub require_implementations: bool,
    /// How many jobs a worker runs at once over all queues. Must be at least 1.
    pub concurrency: u32,
    /// The maximum size of a payload, in bytes.
    pub payload_limit: usize,
    /// The maximum size of a result, in bytes. Larger results are not kept.
    pub output_limit: usize,
    /// How long a node's lease lasts without a heartbeat.
    pub lease: Duration,
    /// The interval between heartbeats. The builder sets it to a third of the lease. Must be at most half of the lease.
    pub heartbeat: Duration,
    /// The interval between sweeps, which rescue orphans and deliver notices.
    pub maintenance_interval: Duration,
    /// The minimum and maximum interval between polls of an idle worker that gets no wake-ups. The interval grows while
    /// there is no work.
    pub poll_interval: (Duration, Duration),
    /// How long a finished run waits for others, so that they are settled together.
    pub settle_delay: Duration,
    /// The maximum number of jobs in one round trip to the store. Never more than [`limits::BATCH`].
    pub max_batch: usize,
    /// How long running handlers may continue after the worker was stopped.
    pub shutdown_grace: Duration,
    /// How long a canceled handler may continue before its future is dropped.
    pub cancel_grace: Duration,
    /// How long a dropped handler may still block its thread before it counts as a runaway.
    pub runaway_after: Duration,
    /// How long all handler threads may be stuck before the worker stops claiming.
    pub stall_after: Duration,
    /// The number of crashes from which on a job runs isolated, with no other job in its process. With one crash fewer,
    /// a process runs at most one such job at a time; with two fewer, at most [`Suspects::FEW`].
    ///
    /// [`Suspects::FEW`]: ratchet_store::model::Suspects::FEW
    pub isolate_after_crashes: u32,
    /// How many crashes of its worker a job may cause. One more makes it a dead letter.
    pub crash_limit: u32,
    /// How many times a job may be deferred. One more deferral makes it a dead letter. `None` for no limit.
    pub max_deferrals: Option<u32>,
    /// How long further alerts of the same kind are suppressed.
    pub alert_window: Duration,
    /// How long succeeded jobs are kept; `None` means forever.
    pub keep_succeeded: Option<Duration>,
    /// How long canceled jobs are kept; `None` means forever.
    pub keep_canceled: Option<Duration>,
    /// How long failed jobs are kept; `None` means forever.
    pub keep_failed: Option<Duration>,
    /// What becomes of succeeded jobs after that.
    pub archive_succeeded: ArchiveFor,
    /// What becomes of canceled jobs after that.
    pub archive_canceled: ArchiveFor,
    /// What becomes of failed jobs after that.
    pub archive_failed: ArchiveFor,
    /// When old jobs are deleted and archived; `None` means always.
    pub purge_window: Option<PurgeWindow>,
    /// How long an unacknowledged delivery is held before it is retried.
    pub delivery_hold: Duration,
    /// The configuration of queues, by name.
    pub queues: BTreeMap<String, QueueConfig>,
    /// The default of [`QueueConfig::boost`].
    pub boost: Duration,
    /// Profiles of breaker settings, by name.
    pub breaker_profiles: BTreeMap<String, BreakerConfig>,
    /// Breaker settings by service. They take precedence over attributes and profiles.
    pub breakers: BTreeMap<String, BreakerConfig>,
    /// The interval between health checks while the worker is healthy.
    pub health_every: Duration,
    /// The interval between health checks while the worker is unhealthy.
    pub health_retry: Duration,
    /// The maximum duration of a health check before it counts as failed.
    pub health_timeout: Duration,
    /// Whether the runs and submits of jobs are measured, see [`Ratchet::metrics`](crate::Ratchet::metrics).
    pub metering: bool,
}

const MILLISECOND: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_hours(24);
const YEAR: Duration = Duration::from_hours(24 * 365);

impl Default for Config {
    fn default() -> Self {
        Self {
            program: executable(),
            binary_version: executable(),
            only_queues: BTreeSet::new(),
            except_queues: BTreeSet::new(),
            run: RunMode::default(),
            max_jobs: None,
            max_time: None,
            defaults: JobDefaults::default(),
            require_implementations: false,
            concurrency: 50,
            payload_limit: 100 * 1024,
            output_limit: 64 * 1024,
            lease: Duration::from_secs(15),
            heartbeat: Duration::from_secs(5),
            maintenance_interval: Duration::from_secs(1),
            poll_interval: (Duration::from_millis(250), Duration::from_secs(5)),
            settle_delay: Duration::from_millis(2),
            max_batch: 500,
            // Kubernetes kills after 30 s.
            shutdown_grace: Duration::from_secs(25),
            cancel_grace: Duration::from_secs(5),
            runaway_after: Duration::from_secs(1),
            stall_after: Duration::from_secs(5),
            isolate_after_crashes: 5,
            crash_limit: 10,
            max_deferrals: None,
            alert_window: Duration::from_hours(1),
            keep_succeeded: Some(7 * DAY),
            keep_canceled: Some(7 * DAY),
            keep_failed: Some(90 * DAY),
            archive_succeeded: ArchiveFor::Off,
            archive_canceled: ArchiveFor::Off,
            archive_failed: ArchiveFor::Off,
            purge_window: None,
            delivery_hold: Duration::from_secs(30),
            queues: BTreeMap::new(),
            boost: JobSpec::DEFAULT_BOOST,
            breaker_profiles: BTreeMap::new(),
            breakers: BTreeMap::new(),
            health_every: Duration::from_secs(10),
            health_retry: Duration::from_secs(1),
            health_timeout: Duration::from_secs(5),
            metering: true,
        }
    }
}

impl Config {
    /// Returns `true` if the job is allowed in the queue.
    pub(crate) fn allows(&self, queue: &str, job: &str) -> bool {
        self.queues.get(queue).is_none_or(|queue| queue.allows(job))
    }

    /// Returns `true` if the queue has an allow-list.
    pub(crate) fn restricts(&self, queue: &str) -> bool {
        self.queues.get(queue).is_some_and(|queue| !queue.allow.is_empty())
    }

    /// Returns the maximum number of jobs in one exchange with the store.
    ///
    /// Normally this is half of the concurrency, so that one half runs while the store processes the other. If other
    /// nodes compete for the same queues, it is the full concurrency: the store is busy anyway, and overlapping claims
    /// are expensive.
    pub(crate) fn exchange_size(&self, competing: bool) -> usize {
        let most = if competing { self.concurrency } else { self.concurrency.div_ceil(2) };
        self.max_batch.min(limits::BATCH).min(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// Returns the waiting time that counts as one level of priority in a queue.
    pub(crate) fn boost(&self, queue: &str) -> Duration {
        self.queues.get(queue).and_then(|queue| queue.boost).unwrap_or(self.boost)
    }

    /// Returns a description of every invalid setting.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut check = |ok: bool, problem: &str| {
            if !ok {
                problems.push(problem.to_owned());
            }
        };
        check(
            (1..=limits::NAME).contains(&self.program.len()) && !self.program.contains('\0'),
            "`program` must have between 1 and 200 bytes, without NUL",
        );
        check(self.concurrency >= 1, "`concurrency` must be at least 1");
        check(self.max_batch >= 1, "`max_batch` must be at least 1");
        check(self.lease >= Duration::from_millis(100), "`lease` must be at least 100 ms");
        check(self.lease <= 10 * YEAR, "`lease` must be at most 10 years");
        check(
            self.heartbeat.saturating_mul(2) <= self.lease,
            "`heartbeat` must be at most half of `lease`, or one lost beat ends the lease",
        );
        check(self.heartbeat >= MILLISECOND, "`heartbeat` must be at least 1 ms");
        check(
            (MILLISECOND..=DAY).contains(&self.maintenance_interval),
            "`maintenance_interval` must be at least 1 ms and at most a day: orphans are looked for that often",
        );
        let (shortest, longest) = self.poll_interval;
        check(shortest <= longest, "`poll_interval` must have its lower bound first");
        check(
            shortest >= MILLISECOND && longest <= DAY,
            "`poll_interval` must be at least 1 ms and at most a day: a store may lose every wake-up",
        );
        check(
            self.health_every >= MILLISECOND && self.health_retry >= MILLISECOND,
            "`health_every` and `health_retry` are at least 1 ms",
        );
        check(self.max_jobs != Some(0), "`max_jobs` must be at least 1");
        check(
            self.only_queues.is_empty()
                || self.only_queues.iter().any(|queue| !self.except_queues.contains(queue)),
            "`except_queues` must not contain all of `only_queues`",
        );
        for queue in self.only_queues.iter().chain(&self.except_queues) {
            if let Err(error) = limits::check(Field::Queue, queue) {
                check(false, &format!("`only_queues` and `except_queues`: {error}"));
            }
        }
        for service in self.breakers.keys() {
            if let Err(error) = limits::check(Field::Service, service) {
                check(false, &format!("`breaker`: {error}"));
            }
        }
        problems.extend(self.purge_window.as_ref().and_then(PurgeWindow::problem));
        self.defaults.problems(&mut problems);
        for (name, queue) in &self.queues {
            queue.problems(name, &mut problems);
        }
        for (name, breaker) in self.breaker_profiles.iter().chain(&self.breakers) {
            problems.extend(breaker.problems(name));
        }
        problems
    }
}

/// Returns the file name of the running program.
pub(crate) fn executable() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Linux appends this if the file was replaced after the program had started.
    let name = name.strip_suffix(" (deleted)").unwrap_or(&name);
    if name.is_empty() { "program".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(change: impl FnOnce(&mut Config)) -> Vec<String> {
        let mut config = Config::default();
        change(&mut config);
        config.problems()
    }

    // spec: H-06
    #[test]
    fn s_17_settings_that_cannot_work_are_told_and_none_of_them_overflows() {
        const MAX: Duration = Duration::MAX;
        const NANO: Duration = Duration::from_nanos(1);
        type Change = fn(&mut Config);
        let bad: [(&str, Change); 18] = [
            ("max_jobs", |config| config.max_jobs = Some(0)),
            ("default_timeout", |config| config.defaults.timeout = Duration::ZERO),
            ("default_max_retries", |config| config.defaults.max_retries = 1001),
            ("default_queue", |config| config.defaults.queue.clear()),
            ("except_queues", |config| {
                config.only_queues.insert("mail".to_owned());
                config.except_queues.insert("mail".to_owned());
            }),
            ("concurrency", |config| config.concurrency = 0),
            ("max_batch", |config| config.max_batch = 0),
            ("lease", |config| config.lease = Duration::ZERO),
            ("lease", |config| config.lease = MAX),
            ("heartbeat", |config| config.heartbeat = MAX),
            ("heartbeat", |config| config.heartbeat = Duration::ZERO),
            ("maintenance_interval", |config| config.maintenance_interval = Duration::ZERO),
            ("maintenance_interval", |config| config.maintenance_interval = MAX),
            ("poll_interval", |config| config.poll_interval = (MAX, MAX)),
            ("poll_interval", |config| config.poll_interval = (NANO, DAY)),
            ("poll_interval", |config| config.poll_interval = (DAY, MILLISECOND)),
            ("health_every", |config| config.health_every = NANO),
            ("breaker", |config| {
                config.breakers.insert("a\0b".to_owned(), BreakerConfig::default());
            }),
        ];
        for (setting, change) in bad {
            let problems = problems(change);
            let is_named = |problem: &String| problem.contains(&format!("`{setting}`"));
            assert!(problems.iter().any(is_named), "{setting}: {problems:?}");
        }
        let extremes: [Change; 3] = [
            |config| (config.max_batch, config.concurrency) = (usize::MAX, u32::MAX),
            |config| config.poll_interval = (MILLISECOND, DAY),
            |config| {
                config.settle_delay = MAX;
                config.shutdown_grace = MAX;
                config.cancel_grace = MAX;
                config.runaway_after = MAX;
                config.stall_after = MAX;
                config.delivery_hold = MAX;
                config.health_every = MAX;
                config.health_timeout = MAX;
            },
        ];
        for change in extremes {
            assert!(problems(change).is_empty());
        }
    }

    #[test]
    fn s_17_an_exchange_has_a_limit_whatever_the_settings_say() {
        let mut config = Config { max_batch: usize::MAX, ..Config::default() };
        config.concurrency = u32::MAX;
        assert_eq!(config.exchange_size(true), limits::BATCH);
        assert_eq!(config.exchange_size(false), limits::BATCH);
        config.concurrency = 3;
        assert_eq!((config.exchange_size(true), config.exchange_size(false)), (3, 2));
    }
}
