//! Edit and retry: submits a job with edited arguments in place of one that has failed or was canceled.

use std::collections::BTreeMap;
use std::sync::Arc;

use ratchet_keyring::Envelope;
use ratchet_store::StoreError;
use ratchet_store::model::{
    Change, ChangeError, ChangeReply, CommandError, Due, InsertError, Inserted, JobId, JobRecord,
    JobSpec, NewJob, OnConflict, Succession,
};
use ratchet_store::rules::successor;
use serde_json::value::{RawValue, to_raw_value};

use super::acting::unexpected;
use super::arguments::{is_plain, masked_arguments, unmasked};
use super::enqueue::submitting;
use super::{AnyJob, JobHandle, Jobs, Ratchet, SubmitError, order};
use crate::events::JobRef;
use crate::runtime::Core;

/// The arguments of a successor; see [`Jobs::edit_and_retry`].
///
/// An argument that is not set keeps its value. So does a secret argument that is set to `***`, which is how
/// [`Jobs::arguments`] shows it, and a secret in an argument that is `***` at the same place.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// use ratchet::manage::Edit;
///
/// let edit = Edit::new().argument("to", "ada@example.com").argument("copies", 2);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "nothing is edited until this is passed to `edit_and_retry`"]
pub struct Edit {
    /// Whether arguments that are not set are removed.
    all: bool,
    fields: BTreeMap<String, Box<RawValue>>,
    /// Why the arguments are not an object.
    problem: Option<String>,
}

impl Edit {
    /// Creates an edit that changes nothing: the successor has the arguments of the original.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an argument.
    pub fn argument(mut self, name: impl Into<String>, value: impl serde::Serialize) -> Self {
        match to_raw_value(&value) {
            Ok(value) => drop(self.fields.insert(name.into(), value)),
            Err(error) => self.problem = Some(error.to_string()),
        }
        self
    }

    /// Replaces all arguments with the fields of an object, given as JSON. Arguments that it does not have are removed.
    pub fn arguments(mut self, json: &str) -> Self {
        match serde_json::from_str(json) {
            Ok(fields) => (self.all, self.fields) = (true, fields),
            Err(error) => self.problem = Some(error.to_string()),
        }
        self
    }
}

/// The error returned when a job was not edited and retried. Nothing was stored.
///
/// ```
/// # mod ratchet { pub use ratchet_core as manage; }
/// # async fn demo(ratchet: ratchet_core::Ratchet, failed: ratchet_core::JobId) {
/// use ratchet::manage::{Edit, EditError};
///
/// let edit = Edit::new().argument("to", "ada@example.com");
/// match ratchet.jobs().edit_and_retry(failed, edit).await {
///     Ok(successor) => println!("{} was submitted in its place", successor.id()),
///     Err(EditError::Submit(error)) => println!("correct the arguments: {error}"),
///     Err(error) => println!("{error}"),
/// }
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The job does not exist, has changed, has a successor already, or cannot have one.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The arguments are not those of the job, or the successor was refused like any other submit.
    #[error(transparent)]
    Submit(#[from] SubmitError),
    /// The edit is not an object with one field per argument.
    #[error("cannot edit job {job}: its new arguments must be a JSON object: {problem}")]
    NotAnObject {
        /// The job that was to be edited.
        job: JobId,
        /// The error of the parser.
        problem: String,
    },
    /// The stored job cannot be verified or decrypted, so that its options and arguments must not be used again.
    #[error("cannot edit job {job}: {why}")]
    Refused {
        /// The job that was to be edited.
        job: JobId,
        /// The reason. Contains ids of keys, and no content of the job.
        why: String,
    },
}

impl From<StoreError> for EditError {
    fn from(error: StoreError) -> Self {
        Self::Command(CommandError::Store(error))
    }
}

impl Jobs {
    /// Returns the job that was submitted in place of this one, and the one in whose place it was submitted.
    pub async fn succession(&self, id: JobId) -> Result<Succession, StoreError> {
        self.core.store.succession(id).await
    }

    /// Submits a job with edited arguments in place of one that has failed or was canceled. Returns its handle.
    ///
    /// The stored arguments of a job never change. The original keeps its state, and both jobs are
    /// [linked](Self::succession). A job has at most one successor, and a job with a successor cannot be retried itself.
    ///
    /// The arguments are checked like those of [`Ratchet::enqueue_from_catalog`], and the successor is signed and
    /// encrypted like any submit. It has the queue, priority, retries, timeout, tenant, tags, correlation id and callbacks
    /// of the original. Business and concurrency keys are derived from the new arguments; a key without a template stays
    /// the same. It has no idempotency key, so that a repeated submit still returns the original. It is due immediately,
    /// and the deadlines of the original do not apply.
    ///
    /// ```
    /// # use ratchet_core::{Edit, EditError, JobId, Ratchet};
    /// # async fn correct(ratchet: &Ratchet, job: JobId) -> Result<(), EditError> {
    /// let edit = Edit::new().argument("to", "ada@example.com");
    /// let successor = ratchet.jobs().edit_and_retry(job, edit).await?;
    /// println!("job {} was submitted in place of {job}", successor.id());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`CommandError::HasSuccessor`] with the first successor if there is one, and [`CommandError::NotEditable`]
    /// for a job that has not ended, that is a step of a group, or that holds up others in an order.
    pub async fn edit_and_retry(
        &self,
        id: JobId,
        edit: Edit,
    ) -> Result<JobHandle<AnyJob>, EditError> {
        let successor = self.successor(id, edit).await?;
        let new = successor.id;
        let about = JobRef::of_all(std::slice::from_ref(&successor));
        let write = async {
            let (version, successor) = (self.manner.version, Box::new(successor));
            let change = Change::Successor { original: id, version, successor };
            match self.core.operate(&self.manner, "jobs.edit", change).await? {
                ChangeReply::Successor(new) => Ok(vec![Inserted::Created(new)]),
                _ => Err(ChangeError::Store(unexpected())),
            }
        };
        let mut answers = submitting(&self.core, &about, write).await?.map_err(|error| {
            let name = about.first().map(|job| job.name.to_string()).unwrap_or_default();
            match error {
                ChangeError::Command(error) => EditError::Command(error),
                ChangeError::Insert(InsertError::Store(error)) | ChangeError::Store(error) => {
                    error.into()
                }
                ChangeError::Insert(error) => SubmitError::refused(error, &name).into(),
                other => CommandError::Store(super::store_error(other)).into(),
            }
        })?;
        let warnings = answers.pop().map(|(_, warnings)| warnings).unwrap_or_default();
        Ok(JobHandle::new(new, Arc::clone(&self.core), warnings))
    }

