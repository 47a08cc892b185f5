//! [`Finished`]: the job that a callback follows, injected into the callback.

use serde::de::DeserializeOwned;

use crate::failure::shorten;
use crate::job::JobContext;
use crate::job::{Decoder, Inject, InjectError, InjectRequirement, Job};
use ratchet_store::model::{Envelope, FinishedOutcome, JobId};

/// The job a callback follows: its arguments and how it ended.
///
/// Declared as an argument of the callback: `#[inject] finished: Finished<ProcessPayment>`.
///
/// ```
/// # use ratchet_core::{Finished, Job};
/// # fn show<J: Job<Output = u64>>(finished: Finished<J>) {
/// match finished.outcome {
///     Ok(cents) => println!("{} was charged with {cents} cents", finished.id),
///     Err(envelope) => println!("{} has failed: {}", finished.id, envelope.failure.message),
/// }
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished<J: Job> {
    /// The id of the finished job.
    pub id: JobId,
    /// The arguments it ran with.
    pub args: J,
    /// Its return value, or the envelope of its permanent failure.
    pub outcome: Result<J::Output, Box<Envelope>>,
    /// How many attempts it took, including the last one.
    pub attempts: u32,
    /// The tags it was submitted with.
    pub tags: Vec<String>,
}

impl<J: Job> Finished<J> {
    /// Creates a finished job for calling the bare function of a callback in a unit test.
    pub fn for_test(args: J, outcome: Result<J::Output, Box<Envelope>>) -> Self {
        Self {
            id: JobId::from_uuid(uuid::Uuid::nil()),
            args,
            outcome,
            attempts: 1,
            tags: Vec::new(),
        }
    }
}

impl<J: Job> Inject for Finished<J>
where
    J::Output: DeserializeOwned + Send + 'static,
{
    fn need() -> InjectRequirement {
        InjectRequirement::Finished { job: Some(J::DEF.name) }
    }

    fn inject(ctx: &JobContext) -> Result<Self, InjectError> {
        let refused =
            |why: String| InjectError { wanted: shorten(std::any::type_name::<Self>()), why };
        let parent = ctx
            .finished_parent()
            .ok_or_else(|| refused("this job does not run as a callback".to_owned()))?;
        if !J::DEF.names().any(|name| name == parent.name) {
            return Err(refused(format!("this is a callback of `{}`", parent.name)));
        }
        let args = Decoder::new(&parent.payload)
            .and_then(|mut args| J::decode(&mut args))
            .map_err(|error| refused(format!("the arguments of job {}: {error}", parent.id)))?;
        let outcome = match &parent.outcome {
            FinishedOutcome::Failed(envelope) => Err(envelope.clone()),
            FinishedOutcome::Succeeded(output) => {
                if let Some(why) = &parent.not_kept {
                    return Err(refused(format!("the output of job {}: {why}", parent.id)));
                }
                Ok(serde_json::from_str(output.as_deref().unwrap_or("null")).map_err(|error| {
                    refused(format!("the output of job {}: {error}", parent.id))
                })?)
            }
        };
        Ok(Self {
            id: parent.id,
            args,
            outcome,
            attempts: parent.attempts,
            tags: parent.tags.clone(),
        })
    }
}
