//! The outcomes of jobs whose signature or encryption the runtime refused. Checked before anything is decoded.

use crate::decide::Outcome;
use crate::protect::MISSING_KEY;
use crate::runtime::Core;
use ratchet_keyring::Envelope;
use ratchet_store::model::{Claimed, Deferral, Protection, Refusal, RefusalKind};

/// Returns the outcome of a job that must not be run.
pub(super) fn check(core: &Core, job: &Claimed) -> Result<(), Outcome> {
    match &job.spec.protection {
        Protection::Refused(refusal) => Err(outcome(core, job, refusal)),
        Protection::Unsigned => {
            core.meter.accepted_unsigned();
            Ok(())
        }
        _ if core.protector.is_none() && Envelope::is_reserved(&job.spec.payload) => {
            let why = format!(
                "{MISSING_KEY}the job is signed or encrypted, and this worker has no keyring"
            );
            Err(outcome(core, job, &Refusal::new(RefusalKind::MissingKey, why)))
        }
        _ => Ok(()),
    }
}

fn outcome(core: &Core, job: &Claimed, refusal: &Refusal) -> Outcome {
    let why = &refusal.why;
    match refusal.kind {
        RefusalKind::MissingKey => {
            tracing::warn!(job.id = %job.id(), job.name = %job.spec.name, %why, "a job waits for a key");
            Outcome::Deferred { why: Deferral::MissingKey, delay: None, note: why.clone() }
        }
        RefusalKind::DestroyedKey => {
            Outcome::Failed(Box::new(core.classifier.invalid("DestroyedKey", why)))
        }
        _ => {
            tracing::error!(job.id = %job.id(), job.name = %job.spec.name, %why, "a job was refused: its row was changed or was not written by a client with the keyring");
            Outcome::Failed(Box::new(core.classifier.rejected_signature(why)))
        }
    }
}