    /// Checks an edit without submitting anything. Returns the arguments that the successor would have, for display:
    /// those that are marked as secret are `***`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::edit_and_retry`], except that keys are not reserved.
    pub async fn check_edit(&self, id: JobId, edit: Edit) -> Result<serde_json::Value, EditError> {
        let successor = self.successor(id, edit).await?;
        Ok(masked_arguments(&self.core, &successor.spec))
    }

    /// Returns the checked successor of a job.
    async fn successor(&self, id: JobId, edit: Edit) -> Result<NewJob, EditError> {
        let original = verified(&self.core, id).await?.ok_or(CommandError::NotFound(id))?;
        let links = self.core.store.succession(id).await?;
        successor::check(&original, self.manner.version, links.successor)?;
        if let Some(refusal) = original.spec.protection.refusal() {
            return Err(EditError::Refused { job: id, why: refusal.why.clone() });
        }
        let arguments = edited(&self.core, &original, edit)?;
        let runtime = Ratchet { core: Arc::clone(&self.core), acting: None };
        let submit = runtime.enqueue_from_catalog(&original.spec.name, &arguments).await?;
        Ok(submit.with(|job| inherit(job, &original.spec)).into_new_job()?)
    }
}

/// Returns a job as it was submitted, after its signature was verified. A job that must not be used again is marked with
/// the reason: a row that was written by an attacker would otherwise become a signed job.
async fn verified(core: &Core, id: JobId) -> Result<Option<JobRecord>, StoreError> {
    let Some(mut job) = core.plain_store().get(id).await? else { return Ok(None) };
    if let Some(protector) = &core.protector {
        job.spec = Arc::new(protector.verified(id, &job.spec).await);
    }
    Ok(Some(job))
}

/// Returns the arguments of a successor. Values that are not edited keep every digit.
fn edited(
    core: &Core,
    original: &JobRecord,
    edit: Edit,
) -> Result<BTreeMap<String, Box<RawValue>>, EditError> {
    let (job, spec) = (original.id, &original.spec);
    if let Some(problem) = edit.problem {
        return Err(EditError::NotAnObject { job, problem });
    }
    if Envelope::is_reserved(&spec.payload) {
        let why = "it is signed or encrypted, and this program has no keyring; use one that has";
        return Err(EditError::Refused { job, why: why.to_owned() });
    }
    // A payload that is not an object has no arguments to keep.
    let mut stored: BTreeMap<String, Box<RawValue>> =
        serde_json::from_slice(&spec.payload).unwrap_or_default();
    let mut arguments = if edit.all { BTreeMap::new() } else { stored.clone() };
    let shown = masked_arguments(core, spec);
    for (name, value) in edit.fields {
        let kept = match (stored.remove(&name), shown.get(&name)) {
            (Some(stored), Some(shown)) if !is_plain(core, &spec.name, &name) => {
                kept(&value, shown, &stored)
            }
            _ => None,
        };
        arguments.insert(name, kept.unwrap_or(value));
    }
    Ok(arguments)
}

/// Returns an edited argument with its stored secrets in place of the `***` that was shown for them. Returns `None` if the
/// edit has replaced them.
fn kept(edited: &RawValue, shown: &serde_json::Value, stored: &RawValue) -> Option<Box<RawValue>> {
    let edited: serde_json::Value = serde_json::from_str(edited.get()).ok()?;
    let value: serde_json::Value = serde_json::from_str(stored.get()).ok()?;
    let kept = unmasked(edited.clone(), shown, &value);
    if kept == value {
        // Every digit is kept.
        return Some(stored.to_owned());
    }
    if kept == edited { None } else { to_raw_value(&kept).ok() }
}

/// Gives a successor the options of the original.
fn inherit(job: &mut NewJob, original: &JobSpec) {
    job.due = Due::Now;
    job.on_conflict = OnConflict::Refuse;
    job.key_lifetime = None;
    let spec = &mut job.spec;
    spec.idempotency_key = None;
    (spec.expires, spec.retry_until) = (None, None);
    spec.queue.clone_from(&original.queue);
    spec.priority = original.priority;
    spec.options = original.options.clone();
    spec.service = spec.service.take().or_else(|| original.service.clone());
    spec.tags.clone_from(&original.tags);
    spec.tenant.clone_from(&original.tenant);
    spec.correlation_id.clone_from(&original.correlation_id);
    spec.on_success.clone_from(&original.on_success);
    spec.on_failure.clone_from(&original.on_failure);
    spec.finished.clone_from(&original.finished);
    if spec.trace.is_none() {
        spec.trace.clone_from(&original.trace);
    }
    if spec.business_key.is_none() {
        spec.business_key.clone_from(&original.business_key);
    }
    if spec.concurrency.is_none() {
        spec.concurrency.clone_from(&original.concurrency);
        order::apply(spec, original.step.as_ref().and_then(|step| step.order));
    }
}
