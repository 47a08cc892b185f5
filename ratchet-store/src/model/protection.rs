//! How the engine protects a job in the store. Stores ignore these types.

use serde::Serialize;

/// How a job is protected in the store. The engine signs and encrypts jobs before it passes them to a store, and verifies
/// and decrypts them afterward. A store must not interpret this.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protection {
    /// The arguments are readable. They may be signed.
    #[default]
    Plain,
    /// The stored job was not signed, and was accepted because the runtime accepts unsigned jobs.
    Unsigned,
    /// The arguments are encrypted, and so are outputs, errors and other texts of its runs.
    Confidential,
    /// The stored job was refused. Its payload is what the store contains and must not be run.
    Refused(Box<Refusal>),
}

impl Protection {
    /// Returns why the job must not be run, if it was refused.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::Plain | Self::Unsigned | Self::Confidential => None,
        }
    }
}

/// Why a stored job or schedule was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Refusal {
    /// The kind of refusal.
    pub kind: RefusalKind,
    /// The reason as text. Contains ids of keys, and no content of the job.
    pub why: String,
}

impl Refusal {
    /// Creates a refusal.
    pub fn new(kind: RefusalKind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }
}

/// The kind of a [`Refusal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RefusalKind {
    /// The signature is missing, does not belong to the job, or was made with a retired key.
    Signature,
    /// The keyring does not have the key. The job waits until it does.
    MissingKey,
    /// The key was destroyed, so the arguments cannot be read any more.
    DestroyedKey,
}

/// Marks the texts of a run that the engine must encrypt before it passes them to a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Confidential {
    /// The tenant of the job, which determines the key.
    pub tenant: Option<String>,
}

impl Confidential {
    /// Creates the mark of a job of this tenant.
    pub fn new(tenant: Option<String>) -> Self {
        Self { tenant }
    }
}
