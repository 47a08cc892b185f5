//! From an invocation to a row: the checks of every submit, in one place.

use crate::events::JobRef;
use crate::failure::guarded;
use crate::graph::GraphError;
use crate::job::{EncodeError, Encoder, Job};
use crate::model::limits::{self, Field, LimitError};
use crate::model::{GroupId, InsertError, JobId, JobSpec, NewGraph, TakenKey, nesting};
use crate::store::StoreError;

use super::Core;

/// A job was not enqueued; nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// An argument could not be written as JSON.
    #[error("cannot enqueue `{job}`: {source}")]
    Encode {
        /// The job.
        job: &'static str,
        /// Which argument, and why.
        source: EncodeError,
    },
    /// The arguments, with tags, tenant and correlation id, are larger than the store is meant to hold.
    #[error(
        "cannot enqueue `{job}`: its arguments take {size} bytes, the limit is {limit}; \
         pass a reference to the data instead, or raise `payload_limit`"
    )]
    TooLarge {
        /// The job.
        job: String,
        /// The size of its arguments, tags, tenant and correlation id.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// The arguments are nested deeper than they can be read back.
    #[error(
        "cannot enqueue `{job}`: its arguments are nested deeper than {limit} levels; \
         make them flatter, or pass a reference to the data instead"
    )]
    TooDeep {
        /// The job.
        job: String,
        /// The limit.
        limit: usize,
    },
    /// `validate` refused the arguments.
    #[error("cannot enqueue `{job}`: its arguments were refused: {why}")]
    Refused {
        /// The job.
        job: &'static str,
        /// Why.
        why: String,
    },
    /// The queue does not take this job.
    #[error("cannot enqueue `{job}`: it is not on the allow-list of queue `{queue}`")]
    NotAllowed {
        /// The job.
        job: String,
        /// The queue.
        queue: String,
    },
    /// More jobs wait in the queue than may.
    #[error(
        "cannot enqueue `{job}`: {depth} jobs wait in queue `{queue}`, the limit is {limit}; try again later"
    )]
    QueueFull {
        /// The job.
        job: String,
        /// The queue.
        queue: String,
        /// How many jobs wait in it.
        depth: u64,
        /// How many may.
        limit: u64,
    },
    /// An option that cannot work.
    #[error("cannot enqueue `{job}`: {problem}")]
    BadOption {
        /// The job.
        job: String,
        /// What is wrong.
        problem: String,
    },
    /// The job takes the output of another and was enqueued on its own.
    #[error(
        "cannot enqueue `{job}` on its own: its argument `{argument}` takes the output of a step before; make it a step of a chain or workflow"
    )]
    NeedsParent {
        /// The job.
        job: &'static str,
        /// The argument.
        argument: &'static str,
    },
    /// A live job holds the business key.
    #[error(
        "cannot enqueue `{job}`: business key `{key}` is held by job {holder}; `.or_existing()` answers with that job"
    )]
    BusinessKeyTaken {
        /// The job.
        job: String,
        /// The key.
        key: String,
        /// Who holds it.
        holder: JobId,
    },
    /// Live jobs hold business keys of a bulk; nothing of it was stored.
    #[error("cannot enqueue {} jobs: their business keys are taken", .0.len())]
    BusinessKeysTaken(Vec<TakenKey>),
    /// The idempotency key was used before for something else.
    #[error(
        "cannot enqueue `{job}`: idempotency key `{key}` was used before for another job or other arguments ({original})"
    )]
    IdempotencyMismatch {
        /// The job, or the chain, batch or workflow.
        job: String,
        /// The key.
        key: String,
        /// The job that used it first; of a graph, the id of its group.
        original: JobId,
    },
    /// A job of this id exists already.
    #[error("a job with the id {0} exists already")]
    DuplicateId(JobId),
    /// The run whose context was used has ended: its children commit with it, and it has been settled.
    #[error(
        "cannot enqueue through the context of job {0}: its run is over; use the runtime itself"
    )]
    RunOver(JobId),
    /// A chain, batch or workflow that cannot work.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A step stands for a job that exists already.
    #[error(
        "cannot submit step `{job}`: its key belongs to job {original}, which exists already; nobody can wait for it here"
    )]
    StepExists {
        /// The step.
        job: String,
        /// The job that has its key.
        original: JobId,
    },
    /// There is no such group to add to.
    #[error("cannot add to group {0}: there is no such group")]
    GroupNotFound(GroupId),
    /// The group takes no more members.
    #[error("cannot add to group {0}: it is sealed, or was called off")]
    GroupSealed(GroupId),
    /// The store failed.
    #[error("cannot enqueue: {0}")]
    Store(#[from] StoreError),
}

