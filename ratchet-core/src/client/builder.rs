//! [`Builder`]: collects the settings of a runtime and reports all configuration errors together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Ratchet;
use crate::config::{BreakerConfig, Config, EnvError, QueueConfig, breaker_settings};
use crate::decide::{Contained, Policies, RetryPolicy};
use crate::failure::{Classifier, DefaultSanitizer, ErrorSanitizer, Panics};
use crate::job::{InjectRequirement, Job, JobDef, States, collect_conditions};
use crate::job::{JobInvocationResolver, Registration, Registry, RegistryError};
use crate::protect::{Encrypt, Protector, Sign};
use crate::runtime::Core;
use crate::runtime::{
    AlertSink, DeadLetterSink, HealthCheck, Middleware, OutcomeSink, QueueMiddleware, SinkError,
    Sinks, TracePropagator,
};
use ratchet_keyring::{Keyring, Purpose};
use ratchet_store::env::{Clock, Entropy, OsEntropy, SystemClock};
use ratchet_store::rules::recurring::Cron;
use ratchet_store::{Store, StoreError};

/// Builds a [`Ratchet`].
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use ratchet::{MemoryStore, Ratchet};
///
/// let ratchet = Ratchet::builder(MemoryStore::new())
///     .concurrency(20)
///     .default_timeout(Duration::from_secs(60))
///     .queue("payments", |queue| queue.concurrency(5))
///     .env() // variables such as `RATCHET_CONCURRENCY` override what was set before
///     .build()
///     .await?;
/// # let _ = ratchet;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "nothing exists until `.build()`"]
pub struct Builder {
    store: Arc<dyn Store>,
    jobs: Option<Vec<Registration>>,
    resolver: Option<Arc<dyn JobInvocationResolver>>,
    config: Config,
    /// Whether the environment could be read.
    env: Result<(), EnvError>,
    policies: Policies,
    sanitizer: Arc<dyn ErrorSanitizer>,
    states: States,
    middleware: Vec<Arc<dyn Middleware>>,
    queue_middleware: Vec<(String, Arc<dyn Middleware>)>,
    sinks: Sinks,
    checks: Vec<HealthCheck>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    panics: Arc<Panics>,
    propagator: Option<Arc<dyn TracePropagator>>,
    keyring: Option<Keyring>,
    sign: Option<Sign>,
    encrypt: Encrypt,
}

impl Ratchet {
    /// Starts building a runtime over a store.
    pub fn builder(store: impl Store) -> Builder {
        Builder::new(Arc::new(store))
    }

    /// Starts building a runtime over a shared store.
    pub fn builder_shared(store: Arc<dyn Store>) -> Builder {
        Builder::new(store)
    }
}

