//! From an invocation to a row: the checks of every submit, in one place.

use crate::events::JobRef;
use crate::graph::GraphError;
use crate::job::{EncodeError, Encoder, Job, JobDef};
use crate::model::{GroupId, InsertError, JobId, JobSpec, NewGraph, TakenKey};
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
    /// The arguments are larger than the store is meant to hold.
    #[error(
        "cannot enqueue `{job}`: its arguments take {size} bytes, the limit is {limit}; \
         pass a reference to the data instead, or raise `payload_limit`"
    )]
    TooLarge {
        /// The job.
        job: String,
        /// The size of its arguments.
        size: usize,
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

/// Encodes and checks an invocation.
pub(super) fn spec<J: Job>(job: &J) -> Result<JobSpec, SubmitError> {
    let def = &J::DEF;
    job.validate().map_err(|why| SubmitError::Refused { job: def.name, why })?;
    let mut args = Encoder::new();
    job.encode(&mut args);
    let payload = args.finish().map_err(|source| SubmitError::Encode { job: def.name, source })?;
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
    let bad = |problem: &str| {
        Err(SubmitError::BadOption { job: spec.name.clone(), problem: problem.to_owned() })
    };
    let limit = core.config.payload_limit;
    if spec.payload.len() > limit {
        return Err(SubmitError::TooLarge {
            job: spec.name.clone(),
            size: spec.payload.len(),
            limit,
        });
    }
    if !is_name(&spec.queue) {
        return bad(
            "the name of a queue holds letters, digits and `_ - . / :` only, at most 200 of them",
        );
    }
    if spec.options.timeout.is_zero() {
        return bad("`timeout` is longer than zero");
    }
    for (what, key) in [("business", &spec.business_key), ("idempotency", &spec.idempotency_key)] {
        if !key.as_ref().is_none_or(|key| is_key(key)) {
            return bad(&format!("a {what} key has between 1 and {MAX_KEY} bytes and no NUL"));
        }
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

/// The longest key, in bytes: what every store can index.
pub(super) const MAX_KEY: usize = 1000;

/// Whether a text can be a key.
pub(super) fn is_key(key: &str) -> bool {
    !key.is_empty() && key.len() <= MAX_KEY && !key.contains('\0')
}

/// Whether a text can name a job or a queue.
pub(crate) fn is_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/' | b':');
    !name.is_empty() && name.len() <= JobDef::MAX_NAME && name.bytes().all(fits)
}
