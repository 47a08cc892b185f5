//! Settings of a runtime.

mod breaker;
mod queue;

use std::collections::BTreeMap;
use std::time::Duration;

pub use breaker::BreakerConfig;
pub(crate) use breaker::breaker_settings;
pub use queue::{Depth, QueueConfig};

use crate::model::JobSpec;
use crate::model::limits::{self, Field};

/// Settings of a runtime; every field has a sensible default and a method on the builder.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// How many jobs a worker runs at once over all queues.
    pub concurrency: u32,
    /// The largest payload, in bytes.
    pub payload_limit: usize,
    /// The largest result that is kept, in bytes.
    pub output_limit: usize,
    /// How long a node is believed alive without a sign of life.
    pub lease: Duration,
    /// How often a node gives a sign of life; a third of the lease.
    pub heartbeat: Duration,
    /// How often orphans are looked for and notices delivered.
    pub sweep: Duration,
    /// How often an idle worker asks for work when nothing wakes it: between these two, growing while nothing comes.
    pub poll: (Duration, Duration),
    /// How long a finished run waits for others before it is settled.
    pub settle_delay: Duration,
    /// How many jobs go to the store in one round trip at most; never more than [`limits::BATCH`].
    pub batch: usize,
    /// How long a stopping worker lets its runs finish.
    pub shutdown_grace: Duration,
    /// How long a canceled handler may take to stop by itself before its future is dropped.
    pub cancel_grace: Duration,
    /// How long a dropped handler may take to give back its thread before it counts as a runaway.
    pub runaway_after: Duration,
    /// How long every handler thread may be stuck before the worker stops claiming.
    pub stall_after: Duration,
    /// How many crashes make a job one that runs alone.
    pub isolate_after_crashes: u32,
    /// How long succeeded jobs are kept; `None` means for ever.
    pub keep_succeeded: Option<Duration>,
    /// How long canceled jobs are kept.
    pub keep_canceled: Option<Duration>,
    /// How long failed jobs are kept.
    pub keep_failed: Option<Duration>,
    /// How long an unacknowledged delivery is held back before it is tried again.
    pub delivery_hold: Duration,
    /// Settings of queues.
    pub queues: BTreeMap<String, QueueConfig>,
    /// The default of [`QueueConfig::boost`].
    pub boost: Duration,
    /// Settings of breakers by the name of a profile.
    pub breaker_profiles: BTreeMap<String, BreakerConfig>,
    /// Settings of breakers by service; they go before annotation and profile.
    pub breakers: BTreeMap<String, BreakerConfig>,
    /// How often a healthy worker is checked.
    pub health_every: Duration,
    /// How often an unhealthy one is.
    pub health_retry: Duration,
    /// The longest a health check may take before it counts as failed.
    pub health_timeout: Duration,
}

const MILLISECOND: Duration = Duration::from_millis(1);
const DAY: Duration = Duration::from_hours(24);
const YEAR: Duration = Duration::from_hours(24 * 365);

impl Default for Config {
    fn default() -> Self {
        Self {
            concurrency: 50,
            payload_limit: 100 * 1024,
            output_limit: 64 * 1024,
            lease: Duration::from_secs(15),
            heartbeat: Duration::from_secs(5),
            sweep: Duration::from_secs(1),
            poll: (Duration::from_millis(250), Duration::from_secs(5)),
            settle_delay: Duration::from_millis(2),
            batch: 500,
            shutdown_grace: Duration::from_secs(30),
            cancel_grace: Duration::from_secs(5),
            runaway_after: Duration::from_secs(1),
            stall_after: Duration::from_secs(5),
            isolate_after_crashes: 2,
            keep_succeeded: Some(7 * DAY),
            keep_canceled: Some(7 * DAY),
            keep_failed: Some(90 * DAY),
            delivery_hold: Duration::from_secs(30),
            queues: BTreeMap::new(),
            boost: JobSpec::DEFAULT_BOOST,
            breaker_profiles: BTreeMap::new(),
            breakers: BTreeMap::new(),
            health_every: Duration::from_secs(10),
            health_retry: Duration::from_secs(1),
            health_timeout: Duration::from_secs(5),
        }
    }
}