impl Builder {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            jobs: None,
            resolver: None,
            config: Config::default(),
            env: Ok(()),
            policies: Policies::default(),
            sanitizer: Arc::new(DefaultSanitizer::default()),
            states: States::default(),
            middleware: Vec::new(),
            queue_middleware: Vec::new(),
            sinks: Sinks::default(),
            checks: Vec::new(),
            clock: Arc::new(SystemClock::default()),
            entropy: Arc::new(OsEntropy),
            panics: Arc::default(),
            propagator: None,
            keyring: None,
            sign: None,
            encrypt: Encrypt::default(),
        }
    }

    /// Registers application state for `#[inject] it: State<T>`.
    pub fn state<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.states.insert(value);
        self
    }

    /// Configures a queue and serves it with the workers of this runtime.
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

    /// Defines a named profile of breaker settings for `#[circuit_breaker(service = "…", profile = "external-api")]`.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core::*; pub use ratchet_memory::MemoryStore; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use ratchet::{MemoryStore, Ratchet};
    ///
    /// let ratchet = Ratchet::builder(MemoryStore::new())
    ///     .breaker_profile("external-api", |breaker| breaker.open_for(Duration::from_secs(10)).probes(1))
    ///     .breaker("payment-gateway", |breaker| breaker.failure_rate(80))
    ///     .build()
    ///     .await?;
    /// # let _ = ratchet;
    /// # Ok(())
    /// # }
    /// ```
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

    /// Configures the breaker of a service. Takes precedence over attributes and profiles.
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

    /// Uses exactly these jobs instead of all jobs registered by `#[job]`: `.jobs([SendEmail::JOB])`.
    pub fn jobs(mut self, jobs: impl IntoIterator<Item = Registration>) -> Self {
        self.jobs.get_or_insert_default().extend(jobs);
        self
    }

    /// Resolves job names with a custom resolver instead of the registry.
    pub fn resolver(mut self, resolver: impl JobInvocationResolver) -> Self {
        self.resolver = Some(Arc::new(resolver));
        self
    }

    /// Adds a middleware that wraps every run.
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.middleware.push(Arc::new(middleware));
        self
    }

    /// Adds a middleware that wraps every run of the jobs of one queue, inside the middleware of all jobs.
    pub fn queue_middleware(
        mut self,
        queue: impl Into<String>,
        middleware: impl Middleware,
    ) -> Self {
        self.queue_middleware.push((queue.into(), Arc::new(middleware)));
        self
    }

    /// Connects submits and runs to a tracing system: the trace context of each submit is stored with its job, and the
    /// span of each run is related to it.
    pub fn trace_propagator(mut self, propagator: impl TracePropagator) -> Self {
        self.propagator = Some(Arc::new(propagator));
        self
    }

    /// Sets the policy that decides whether and when failed attempts are retried.
    pub fn retry_policy(mut self, policy: impl RetryPolicy) -> Self {
        self.policies.retry = Arc::new(Contained::new(policy, &self.panics));
        self
    }

    /// Sets the retry policy of the jobs of one queue, instead of the policy of all jobs.
    pub fn queue_retry_policy(
        mut self,
        queue: impl Into<String>,
        policy: impl RetryPolicy,
    ) -> Self {
        let policy = Arc::new(Contained::new(policy, &self.panics));
        self.policies.queue_retry.insert(queue.into(), policy);
        self
    }

    /// Sets the retry policy of one job, instead of those of its queue and of all jobs.
    pub fn job_retry_policy<J: Job>(mut self, policy: impl RetryPolicy) -> Self {
        let policy: Arc<dyn RetryPolicy> = Arc::new(Contained::new(policy, &self.panics));
        for name in J::DEF.names() {
            self.policies.job_retry.insert(name.to_owned(), Arc::clone(&policy));
        }
        self
    }

    /// Sets the sanitizer that decides which parts of an error message are stored.
    pub fn sanitizer(mut self, sanitizer: impl ErrorSanitizer) -> Self {
        self.sanitizer = Arc::new(sanitizer);
        self
    }

    /// Signs and encrypts jobs with these keys. Every client and worker of a database must have the same keyring.
    ///
    /// With a signing key, every job and schedule is signed, and [`Self::sign`] says whether unsigned ones are accepted.
    /// With an encryption key, the jobs of [`Self::encrypt`] are encrypted.
    ///
    /// ```
    /// # use ratchet_core::{Key, Keyring, Purpose, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
    /// let keyring = Keyring::new([Key::generate("s1", Purpose::Sign)?])?;
    /// let ratchet = Ratchet::builder(MemoryStore::new()).keyring(keyring).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn keyring(mut self, keyring: Keyring) -> Self {
        self.keyring = Some(keyring);
        self
    }

    /// Sets whether jobs without a signature are accepted. The default is [`Sign::Required`].
    pub fn sign(mut self, sign: Sign) -> Self {
        self.sign = Some(sign);
        self
    }

    /// Sets which jobs are encrypted. The default is [`Encrypt::Marked`].
    pub fn encrypt(mut self, encrypt: Encrypt) -> Self {
        self.encrypt = encrypt;
        self
    }

    /// Sets the sink for alerts: permanent failures, at most one alert per kind of failure and alert window.
    pub fn alert_sink(mut self, sink: impl AlertSink) -> Self {
        self.sinks.alerts = Some(Arc::new(sink));
        self
    }

    /// Sets the sink that receives the envelope of every job that fails permanently.
    pub fn dead_letter_sink(mut self, sink: impl DeadLetterSink) -> Self {
        self.sinks.dead_letters = Some(Arc::new(sink));
        self.policies.publish_dead_letters = true;
        self
    }

    /// Sets the sink that receives the outcome of every job that this process runs or rescues. Every process with a
    /// worker must set it.
    pub fn outcome_sink(mut self, sink: impl OutcomeSink) -> Self {
        self.sinks.outcomes = Some(Arc::new(sink));
        self.policies.publish_outcomes = true;
        self
    }

    /// Registers a health check. While it fails, the worker claims nothing, lets running jobs finish, and reports that
    /// it is not ready. It resumes when the check passes.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
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

    /// Registers a health check for some queues. While it fails, the worker claims nothing from these queues.
    pub fn health_check_for<F, E>(
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

    /// Sets what the environment sets, see [`Config::settings`]. Settings before this call are overridden by the
    /// environment, and settings after it override the environment. If a variable cannot be read,
    /// [`build`](Self::build) returns an error.
    ///
    /// ```
    /// # use ratchet_core::Ratchet;
    /// # use ratchet_memory::MemoryStore;
    /// # async fn demo() -> Result<(), ratchet_core::BuildError> {
    /// // `RATCHET_CONCURRENCY=16` overrides the 8, and nothing overrides the queue.
    /// let ratchet = Ratchet::builder(MemoryStore::new())
    ///     .concurrency(8)
    ///     .env()
    ///     .default_queue("mail")
    ///     .build()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn env(mut self) -> Self {
        let read = self.config.read_env();
        self.env = self.env.and(read);
        self
    }

    /// Replaces the whole configuration, for example by [`Config::from_env`].
    pub fn with_config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Changes any setting of [`Config`].
    pub fn config(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Replaces the clock, for tests and simulations.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Replaces the source of randomness, for tests and simulations.
    pub fn entropy(mut self, entropy: impl Entropy) -> Self {
        self.entropy = Arc::new(entropy);
        self
    }

    /// Checks all settings and builds the runtime.
    #[allow(clippy::unused_async)] // leaves room for checks that need the store
    pub async fn build(mut self) -> Result<Ratchet, BuildError> {
        self.env?;
        self.policies.max_deferrals = self.config.max_deferrals;
        self.policies.crash_limit = self.config.crash_limit;
        self.policies.alert_window = self.config.alert_window;
        self.policies.binary_version.clone_from(&self.config.binary_version);
        let resolver: Arc<dyn JobInvocationResolver> = match (self.resolver, self.jobs) {
            (Some(resolver), _) => resolver,
            (None, Some(jobs)) => Arc::new(Registry::new(jobs)?),
            (None, None) => Arc::new(Registry::collect()?),
        };
        let protector = self.keyring.map(|keyring| {
            Protector::new(keyring, self.sign.unwrap_or_default(), self.encrypt.clone())
        });
        let mut problems = self.config.problems();
        problems.extend(key_problems(protector.as_ref(), self.sign, &self.encrypt));
        if protector.as_ref().is_none_or(|protector| !protector.encrypts()) {
            problems.extend(unencrypted(&resolver.all()));
        }
        let protector = protector.map(Arc::new);
        problems.extend(callback_problems(&resolver.all()));
        problems.extend(schedule_problems(&resolver.all()));
        problems.extend(pipeline_problems(&resolver.all()));
        let breakers = breaker_settings(&resolver.all(), &self.config, &mut problems);
        let conditions = collect_conditions().unwrap_or_else(|clashes| {
            problems.extend(clashes);
            BTreeMap::new()
        });
        if !problems.is_empty() {
            return Err(BuildError::Config(problems));
        }
        let mut core = Core::new(
            self.store,
            resolver,
            self.config,
            self.policies,
            breakers,
            Classifier::new(self.sanitizer).counting(&self.panics),
            self.states,
            QueueMiddleware::new(self.middleware, self.queue_middleware),
            self.sinks,
            self.checks,
            self.clock,
            self.entropy,
            conditions,
            self.panics,
            protector,
        );
        core.propagator = self.propagator;
        Ok(Ratchet { core: Arc::new(core), acting: None })
    }
}

