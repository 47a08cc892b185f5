//! Turns an invocation into a row to insert: encoding, and the checks that every submit shares.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::value::RawValue;

use super::order;
use crate::events::JobRef;
use crate::failure::{KnownSecrets, catch_panic};
use crate::job::{
    ArgDef, DecodeError, EncodeError, Encoder, Job, JobDef, Keys, Registration, secrets_of,
};
use ratchet_keyring::{Envelope, KeyError};
use ratchet_store::StoreError;
use ratchet_store::model::limits::{self, LimitError, brief};
use ratchet_store::model::{
    Deadline, GroupId, InsertError, JobId, JobSpec, NewGraph, NewJob, RepeatCheck, TakenKey,
    nesting,
};
use ratchet_store::rules::canonical::canonical;
use ratchet_store::rules::graph::GraphError;

use crate::runtime::Core;

/// An error returned when jobs are not enqueued. Nothing was stored.
///
/// ```
/// # mod ratchet { pub use ratchet_core::*; }
/// # async fn demo<J: ratchet_core::Job>(ratchet: &ratchet_core::Ratchet, job: J) -> Result<(), ratchet_core::SubmitError> {
/// use ratchet::SubmitError;
///
/// match ratchet.enqueue(job).await {
///     Ok(handle) => println!("enqueued as {}", handle.id()),
///     Err(SubmitError::BusinessKeyTaken { holder, .. }) => println!("{holder} does this already"),
///     Err(SubmitError::QueueFull { depth, .. }) => println!("{depth} jobs wait, try again later"),
///     Err(error) => return Err(error),
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// An argument cannot be serialized as JSON.
    #[error("cannot enqueue `{job}`: {error}")]
    Encode {
        /// The name of the job.
        job: &'static str,
        /// The argument, and the error from `serde_json`.
        error: EncodeError,
    },
    /// No job of this program has the name.
    #[error(
        "cannot enqueue `{job}`: this program has no job with that name; declare the job in a crate that this program uses"
    )]
    UnknownJob {
        /// The name that was given.
        job: String,
    },
    /// The arguments of a job that was enqueued by its name are not those of the job.
    #[error("cannot enqueue `{job}`: {}", .error.for_the_caller())]
    Arguments {
        /// The name of the job.
        job: &'static str,
        /// The argument, and why it cannot be read.
        error: DecodeError,
    },
    /// The arguments, together with tags, tenant, correlation id, signature and encryption, are larger than
    /// `payload_limit`.
    #[error(
        "cannot enqueue `{job}`: its arguments take {size} bytes, the limit is {limit}; \
         pass a reference to the data instead, or raise `payload_limit`"
    )]
    TooLarge {
        /// The name of the job.
        job: String,
        /// The size of its arguments, tags, tenant and correlation id, in bytes.
        size: usize,
        /// The value of `payload_limit`, in bytes.
        limit: usize,
    },
    /// The arguments are nested too deep to be read back.
    #[error(
        "cannot enqueue `{job}`: its arguments are nested deeper than {limit} levels; \
         make them flatter, or pass a reference to the data instead"
    )]
    TooDeep {
        /// The name of the job.
        job: String,
        /// The greatest nesting depth allowed.
        limit: usize,
    },
    /// The `validate` function of the job refused the arguments.
    #[error("cannot enqueue `{job}`: its arguments were refused: {why}")]
    Refused {
        /// The name of the job.
        job: &'static str,
        /// The error of the `validate` function, as text.
        why: String,
    },
    /// The job is not on the allow-list of the queue.
    #[error("cannot enqueue `{job}`: it is not on the allow-list of queue `{queue}`")]
    NotAllowed {
        /// The name of the job.
        job: String,
        /// The name of the queue.
        queue: String,
    },
    /// The queue has reached its depth limit.
    #[error(
        "cannot enqueue `{job}`: {depth} jobs wait in queue `{queue}`, the limit is {limit}; try again later"
    )]
    QueueFull {
        /// The name of the job.
        job: String,
        /// The name of the queue.
        queue: String,
        /// How many jobs wait in the queue.
        depth: u64,
        /// How many jobs may wait in the queue.
        limit: u64,
    },
    /// An option has an invalid value.
    #[error("cannot enqueue `{job}`: {problem}")]
    BadOption {
        /// The name of the job, graph or schedule.
        job: String,
        /// A description of the problem.
        problem: String,
    },
    /// An argument of a job of the catalog does not have the shape that its program has recorded.
    #[error("cannot enqueue `{job}`: {path} {problem}")]
    BadArgument {
        /// The name of the job.
        job: String,
        /// Where the mistake is, as a JSON path: `$.order.lines[2].price`.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// The job takes the output of another job and was enqueued on its own.
    #[error(
        "cannot enqueue `{job}` on its own: its argument `{argument}` takes the output of a step before; make it a step of a chain or workflow"
    )]
    NeedsParent {
        /// The name of the job.
        job: &'static str,
        /// The argument that takes an output.
        argument: &'static str,
    },
    /// Another live job holds the business key.
    #[error(
        "cannot enqueue `{job}`: business key `{key}` is held by job {holder}; `.or_existing()` answers with that job"
    )]
    BusinessKeyTaken {
        /// The name of the job.
        job: String,
        /// The business key.
        key: String,
        /// The job that holds the key.
        holder: JobId,
    },
    /// Other live jobs hold business keys of a bulk or a graph.
    #[error("cannot enqueue {} jobs: their business keys are taken", .0.len())]
    BusinessKeysTaken(Vec<TakenKey>),
    /// The idempotency key was used before for another job, graph, or other arguments.
    #[error(
        "cannot enqueue `{job}`: idempotency key `{key}` was used before for another job or other arguments ({original})"
    )]
    IdempotencyMismatch {
        /// The name of the job, chain, batch or workflow.
        job: String,
        /// The idempotency key.
        key: String,
        /// The job that used the key first. For a graph, the id of its group.
        original: JobId,
    },
    /// A job with this id already exists.
    #[error("a job with the id {0} exists already")]
    DuplicateId(JobId),
    /// The run whose context was used has ended. Its children commit with its settlement, so it cannot take more.
    #[error(
        "cannot enqueue through the context of job {0}: its run is over; use the runtime itself"
    )]
    RunOver(JobId),
    /// The chain, batch or workflow is invalid.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// The idempotency key or business key of a step belongs to a job that already exists.
    #[error(
        "cannot submit step `{job}`: its key belongs to job {original}, which exists already; it cannot be awaited in this group"
    )]
    StepExists {
        /// The name of the step's job.
        job: String,
        /// The job that the key belongs to.
        original: JobId,
    },
    /// The group to add to does not exist.
    #[error("cannot add to group {0}: there is no such group")]
    GroupNotFound(GroupId),
    /// The group is sealed or was canceled.
    #[error("cannot add to group {0}: it is sealed or canceled")]
    GroupSealed(GroupId),
    /// No key can sign or encrypt the job.
    #[error("cannot enqueue `{job}`: it cannot be protected; add a key to the keyring")]
    Key {
        /// The name of the job.
        job: String,
        /// The key that is missing.
        #[source]
        error: KeyError,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SubmitError {
    /// Creates the error for a value of a job or graph that exceeds its limit.
    pub(super) fn limit(job: &str, error: &LimitError) -> Self {
        Self::BadOption { job: brief(job), problem: error.to_string() }
    }

    /// Converts the insert error of one job.
    pub(super) fn refused(error: InsertError, job: &str) -> Self {
        Self::from_insert(error, |_| job.to_owned(), true)
    }

    /// Converts the insert error of a graph.
    pub(super) fn refused_graph(error: InsertError, graph: &NewGraph) -> Self {
        let name = graph.root().map(|root| root.name.as_str()).unwrap_or_default();
        Self::from_graph(error, &JobRef::of_all(&graph.jobs), name)
    }

    /// Converts the insert error of the jobs of a graph called `name`.
    pub(super) fn from_graph(error: InsertError, jobs: &[JobRef], name: &str) -> Self {
        let name_of = |wanted| {
            let found = jobs.iter().find(|job| job.id == wanted);
            found.map_or_else(|| name.to_owned(), |job| job.name.to_string())
        };
        Self::from_insert(error, name_of, false)
    }

    /// Converts an insert error. `name_of` returns the name of a job, and `single` is set for the insert of one job.
    pub(super) fn from_insert(
        error: InsertError,
        name_of: impl Fn(JobId) -> String,
        single: bool,
    ) -> Self {
        match error {
            InsertError::BusinessKeysTaken(mut taken) if single && taken.len() == 1 => {
                let TakenKey { job, key, holder } = taken.remove(0);
                Self::BusinessKeyTaken { job: name_of(job), key, holder }
            }
            InsertError::BusinessKeysTaken(taken) => Self::BusinessKeysTaken(taken),
            InsertError::IdempotencyMismatch { job, key, original } => {
                Self::IdempotencyMismatch { job: name_of(job), key, original }
            }
            InsertError::DuplicateId(id) => Self::DuplicateId(id),
            InsertError::StepExists { job, original } => {
                Self::StepExists { job: name_of(job), original }
            }
            InsertError::GroupNotFound(id) => Self::GroupNotFound(id),
            InsertError::GroupSealed(id) => Self::GroupSealed(id),
            InsertError::Store(error) => Self::Store(error),
        }
    }
}

/// Truncates a message to [`limits::MESSAGE`].
fn cut(mut message: String) -> String {
    if message.len() > limits::MESSAGE {
        message.truncate(message.floor_char_boundary(limits::MESSAGE));
        message.push('…');
    }
    message
}

/// Validates and encodes an invocation.
pub(super) fn spec<J: Job>(core: &Core, job: &J) -> Result<JobSpec, SubmitError> {
    let def = &J::DEF;
    // A validator that panics must refuse the submit with an error, not unwind into the caller.
    let valid = catch_panic(|| job.validate());
    let valid =
        valid.unwrap_or_else(|panic| Err(format!("its validator panicked: {}", panic.message)));
    let payload = || {
        let mut args = Encoder::new();
        job.encode(&mut args);
        args.finish()
    };
    valid.map_err(|why| {
        // The reason may quote the arguments.
        let payload = catch_panic(payload).ok().and_then(Result::ok).unwrap_or_default();
        SubmitError::Refused { job: def.name, why: cut(without_secrets(def, &payload, why)) }
    })?;
    encoded(core, def, payload(), job.keys())
}

/// Validates and encodes an invocation of a registered job, given as JSON.
pub(super) fn named_spec(
    core: &Core,
    job: &Registration,
    arguments: &[u8],
) -> Result<JobSpec, SubmitError> {
    let def = &job.def;
    let refused = |why| {
        let why = cut(without_secrets(def, arguments, why));
        SubmitError::Refused { job: def.name, why }
    };
    let mut unknown = Vec::new();
    let read = catch_panic(|| job.submission(arguments, |left| unknown = left));
    let read =
        read.map_err(|panic| refused(format!("reading them panicked: {}", panic.message)))?;
    let mistaken = |error| SubmitError::Arguments { job: def.name, error };
    let submission = read.map_err(mistaken)?;
    if let Some(field) = unknown.into_iter().next() {
        return Err(mistaken(DecodeError::Unknown { field }));
    }
    submission.valid.map_err(refused)?;
    encoded(core, def, submission.payload, submission.keys)
}

/// Replaces the secret arguments in a text of the application.
fn without_secrets(def: &JobDef, payload: &[u8], text: String) -> String {
    secrets_of(def, payload).into_iter().collect::<KnownSecrets>().hide_in(text)
}

fn encoded(
    core: &Core,
    def: &JobDef,
    payload: Result<Vec<u8>, EncodeError>,
    keys: Keys,
) -> Result<JobSpec, SubmitError> {
    let payload = payload.map_err(|error| {
        if nesting::is_too_deep(&error.error) {
            SubmitError::TooDeep { job: def.name.to_owned(), limit: limits::DEPTH }
        } else {
            SubmitError::Encode { job: def.name, error }
        }
    })?;
    let mut spec = core.spec_with_callbacks(def, payload);
    spec.business_key = keys.business;
    spec.idempotency_key = keys.idempotency;
    spec.concurrency = keys.concurrency.map(|key| ratchet_store::model::ConcurrencyKey {
        key,
        limit: def.concurrency_limit.unwrap_or(1),
    });
    order::apply(&mut spec, def.order);
    Ok(spec)
}

/// Refuses a lifetime of an idempotency key that is zero, or that belongs to no key.
pub(super) fn check_lifetime(
    job: &str,
    has_key: bool,
    lifetime: Option<Duration>,
) -> Result<(), SubmitError> {
    let problem = match lifetime {
        Some(Duration::ZERO) => "`within` must be longer than zero",
        Some(_) if !has_key => "`within` needs an `idempotency_key` that expires",
        _ => return Ok(()),
    };
    Err(SubmitError::BadOption { job: brief(job), problem: problem.to_owned() })
}

/// Lists the arguments that have their default value, so that they do not count when a repeated idempotency key is
/// compared.
pub(super) fn leave_out_defaults<J: Job>(job: &mut NewJob) {
    Defaults { args: J::ARGS, encode: J::encode_defaults }.leave_out(job);
}

/// The arguments of a job, and how to write their default values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Defaults {
    pub(super) args: &'static [ArgDef],
    pub(super) encode: fn(&mut Encoder),
}

