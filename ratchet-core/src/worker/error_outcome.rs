//! The outcomes of runs that ended with an error or a panic.

use crate::decide::Outcome;
use crate::failure::{Classified, JobError, PanicReport};
use crate::job::JobContext;
use ratchet_store::model::Deferral;

/// Returns the outcome of a run that panicked.
pub(super) fn panicked(ctx: &JobContext, panic: PanicReport) -> Outcome {
    Outcome::Failed(Box::new(ctx.classifier().panic(panic)))
}

/// Returns the outcome of a run with this error.
pub(super) fn failed(ctx: &JobContext, error: JobError) -> Outcome {
    classified(ctx.classifier().error(error.into_handler_error()))
}

/// Returns the outcome of a run whose error was classified.
pub(super) fn classified(classified: Classified) -> Outcome {
    match classified {
        Classified::Failure(failure) => Outcome::Failed(failure),
        Classified::Snooze(delay) => Outcome::Deferred {
            why: Deferral::Snooze,
            delay: Some(delay),
            note: format!("snoozed for {delay:?}"),
        },
        Classified::Reject(why) => {
            Outcome::Deferred { why: Deferral::Reject, delay: None, note: why }
        }
    }
}
