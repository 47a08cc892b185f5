//! Signs and encrypts jobs before they are stored, and verifies and decrypts them when they are claimed.

use std::sync::Arc;

use ratchet_keyring::{Content, Envelope, KeyError, Purpose};
use ratchet_store::model::{
    Claimed, FinishedOutcome, FinishedParent, JobId, JobSpec, NewJob, Protection, Refusal,
    RefusalKind, RepeatCheck,
};
use ratchet_store::rules::arguments::digest_of_arguments;

use super::message::{Owner, message};
use super::{MISSING_KEY, Protector, Sign};

/// The field name of the arguments.
pub(super) const ARGUMENTS: &str = "arguments";

impl Protector {
    /// Signs and encrypts a job. `in_keyed_graph` is set if its graph has an idempotency key. If this fails, the job is
    /// unchanged.
    pub(crate) async fn protect(
        &self,
        job: &mut NewJob,
        in_keyed_graph: bool,
    ) -> Result<(), KeyError> {
        let protected = self.with_keys(|| self.protected(Owner::Job(job.id), &job.spec)).await?;
        if in_keyed_graph || job.spec.idempotency_key.is_some() {
            // Computed while the payload is still the arguments, so that a repeat is recognized.
            let mut digest = digest_of_arguments(job);
            if job.spec.protection == Protection::Confidential {
                // A digest without a key would allow to guess short arguments.
                digest.by_value = self.keyring.digest(&digest.by_value).unwrap_or(digest.by_value);
                digest.by_bytes = self.keyring.digest(&digest.by_bytes).unwrap_or(digest.by_bytes);
            }
            job.repeat_check = RepeatCheck::Digest(digest);
        }
        job.spec = protected;
        Ok(())
    }

    /// Returns a spec as it is stored.
    pub(super) fn protected(&self, owner: Owner<'_>, spec: &JobSpec) -> Result<JobSpec, KeyError> {
        let mut stored = spec.clone();
        if stored.protection.refusal().is_some() {
            // Signing it would make a refused row valid.
            stored.protection = Protection::Plain;
            return Ok(stored);
        }
        let confidential = stored.protection == Protection::Confidential;
        self.seal_callbacks(owner, &mut stored, "")?;
        if let Some(finished) = stored.finished.as_deref_mut().filter(|_| confidential) {
            self.seal_finished(owner, spec.tenant.as_deref(), finished)?;
        }
        let sealed = match confidential {
            true => {
                let tenant = spec.tenant.as_deref();
                Some(self.keyring.seal(tenant, &owner.field(ARGUMENTS), &spec.payload)?)
            }
            false => None,
        };
        let content = sealed.as_ref().map_or(spec.payload.as_slice(), |sealed| sealed.as_bytes());
        let signature = match self.signs() {
            true => Some(self.keyring.sign(&message(owner, &stored, content, sealed.is_some()))?),
            false => None,
        };
        stored.protection = Protection::Plain;
        let content = match &sealed {
            Some(sealed) => Content::Sealed(sealed.as_str().into()),
            None if signature.is_none() => return Ok(stored),
            None => {
                Content::Plain(std::str::from_utf8(&spec.payload).map_err(|_| KeyError::Malformed)?)
            }
        };
        let envelope = Envelope { signature: signature.map(Into::into), content };
        stored.payload = envelope.to_json().into_bytes();
        Ok(stored)
    }

    fn seal_callbacks(
        &self,
        owner: Owner<'_>,
        spec: &mut JobSpec,
        path: &str,
    ) -> Result<(), KeyError> {
        let tenant = spec.tenant.clone();
        for (role, callback) in callbacks(spec) {
            let path = format!("{path}{role}.");
            if callback.protection == Protection::Confidential {
                let tenant = callback.tenant.as_deref().or(tenant.as_deref());
                let field = owner.field(&format!("{path}{ARGUMENTS}"));
                let sealed = self.keyring.seal(tenant, &field, &callback.payload)?;
                let envelope =
                    Envelope { signature: None, content: Content::Sealed(sealed.into()) };
                callback.payload = envelope.to_json().into_bytes();
            }
            callback.protection = Protection::Plain;
            self.seal_callbacks(owner, callback, &path)?;
        }
        Ok(())
    }

    fn seal_finished(
        &self,
        owner: Owner<'_>,
        tenant: Option<&str>,
        parent: &mut FinishedParent,
    ) -> Result<(), KeyError> {
        let json =
            |field: &str, json: &str| self.keyring.seal_json(tenant, &owner.field(field), json);
        let payload = std::str::from_utf8(&parent.payload).map_err(|_| KeyError::Malformed)?;
        parent.payload = json("finished.arguments", payload)?.into_bytes();
        match &mut parent.outcome {
            FinishedOutcome::Succeeded(Some(output)) => *output = json("finished.output", output)?,
            FinishedOutcome::Succeeded(None) => {}
            FinishedOutcome::Failed(envelope) => {
                self.seal_envelope(owner, tenant, envelope);
            }
        }
        Ok(())
    }

    /// Verifies and decrypts a claimed job. A job that must not be run is marked with the reason.
    pub(crate) async fn open_claimed(&self, claimed: &mut Claimed) {
        let owner = Owner::Job(claimed.id());
        let opened = self.with_keys(|| self.opened(owner, &claimed.spec)).await;
        let opened = opened.and_then(|spec| self.open_state(owner, claimed).map(|()| spec));
        let spec = opened.unwrap_or_else(|error| self.refused(&claimed.spec, &error));
        claimed.spec = Arc::new(spec);
    }

    /// Verifies and decrypts a stored spec. One that must not be used is marked with the reason.
    pub(crate) async fn verified(&self, id: JobId, stored: &JobSpec) -> JobSpec {
        let opened = self.with_keys(|| self.opened(Owner::Job(id), stored)).await;
        opened.unwrap_or_else(|error| self.refused(stored, &error))
    }