/// Returns a message for every policy whose keys are missing.
fn key_problems(
    protector: Option<&Protector>,
    sign: Option<Sign>,
    encrypt: &Encrypt,
) -> Vec<String> {
    let lacks = |purpose| match purpose {
        Purpose::Sign => protector.is_none_or(|protector| !protector.signs()),
        _ => protector.is_none_or(|protector| !protector.encrypts()),
    };
    let mut problems = Vec::new();
    if sign.is_some() && lacks(Purpose::Sign) {
        problems.push("`sign` needs a keyring with a signing key".to_owned());
    }
    if *encrypt != Encrypt::Marked && lacks(Purpose::Encrypt) {
        problems.push("`encrypt` needs a keyring with an encryption key".to_owned());
    }
    problems
}

/// Returns a message for every job that must be encrypted, for a runtime that cannot encrypt.
fn unencrypted(jobs: &[Registration]) -> impl Iterator<Item = String> {
    jobs.iter().filter(|job| job.def.encrypt).map(|job| {
        format!(
            "job `{}` ({}) is marked with `encrypt`, which needs a keyring with an encryption key",
            job.def.name, job.def.location
        )
    })
}

/// Returns a message for every job that cannot accept its pipeline, and for every pipeline that two jobs accept. The macro
/// has checked its options, a definition without the macro was not checked.
fn pipeline_problems(jobs: &[Registration]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut accepted = BTreeMap::new();
    for JobDef { name, location, accepts, keys, order, args, inputs, .. } in
        jobs.iter().map(|job| &job.def)
    {
        let Some(pipeline) = accepts else { continue };
        let problem = if keys.business.is_some() || keys.idempotency.is_some() || order.is_some() {
            "its keys could keep a hand-off from being admitted; it can have a concurrency key only"
        } else if args.len() != 1 || !inputs.is_empty() {
            "it must have one stored argument, a `HandedOff<…>`, and no inputs of a step"
        } else {
            match accepted.insert(*pipeline, *name) {
                None => continue,
                Some(other) => {
                    problems.push(format!(
                        "jobs `{other}` and `{name}` ({location}) both accept pipeline `{pipeline}`; a hand-off is admitted by one job"
                    ));
                    continue;
                }
            }
        };
        problems.push(format!(
            "job `{name}` ({location}) cannot accept pipeline `{pipeline}`: {problem}"
        ));
    }
    problems
}

