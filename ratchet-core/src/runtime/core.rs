//! [`Core`]: the state shared by client, worker and job contexts.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::{
    Depths, HealthCheck, IgnoredFields, Middleware, QueueMiddleware, RecentCounts, Sinks,
    TracePropagator, Workers,
};
use crate::config::Config;
use crate::decide::{Outcome, Policies, sample};
use crate::events::Events;
use crate::failure::{Classifier, PanicReport, Panics, catch_panic};
use crate::job::{Callback, ConditionDef, JobContext, JobDef, RunHost, States};
use crate::job::{JobInvocationResolver, Registration};
use crate::meter::{Meter, Rollup};
use crate::protect::{ProtectedStore, Protector};
use ratchet_store::Store;
use ratchet_store::env::{Clock, Entropy, IdSource};
use ratchet_store::model::{BreakerSample, BreakerSettings, Claimed, JobSpec, KnownJobs, NodeId};

/// One runtime: the store, the registry, the settings, and the clock and randomness it uses.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) resolver: Arc<dyn JobInvocationResolver>,
    pub(crate) config: Config,
    pub(crate) policies: Policies,
    /// Breaker settings by service, for the services that registered jobs name.
    pub(crate) breakers: BTreeMap<String, BreakerSettings>,
    pub(crate) classifier: Classifier,
    pub(crate) states: Arc<States>,
    middleware: QueueMiddleware,
    pub(crate) sinks: Sinks,
    pub(crate) checks: Vec<HealthCheck>,
    pub(crate) events: Events,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) ids: IdSource,
    pub(crate) conditions: BTreeMap<&'static str, ConditionDef>,
    /// Panics of user code other than handlers, counted by component.
    pub(crate) panics: Arc<Panics>,
    /// The queues that live workers serve, and when they were last read.
    served: Mutex<Option<(Duration, BTreeSet<String>)>>,
    pub(crate) depths: Depths,
    pub(crate) recent_counts: RecentCounts,
    pub(crate) ignored_fields: IgnoredFields,
    pub(crate) meter: Meter,
    /// Held while the gauges that need the store are sampled.
    pub(super) sampling: tokio::sync::Mutex<()>,
    /// What this process has counted in the current minute. Held while it is written.
    pub(super) rollup: tokio::sync::Mutex<Rollup>,
    /// Identifies this process in the statistics. Its workers share it, and it does not change if they join again.
    pub(super) stats_source: OnceLock<NodeId>,
    pub(crate) workers: Workers,
    pub(crate) propagator: Option<Arc<dyn TracePropagator>>,
    /// What signs and encrypts jobs; `None` without a keyring.
    pub(crate) protector: Option<Arc<Protector>>,
}

impl Core {
    #[allow(clippy::too_many_arguments)] // called by the builder alone, which has one field for each
    pub(crate) fn new(
        store: Arc<dyn Store>,
        resolver: Arc<dyn JobInvocationResolver>,
        config: Config,
        policies: Policies,
        breakers: BTreeMap<String, BreakerSettings>,
        classifier: Classifier,
        states: States,
        middleware: QueueMiddleware,
        sinks: Sinks,
        checks: Vec<HealthCheck>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        conditions: BTreeMap<&'static str, ConditionDef>,
        panics: Arc<Panics>,
        protector: Option<Arc<Protector>>,
    ) -> Self {
        let store: Arc<dyn Store> = match &protector {
            Some(protector) => Arc::new(ProtectedStore::new(store, Arc::clone(protector))),
            None => store,
        };
        let ids = IdSource::new(Arc::clone(&clock), Arc::clone(&entropy));
        let meter = Meter::new(config.metering);
        Self {
            store,
            resolver,
            config,
            policies,
            breakers,
            classifier,
            states: Arc::new(states),
            middleware,
            sinks,
            checks,
            events: Events::new(),
            clock,
            entropy,
            ids,
            conditions,
            panics,
            served: Mutex::new(None),
            depths: Depths::default(),
            recent_counts: RecentCounts::default(),
            ignored_fields: IgnoredFields::default(),
            meter,
            sampling: tokio::sync::Mutex::default(),
            rollup: tokio::sync::Mutex::default(),
            stats_source: OnceLock::new(),
            workers: Workers::default(),
            propagator: None,
            protector,
        }
    }

    /// Returns the store without protection.
    pub(crate) fn plain_store(&self) -> &dyn Store {
        let store: &dyn Any = self.store.as_ref();
        let protected = store.downcast_ref::<ProtectedStore>();
        protected.map_or(self.store.as_ref(), ProtectedStore::inner)
    }

    /// Returns the middleware of a queue, outermost first.
    pub(crate) fn middleware_of(&self, queue: &str) -> &[Arc<dyn Middleware>] {
        self.middleware.of(queue)
    }

