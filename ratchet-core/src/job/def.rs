//! The definition of a job: a constant that the macro writes and the registry keeps.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    ArgDef, Backoff, BreakerDef, Callback, CronDef, Injection, InputDef, Priority, checked,
};

/// Everything known of a job without running it: name, options, arguments, where it was written.
///
/// A const builder: every option that is a constant instead of a literal is checked while the program compiles.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct JobDef {
    /// The name rows are stored under: `<package>.<fn>` unless `name = "…"` says otherwise.
    pub name: &'static str,
    /// Older names that still reach this job.
    pub aliases: &'static [&'static str],
    /// The version of the arguments' shape.
    pub version: u32,
    /// The queue, unless the submit names another.
    pub queue: &'static str,
    /// The priority, unless the submit names another.
    pub priority: Priority,
    /// How many times a failed run is tried again; 0 means one run.
    pub max_retries: u32,
    /// The wait between attempts.
    pub backoff: Backoff,
    /// The longest a run may take.
    pub timeout: Duration,
    /// When to warn that a run takes long; 80 % of the timeout if not set.
    pub soft_timeout: Option<Duration>,
    /// How long a submitted job waits before its first run.
    pub delay: Duration,
    /// Tags of every job of this kind.
    pub tags: &'static [&'static str],
    /// How many jobs with the same concurrency key may run at once in the cluster.
    pub concurrency_limit: Option<u32>,
    /// What a panic does.
    pub panic: PanicPolicy,
    /// Whether the function is synchronous and may block its thread.
    pub blocking: bool,
    /// The recurring schedule.
    pub cron: Option<CronDef>,
    /// Runs when this job has succeeded.
    pub on_success: Option<Callback>,
    /// Runs when this job has failed for good.
    pub on_failure: Option<Callback>,
    /// The breaker of the service this job calls.
    pub breaker: Option<BreakerDef>,
    /// The stored arguments.
    pub args: &'static [ArgDef],
    /// The arguments that come from the runtime.
    pub injections: &'static [Injection],
    /// The arguments that take the output of a step before.
    pub inputs: &'static [InputDef],
    /// The doc comment on the function.
    pub docs: &'static str,
    /// Where the function stands.
    pub location: Location,
}

/// What a panic in a handler does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PanicPolicy {
    /// It is a failed attempt like any other.
    #[default]
    Retry,
    /// The job goes to the dead-letter queue at once.
    Dlq,
}

/// A place in the user's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The file as the compiler names it.
    pub file: &'static str,
    /// The line.
    pub line: u32,
}

impl Location {
    /// A place.
    pub const fn new(file: &'static str, line: u32) -> Self {
        Self { file, line }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl JobDef {
    /// The queue of jobs that name none.
    pub const DEFAULT_QUEUE: &'static str = "default";
    /// How often a failed job is tried again unless it says otherwise.
    pub const DEFAULT_MAX_RETRIES: u32 = 5;
    /// The longest a run may take unless the job says otherwise.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(30);
    /// The longest name of a job or queue.
    pub const MAX_NAME: usize = crate::model::limits::NAME;

    /// A job with every option at its default.
    ///
    /// # Panics
    ///
    /// If the name is empty, too long, or holds other characters than letters, digits and `_ - . / :`.
    pub const fn new(name: &'static str, location: Location) -> Self {
        Self {
            name: checked::name(name),
            aliases: &[],
            version: 1,
            queue: Self::DEFAULT_QUEUE,
            priority: Priority::Normal,
            max_retries: Self::DEFAULT_MAX_RETRIES,
            backoff: Backoff::DEFAULT,
            timeout: Self::DEFAULT_TIMEOUT,
            soft_timeout: None,
            delay: Duration::ZERO,
            tags: &[],
            concurrency_limit: None,
            panic: PanicPolicy::Retry,
            blocking: false,
            cron: None,
            on_success: None,
            on_failure: None,
            breaker: None,
            args: &[],
            injections: &[],
            inputs: &[],
            docs: "",
            location,
        }
    }

    /// Older names that still reach this job.
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        let mut i = 0;
        while i < aliases.len() {
            checked::name(aliases[i]);
            i += 1;
        }
        self.aliases = aliases;
        self
    }

    /// The version of the arguments' shape.
    ///
    /// # Panics
    ///
    /// If it is zero.
    pub const fn version(mut self, version: u32) -> Self {
        self.version = checked::version(version);
        self
    }

    /// The queue.
    ///
    /// # Panics
    ///
    /// If the name is empty, too long, or holds other characters than letters, digits and `_ - . / :`.
    pub const fn queue(mut self, queue: &'static str) -> Self {
        self.queue = checked::name(queue);
        self
    }

    /// The priority.
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// How many times a failed run is tried again.
    ///
    /// # Panics
    ///
    /// If it is above 1000.
    pub const fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = checked::max_retries(retries);
        self
    }

    /// The wait between attempts.
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// The longest a run may take.
    ///
    /// # Panics
    ///
    /// If it is zero.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = checked::timeout(timeout);
        self
    }

    /// When to warn that a run takes long.
    ///
    /// # Panics
    ///
    /// If it is zero.
    pub const fn soft_timeout(mut self, timeout: Duration) -> Self {
        self.soft_timeout = Some(checked::soft_timeout(timeout));
        self
    }

    /// How long a submitted job waits before its first run.
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Tags of every job of this kind.
    pub const fn tags(mut self, tags: &'static [&'static str]) -> Self {
        self.tags = tags;
        self
    }

    /// How many jobs with the same concurrency key may run at once.
    ///
    /// # Panics
    ///
    /// If it is zero.
    pub const fn concurrency_limit(mut self, limit: u32) -> Self {
        self.concurrency_limit = Some(checked::concurrency_limit(limit));
        self
    }

    /// What a panic does.
    pub const fn panic(mut self, policy: PanicPolicy) -> Self {
        self.panic = policy;
        self
    }

    /// Marks a synchronous function.
    pub const fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// The recurring schedule.
    pub const fn cron(mut self, cron: CronDef) -> Self {
        self.cron = Some(cron);
        self
    }

    /// Runs when this job has succeeded.
    pub const fn on_success(mut self, callback: Callback) -> Self {
        self.on_success = Some(callback);
        self
    }

    /// Runs when this job has failed for good.
    pub const fn on_failure(mut self, callback: Callback) -> Self {
        self.on_failure = Some(callback);
        self
    }

    /// The breaker of the service this job calls.
    pub const fn breaker(mut self, breaker: BreakerDef) -> Self {
        self.breaker = Some(breaker);
        self
    }

    /// The stored arguments.
    pub const fn args(mut self, args: &'static [ArgDef]) -> Self {
        self.args = args;
        self
    }

    /// The arguments that come from the runtime.
    pub const fn injections(mut self, injections: &'static [Injection]) -> Self {
        self.injections = injections;
        self
    }

    /// The arguments that take the output of a step before.
    pub const fn inputs(mut self, inputs: &'static [InputDef]) -> Self {
        self.inputs = inputs;
        self
    }

    /// The doc comment on the function.
    pub const fn docs(mut self, docs: &'static str) -> Self {
        self.docs = docs;
        self
    }

    /// Every name this job answers to: its own, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}
