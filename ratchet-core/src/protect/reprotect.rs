//! Signs and encrypts again what was protected with keys that are no longer active.
//!
//! The content does not change, only its protected form. A job is verified before it is signed again, and a job without a
//! signature is never signed: that would make a row valid that someone else has written.

use std::collections::BTreeMap;

use ratchet_keyring::{Envelope, KeyError, KeyId, sealed_values};
use ratchet_store::model::{
    ContentPlace, ContentRow, FinishedOutcome, FinishedParent, JobId, JobSpec, Protection,
};

use super::Protector;
use super::message::Owner;
use super::runs::hand_off_field;

/// What became of a stored job.
pub(crate) enum Reprotected {
    /// Active keys protect it.
    Current,
    /// It is not signed, and this runtime signs.
    Unsigned,
    /// The same job, protected with active keys.
    Renewed(Box<JobSpec>),
}

impl Protector {
    /// Protects a stored job with the active keys. `mark` marks a job as confidential that is to be encrypted.
    pub(crate) async fn reprotect_job(
        &self,
        id: JobId,
        stored: &JobSpec,
        mark: Option<&(dyn Fn(&mut JobSpec) + Sync)>,
    ) -> Result<Reprotected, KeyError> {
        let owner = Owner::Job(id);
        let outdated = self.is_outdated(stored);
        if !outdated && mark.is_none() {
            return Ok(Reprotected::Current);
        }
        if self.signs() && signature_key(&stored.payload).is_none() {
            return Ok(Reprotected::Unsigned);
        }
        let mut spec = self.with_keys(|| self.opened(owner, stored)).await?;
        let marked = mark.is_some_and(|mark| {
            let mut marked = spec.clone();
            mark(&mut marked);
            add_marks(&mut spec, &marked)
        });
        if !outdated && !marked {
            return Ok(Reprotected::Current);
        }
        let renewed = self.with_keys(|| self.protected(owner, &spec)).await?;
        Ok(Reprotected::Renewed(Box::new(renewed)))
    }

    /// Returns `true` if a job or schedule was signed or encrypted with a key that is not active.
    pub(crate) fn is_outdated(&self, stored: &JobSpec) -> bool {
        let mut keys = BTreeMap::new();
        count_keys(stored, &mut keys);
        keys.keys().any(|id| !self.keyring.is_active(id))
    }

    /// Encrypts the texts of a row with the active keys. Returns `None` if active keys encrypt all of them, and the errors
    /// of those that cannot be decrypted.
    pub(crate) async fn reprotect_texts(
        &self,
        place: ContentPlace,
        row: &ContentRow,
    ) -> (Option<Vec<Option<String>>>, Vec<KeyError>) {
        let (mut texts, mut errors) = (row.texts.clone(), Vec::new());
        for text in texts.iter_mut().flatten() {
            let stored = text.clone();
            for sealed in sealed_values(&stored) {
                let contexts = contexts(place, row);
                match self.with_keys(|| self.keyring.reseal(sealed, &contexts)).await {
                    // The nonce makes the value unique, so nothing else is replaced.
                    Ok(Some(renewed)) => *text = text.replace(sealed, &renewed),
                    Ok(None) => {}
                    Err(error) => errors.push(error),
                }
            }
        }
        ((texts != row.texts).then_some(texts), errors)
    }
}

/// Marks a job and its callbacks as confidential where `marked` is. Never removes a mark. Returns whether one was added.
fn add_marks(spec: &mut JobSpec, marked: &JobSpec) -> bool {
    let confidential = |spec: &JobSpec| spec.protection == Protection::Confidential;
    let mut added = confidential(marked) && !confidential(spec);
    if added {
        spec.protection = Protection::Confidential;
    }
    let pairs =
        [(&mut spec.on_success, &marked.on_success), (&mut spec.on_failure, &marked.on_failure)];
    for (callback, marked) in pairs {
        if let (Some(callback), Some(marked)) = (callback.as_deref_mut(), marked.as_deref()) {
            added |= add_marks(callback, marked);
        }
    }
    added
}

/// Returns the contexts that a text of this place can be bound to.
fn contexts(place: ContentPlace, row: &ContentRow) -> Vec<Vec<u8>> {
    let owner = Owner::Job(row.job);
    let fixed: &[&str] = match place {
        ContentPlace::Notes => &["progress", "checkpoint", "warning"],
        ContentPlace::Log => &["log"],
        ContentPlace::Reject => {
            let index = row.key.number;
            let field = |what: &str| owner.field(&format!("reject {index} {what}"));
            return vec![field("error"), field("item")];
        }
        ContentPlace::HandOff => {
            let field = |(pipeline, key): &(String, String)| hand_off_field(pipeline, key);
            return row.handed.iter().map(|handed| owner.field(&field(handed))).collect();
        }
        _ => &["error", "output", "explanation", "note"],
    };
    fixed.iter().map(|field| owner.field(field)).collect()
}

/// Counts the values of a stored job by the keys that protect them.
pub(crate) fn count_keys(stored: &JobSpec, keys: &mut BTreeMap<KeyId, u64>) {
    if let Some(id) = signature_key(&stored.payload) {
        *keys.entry(id).or_default() += 1;
    }
    count_sealed(&String::from_utf8_lossy(&stored.payload), keys);
    if let Some(finished) = stored.finished.as_deref() {
        count_finished(finished, keys);
    }
    for callback in stored.on_success.iter().chain(&stored.on_failure) {
        count_keys(callback, keys);
    }
}

/// Counts the sealed values of a text by their keys.
pub(crate) fn count_sealed(text: &str, keys: &mut BTreeMap<KeyId, u64>) {
    for sealed in sealed_values(text) {
        let id = sealed.split_once(':').and_then(|(id, _)| KeyId::new(id).ok());
        id.into_iter().for_each(|id| *keys.entry(id).or_default() += 1);
    }
}

fn count_finished(finished: &FinishedParent, keys: &mut BTreeMap<KeyId, u64>) {
    count_sealed(&String::from_utf8_lossy(&finished.payload), keys);
    match &finished.outcome {
        FinishedOutcome::Succeeded(output) => count_sealed(output.as_deref().unwrap_or(""), keys),
        FinishedOutcome::Failed(envelope) => {
            count_sealed(&envelope.failure.message, keys);
            count_sealed(envelope.explanation.as_deref().unwrap_or(""), keys);
        }
    }
}

/// Returns the key of the signature in a stored payload.
fn signature_key(payload: &[u8]) -> Option<KeyId> {
    let signature = Envelope::parse(payload).ok()??.signature?;
    KeyId::new(signature.split_once(':')?.0).ok()
}
