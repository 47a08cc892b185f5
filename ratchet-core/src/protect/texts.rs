//! Encrypts and decrypts the texts of a run: errors, notes and outputs.

use ratchet_keyring::KeyError;
use ratchet_store::model::{Envelope, FailureRecord};

use super::Protector;
use super::message::Owner;

impl Protector {
    /// Encrypts a text. A text that cannot be encrypted is not kept, because it must not be stored readable.
    pub(super) fn seal_text(
        &self,
        owner: Owner<'_>,
        tenant: Option<&str>,
        field: &str,
        text: &mut String,
    ) {
        let sealed = self.keyring.seal_text(tenant, &owner.field(field), text);
        *text = sealed.unwrap_or_else(|error| not_kept(&error));
    }

    /// Decrypts a text. A text that cannot be decrypted stays as it is: it says that it is encrypted, and with which key.
    pub(super) fn open_text(&self, owner: Owner<'_>, field: &str, text: &mut String) {
        if let Some(Ok(opened)) = self.keyring.open_text(&owner.field(field), text) {
            *text = opened;
        }
    }

    /// Decrypts JSON. See [`Self::open_text`].
    pub(super) fn open_json(&self, owner: Owner<'_>, field: &str, json: &mut String) {
        if let Some(Ok(opened)) = self.keyring.open_json(&owner.field(field), json) {
            *json = opened;
        }
    }

    /// Encrypts the message of a failure. Its type, code and fingerprint stay readable, so that failures can be grouped.
    pub(super) fn seal_failure(
        &self,
        owner: Owner<'_>,
        tenant: Option<&str>,
        failure: &mut FailureRecord,
    ) {
        self.seal_text(owner, tenant, "error", &mut failure.message);
    }

    pub(super) fn open_failure(&self, owner: Owner<'_>, failure: &mut FailureRecord) {
        self.open_text(owner, "error", &mut failure.message);
    }

    pub(super) fn seal_envelope(
        &self,
        owner: Owner<'_>,
        tenant: Option<&str>,
        envelope: &mut Envelope,
    ) {
        self.seal_failure(owner, tenant, &mut envelope.failure);
        if let Some(explanation) = &mut envelope.explanation {
            self.seal_text(owner, tenant, "explanation", explanation);
        }
    }

    pub(super) fn open_envelope(&self, owner: Owner<'_>, envelope: &mut Envelope) {
        self.open_failure(owner, &mut envelope.failure);
        if let Some(explanation) = &mut envelope.explanation {
            self.open_text(owner, "explanation", explanation);
        }
    }
}

/// What is stored in place of a text that could not be encrypted.
pub(super) fn not_kept(error: &KeyError) -> String {
    format!("[not kept: {error}]")
}