impl Defaults {
    /// See [`leave_out_defaults`].
    pub(super) fn leave_out(self, job: &mut NewJob) {
        let has_defaults = self.args.iter().any(|arg| arg.has_default);
        if has_defaults && job.repeat_check == RepeatCheck::Arguments {
            leave_out(job, self.encode);
        }
    }
}

fn leave_out(job: &mut NewJob, encode_defaults: fn(&mut Encoder)) {
    let mut defaults = Encoder::new();
    // A default that panics or cannot be encoded counts like any other value.
    if catch_panic(|| encode_defaults(&mut defaults)).is_err() {
        return;
    }
    let Ok(defaults) = defaults.finish() else { return };
    let equal = equal_fields(&defaults, &job.spec.payload);
    if !equal.is_empty() {
        job.repeat_check = RepeatCheck::WithoutDefaults(equal);
    }
}

/// Returns the keys of an object whose values are the same in another one.
fn equal_fields(object: &[u8], other: &[u8]) -> Vec<String> {
    fn fields(json: &[u8]) -> BTreeMap<String, &RawValue> {
        serde_json::from_slice(json).unwrap_or_default()
    }
    let text = |value: &RawValue| canonical(value.get().as_bytes(), &[]).ok();
    let other = fields(other);
    let is_equal = |key: &String, value: &RawValue| {
        other.get(key).is_some_and(|other| text(other).is_some_and(|it| Some(it) == text(value)))
    };
    let equal = fields(object).into_iter().filter(|(key, value)| is_equal(key, value));
    equal.map(|(key, _)| key).collect()
}