impl Config {
    /// Whether a job may be on a queue.
    pub(crate) fn allows(&self, queue: &str, job: &str) -> bool {
        self.queues.get(queue).is_none_or(|queue| queue.allows(job))
    }

    /// How many jobs an exchange with the store moves at most: half of what may run, so that one half runs while the store
    /// works on the other. Beside others that claim the store has work anyway, and claims that overlap
    /// cost more: then all of it.
    pub(crate) fn portion(&self, competing: bool) -> usize {
        let most = if competing { self.concurrency } else { self.concurrency.div_ceil(2) };
        self.batch.min(limits::BATCH).min(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// How long waiting counts as one level of priority on a queue.
    pub(crate) fn boost(&self, queue: &str) -> Duration {
        self.queues.get(queue).and_then(|queue| queue.boost).unwrap_or(self.boost)
    }

    /// What cannot work, in words.
    pub(crate) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut check = |ok: bool, problem: &str| {
            if !ok {
                problems.push(problem.to_owned());
            }
        };
        check(self.concurrency >= 1, "`concurrency` is at least 1");
        check(self.batch >= 1, "`batch` is at least 1");
        check(self.lease >= Duration::from_millis(100), "`lease` is at least 100 ms");
        check(self.lease <= 10 * YEAR, "`lease` is at most 10 years");
        check(
            self.heartbeat.saturating_mul(2) <= self.lease,
            "`heartbeat` is at most half of `lease`, or one lost beat ends the lease",
        );
        check(self.heartbeat >= MILLISECOND, "`heartbeat` is at least 1 ms");
        check(
            (MILLISECOND..=DAY).contains(&self.sweep),
            "`sweep` is at least 1 ms and at most a day: orphans are looked for that often",
        );
        let (shortest, longest) = self.poll;
        check(shortest <= longest, "`poll` has its lower bound first");
        check(
            shortest >= MILLISECOND && longest <= DAY,
            "`poll` is at least 1 ms and at most a day: a store may lose every wake-up",
        );
        check(
            self.health_every >= MILLISECOND && self.health_retry >= MILLISECOND,
            "`health_every` and `health_retry` are at least 1 ms",
        );
        for service in self.breakers.keys() {
            if let Err(error) = limits::check(Field::Service, service) {
                check(false, &format!("`breaker`: {error}"));
            }
        }
        for (name, queue) in &self.queues {
            queue.problems(name, &mut problems);
        }
        for (name, breaker) in self.breaker_profiles.iter().chain(&self.breakers) {
            breaker.problems(name, &mut problems);
        }
        problems
    }
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
        let bad: [(&str, Change); 13] = [
            ("concurrency", |config| config.concurrency = 0),
            ("batch", |config| config.batch = 0),
            ("lease", |config| config.lease = Duration::ZERO),
            ("lease", |config| config.lease = MAX),
            ("heartbeat", |config| config.heartbeat = MAX),
            ("heartbeat", |config| config.heartbeat = Duration::ZERO),
            ("sweep", |config| config.sweep = Duration::ZERO),
            ("sweep", |config| config.sweep = MAX),
            ("poll", |config| config.poll = (MAX, MAX)),
            ("poll", |config| config.poll = (NANO, DAY)),
            ("poll", |config| config.poll = (DAY, MILLISECOND)),
            ("health_every", |config| config.health_every = NANO),
            ("breaker", |config| {
                config.breakers.insert("a\0b".to_owned(), BreakerConfig::default());
            }),
        ];
        for (setting, change) in bad {
            let problems = problems(change);
            let told = |problem: &String| problem.contains(&format!("`{setting}`"));
            assert!(problems.iter().any(told), "{setting}: {problems:?}");
        }
        let extremes: [Change; 3] = [
            |config| (config.batch, config.concurrency) = (usize::MAX, u32::MAX),
            |config| config.poll = (MILLISECOND, DAY),
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
        let mut config = Config { batch: usize::MAX, ..Config::default() };
        config.concurrency = u32::MAX;
        assert_eq!(config.portion(true), limits::BATCH);
        assert_eq!(config.portion(false), limits::BATCH);
        config.concurrency = 3;
        assert_eq!((config.portion(true), config.portion(false)), (3, 2));
    }
}
