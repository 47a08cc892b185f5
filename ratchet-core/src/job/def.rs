//! The definition of a job: a constant that the macro generates and the registry stores.

use std::fmt;
use std::time::Duration;

use super::explicit::{ExplicitOptions, Sets};
use super::{
    AfterHook, ArgDef, BeforeHook, BreakerDef, Callback, CronDef, Hooks, Injection, InputDef,
    KeyConflict, KeyTemplates, OnFull, RetryHook, TraceMode, checked,
};
use ratchet_store::model::{AfterFailure, Backoff, JobSpec, PanicPolicy, Priority, RunOptions};

/// The static definition of a job: its name, options, arguments and source location.
///
/// A const builder: an option given as a constant instead of a literal is checked at compile time.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct JobDef {
    /// The name under which jobs are stored: `<package>.<fn>` unless set with `name = "…"`.
    pub name: &'static str,
    /// Older names under which stored jobs are still run.
    pub aliases: &'static [&'static str],
    /// The version of the payload format.
    pub version: u32,
    /// The oldest version that an upgrade function reads; `None` without upgrade functions.
    pub upgrades_from: Option<u32>,
    /// The default queue; can be overridden at submission.
    pub queue: &'static str,
    /// The default priority; can be overridden at submission.
    pub priority: Priority,
    /// How many times a failed run is retried; 0 means a single attempt.
    pub max_retries: u32,
    /// The delay between attempts.
    pub backoff: Backoff,
    /// The maximum duration of a run.
    pub timeout: Duration,
    /// The duration after which a warning is emitted; 80 % of the timeout if `None`.
    pub soft_timeout: Option<Duration>,
    /// The delay between submission and the first run.
    pub delay: Duration,
    /// How long after its submit the job is canceled unless it has started; `None` for never.
    pub expires_in: Option<Duration>,
    /// How long after its submit a failed run may be retried; `None` if only `max_retries` limits it.
    pub retry_within: Option<Duration>,
    /// What a submit does if another live job holds its business key.
    pub on_conflict: KeyConflict,
    /// How long an idempotency key is kept after its first use; `None` for permanently.
    pub idempotency_within: Option<Duration>,
    /// The templates of the keys.
    pub keys: KeyTemplates,
    /// Tags of every job of this kind.
    pub tags: &'static [&'static str],
    /// How many jobs with the same concurrency key can run at once in the cluster.
    pub concurrency_limit: Option<u32>,
    /// Whether the jobs with the same concurrency key run in the order of their submits, and what happens after a failure.
    pub order: Option<AfterFailure>,
    /// The pipeline whose hand-offs the job accepts.
    pub accepts: Option<&'static str>,
    /// The backlog of the accepted pipeline from which publishers that observe it wait or fail; `None` for no limit.
    pub backlog_limit: Option<u32>,
    /// The pipelines whose limits the job observes when it hands off.
    pub hands_off: &'static [&'static str],
    /// What the job does if one of these pipelines is full.
    pub on_full: OnFull,
    /// How a panic is handled.
    pub panic: PanicPolicy,
    /// Whether the function is synchronous and may block its thread.
    pub blocking: bool,
    /// Whether stored fields that no argument takes are an error.
    pub strict: bool,
    /// How its runs relate to the trace of its submit.
    pub trace: TraceMode,
    /// Whether the job must be encrypted.
    pub encrypt: bool,
    /// The recurring schedule, if any.
    pub cron: Option<CronDef>,
    /// The job to submit when this one has succeeded.
    pub on_success: Option<Callback>,
    /// The job to submit when this one has failed permanently.
    pub on_failure: Option<Callback>,
    /// The functions that are called around its runs.
    pub hooks: Hooks,
    /// The breaker of the service that the job calls.
    pub breaker: Option<BreakerDef>,
    /// The stored arguments.
    pub args: &'static [ArgDef],
    /// The arguments that the runtime injects.
    pub injections: &'static [Injection],
    /// The arguments that take the output of a previous step.
    pub inputs: &'static [InputDef],
    /// The doc comment on the function.
    pub docs: &'static str,
    /// The source location of the function.
    pub location: Location,
    pub(super) explicit: ExplicitOptions,
}

