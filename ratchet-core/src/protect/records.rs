//! Decrypts what clients read. What cannot be decrypted stays as it is stored: it names its key.

use std::sync::Arc;

use ratchet_keyring::{Content, Envelope};
use ratchet_store::model::{
    Alert, AttemptRecord, Delivery, DeliveryBody, HandOff, HandOffContent, JobId, JobRecord,
    JobSpec, LogLine, NewHandOff, Protection, Reject,
};

use super::Protector;
use super::jobs::ARGUMENTS;
use super::message::Owner;
use super::runs::hand_off_field;

impl Protector {
    /// Decrypts a job for display. Its signature is not verified.
    pub(super) fn open_record(&self, job: &mut JobRecord) {
        let owner = Owner::Job(job.id);
        if let Some(spec) = self.shown(owner, &job.spec) {
            job.spec = Arc::new(spec);
        }
        if let Some(output) = &mut job.output {
            self.open_json(owner, "output", output);
        }
        if let Some(checkpoint) = &mut job.checkpoint
            && let Some(Ok(opened)) =
                self.keyring.open_value(&owner.field("checkpoint"), checkpoint)
        {
            *checkpoint = opened;
        }
        if let Some(progress) = &mut job.progress {
            self.open_text(owner, "progress", &mut progress.message);
        }
        if let Some(error) = &mut job.error {
            self.open_failure(owner, error);
        }
        if let Some(envelope) = &mut job.envelope {
            self.open_envelope(owner, envelope);
        }
        for warning in &mut job.warnings {
            self.open_text(owner, "warning", warning);
        }
    }

    /// Returns a spec with readable arguments; `None` if it is not protected or cannot be decrypted.
    fn shown(&self, owner: Owner<'_>, stored: &JobSpec) -> Option<JobSpec> {
        let envelope = Envelope::parse(&stored.payload).ok()??;
        let (payload, protection) = match envelope.content {
            Content::Plain(arguments) => (arguments.as_bytes().to_vec(), Protection::Plain),
            Content::Sealed(sealed) => {
                let opened = self.keyring.open(&sealed, &owner.field(ARGUMENTS)).ok()?;
                (opened, Protection::Confidential)
            }
        };
        let mut spec = stored.clone();
        spec.payload = payload;
        spec.protection = protection;
        if let Some(finished) = spec.finished.as_deref_mut() {
            // What cannot be decrypted stays encrypted.
            let _ = self.open_finished(owner, finished);
        }
        Some(spec)
    }

    pub(super) fn open_attempt(&self, id: JobId, attempt: &mut AttemptRecord) {
        let owner = Owner::Job(id);
        if let Some(error) = &mut attempt.error {
            self.open_failure(owner, error);
        }
        if let Some(note) = &mut attempt.note {
            self.open_text(owner, "note", note);
        }
    }

    pub(super) fn open_log(&self, id: JobId, line: &mut LogLine) {
        self.open_text(Owner::Job(id), "log", &mut line.message);
    }

    pub(super) fn open_alert(&self, alert: &mut Alert) {
        self.open_text(Owner::Job(alert.job_id), "error", &mut alert.message);
    }

    pub(super) fn open_delivery(&self, delivery: &mut Delivery) {
        match &mut delivery.body {
            DeliveryBody::Alert(alert) => self.open_alert(alert),
            DeliveryBody::DeadLetter(envelope) => {
                self.open_envelope(Owner::Job(envelope.job_id), envelope);
            }
            DeliveryBody::Outcome(outcome) => {
                let owner = Owner::Job(outcome.job_id);
                if let Some(output) = &mut outcome.output {
                    self.open_json(owner, "output", output);
                }
                if let Some(envelope) = &mut outcome.envelope {
                    self.open_envelope(owner, envelope);
                }
            }
        }
    }

    pub(super) fn open_reject(&self, reject: &mut Reject) {
        let (owner, index) = (Owner::Job(reject.job), reject.item.index);
        self.open_text(owner, &format!("reject {index} error"), &mut reject.item.message);
        if let Some(item) = &mut reject.item.payload {
            self.open_json(owner, &format!("reject {index} item"), item);
        }
    }

    pub(super) fn open_hand_off(&self, hand_off: &mut HandOff) {
        let NewHandOff { pipeline, key, .. } = &hand_off.handed;
        let field = Owner::Job(hand_off.job).field(&hand_off_field(pipeline, key));
        let checkpoint = &mut hand_off.handed.checkpoint;
        match self.keyring.open_value(&field, checkpoint) {
            None => {}
            Some(Ok(opened)) => {
                *checkpoint = opened;
                hand_off.content = HandOffContent::Decrypted;
            }
            Some(Err(_)) => hand_off.content = HandOffContent::Locked,
        }
    }
}
