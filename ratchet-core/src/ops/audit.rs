//! [`Audit`]: the audit trail.

use std::sync::Arc;

use ratchet_store::StoreError;
use ratchet_store::model::{AuditFilter, AuditHead, AuditRecord};
use ratchet_store::rules::audit::{Broken, Verifier};

use crate::client::Ratchet;
use crate::runtime::Core;

/// The number of entries that are read at a time.
const PAGE: u32 = 1000;

/// Lists and verifies the audit trail; see [`Ratchet::audit`].
#[derive(Debug, Clone)]
pub struct Audit {
    core: Arc<Core>,
}

/// The error returned when the audit trail could not be verified.
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
    /// A user who can write to the database can replace the whole trail. Save the returned end elsewhere, and compare
    /// it with [`Self::verify_since`], to notice that too.
    ///
    /// # Errors
    ///
    /// Returns [`AuditError::Broken`] with the first entry that is wrong.
    pub async fn verify(&self) -> Result<AuditHead, AuditError> {
        self.verify_since(AuditHead::default()).await
    }

    /// Like [`Self::verify`], and checks that the trail still contains an end that was saved earlier.
    pub async fn verify_since(&self, saved: AuditHead) -> Result<AuditHead, AuditError> {
        let (mut verifier, mut last) = (Verifier::default(), 0);
        let head = loop {
            let filter = AuditFilter::default();
            let page = self.core.store.audit(&filter, Some(last), true, PAGE).await?;
            for entry in &page {
                verifier.next(entry)?;
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
        Ok(head)
    }
}
