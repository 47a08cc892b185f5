//! [`Health`]: the result of a liveness or readiness check.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// The result of a liveness or readiness check.
///
/// ```
/// # async fn demo(worker: &ratchet_core::Worker) {
/// // For the readiness probe of a web framework.
/// let health = worker.readiness();
/// let status = if health.ok { 200 } else { 503 };
/// let body = serde_json::to_string(&health).expect("it is serializable");
/// # println!("{status} {body}");
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Health {
    /// Whether every check has passed.
    pub ok: bool,
    /// Why checks have failed; empty if all have passed.
    pub problems: Vec<String>,
    /// Conditions that an operator should know and that do not fail the check, such as waiting jobs that no live worker
    /// knows, or jobs whose rows cannot be read.
    pub details: Vec<String>,
    /// Every check, with its last result.
    pub checks: Vec<CheckResult>,
}

/// The last result of one check.
///
/// ```
/// # async fn demo(worker: &ratchet_core::Worker) {
/// for check in worker.readiness().checks {
///     match &check.problem {
///         None => println!("{}: ok, confirmed {:?} ago", check.name, check.age),
///         Some(problem) => println!("{}: {problem}", check.name),
///     }
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CheckResult {
    /// The name of the check: `engine`, `claim_loop`, `handler_threads`, `claims`, `settlements`, `sweep`, `lease`,
    /// `deliveries`, `stopping`, or `app:` and the name of a check of the application.
    pub name: String,
    /// Why the check has failed; `None` if it has passed.
    pub problem: Option<String>,
    /// The time since the check was confirmed: since the claim loop iterated, jobs were claimed, outcomes were stored, the
    /// lease was renewed, a sweep succeeded, or a check of the application ran. `None` if that has not happened, or if
    /// the check is evaluated for each report. Serialized in seconds.
    #[serde(serialize_with = "in_seconds", rename = "age_seconds")]
    pub age: Option<Duration>,
}

#[allow(clippy::ref_option)] // the signature that serde requires
fn in_seconds<S: Serializer>(age: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    age.map(|age| age.as_secs_f64()).serialize(serializer)
}

impl CheckResult {
    pub(crate) fn new(
        name: impl Into<String>,
        problem: Option<String>,
        age: Option<Duration>,
    ) -> Self {
        Self { name: name.into(), problem, age }
    }

    /// Returns whether the check has passed.
    pub fn ok(&self) -> bool {
        self.problem.is_none()
    }
}

impl Health {
    pub(crate) fn of(checks: Vec<CheckResult>, details: Vec<String>) -> Self {
        let problems: Vec<_> = checks.iter().filter_map(|check| check.problem.clone()).collect();
        Self { ok: problems.is_empty(), problems, details, checks }
    }

    /// Adds the checks of another worker of the same process.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.ok &= other.ok;
        self.problems.extend(other.problems);
        self.details.extend(other.details);
        self.checks.extend(other.checks);
        self
    }
}
