//! Limits on a whole queue: pause, cluster-wide concurrency, rate, rate per key, and turns of tenants. The rules are in
//! [`rules::queue`](crate::rules::queue), [`rules::rate`](crate::rules::rate) and [`rules::turns`](crate::rules::turns).
//!
//! Limits have two origins. Programs declare them in their code, and operators set them. What an operator sets takes
//! precedence until it is reset.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Declarations, Rate, RateWindow};

/// The limits of a queue over the whole cluster.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{QueueLimits, Rate};
/// use std::time::Duration;
///
/// let mut limits = QueueLimits::default();
/// limits.concurrency = Some(20);
/// limits.rate = Some(Rate { jobs: 100, per: Duration::from_secs(1) });
/// limits.fair = true;
/// assert!(limits.problem().is_none() && !limits.is_empty());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct QueueLimits {
    /// How many of its jobs can run at once; `None` for no limit.
    pub concurrency: Option<u32>,
    /// How many of its jobs can be claimed per period; `None` for no limit.
    pub rate: Option<Rate>,
    /// How many of the jobs with the same concurrency key can be claimed per period; `None` for no limit. Jobs without a
    /// concurrency key are not affected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_key: Option<Rate>,
    /// If `true`, the tenants of the queue take turns: a claim takes one job of each tenant before it takes a second
    /// one of any. Priorities then order the jobs of one tenant. A job without a tenant keeps its place in the queue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fair: bool,
}

impl QueueLimits {
    /// Returns why these limits make no sense, if they do not. A limit of zero jobs would stop the queue, which is what
    /// pausing is for.
    ///
    /// ```
    /// # use ratchet_store::model::QueueLimits;
    /// let mut none = QueueLimits::default();
    /// assert_eq!(none.problem(), None);
    /// none.concurrency = Some(0);
    /// assert!(none.problem().is_some());
    /// ```
    pub fn problem(&self) -> Option<&'static str> {
        if self.concurrency == Some(0) {
            return Some("`concurrency` must be at least 1; to stop the queue, pause it");
        }
        if self.rate.is_some_and(|rate| !rate.is_valid()) {
            return Some("`rate` must be at least one job in a time longer than zero");
        }
        let wrong = self.rate_per_key.is_some_and(|rate| !rate.is_valid());
        wrong.then_some("`rate_per_key` must be at least one job in a time longer than zero")
    }
}

/// The stored rules of a queue that is paused or limited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRules {
    /// If `true`, no job is claimed from the queue.
    pub paused: bool,
    /// The cluster-wide limits that apply: those that an operator has set, otherwise the lowest ones that programs
    /// declare.
    ///
    /// Limits without an origin were stored before origins were recorded. They apply until a program declares limits
    /// for the queue, or an operator sets or resets them.
    pub limits: QueueLimits,
    /// The limits that programs declare in their code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<DeclaredLimits>,
    /// The limits that an operator has set; `None` if the declared ones apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_by_operator: Option<QueueLimits>,
    /// Claims that still count against the rate.
    pub(crate) recent: RateWindow,
    /// The tenant that had the last turn in a fair queue; empty for the jobs without a tenant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) last_tenant: Option<String>,
}

/// The limits that one program declares for a queue.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{DeclaredLimits, QueueRecord};
///
/// // Programs whose limits do not apply, because an operator has set others.
/// fn overruled(queue: &QueueRecord) -> Vec<&DeclaredLimits> {
///     let Some(set) = queue.rules.set_by_operator else { return Vec::new() };
///     queue.rules.declared.iter().filter(|declared| declared.limits != set).collect()
/// }
/// # let declared = DeclaredLimits { program: "shop".to_owned(), limits: Default::default() };
/// # let mut rules = ratchet_store::model::QueueRules::default();
/// # rules.declared.push(declared);
/// # let gate = ratchet_store::model::Gate::Open { most: 1 };
/// # let mut queue = QueueRecord { queue: "mail".to_owned(), rules, running: 0, gate, full_keys: 0 };
/// # assert!(overruled(&queue).is_empty());
/// # let mut limits = ratchet_store::model::QueueLimits::default();
/// # limits.concurrency = Some(1);
/// # queue.rules.set_by_operator = Some(limits);
/// # assert_eq!(overruled(&queue)[0].program, "shop");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredLimits {
    /// The name of the program.
    pub program: String,
    /// The declared limits.
    pub limits: QueueLimits,
}

/// How many jobs of a queue can be claimed now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Jobs can be claimed.
    Open {
        /// The maximum number of jobs; `u32::MAX` if the queue has no limit.
        most: u32,
    },
    /// None: the queue is paused.
    Paused,
    /// None: the concurrency limit is reached.
    Full {
        /// The concurrency limit.
        limit: u32,
    },
    /// None: the rate limit is reached.
    RateLimited {
        /// When the next job can be claimed.
        until: Timestamp,
    },
}

/// A change of a queue's rules by an operator or by a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueueUpdate {
    /// Stops claims from the queue.
    Pause,
    /// Allows claims from the queue again.
    Resume,
    /// Sets the cluster-wide limits, which take precedence over declared ones.
    Limit(QueueLimits),
    /// Removes the limits that an operator has set, so that the declared ones apply.
    Reset,
    /// Replaces the limits that a program declares. Changes nothing unless these are the newest declarations of the
    /// program, see [`Store::try_declare`](crate::Store::try_declare).
    Declare {
        /// The program and the version that declares.
        declarations: Declarations,
        /// The limits. If they are empty, the program no longer declares any.
        limits: QueueLimits,
    },
}

/// A queue that has rules, with its current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueueRecord {
    /// The name of the queue.
    pub queue: String,
    /// The stored rules.
    pub rules: QueueRules,
    /// The number of its running jobs.
    pub running: u64,
    /// How many jobs can be claimed now.
    pub gate: Gate,
    /// How many concurrency keys have used up their rate. Their jobs wait, also while the gate is open.
    pub full_keys: u64,
}

impl QueueLimits {
    /// Returns `true` if no limit is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl QueueUpdate {
    /// Returns the declarations that must be the newest of their program, if the change depends on them.
    pub fn declarations(&self) -> Option<&Declarations> {
        match self {
            Self::Declare { declarations, .. } => Some(declarations),
            Self::Pause | Self::Resume | Self::Limit(_) | Self::Reset => None,
        }
    }
}

impl Gate {
    /// Returns how many jobs can be claimed.
    pub fn most(self) -> u32 {
        match self {
            Self::Open { most } => most,
            Self::Paused | Self::Full { .. } | Self::RateLimited { .. } => 0,
        }
    }

    /// Returns when more jobs can be claimed, if that depends only on time.
    pub fn until(self) -> Option<Timestamp> {
        match self {
            Self::RateLimited { until } => Some(until),
            Self::Open { .. } | Self::Paused | Self::Full { .. } => None,
        }
    }
}
