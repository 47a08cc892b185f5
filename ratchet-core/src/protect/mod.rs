//! Signs and encrypts what the runtime writes to a store, and verifies and decrypts what it reads.
//!
//! All of this happens at one boundary, [`ProtectedStore`]: the engine on one side of it works with plain values, and the
//! store on the other side sees envelopes. No path of a job can bypass it, except for submits in a transaction of the
//! application, which call [`Protector`] themselves. A job that is refused keeps its stored payload and is marked with the
//! reason; `worker/attempt.rs` turns the mark into an outcome before it decodes anything.

mod audit;
mod jobs;
mod message;
mod policy;
mod records;
mod reprotect;
mod runs;
mod schedules;
mod store;
#[cfg(test)]
mod tests;
mod texts;

use ratchet_keyring::{Envelope, KeyError, Keyring, KeyringError, Purpose, seal_overhead};
use ratchet_store::model::{JobSpec, Protection};
use ratchet_store::{StoreError, StoreErrorKind};

pub use policy::{Encrypt, Sign};
pub(crate) use reprotect::{Reprotected, count_keys, count_sealed};
pub(crate) use store::ProtectedStore;

/// How the note of a run begins whose key was missing.
pub(crate) const MISSING_KEY: &str = "missing_key: ";

/// How the note of a run begins that was deferred because a pipeline was full.
pub(crate) const PIPELINE_FULL: &str = "pipeline_full: ";

/// What protects the jobs of a runtime: its keyring and its policies.
#[derive(Debug, Clone)]
pub(crate) struct Protector {
    keyring: Keyring,
    sign: Sign,
    encrypt: Encrypt,
}

impl Protector {
    pub(crate) fn new(keyring: Keyring, sign: Sign, encrypt: Encrypt) -> Self {
        Self { keyring, sign, encrypt }
    }

    /// Returns `true` if jobs are signed.
    pub(crate) fn signs(&self) -> bool {
        self.keyring.has(Purpose::Sign)
    }

    /// Returns `true` if jobs without a signature are refused.
    pub(crate) fn requires_signatures(&self) -> bool {
        self.signs() && self.sign == Sign::Required
    }

    /// Returns `true` if jobs can be encrypted.
    pub(crate) fn encrypts(&self) -> bool {
        self.keyring.has(Purpose::Encrypt)
    }

    /// Returns how a job of this queue is protected. `marked` is set if its definition demands encryption.
    pub(crate) fn protection(&self, queue: &str, marked: bool) -> Protection {
        let confidential = self.encrypts() && (marked || self.encrypt.includes(queue));
        if confidential { Protection::Confidential } else { Protection::Plain }
    }

    /// Returns how many bytes longer the arguments of a job are in the store. Fails if no key is active for it.
    pub(crate) fn overhead(&self, spec: &JobSpec) -> Result<usize, KeyError> {
        let (mut length, mut added) = (spec.payload.len(), 0);
        let active = |purpose, tenant: Option<&str>| {
            let id = self.keyring.active(purpose, tenant);
            let none = || KeyError::NoActiveKey { purpose, tenant: tenant.map(str::to_owned) };
            id.map(|id| id.as_str().len()).ok_or_else(none)
        };
        if spec.protection == Protection::Confidential {
            let id = active(Purpose::Encrypt, spec.tenant.as_deref())?;
            added += id + seal_overhead(length) + 2;
            length += added;
        }
        if self.signs() {
            added += Envelope::signature_overhead(active(Purpose::Sign, None)?);
        } else if length > spec.payload.len() {
            added += Envelope::signature_overhead(0);
        }
        Ok(added)
    }

    /// Calls `change` until it needs no key that is still wrapped.
    async fn with_keys<T>(
        &self,
        mut change: impl FnMut() -> Result<T, KeyError>,
    ) -> Result<T, KeyError> {
        loop {
            match change() {
                Err(KeyError::Wrapped(id)) => {
                    if let Err(error) = self.keyring.unwrap_key(&id).await {
                        warn_unwrap(&error);
                        return Err(KeyError::Wrapped(id));
                    }
                }
                result => return result,
            }
        }
    }
}

fn warn_unwrap(error: &KeyringError) {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    tracing::warn!(%error, %cause, "a key cannot be unwrapped");
}

/// Converts the error of a write.
fn refused(error: &KeyError) -> StoreError {
    StoreError::new(StoreErrorKind::Data, format!("cannot protect what is to be stored: {error}"))
}
