//! Erasures: operations that delete everything of a tenant or of a correlation id.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Filter;
use super::limits::brief;

/// Whose data an erasure deletes.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::ErasureSubject;
///
/// let subject = ErasureSubject::Tenant("acme".to_owned());
/// assert!(subject.covers(Some("acme"), Some("order-17")));
/// assert!(!subject.covers(None, Some("order-17")));
/// assert_eq!((subject.tenant(), subject.correlation_id()), (Some("acme"), None));
/// assert_eq!(subject.to_string(), "tenant:acme");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErasureSubject {
    /// Everything of a tenant.
    Tenant(String),
    /// Everything with a correlation id.
    Correlation(String),
}

impl ErasureSubject {
    /// Returns the filter that selects the jobs of the subject. The operation of an erasure stores it.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_store::model; }
    /// use ratchet::model::ErasureSubject;
    ///
    /// let subject = ErasureSubject::Tenant("acme".to_owned());
    /// assert_eq!(subject.filter().to_string(), "tenant:acme");
    /// assert_eq!(ErasureSubject::of(&subject.filter()), Some(subject));
    /// ```
    pub fn filter(&self) -> Filter {
        match self {
            Self::Tenant(tenant) => Filter::any().tenant(tenant),
            Self::Correlation(id) => Filter::any().correlation_id(id),
        }
    }

    /// Returns the subject whose jobs a filter selects, or `None` if the filter has other conditions.
    pub fn of(filter: &Filter) -> Option<Self> {
        let tenant = filter.tenant.clone().map(Self::Tenant);
        let subject = tenant.or_else(|| filter.correlation_id.clone().map(Self::Correlation))?;
        (subject.filter() == *filter).then_some(subject)
    }

    /// Returns the tenant, if everything of a tenant is deleted.
    pub fn tenant(&self) -> Option<&str> {
        match self {
            Self::Tenant(tenant) => Some(tenant),
            Self::Correlation(_) => None,
        }
    }

    /// Returns the correlation id, if everything with a correlation id is deleted.
    pub fn correlation_id(&self) -> Option<&str> {
        match self {
            Self::Tenant(_) => None,
            Self::Correlation(id) => Some(id),
        }
    }

    /// Returns `true` if something with this tenant and this correlation id is deleted.
    pub fn covers(&self, tenant: Option<&str>, correlation_id: Option<&str>) -> bool {
        match self {
            Self::Tenant(own) => tenant == Some(own),
            Self::Correlation(own) => correlation_id == Some(own),
        }
    }
}

impl fmt::Display for ErasureSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.filter().fmt(f)
    }
}

/// What an erasure does next.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::ErasurePhase;
///
/// let text = |phase: ErasurePhase| match phase {
///     ErasurePhase::Cancel => "cancels jobs that have not ended".to_owned(),
///     phase if phase.visits_jobs() => format!("deletes jobs ({phase})"),
///     phase => format!("deletes other rows ({phase})"),
/// };
/// assert_eq!(text(ErasurePhase::Archive), "deletes jobs (archive)");
/// assert_eq!(text(ErasurePhase::Rest), "deletes other rows (rest)");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErasurePhase {
    /// Cancels jobs that have not ended.
    #[default]
    Cancel,
    /// Deletes jobs that have ended, with everything that belongs to them. Repeated until none is left.
    Remove,
    /// Deletes archived jobs.
    Archive,
    /// Deletes what remains of jobs that were deleted before: idempotency keys, hand-offs and messages.
    Rest,
    /// Overwrites what was deleted, if the store can.
    Scrub,
}

impl ErasurePhase {
    /// Returns the name, such as `cancel`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Remove => "remove",
            Self::Archive => "archive",
            Self::Rest => "rest",
            Self::Scrub => "scrub",
        }
    }

    /// Returns `true` if the pages of this phase visit jobs.
    pub const fn visits_jobs(self) -> bool {
        matches!(self, Self::Cancel | Self::Remove | Self::Archive)
    }
}