    /// Marks a job as confidential if its definition or the policy of the runtime demands encryption.
    pub(crate) fn mark_confidential(&self, spec: &mut JobSpec) {
        let Some(protector) = &self.protector else { return };
        let found = catch_panic(|| self.resolver.resolve(&spec.name)).ok().flatten();
        // A job whose definition is not known here may have secret arguments.
        let marked = found.is_none_or(|found| found.is_confidential(&spec.payload));
        spec.protection = protector.protection(&spec.queue, marked);
        for callback in [&mut spec.on_success, &mut spec.on_failure].into_iter().flatten() {
            self.mark_confidential(callback);
        }
    }

    /// Creates the spec of a job from its definition, without options of the submit.
    fn spec_of(&self, def: &JobDef, payload: Vec<u8>) -> JobSpec {
        let mut spec = JobSpec::new(def.name, payload);
        spec.version = def.version;
        self.config.defaults.apply(def, &mut spec);
        spec.options.panic = def.panic;
        spec.tags = def.tags.iter().map(ToString::to_string).collect();
        spec.service = def.breaker.map(|breaker| breaker.service.to_owned());
        spec
    }

    /// Like [`Self::spec_of`], but includes the callbacks that the definition declares.
    pub(crate) fn spec_with_callbacks(&self, def: &JobDef, payload: Vec<u8>) -> JobSpec {
        self.spec_below(def, payload, &mut Vec::new())
    }

    /// Creates a spec with its callbacks. A declared callback has no stored arguments but may have callbacks of its
    /// own. Because two jobs may name each other, a name that is already in `above` is not followed again.
    fn spec_below(&self, def: &JobDef, payload: Vec<u8>, above: &mut Vec<&'static str>) -> JobSpec {
        let mut spec = self.spec_of(def, payload);
        above.push(def.name);
        let mut callback = |declared: Option<Callback>| {
            let def = declared?.def();
            let fresh = !above.contains(&def.name);
            fresh.then(|| Box::new(self.spec_below(&def, b"{}".to_vec(), above)))
        };
        spec.on_success = callback(def.on_success);
        spec.on_failure = callback(def.on_failure);
        above.pop();
        spec
    }

    /// Returns the jobs and conditions that this program knows, including aliases.
    pub(crate) fn known_jobs(&self) -> KnownJobs {
        let jobs = self.resolver.all();
        let conditions = self.conditions.keys().map(|name| (KnownJobs::condition(name), 1));
        KnownJobs(
            jobs.iter()
                .filter(|job| job.is_implemented())
                .flat_map(|job| job.def.names().map(|name| (name.to_owned(), job.def.version)))
                .chain(conditions)
                .collect(),
        )
    }

    /// Finds a job by name that this program can run. Guards against panics, because the resolver may be user code.
    pub(crate) fn resolve(&self, name: &str) -> Result<Option<Registration>, PanicReport> {
        catch_panic(|| self.resolver.resolve(name).filter(Registration::is_implemented))
            .inspect_err(|panic| self.panics.note("resolver", panic))
    }

    /// Returns the breaker sample of a run, or `None` if its job has no breaker.
    pub(crate) fn sample(&self, job: &Claimed, outcome: &Outcome) -> Option<BreakerSample> {
        let service = job.spec.service.as_deref()?;
        // A panic of the resolver has already failed the attempt, or an earlier call has succeeded.
        let registration = self.resolve(&job.spec.name).ok().flatten();
        let def = registration.as_ref().and_then(|found| found.def.breaker.as_ref());
        let settings = self.breakers.get(service).copied().unwrap_or_default();
        sample(job, outcome, def, settings)
    }

    /// Returns whether a live worker serves a queue. The answer may be a few seconds old.
    pub(crate) async fn is_served(&self, queue: &str) -> bool {
        const FRESH: Duration = Duration::from_secs(5);
        let now = self.clock.monotonic();
        {
            let served = self.served.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, queues)) =
                served.as_ref().filter(|(at, _)| now.saturating_sub(*at) < FRESH)
            {
                return queues.contains(queue);
            }
        }
        // Only a warning depends on this, so a store error must not fail the submit.
        let Ok(nodes) = self.store.nodes().await else { return true };
        let queues: BTreeSet<_> =
            nodes.into_iter().filter(|node| node.alive).flat_map(|node| node.info.queues).collect();
        let is_served = queues.contains(queue);
        *self.served.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, queues));
        is_served
    }
}

impl RunHost for Arc<Core> {
    fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }

    fn states(&self) -> &States {
        &self.states
    }

    fn classifier(&self) -> &Classifier {
        &self.classifier
    }
}

impl JobContext {
    /// Returns the runtime that executes the run.
    pub(crate) fn core(&self) -> &Arc<Core> {
        let host: &dyn Any = self.host();
        host.downcast_ref().expect("the host of every run is a runtime")
    }
}