/// A location in the user's source code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location {
    /// The file path as the compiler reports it.
    pub file: &'static str,
    /// The line number, starting at 1.
    pub line: u32,
}

impl Location {
    /// Creates a location.
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
    /// The queue of jobs that do not name one.
    pub const DEFAULT_QUEUE: &'static str = JobSpec::DEFAULT_QUEUE;
    /// The default number of retries.
    pub const DEFAULT_MAX_RETRIES: u32 = RunOptions::DEFAULT_MAX_RETRIES;
    /// The default maximum duration of a run.
    pub const DEFAULT_TIMEOUT: Duration = RunOptions::DEFAULT_TIMEOUT;
    /// The maximum length of a job or queue name, in bytes.
    pub const MAX_NAME: usize = ratchet_store::model::limits::NAME;

    /// Creates a definition with default options.
    ///
    /// # Panics
    ///
    /// Panics if the name is empty, too long, or contains characters other than ASCII letters, digits and `_ - . / :`.
    pub const fn new(name: &'static str, location: Location) -> Self {
        Self {
            name: checked::name(name),
            aliases: &[],
            version: 1,
            upgrades_from: None,
            queue: Self::DEFAULT_QUEUE,
            priority: Priority::Normal,
            max_retries: Self::DEFAULT_MAX_RETRIES,
            backoff: Backoff::DEFAULT,
            timeout: Self::DEFAULT_TIMEOUT,
            soft_timeout: None,
            delay: Duration::ZERO,
            expires_in: None,
            retry_within: None,
            on_conflict: KeyConflict::Refuse,
            idempotency_within: None,
            keys: KeyTemplates::NONE,
            tags: &[],
            concurrency_limit: None,
            order: None,
            accepts: None,
            backlog_limit: None,
            hands_off: &[],
            on_full: OnFull::Wait,
            panic: PanicPolicy::Retry,
            blocking: false,
            strict: false,
            trace: TraceMode::Auto,
            encrypt: false,
            cron: None,
            on_success: None,
            on_failure: None,
            hooks: Hooks::NONE,
            breaker: None,
            args: &[],
            injections: &[],
            inputs: &[],
            docs: "",
            location,
            explicit: ExplicitOptions::NONE,
        }
    }

