//! [`Jobs::reveal`]: shows the secrets of a job to an operator, and records that in the audit trail.

use std::fmt;

use ratchet_keyring::Envelope;
use ratchet_store::StoreError;
use ratchet_store::model::{Change, ChangeReply, CommandError, JobId, JobRecord};
use ratchet_store::rules::audit;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Jobs;
use super::acting::{command_error, unexpected};

/// What is stored with a job, with its secrets; see [`Jobs::reveal`].
///
/// Its `Debug` output contains no values. Serializing it does.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet, job: ratchet_core::JobId) -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::manage::Actor;
///
/// let ada = Actor::new("ada@example.com").reason("the customer disputes the payment");
/// let revealed = ratchet.acting_as(ada).jobs().reveal(job).await?;
/// println!("arguments {}", revealed.arguments);
/// if let Some(output) = &revealed.output {
///     println!("output {output}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Serialize)]
#[non_exhaustive]
pub struct Revealed {
    /// The job.
    pub job: JobId,
    /// Its arguments as they are stored: a JSON object with one field per argument.
    pub arguments: Box<RawValue>,
    /// Its output as JSON, if it has one.
    pub output: Option<Box<RawValue>>,
    /// Its checkpoint, if it has one.
    pub checkpoint: Option<serde_json::Value>,
}

impl fmt::Debug for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revealed").field("job", &self.job).finish_non_exhaustive()
    }
}

/// The error returned when the secrets of a job were not revealed.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{self as manage, *}; pub use ratchet_memory::MemoryStore; }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ratchet::manage::RevealError;
/// # use ratchet::{JobId, MemoryStore, Ratchet};
/// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
/// # let job = JobId::from_uuid(uuid::Uuid::from_u128(7));
///
/// // Without `acting_as`, it is not known who wants to see the secrets.
/// let refused = ratchet.jobs().reveal(job).await;
/// assert!(matches!(refused, Err(RevealError::NoActor { .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RevealError {
    /// The job does not exist or has changed, or the store failed.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// It is not known who wants to see the secrets.
    #[error(
        "cannot reveal the secrets of job {job}: no actor is set; use `ratchet.acting_as(actor).jobs()`"
    )]
    NoActor {
        /// The job.
        job: JobId,
    },
    /// The stored content cannot be decrypted.
    #[error("cannot reveal the secrets of job {job}: {why}")]
    Unreadable {
        /// The job.
        job: JobId,
        /// The reason. Contains no content of the job.
        why: String,
    },
}

impl From<StoreError> for RevealError {
    fn from(error: StoreError) -> Self {
        Self::Command(CommandError::Store(error))
    }
}

impl Jobs {
    /// Returns the arguments, output and checkpoint of a job with their secrets, and records in the
    /// [audit trail](super::Ratchet::audit) who has seen them and why. The job may be archived.
    ///
    /// The entry is committed before the values are returned. The handle must have an actor:
    /// [`Ratchet::acting_as`](super::Ratchet::acting_as). Secrets that were replaced in texts of a run, such as errors and
    /// log lines, are not stored and cannot be revealed.
    ///
    /// ```
    /// # use ratchet_core::{Actor, JobId, Ratchet, RevealError};
    /// # async fn demo(ratchet: &Ratchet, job: JobId) -> Result<(), RevealError> {
    /// let ada = Actor::new("ada@example.com").reason("the customer disputes the payment");
    /// let revealed = ratchet.acting_as(ada).jobs().reveal(job).await?;
    /// println!("{}", revealed.arguments);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`RevealError::NoActor`] for a handle without an actor, and [`RevealError::Unreadable`] if this program does
    /// not have the key of the content. Neither is recorded.
    pub async fn reveal(&self, id: JobId) -> Result<Revealed, RevealError> {
        if self.manner.actor().is_none() {
            return Err(RevealError::NoActor { job: id });
        }
        let job = self.core.store.get(id).await?.ok_or(CommandError::NotFound(id))?;
        audit::check_version(&job, self.manner.version)?;
        let revealed = content(job)?;
        let changed = self.core.operate(&self.manner, "jobs.reveal", Change::Reveal(id)).await;
        match changed.map_err(command_error)? {
            ChangeReply::Revealed => Ok(revealed),
            _ => Err(unexpected().into()),
        }
    }
}

/// Returns the content of a job, unless a part of it cannot be decrypted.
fn content(job: JobRecord) -> Result<Revealed, RevealError> {
    let unreadable = |why: String| RevealError::Unreadable { job: job.id, why };
    if let Some(refusal) = job.spec.protection.refusal() {
        return Err(unreadable(refusal.why.clone()));
    }
    let parse = |part: &str, json: &[u8]| {
        if Envelope::is_reserved(json) {
            return Err(unreadable(format!(
                "this program does not have the key that protects its {part}"
            )));
        }
        // The text of the error may quote the content.
        serde_json::from_slice::<Box<RawValue>>(json)
            .map_err(|_| unreadable(format!("the stored {part} cannot be read as JSON")))
    };
    let arguments = parse("arguments", &job.spec.payload)?;
    let output = job.output.as_ref().map(|json| parse("output", json.as_bytes())).transpose()?;
    if let Some(checkpoint) = &job.checkpoint {
        parse("checkpoint", checkpoint.to_string().as_bytes())?;
    }
    Ok(Revealed { job: job.id, arguments, output, checkpoint: job.checkpoint })
}