impl SubmitError {
    /// Says that something about a job or a graph is beyond its limit.
    pub(super) fn limit(job: &str, error: &LimitError) -> Self {
        Self::BadOption { job: limits::brief(job), problem: error.to_string() }
    }

    /// Says why one job was not inserted in words of its submit: for stores that insert in a caller's own transaction.
    pub fn refused(error: InsertError, job: &str) -> Self {
        Self::from_insert(error, |_| job.to_owned(), true)
    }

    /// Says why a graph was not inserted in words of its submit: for stores that insert in a caller's own transaction.
    pub fn refused_graph(error: InsertError, graph: &NewGraph) -> Self {
        let name = graph.root().map(|root| root.name.as_str()).unwrap_or_default();
        Self::from_graph(error, &JobRef::of_all(&graph.jobs), name)
    }

    /// Says why jobs of a graph of this name were not inserted.
    pub(super) fn from_graph(error: InsertError, jobs: &[JobRef], name: &str) -> Self {
        let name_of = |wanted| {
            let found = jobs.iter().find(|job| job.id == wanted);
            found.map_or_else(|| name.to_owned(), |job| job.name.to_string())
        };
        Self::from_insert(error, name_of, false)
    }

    /// Says an insert error in words of the submit.
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

/// A message of at most as many bytes as one may have.
fn cut(mut message: String) -> String {
    if message.len() > limits::MESSAGE {
        message.truncate(message.floor_char_boundary(limits::MESSAGE));
        message.push('…');
    }
    message
}

/// Encodes and checks an invocation.
pub(super) fn spec<J: Job>(job: &J) -> Result<JobSpec, SubmitError> {
    let def = &J::DEF;
    // Whatever a validator does, a submit is refused with an error that can be shown.
    let valid = guarded(|| job.validate());
    let valid =
        valid.unwrap_or_else(|panic| Err(format!("its validator panicked: {}", panic.message)));
    valid.map_err(|why| SubmitError::Refused { job: def.name, why: cut(why) })?;
    let mut args = Encoder::new();
    job.encode(&mut args);
    let payload = args.finish().map_err(|source| {
        if nesting::is_too_deep(&source.source) {
            SubmitError::TooDeep { job: def.name.to_owned(), limit: limits::DEPTH }
        } else {
            SubmitError::Encode { job: def.name, source }
        }
    })?;
    let mut spec = Core::spec_with_callbacks(def, payload);
    let keys = job.keys();
    spec.business_key = keys.business;
    spec.idempotency_key = keys.idempotency;
    spec.concurrency = keys
        .concurrency
        .map(|key| crate::model::ConcurrencyKey { key, limit: def.concurrency_limit.unwrap_or(1) });
    Ok(spec)
}

/// Checks what the options of a submit may have made of a job, and fills in what its queue decides.
pub(super) fn check(core: &Core, spec: &mut JobSpec) -> Result<(), SubmitError> {
    limits::check_spec(spec).map_err(|error| SubmitError::limit(&spec.name, &error))?;
    let (size, limit) = (size(spec), core.config.payload_limit);
    if size > limit {
        return Err(SubmitError::TooLarge { job: spec.name.clone(), size, limit });
    }
    // The arguments stand in an object: one level more than each may have.
    if nesting::is_deeper(&spec.payload, limits::DEPTH + 1) {
        return Err(SubmitError::TooDeep { job: spec.name.clone(), limit: limits::DEPTH });
    }
    if spec.options.timeout.is_zero() {
        let problem = "`timeout` is longer than zero".to_owned();
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

/// What counts towards `payload_limit`.
fn size(spec: &JobSpec) -> usize {
    let ids = [&spec.tenant, &spec.correlation_id].into_iter().flatten();
    spec.payload.len() + spec.tags.iter().chain(ids).map(String::len).sum::<usize>()
}

/// Whether a text can name a job or a queue.
pub(crate) fn is_name(name: &str) -> bool {
    limits::check(Field::Queue, name).is_ok()
}
