//! Signatures of the entries of the audit trail.
//!
//! The hash of an entry covers all entries before it. A user of the database can change an entry and compute all hashes
//! after it again, but cannot sign them.

use ratchet_keyring::{Canonical, KeyError};
use ratchet_store::model::{AuditHash, AuditSigner};

use super::Protector;

const VERSION: u32 = 1;

impl Protector {
    /// Returns what signs new entries, if there is a key to sign.
    pub(super) fn audit_signer(&self) -> Option<AuditSigner> {
        let keyring = self.keyring.clone();
        self.signs().then(|| AuditSigner::new(move |hash| keyring.sign(&message(hash)).ok()))
    }

    /// Checks the signature of an entry.
    pub(crate) fn check_audit(&self, hash: AuditHash, signature: &str) -> Result<(), KeyError> {
        self.keyring.verify(signature, &message(hash))
    }
}

fn message(hash: AuditHash) -> Vec<u8> {
    Canonical::new("ratchet audit entry", VERSION).bytes(&hash.0).finish()
}
