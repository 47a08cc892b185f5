//! Building a runtime: every setting, and every mistake reported at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::{Core, Ratchet};
use crate::config::{BreakerConfig, Config, QueueConfig, breaker_settings};
use crate::decide::{Contained, Policies, RetryPolicy};
use crate::failure::{Classifier, DefaultSanitizer, ErrorSanitizer, Panics};
use crate::job::{Need, States, collect_conditions};
use crate::registry::{InvocationResolver, Registration, Registry, RegistryError};
use crate::seam::{Clock, Entropy, OsEntropy, SystemClock};
use crate::store::Store;
use crate::worker::{
    AlertSink, DeadLetterSink, HealthCheck, Middleware, OutcomeSink, SinkError, Sinks,
};

/// Builds a [`Ratchet`].
#[derive(Debug)]
#[must_use = "nothing exists until `.build()`"]
pub struct Builder {
    store: Arc<dyn Store>,
    jobs: Option<Vec<Registration>>,
    resolver: Option<Arc<dyn InvocationResolver>>,
    config: Config,
    policies: Policies,
    sanitizer: Arc<dyn ErrorSanitizer>,
    states: States,
    middleware: Vec<Arc<dyn Middleware>>,
    sinks: Sinks,
    checks: Vec<HealthCheck>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    panics: Arc<Panics>,
}