    /// Decrypts the checkpoint and the progress of earlier runs.
    fn open_state(&self, owner: Owner<'_>, claimed: &mut Claimed) -> Result<(), KeyError> {
        if let Some(checkpoint) = &mut claimed.checkpoint
            && let Some(opened) = self.keyring.open_value(&owner.field("checkpoint"), checkpoint)
        {
            *checkpoint = opened?;
        }
        if let Some(progress) = &mut claimed.progress {
            self.open_text(owner, "progress", &mut progress.message);
        }
        Ok(())
    }

    /// Returns a stored spec as it was submitted, after its signature was verified.
    pub(super) fn opened(&self, owner: Owner<'_>, stored: &JobSpec) -> Result<JobSpec, KeyError> {
        let envelope = Envelope::parse(&stored.payload).map_err(|_| KeyError::Malformed)?;
        let mut spec = stored.clone();
        spec.protection = Protection::Plain;
        let signature = envelope.as_ref().and_then(|envelope| envelope.signature.as_deref());
        match signature {
            Some(signature) => {
                let (content, sealed) = match envelope.as_ref().map(|envelope| &envelope.content) {
                    Some(Content::Sealed(sealed)) => (sealed.as_bytes(), true),
                    Some(Content::Plain(arguments)) => (arguments.as_bytes(), false),
                    None => (stored.payload.as_slice(), false),
                };
                self.keyring.verify(signature, &message(owner, stored, content, sealed))?;
            }
            None if !self.signs() => {}
            None if self.sign == Sign::AcceptUnsigned => spec.protection = Protection::Unsigned,
            None => {
                let refusal = Refusal::new(RefusalKind::Signature, NOT_SIGNED);
                spec.protection = Protection::Refused(Box::new(refusal));
                strip(&mut spec);
                return Ok(spec);
            }
        }
        self.open_callbacks(owner, &mut spec, "")?;
        if let Some(finished) = spec.finished.as_deref_mut() {
            self.open_finished(owner, finished)?;
        }
        match envelope.map(|envelope| envelope.content) {
            None => {}
            Some(Content::Plain(arguments)) => spec.payload = arguments.as_bytes().to_vec(),
            Some(Content::Sealed(sealed)) => {
                spec.payload = self.keyring.open(&sealed, &owner.field(ARGUMENTS))?;
                spec.protection = Protection::Confidential;
            }
        }
        Ok(spec)
    }

    fn open_callbacks(
        &self,
        owner: Owner<'_>,
        spec: &mut JobSpec,
        path: &str,
    ) -> Result<(), KeyError> {
        for (role, callback) in callbacks(spec) {
            let path = format!("{path}{role}.");
            let envelope = Envelope::parse(&callback.payload).map_err(|_| KeyError::Malformed)?;
            if let Some(Envelope { content: Content::Sealed(sealed), .. }) = envelope {
                let field = owner.field(&format!("{path}{ARGUMENTS}"));
                callback.payload = self.keyring.open(&sealed, &field)?;
                callback.protection = Protection::Confidential;
            }
            self.open_callbacks(owner, callback, &path)?;
        }
        Ok(())
    }

    pub(super) fn open_finished(
        &self,
        owner: Owner<'_>,
        parent: &mut FinishedParent,
    ) -> Result<(), KeyError> {
        let payload = String::from_utf8_lossy(&parent.payload);
        let opened = self.keyring.open_json(&owner.field("finished.arguments"), &payload);
        if let Some(opened) = opened {
            parent.payload = opened?.into_bytes();
        }
        match &mut parent.outcome {
            FinishedOutcome::Succeeded(Some(output)) => {
                let field = owner.field("finished.output");
                if let Some(opened) = self.keyring.open_json(&field, output) {
                    *output = opened?;
                }
            }
            FinishedOutcome::Succeeded(None) => {}
            FinishedOutcome::Failed(envelope) => self.open_envelope(owner, envelope),
        }
        Ok(())
    }
}

/// The reason for a job without a signature.
const NOT_SIGNED: &str = "it is not signed, and this runtime requires signatures; submit it with a client that has the keyring, by HTTP or with the command line";

/// Returns the callbacks of a job with their roles.
fn callbacks(spec: &mut JobSpec) -> impl Iterator<Item = (&'static str, &mut JobSpec)> {
    let success = spec.on_success.as_deref_mut().map(|callback| ("on_success", callback));
    let failure = spec.on_failure.as_deref_mut().map(|callback| ("on_failure", callback));
    success.into_iter().chain(failure)
}

impl Protector {
    /// Marks a stored spec as refused.
    pub(super) fn refused(&self, stored: &JobSpec, error: &KeyError) -> JobSpec {
        let kind = match error {
            KeyError::Unknown(_) | KeyError::Wrapped(_) => RefusalKind::MissingKey,
            // A retired encryption key exists and can be activated again, so nothing is lost.
            KeyError::Retired(id) if self.keyring.purpose(id) == Some(Purpose::Encrypt) => {
                RefusalKind::MissingKey
            }
            KeyError::Destroyed(_) => RefusalKind::DestroyedKey,
            _ => RefusalKind::Signature,
        };
        let why = match kind {
            RefusalKind::MissingKey => format!("{MISSING_KEY}{error}"),
            _ => error.to_string(),
        };
        let mut spec = stored.clone();
        spec.protection = Protection::Refused(Box::new(Refusal::new(kind, why)));
        strip(&mut spec);
        spec
    }
}

/// Removes what must not happen after a refused job: its callbacks would otherwise be created and signed.
fn strip(spec: &mut JobSpec) {
    (spec.on_success, spec.on_failure) = (None, None);
}