/// Returns a message for every declared schedule that is invalid. A literal was checked by the macro, a constant was not.
fn schedule_problems(jobs: &[Registration]) -> Vec<String> {
    let check = |job: &Registration| {
        let cron = job.def.cron?;
        let error = Cron::new(cron.expression, cron.zone).err()?;
        Some(format!("job `{}` ({}): {error}", job.def.name, job.def.location))
    };
    jobs.iter().filter_map(check).collect()
}

/// Returns a message for every declared callback that expects to follow a job other than the one that names it.
fn callback_problems(jobs: &[Registration]) -> Vec<String> {
    let mut problems = Vec::new();
    for job in jobs {
        for callback in [job.def.on_success, job.def.on_failure].into_iter().flatten() {
            let callback = callback.def();
            for injection in callback.injections {
                match (injection.need)() {
                    InjectRequirement::Finished { job: Some(parent) } if parent != job.def.name => problems.push(format!(
                        "job `{}` ({}) names `{}` as its callback, but that one follows `{parent}` (argument `{}`)",
                        job.def.name, job.def.location, callback.name, injection.argument
                    )),
                    InjectRequirement::Group => problems.push(format!(
                        "job `{}` ({}) names `{}` as its callback, but that one takes the report of a batch, chain or workflow (argument `{}`)",
                        job.def.name, job.def.location, callback.name, injection.argument
                    )),
                    _ => {}
                }
            }
        }
    }
    problems
}

/// An error returned by [`Builder::build`].
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use ratchet::{BuildError, MemoryStore, Ratchet};
///
/// match Ratchet::builder(MemoryStore::new()).concurrency(0).build().await {
///     Err(BuildError::Config(problems)) => {
///         assert_eq!(problems, ["`concurrency` must be at least 1"]);
///     }
///     other => panic!("{other:?}"),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Several jobs have the same name or alias.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Environment variables cannot be read.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// The store failed. Only a sandbox for tests uses the store when it is built.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Invalid settings, one message each.
    #[error("the runtime cannot be built:\n  {}", .0.join("\n  "))]
    Config(Vec<String>),
}