impl fmt::Display for ErasurePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How far an erasure is.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::OperationRecord;
///
/// fn show(operation: &OperationRecord) {
///     let Some(erasure) = &operation.erasure else { return };
///     println!("phase {}: {} jobs deleted", erasure.phase, erasure.erased.jobs);
///     if erasure.left > 0 {
///         println!("{} jobs must end before they can be deleted", erasure.left);
///     }
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Erasure {
    /// What it does next.
    pub phase: ErasurePhase,
    /// How many jobs it has canceled.
    pub canceled: u64,
    /// How many jobs the latest pass could not delete, because a handler is still running or a group has not ended.
    pub left: u64,
    /// What it has deleted.
    pub erased: ErasedRows,
}

/// How much an erasure deletes, by kind.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{ErasedRows, OperationRecord};
///
/// fn total(erasures: &[OperationRecord]) -> ErasedRows {
///     let mut total = ErasedRows::default();
///     for erasure in erasures.iter().filter_map(|operation| operation.erasure.as_ref()) {
///         total.add(&erasure.erased);
///     }
///     total
/// }
/// # assert_eq!(total(&[]), ErasedRows::default());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ErasedRows {
    /// Jobs, with their history, logs, notes and rejected items.
    pub jobs: u64,
    /// Archived jobs, with their history, logs and notes.
    pub archived: u64,
    /// Chains, batches and workflows.
    pub groups: u64,
    /// Idempotency keys that are replaced by digests.
    pub keys: u64,
    /// Hand-offs, waiting and finished.
    pub hand_offs: u64,
    /// Messages that wait for a sink.
    pub deliveries: u64,
    /// Alerts.
    pub alerts: u64,
}

impl ErasedRows {
    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.archived += other.archived;
        self.groups += other.groups;
        self.keys += other.keys;
        self.hand_offs += other.hand_offs;
        self.deliveries += other.deliveries;
        self.alerts += other.alerts;
    }
}

/// The idempotency keys that an operator deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PurgeKeys {
    /// The kind of the keys.
    pub kind: KeyKind,
    /// How long ago the keys were used, at least. The time of use is that of the id of the job or graph.
    pub age: Duration,
    /// The maximum number of keys.
    pub limit: u32,
}

/// A kind of idempotency keys.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::{KeyKind, PurgeKeys};
/// use std::time::Duration;
///
/// let kind = KeyKind::Clear { tenant: Some("acme".to_owned()), prefix: "order-".to_owned() };
/// let purge = PurgeKeys::new(kind, Duration::from_secs(86_400), 1000);
/// assert!(purge.to_string().starts_with("idempotency keys of tenant acme that begin with order-"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// The keys of a tenant, or those without a tenant, that begin with a text.
    Clear {
        /// The tenant.
        tenant: Option<String>,
        /// The beginning of the keys; empty for all of them.
        prefix: String,
    },
    /// The digests that have replaced keys.
    Erased,
}

impl fmt::Display for PurgeKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            KeyKind::Erased => f.write_str("digests of erased idempotency keys")?,
            KeyKind::Clear { tenant, prefix } => {
                f.write_str("idempotency keys")?;
                if let Some(tenant) = tenant {
                    write!(f, " of tenant {}", brief(tenant))?;
                }
                if !prefix.is_empty() {
                    write!(f, " that begin with {}", brief(prefix))?;
                }
            }
        }
        write!(f, ", used at least {} s ago", self.age.as_secs())
    }
}

impl PurgeKeys {
    /// Selects keys that were used at least `age` ago, at most `limit`.
    pub fn new(kind: KeyKind, age: Duration, limit: u32) -> Self {
        Self { kind, age, limit }
    }

    /// Returns the instant before which the keys were used.
    pub fn until(&self, now: Timestamp) -> Option<Timestamp> {
        now.checked_sub(self.age).ok()
    }
}