    /// Sets older names under which stored jobs are still run.
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        let mut i = 0;
        while i < aliases.len() {
            checked::name(aliases[i]);
            i += 1;
        }
        self.aliases = aliases;
        self
    }

    /// Encrypts the arguments of the job, and what its runs write. The runtime needs a keyring with an encryption key.
    pub const fn encrypt(mut self) -> Self {
        self.encrypt = true;
        self
    }

    /// Returns `true` if the job is encrypted by every runtime with encryption keys: it is marked, or has an argument that
    /// is secret or has a [`Secret`](crate::Secret).
    pub fn is_confidential(&self) -> bool {
        self.encrypt || self.args.iter().any(ArgDef::has_secret)
    }

    /// Sets the version of the payload format.
    ///
    /// # Panics
    ///
    /// Panics if the version is zero.
    pub const fn version(mut self, version: u32) -> Self {
        self.version = checked::version(version);
        self
    }

    /// Sets the oldest version that `Job::upgrade` reads.
    pub const fn upgrades_from(mut self, oldest: u32) -> Self {
        self.upgrades_from = Some(oldest);
        self
    }

    /// Sets the default queue.
    ///
    /// # Panics
    ///
    /// Panics if the name is empty, too long, or contains characters other than ASCII letters, digits and `_ - . / :`.
    pub const fn queue(mut self, queue: &'static str) -> Self {
        self.queue = checked::name(queue);
        self.explicit.queue = true;
        self
    }

    /// Sets the default priority.
    pub const fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self.explicit.priority = true;
        self
    }

    /// Sets how many times a failed run is retried.
    ///
    /// # Panics
    ///
    /// Panics if the number is greater than 1000.
    pub const fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = checked::max_retries(retries);
        self.explicit.max_retries = true;
        self
    }

    /// Sets the delay between attempts.
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self.explicit.backoff = true;
        self
    }

    /// Sets the maximum duration of a run.
    ///
    /// # Panics
    ///
    /// Panics if the duration is zero.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = checked::timeout(timeout);
        self.explicit.timeout = true;
        self
    }

    /// Sets the duration after which a warning is emitted.
    ///
    /// # Panics
    ///
    /// Panics if the duration is zero.
    pub const fn soft_timeout(mut self, timeout: Duration) -> Self {
        self.soft_timeout = Some(checked::soft_timeout(timeout));
        self
    }

    /// Cancels a job that has not started this long after its submit.
    ///
    /// # Panics
    ///
    /// Panics if the duration is zero: at compile time, because definitions are constants.
    pub const fn expires_in(mut self, duration: Duration) -> Self {
        self.expires_in = Some(checked::expires_in(duration));
        self
    }

    /// Retries a failed run only up to this long after the submit of the job.
    ///
    /// # Panics
    ///
    /// Panics if the duration is zero: at compile time, because definitions are constants.
    pub const fn retry_within(mut self, duration: Duration) -> Self {
        self.retry_within = Some(checked::retry_within(duration));
        self
    }

    /// Sets what a submit does if another live job holds its business key.
    pub const fn on_conflict(mut self, reaction: KeyConflict) -> Self {
        self.on_conflict = reaction;
        self
    }

    /// Lets the idempotency key expire this long after its first use.
    ///
    /// # Panics
    ///
    /// Panics if the duration is zero: at compile time, because definitions are constants.
    pub const fn idempotency_within(mut self, lifetime: Duration) -> Self {
        self.idempotency_within = Some(checked::idempotency_within(lifetime));
        self
    }

    /// Sets the template of the business key. `Job::keys` builds the key.
    pub const fn business_key(mut self, template: &'static str) -> Self {
        self.keys.business = Some(template);
        self
    }

    /// Sets the template of the idempotency key. `Job::keys` builds the key.
    pub const fn idempotency_key(mut self, template: &'static str) -> Self {
        self.keys.idempotency = Some(template);
        self
    }

    /// Sets the template of the concurrency key. `Job::keys` builds the key.
    pub const fn concurrency_key(mut self, template: &'static str) -> Self {
        self.keys.concurrency = Some(template);
        self
    }

    /// Sets the delay between submission and the first run.
    pub const fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets the tags of every job of this kind.
    pub const fn tags(mut self, tags: &'static [&'static str]) -> Self {
        self.tags = tags;
        self
    }

    /// Sets how many jobs with the same concurrency key can run at once.
    ///
    /// # Panics
    ///
    /// Panics if the limit is zero.
    pub const fn concurrency_limit(mut self, limit: u32) -> Self {
        self.concurrency_limit = Some(checked::concurrency_limit(limit));
        self
    }

    /// Runs the jobs with the same concurrency key one at a time, in the order of their submits.
    pub const fn ordered(mut self, after_failure: AfterFailure) -> Self {
        self.concurrency_limit = Some(1);
        self.order = Some(after_failure);
        self
    }

    /// Accepts the hand-offs of a pipeline: each is admitted as one job, with a [`HandedOff`](crate::HandedOff) as its only
    /// stored argument. With [`concurrency_limit`](Self::concurrency_limit), at most that many of them run at once.
    ///
    /// # Panics
    ///
    /// Panics if the name is empty, too long, or contains characters other than ASCII letters, digits and `_ - . / :`.
    pub const fn accepts(mut self, pipeline: &'static str) -> Self {
        self.accepts = Some(checked::name(pipeline));
        self
    }

    /// Sets the backlog of the accepted pipeline from which publishers that observe it wait or fail.
    ///
    /// # Panics
    ///
    /// Panics if the limit is zero.
    pub const fn backlog_limit(mut self, limit: u32) -> Self {
        self.backlog_limit = Some(checked::backlog_limit(limit));
        self
    }

    /// Sets the pipelines whose limits the job observes when it hands off, and what it does if one of them is full.
    pub const fn hands_off(mut self, pipelines: &'static [&'static str], on_full: OnFull) -> Self {
        let mut i = 0;
        while i < pipelines.len() {
            checked::name(pipelines[i]);
            i += 1;
        }
        self.hands_off = pipelines;
        self.on_full = on_full;
        self
    }

    /// Sets how a panic is handled.
    pub const fn panic(mut self, policy: PanicPolicy) -> Self {
        self.panic = policy;
        self
    }

    /// Marks the function as synchronous.
    pub const fn blocking(mut self) -> Self {
        self.blocking = true;
        self
    }

    /// Sets how the runs relate to the trace of the submit.
    pub const fn trace(mut self, mode: TraceMode) -> Self {
        self.trace = mode;
        self
    }

    /// Makes stored fields that no argument takes an error. By default they are ignored with a warning.
    pub const fn strict(mut self) -> Self {
        self.strict = true;
        self
    }

    /// Sets the recurring schedule.
    pub const fn cron(mut self, cron: CronDef) -> Self {
        self.cron = Some(cron);
        self
    }

    /// Sets the job to submit when this one has succeeded.
    pub const fn on_success(mut self, callback: Callback) -> Self {
        self.on_success = Some(callback);
        self
    }

    /// Sets the job to submit when this one has failed permanently.
    pub const fn on_failure(mut self, callback: Callback) -> Self {
        self.on_failure = Some(callback);
        self
    }

    /// Sets the function that is called before the handler.
    pub const fn before(mut self, hook: BeforeHook) -> Self {
        self.hooks.before = Some(hook);
        self
    }

    /// Sets the function that is called after every run.
    pub const fn after(mut self, hook: AfterHook) -> Self {
        self.hooks.after = Some(hook);
        self
    }

    /// Sets the function that is called after every failed attempt that is retried.
    pub const fn on_retry(mut self, hook: RetryHook) -> Self {
        self.hooks.on_retry = Some(hook);
        self
    }

    /// Sets the breaker of the service that the job calls.
    pub const fn breaker(mut self, breaker: BreakerDef) -> Self {
        self.breaker = Some(breaker);
        self
    }

    /// Sets the stored arguments.
    pub const fn args(mut self, args: &'static [ArgDef]) -> Self {
        self.args = args;
        self
    }

    /// Sets the arguments that the runtime injects.
    pub const fn injections(mut self, injections: &'static [Injection]) -> Self {
        self.injections = injections;
        self
    }

    /// Sets the arguments that take the output of a previous step.
    pub const fn inputs(mut self, inputs: &'static [InputDef]) -> Self {
        self.inputs = inputs;
        self
    }

    /// Sets the doc comment of the function.
    pub const fn docs(mut self, docs: &'static str) -> Self {
        self.docs = docs;
        self
    }

    /// Returns which options this definition sets.
    pub(crate) fn sets(&self) -> Sets<'_> {
        Sets(self)
    }

    /// Returns the concurrency key of a `single_instance` job: its first name. A renamed job keeps its key, so that it
    /// excludes the instances that were submitted under its old name.
    pub const fn instance_key(&self) -> &'static str {
        match self.aliases {
            [oldest, ..] => oldest,
            [] => self.name,
        }
    }

    /// Returns all names of the job: its own, then its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}
