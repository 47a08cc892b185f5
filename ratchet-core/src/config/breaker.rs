//! Breaker settings. In ascending precedence they come from the defaults, a profile, an attribute, and the
//! configuration.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Config;
use crate::job::BreakerDef;
use crate::job::Registration;
use ratchet_store::model::BreakerSettings;

/// Settings of a breaker. A setting that is `None` is taken from the next lower level of precedence.
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// use ratchet::runtime::BreakerConfig;
/// use std::time::Duration;
///
/// let patient = BreakerConfig::default().failure_rate(80).open_for(Duration::from_secs(5));
/// assert_eq!(patient.failure_rate, Some(80));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakerConfig {
    /// The failure rate in percent (1–100) at which it opens.
    pub failure_rate: Option<u8>,
    /// The number of most recent calls that are evaluated (1–10 000).
    pub window: Option<u32>,
    /// The minimum number of calls before the failure rate is evaluated. Must be at least 1.
    pub min_calls: Option<u32>,
    /// How long it stays open before it half-opens and admits probes. Must be greater than zero.
    pub open_for: Option<Duration>,
    /// The number of probes that must succeed to close it. Must be at least 1.
    pub probes: Option<u32>,
}

impl BreakerConfig {
    /// Sets the failure rate in percent at which the breaker opens.
    pub fn failure_rate(mut self, percent: u8) -> Self {
        self.failure_rate = Some(percent);
        self
    }

    /// Sets the number of most recent calls that are evaluated.
    pub fn window(mut self, calls: u32) -> Self {
        self.window = Some(calls);
        self
    }

    /// Sets the minimum number of calls before the failure rate is evaluated.
    pub fn min_calls(mut self, calls: u32) -> Self {
        self.min_calls = Some(calls);
        self
    }

    /// Sets how long the breaker stays open before it half-opens.
    pub fn open_for(mut self, duration: Duration) -> Self {
        self.open_for = Some(duration);
        self
    }

    /// Sets the number of probes that must succeed to close the breaker.
    pub fn probes(mut self, probes: u32) -> Self {
        self.probes = Some(probes);
        self
    }

    fn of(def: &BreakerDef) -> Self {
        Self {
            failure_rate: def.failure_rate,
            window: def.window,
            min_calls: def.min_calls,
            open_for: def.open_for,
            probes: def.probes,
        }
    }

    /// Fills settings that are `None` from `other`.
    fn or(self, other: Self) -> Self {
        Self {
            failure_rate: self.failure_rate.or(other.failure_rate),
            window: self.window.or(other.window),
            min_calls: self.min_calls.or(other.min_calls),
            open_for: self.open_for.or(other.open_for),
            probes: self.probes.or(other.probes),
        }
    }

    fn settings(self) -> BreakerSettings {
        let mut settings = BreakerSettings::default();
        settings.failure_rate = self.failure_rate.unwrap_or(settings.failure_rate);
        settings.window = self.window.unwrap_or(settings.window);
        settings.min_calls = self.min_calls.unwrap_or(settings.min_calls);
        settings.open_for = self.open_for.unwrap_or(settings.open_for);
        settings.probes = self.probes.unwrap_or(settings.probes);
        settings
    }

    /// Returns what is wrong with the settings of this breaker or profile.
    pub(crate) fn problems(&self, name: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let mut check = |ok: bool, rule: &str| {
            if !ok {
                problems.push(format!("breaker `{name}`: {rule}"));
            }
        };
        let rate = self.failure_rate.unwrap_or(1);
        check((1..=100).contains(&rate), "`failure_rate` must be a percentage between 1 and 100");
        let window = self.window.unwrap_or(1);
        check((1..=10_000).contains(&window), "`window` must be between 1 and 10000 calls");
        check(self.min_calls != Some(0), "`min_calls` must be at least 1");
        check(self.open_for != Some(Duration::ZERO), "`open_for` must be longer than zero");
        check(self.probes != Some(0), "`probes` must be at least 1");
        problems
    }
}

impl From<BreakerSettings> for BreakerConfig {
    fn from(settings: BreakerSettings) -> Self {
        Self {
            failure_rate: Some(settings.failure_rate),
            window: Some(settings.window),
            min_calls: Some(settings.min_calls),
            open_for: Some(settings.open_for),
            probes: Some(settings.probes),
        }
    }
}

/// Returns the settings of every service that a job names. Jobs that share a service may each set a part of the
/// settings, but must not contradict each other.
pub(crate) fn breaker_settings(
    jobs: &[Registration],
    config: &Config,
    problems: &mut Vec<String>,
) -> BTreeMap<String, BreakerSettings> {
    let mut said: BTreeMap<String, (BreakerConfig, &Registration)> = BTreeMap::new();
    for job in jobs {
        let Some(def) = &job.def.breaker else { continue };
        let mut own = BreakerConfig::of(def);
        if let Some(profile) = def.profile {
            match config.breaker_profiles.get(profile) {
                Some(profile) => own = own.or(*profile),
                None => problems.push(format!(
                    "job `{}` ({}) names the breaker profile `{profile}`, which is not defined; \
                     call `.breaker_profile(\"{profile}\", |breaker| …)` on the builder",
                    job.def.name, job.def.location
                )),
            }
        }
        match said.get_mut(def.service) {
            None => {
                said.insert(def.service.to_owned(), (own, job));
            }
            Some((settings, first)) => {
                // The two agree if the order of precedence does not matter.
                if settings.or(own) != own.or(*settings) {
                    problems.push(format!(
                        "jobs `{}` ({}) and `{}` ({}) share the breaker of `{}` and set it differently; \
                         set it on one of them, or with `.breaker(\"{}\", |breaker| …)` on the builder",
                        first.def.name, first.def.location, job.def.name, job.def.location,
                        def.service, def.service
                    ));
                }
                *settings = settings.or(own);
            }
        }
    }
    let configured = |service: &str| config.breakers.get(service).copied().unwrap_or_default();
    said.into_iter()
        .map(|(service, (settings, _))| {
            let settings = configured(&service).or(settings).settings();
            (service, settings)
        })
        .collect()
}
