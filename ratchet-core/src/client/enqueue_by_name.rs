//! Enqueues a job by its name, with arguments as JSON.

use serde::Serialize;

use super::enqueue::Target;
use super::submit::{Defaults, named_spec};
use super::{Enqueue, Ratchet, SubmitError};
use crate::failure::catch_panic;
use crate::job::{
    Decoder, EncodeError, Encoder, InjectError, Job, JobContext, JobDef, Location, Registration,
    RunFuture,
};
use ratchet_store::model::limits::brief;

/// A job whose type is not known where it is enqueued. Its output is JSON.
///
/// No value of this type exists. It is the type of the handles that [`Ratchet::enqueue_by_name`] returns.
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; }
/// # async fn demo(ratchet: &ratchet_core::Ratchet) -> Result<(), ratchet_core::SubmitError> {
/// use ratchet::{AnyJob, JobHandle};
///
/// // Handles of jobs of different types, in one list.
/// let mut handles: Vec<JobHandle<AnyJob>> = Vec::new();
/// for name in ["shop.reindex", "shop.report"] {
///     let arguments = serde_json::json!({ "since": "2026-11-01" });
///     handles.push(ratchet.enqueue_by_name(name, &arguments).await?);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub enum AnyJob {}

#[diagnostic::do_not_recommend]
impl Job for AnyJob {
    type Output = serde_json::Value;
    const DEF: JobDef = JobDef::new("any", Location { file: file!(), line: line!() });

    fn encode(&self, _: &mut Encoder) {
        match *self {}
    }

    fn decode(_: &mut Decoder<'_>) -> Result<Self, crate::job::DecodeError> {
        Err(crate::job::DecodeError::Unknown { field: "any".to_owned() })
    }

    fn run(self, _: JobContext) -> Result<RunFuture, InjectError> {
        match self {}
    }
}

impl Ratchet {
    /// Enqueues a job by its name, for programs that get jobs as data: an admin page, a message from another system.
    ///
    /// The job must be in the registry of this program. A declaration without a body suffices. The name is the stored
    /// name, such as `shop.send_email`, or an alias. The arguments are an object with one field per argument. They are
    /// read and validated like those of [`enqueue`](Self::enqueue), with the same defaults, keys and options, and a
    /// field that no argument takes is refused.
    ///
    /// # Errors
    ///
    /// The await returns [`SubmitError::UnknownJob`] for a name that this program does not have, and
    /// [`SubmitError::Arguments`] for arguments that are not those of the job.
    ///
    /// ```
    /// # use ratchet_core::{Ratchet, SubmitError};
    /// # async fn demo(ratchet: &Ratchet) -> Result<(), Box<dyn std::error::Error>> {
    /// let arguments = serde_json::json!({ "to": "ada@example.com" });
    /// let handle = ratchet.enqueue_by_name("shop.send_email", &arguments).queue("mail").await?;
    /// let receipt: serde_json::Value = handle.wait().await?;
    /// # drop(receipt); Ok(())
    /// # }
    /// ```
    pub fn enqueue_by_name(&self, name: &str, arguments: &impl Serialize) -> Enqueue<'_, AnyJob> {
        let target = Target::Store(&self.core);
        by_name(target, name, arguments).manner(self.manner())
    }
}

impl JobContext {
    /// Enqueues a job by its name, like [`Ratchet::enqueue_by_name`]. It is stored with this run's success, like the jobs
    /// of [`enqueue`](Self::enqueue).
    pub fn enqueue_by_name(&self, name: &str, arguments: &impl Serialize) -> Enqueue<'_, AnyJob> {
        by_name(Target::Run(self, self.core()), name, arguments)
    }
}

fn by_name<'a>(target: Target<'a>, name: &str, arguments: &impl Serialize) -> Enqueue<'a, AnyJob> {
    let core = target.core();
    let unknown = || SubmitError::UnknownJob { job: brief(name) };
    let found = catch_panic(|| core.resolver.resolve(name));
    let found = found.inspect_err(|panic| core.panics.note("resolver", panic)).ok().flatten();
    let Some(job) = found else {
        let defaults = Defaults { args: &[], encode: |_| {} };
        return Enqueue::of(target, Err(unknown()), &AnyJob::DEF, defaults);
    };
    let spec = spec(&job, arguments, |json| named_spec(core, &job, json));
    let defaults = Defaults { args: job.def.args, encode: job.encode_defaults() };
    Enqueue::of(target, spec, &job.def, defaults)
}

fn spec<T>(
    job: &Registration,
    arguments: &impl Serialize,
    submit: impl FnOnce(&[u8]) -> Result<T, SubmitError>,
) -> Result<T, SubmitError> {
    if let Some(input) = job.def.inputs.first() {
        return Err(SubmitError::NeedsParent { job: job.def.name, argument: input.argument });
    }
    let json = serde_json::to_vec(arguments).map_err(|error| {
        let error = EncodeError { argument: "arguments", error };
        SubmitError::Encode { job: job.def.name, error }
    })?;
    submit(&json)
}