impl Builder {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let policies = Policies { binary_version: binary_version(), ..Policies::default() };
        Self {
            store,
            jobs: None,
            resolver: None,
            config: Config::default(),
            policies,
            sanitizer: Arc::new(DefaultSanitizer::default()),
            states: States::default(),
            middleware: Vec::new(),
            sinks: Sinks::default(),
            checks: Vec::new(),
            clock: Arc::new(SystemClock::default()),
            entropy: Arc::new(OsEntropy),
            panics: Arc::default(),
        }
    }

    /// Registers a piece of the application for `#[inject] it: State<T>`.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Configures a queue and serves it.
    pub fn queue(
        mut self,
        name: impl Into<String>,
        configure: impl FnOnce(QueueConfig) -> QueueConfig,
    ) -> Self {
        let name = name.into();
        let queue = self.config.queues.remove(&name).unwrap_or_default();
        self.config.queues.insert(name, configure(queue));
        self
    }

    /// Defines a named bundle of breaker settings: `#[circuit_breaker(service = "…", profile = "external-api")]`.
    pub fn breaker_profile(
        mut self,
        name: impl Into<String>,
        configure: impl FnOnce(BreakerConfig) -> BreakerConfig,
    ) -> Self {
        let name = name.into();
        let profile = self.config.breaker_profiles.remove(&name).unwrap_or_default();
        self.config.breaker_profiles.insert(name, configure(profile));
        self
    }

    /// Sets the breaker of a service; goes before what annotations and profiles say.
    pub fn breaker(
        mut self,
        service: impl Into<String>,
        configure: impl FnOnce(BreakerConfig) -> BreakerConfig,
    ) -> Self {
        let service = service.into();
        let breaker = self.config.breakers.remove(&service).unwrap_or_default();
        self.config.breakers.insert(service, configure(breaker));
        self
    }

    /// Uses exactly these jobs instead of everything that `#[job]` registered: `.jobs([SendEmail::JOB])`.
    pub fn jobs(mut self, jobs: impl IntoIterator<Item = Registration>) -> Self {
        self.jobs.get_or_insert_default().extend(jobs);
        self
    }

    /// Finds jobs in another way than by the registry.
    pub fn resolver(mut self, resolver: impl InvocationResolver) -> Self {
        self.resolver = Some(Arc::new(resolver));
        self
    }

    /// Wraps every run.
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.middleware.push(Arc::new(middleware));
        self
    }

    /// Has a say in retrying.
    pub fn retry_policy(mut self, policy: impl RetryPolicy) -> Self {
        self.policies.retry = Arc::new(Contained::new(policy, &self.panics));
        self
    }

    /// Decides what may be kept of an error message.
    pub fn sanitizer(mut self, sanitizer: impl ErrorSanitizer) -> Self {
        self.sanitizer = Arc::new(sanitizer);
        self
    }

    /// Is told when jobs fail for good, once per kind of failure and window.
    pub fn alert_sink(mut self, sink: impl AlertSink) -> Self {
        self.sinks.alerts = Some(Arc::new(sink));
        self
    }

    /// Gets the envelope of every job that fails for good.
    pub fn dead_letter_sink(mut self, sink: impl DeadLetterSink) -> Self {
        self.sinks.dead_letters = Some(Arc::new(sink));
        self.policies.publish_dead_letters = true;
        self
    }

    /// Gets the end of every job that this process runs or rescues: give it to every process with a worker.
    pub fn outcome_sink(mut self, sink: impl OutcomeSink) -> Self {
        self.sinks.outcomes = Some(Arc::new(sink));
        self.policies.publish_outcomes = true;
        self
    }

    /// Registers a health check. While it fails the worker claims nothing, lets running work finish, and is not ready; it
    /// picks up again when the check passes.
    ///
    /// ```
    /// # use ratchet_core::{MemoryStore, Ratchet};
    /// # async fn ping() -> Result<(), std::io::Error> { Ok(()) }
    /// let builder = Ratchet::builder(MemoryStore::new()).health_check("database", || ping());
    /// ```
    pub fn health_check<F, E>(
        mut self,
        name: impl Into<String>,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<SinkError>,
    {
        self.checks.push(HealthCheck::new(name.into(), BTreeSet::new(), check));
        self
    }

    /// Registers a health check that guards some queues only: the others go on while it fails.
    pub fn health_check_of<F, E>(
        mut self,
        name: impl Into<String>,
        queues: impl IntoIterator<Item = impl Into<String>>,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<SinkError>,
    {
        let queues = queues.into_iter().map(Into::into).collect();
        self.checks.push(HealthCheck::new(name.into(), queues, check));
        self
    }

    /// How many jobs a worker runs at once over all queues.
    pub fn concurrency(self, limit: u32) -> Self {
        self.config(|config| config.concurrency = limit)
    }

    /// How long a stopping worker lets its runs finish.
    pub fn shutdown_grace(self, grace: Duration) -> Self {
        self.config(|config| config.shutdown_grace = grace)
    }

    /// How long a node is believed alive without a sign of life; it gives one three times as often.
    pub fn lease(self, lease: Duration) -> Self {
        self.config(|config| {
            config.lease = lease;
            config.heartbeat = lease / 3;
        })
    }

    /// How often a job may be put off before that counts as a failure; no limit by default.
    pub fn max_deferrals(mut self, limit: u32) -> Self {
        self.policies.max_deferrals = Some(limit);
        self
    }

    /// How many crashes a job may cause before it counts as poison.
    pub fn crash_limit(mut self, limit: u32) -> Self {
        self.policies.crash_limit = limit;
        self
    }

    /// How long the same alert stays quiet.
    pub fn alert_window(mut self, window: Duration) -> Self {
        self.policies.alert_window = window;
        self
    }

    /// The version of this program, for the history. By default the name of the executable.
    pub fn binary_version(mut self, version: impl Into<String>) -> Self {
        self.policies.binary_version = version.into();
        self
    }

    /// Changes any setting.
    pub fn config(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Takes time from another clock: for tests and simulations.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Takes randomness from another source: for tests and simulations.
    pub fn entropy(mut self, entropy: impl Entropy) -> Self {
        self.entropy = Arc::new(entropy);
        self
    }

    /// Checks everything and builds the runtime.
    #[allow(clippy::unused_async)] // stores may want to look at their schema here
    pub async fn build(self) -> Result<Ratchet, BuildError> {
        let resolver: Arc<dyn InvocationResolver> = match (self.resolver, self.jobs) {
            (Some(resolver), _) => resolver,
            (None, Some(jobs)) => Arc::new(Registry::new(jobs)?),
            (None, None) => Arc::new(Registry::collect()?),
        };
        let mut problems = self.config.problems();
        problems.extend(callback_problems(&resolver.all()));
        let breakers = breaker_settings(&resolver.all(), &self.config, &mut problems);
        let conditions = collect_conditions().unwrap_or_else(|clashes| {
            problems.extend(clashes);
            BTreeMap::new()
        });
        if !problems.is_empty() {
            return Err(BuildError::Config(problems));
        }
        let core = Core::new(
            self.store,
            resolver,
            self.config,
            self.policies,
            breakers,
            Classifier::new(self.sanitizer).counting(&self.panics),
            self.states,
            self.middleware,
            self.sinks,
            self.checks,
            self.clock,
            self.entropy,
            conditions,
            self.panics,
        );
        Ok(Ratchet { core: Arc::new(core) })
    }
}

/// Declared callbacks that expect to follow another job than the one that names them.
fn callback_problems(jobs: &[Registration]) -> Vec<String> {
    let mut problems = Vec::new();
    for job in jobs {
        for callback in [job.def.on_success, job.def.on_failure].into_iter().flatten() {
            let callback = callback.def();
            for injection in callback.injections {
                match (injection.need)() {
                    Need::Finished { job: Some(parent) } if parent != job.def.name => problems.push(format!(
                        "job `{}` ({}) names `{}` as its callback, but that one follows `{parent}` (argument `{}`)",
                        job.def.name, job.def.location, callback.name, injection.argument
                    )),
                    _ => {}
                }
            }
        }
    }
    problems
}

/// The file name of the running program, for want of anything better.
fn binary_version() -> String {
    let path = std::env::current_exe().ok();
    path.as_deref()
        .and_then(|path| path.file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// A runtime could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Several jobs answer to one name.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Settings that cannot work, all of them.
    #[error("the runtime cannot be built:\n  {}", .0.join("\n  "))]
    Config(Vec<String>),
}
