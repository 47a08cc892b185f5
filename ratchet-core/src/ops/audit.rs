//! [`Audit`]: the audit trail.

use std::sync::Arc;

use ratchet_keyring::KeyError;
use ratchet_store::StoreError;
use ratchet_store::model::{AuditFilter, AuditHead, AuditRecord};
use ratchet_store::rules::audit::{Broken, Verifier};

use serde::Serialize;

use crate::client::Ratchet;
use crate::runtime::Core;

/// The number of entries that are read at a time.
const PAGE: u32 = 1000;

/// Lists and verifies the audit trail; see [`Ratchet::audit`].
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::model::AuditFilter;
///
/// for entry in ratchet.audit().list(&AuditFilter::default(), None, 20).await? {
///     println!("{} {} {} {}", entry.at, entry.actor.name, entry.verb, entry.target);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Audit {
    core: Arc<Core>,
}

/// The result of a verification of the audit trail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AuditReport {
    /// The end of the trail.
    #[serde(flatten)]
    pub head: AuditHead,
    /// The number of entries with a valid signature.
    pub signed: u64,
    /// The number of entries whose signature could not be checked, because this runtime does not have the key.
    pub unchecked: u64,
    /// The number of entries without a signature that follow a signed one. Either a program without the key has made
    /// these changes, or the signatures were removed.
    pub unsigned: u64,
    /// The first of them.
    pub first_unsigned: Option<u64>,
}

/// The error returned when the audit trail could not be verified.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet) -> Result<(), ratchet_core::StoreError> {
/// use ratchet::manage::AuditError;
///
/// match ratchet.audit().verify().await {
///     Ok(report) => println!("{} entries are as they were written", report.head.number),
///     Err(AuditError::Broken(broken)) => eprintln!("raise an alarm: {broken}"),
///     Err(AuditError::Store(error)) => return Err(error),
///     Err(error) => eprintln!("{error}"),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The trail is not the one that was written.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Ratchet {
    /// Returns access to the audit trail: what was changed by [`acting_as`](Self::acting_as), the command line and the
    /// dashboard.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as manage; }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
    /// use ratchet::manage::Actor;
    ///
    /// let ada = ratchet.acting_as(Actor::new("ada@example.com").reason("the mail server is down"));
    /// ada.queues().pause("mail").await?;
    ///
    /// let report = ratchet.audit().verify().await?;
    /// assert_eq!(report.head.number, 1); // one entry; keep the head elsewhere, and pass it to `verify_since` later
    /// # Ok(())
    /// # }
    /// ```
    pub fn audit(&self) -> Audit {
        Audit { core: Arc::clone(&self.core) }
    }
}

impl Audit {
    /// Lists entries that match a filter, newest first: at most `limit`, and only those older than the entry `before`.
    pub async fn list(
        &self,
        filter: &AuditFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        self.core.store.audit(filter, before, false, limit).await
    }

    /// Checks that no entry was changed, removed or added since it was written. Returns the end of the trail.
    ///
    /// Entries are signed if the runtime that made the change had a keyring with a key to sign. A runtime with a keyring
    /// checks the signatures. Without them, a user who can write to the database can replace the whole trail. In any
    /// case, entries that are cut off at the end are noticed only by comparison: save the returned end elsewhere, and
    /// pass it to [`Self::verify_since`].
    ///
    /// # Errors
    ///
    /// Returns [`AuditError::Broken`] with the first entry that is wrong.
    pub async fn verify(&self) -> Result<AuditReport, AuditError> {
        self.verify_since(AuditHead::default()).await
    }

    /// Verifies like [`Self::verify`], and checks that the trail still contains an end that was saved earlier.
    pub async fn verify_since(&self, saved: AuditHead) -> Result<AuditReport, AuditError> {
        let (mut verifier, mut last) = (Verifier::default(), 0);
        let mut report = AuditReport::default();
        let head = loop {
            let filter = AuditFilter::default();
            let page = self.core.store.audit(&filter, Some(last), true, PAGE).await?;
            for entry in &page {
                verifier.next(entry)?;
                self.count_signature(entry, &mut report)?;
                if entry.number == saved.number && entry.hash != saved.hash {
                    return Err(Broken::Changed { number: entry.number }.into());
                }
                last = entry.number;
            }
            // Other operators may add entries in the meantime. The end is read after the last of them.
            if page.is_empty() {
                let head = self.core.store.audit_head().await?;
                let more = self.core.store.audit(&filter, Some(last), true, 1).await?;
                if more.is_empty() || more[0].number > head.number {
                    break head;
                }
            }
        };
        if saved.number > last {
            return Err(Broken::Missing { from: last + 1, to: saved.number }.into());
        }
        verifier.end(head)?;
        Ok(AuditReport { head, ..report })
    }

    fn count_signature(
        &self,
        entry: &AuditRecord,
        report: &mut AuditReport,
    ) -> Result<(), AuditError> {
        let number = entry.number;
        let Some(signature) = &entry.signature else {
            if report.signed + report.unchecked > 0 {
                report.unsigned += 1;
                report.first_unsigned.get_or_insert(number);
            }
            return Ok(());
        };
        let Some(protector) = &self.core.protector else {
            report.unchecked += 1;
            return Ok(());
        };
        match protector.check_audit(entry.hash, signature) {
            Ok(()) => report.signed += 1,
            Err(KeyError::Unknown(_) | KeyError::Wrapped(_) | KeyError::Retired(_)) => {
                report.unchecked += 1;
            }
            Err(error) => return Err(Broken::Forged { number, why: error.to_string() }.into()),
        }
        Ok(())
    }
}