/// Checks a job after the options of the submit were applied, and sets the boost of its queue.
pub(super) fn check(core: &Core, spec: &mut JobSpec) -> Result<(), SubmitError> {
    limits::check_spec(spec).map_err(|error| SubmitError::limit(&spec.name, &error))?;
    protect(core, spec)?;
    // The arguments are wrapped in an object, which adds one level.
    if nesting::is_deeper(&spec.payload, limits::DEPTH + 1) {
        return Err(SubmitError::TooDeep { job: spec.name.clone(), limit: limits::DEPTH });
    }
    let problem = if let Some(problem) = order::problem(spec) {
        Some(problem)
    } else if spec.options.timeout.is_zero() {
        Some("`timeout` must be longer than zero")
    } else if spec.expires.is_some_and(Deadline::is_zero) {
        Some("`expires_in` must be longer than zero, or the job would never run")
    } else if spec.retry_until.is_some_and(Deadline::is_zero) {
        Some("`retry_within` must be longer than zero; `max_retries(0)` forbids retries")
    } else if spec.concurrency.as_ref().is_some_and(|key| key.limit == 0) {
        Some("the limit of its concurrency key must be at least 1, or the job would never run")
    } else {
        None
    };
    if let Some(problem) = problem.map(str::to_owned) {
        return Err(SubmitError::BadOption { job: spec.name.clone(), problem });
    }
    if !core.config.allows(&spec.queue, &spec.name) {
        return Err(SubmitError::NotAllowed { job: spec.name.clone(), queue: spec.queue.clone() });
    }
    spec.boost = core.config.boost(&spec.queue);
    for callback in [&mut spec.on_success, &mut spec.on_failure].into_iter().flatten() {
        check(core, callback)?;
    }
    Ok(())
}

/// Refuses a job that is too large in the store, whose arguments look like an envelope, or that no key protects.
fn protect(core: &Core, spec: &mut JobSpec) -> Result<(), SubmitError> {
    if Envelope::is_reserved(&spec.payload) {
        let problem = "an argument is called `$ratchet`, which is reserved".to_owned();
        return Err(SubmitError::BadOption { job: spec.name.clone(), problem });
    }
    core.mark_confidential(spec);
    let key = |error| SubmitError::Key { job: spec.name.clone(), error };
    let overhead = core.protector.as_ref().map(|protector| protector.overhead(spec));
    let added = overhead.transpose().map_err(key)?.unwrap_or(0);
    let (size, limit) = (size(spec) + added, core.config.payload_limit);
    if size > limit {
        return Err(SubmitError::TooLarge { job: spec.name.clone(), size, limit });
    }
    Ok(())
}

/// Returns the number of bytes that count toward `payload_limit`.
fn size(spec: &JobSpec) -> usize {
    let ids = [&spec.tenant, &spec.correlation_id].into_iter().flatten();
    spec.payload.len() + spec.tags.iter().chain(ids).map(String::len).sum::<usize>()
}
