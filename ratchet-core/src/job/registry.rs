//! The registry of all jobs of a program.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use super::JobContext;
use super::{
    DecodeError, Decoder, EncodeError, Encoder, Handler, InjectError, Job, JobDef, Keys, RunFuture,
    Secrecy, TypeTrace, secrets_of,
};

/// A registered job: its definition, and how to decode and run a stored invocation.
#[derive(Clone, Copy)]
pub struct Registration {
    /// The static definition of the job.
    pub def: JobDef,
    decode: Decode,
    submission: fn(&mut Decoder<'_>) -> Result<Submission, DecodeError>,
    encode_defaults: fn(&mut Encoder),
    output: TypeTrace,
    body: Body,
}

/// Decodes the arguments of a version.
type Decode = fn(u32, &mut Decoder<'_>) -> Result<Box<dyn Prepared>, DecodeError>;

/// An invocation that was read from JSON, as it is submitted.
#[derive(Debug)]
pub(crate) struct Submission {
    /// The result of the `validate` function.
    pub(crate) valid: Result<(), String>,
    pub(crate) payload: Result<Vec<u8>, EncodeError>,
    pub(crate) keys: Keys,
}

/// Compiled once per job, like [`decode`].
fn submission<J: Job>(args: &mut Decoder<'_>) -> Result<Submission, DecodeError> {
    let job = J::decode(args)?;
    let mut payload = Encoder::new();
    job.encode(&mut payload);
    Ok(Submission { valid: job.validate(), payload: payload.finish(), keys: job.keys() })
}

/// Where the function of a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    /// The job is declared with its function.
    Inline,
    /// The job is declared without a body, and this is the declaration.
    Absent,
    /// The job is declared without a body, and this is an implementation of it.
    Elsewhere,
}

impl Registration {
    /// Creates the registration of `J`. Const, because `inventory` collects constants.
    pub const fn of<J: Job>() -> Self {
        Self {
            def: J::DEF,
            decode: decode::<J>,
            submission: submission::<J>,
            encode_defaults: J::encode_defaults,
            output: J::OUTPUT,
            body: Body::Inline,
        }
    }

    /// Creates the registration of a job that is declared without a body.
    pub const fn declared<J: Job>() -> Self {
        Self { body: Body::Absent, ..Self::of::<J>() }
    }

    /// Creates the registration of an implementation.
    pub const fn implementing<H: Handler>() -> Self {
        Self { def: H::DEF, decode: decode_for::<H>, body: Body::Elsewhere, ..Self::of::<H::Job>() }
    }

    /// Returns `false` if the job is declared without a body, so that this program can enqueue it but not run it.
    pub const fn is_implemented(&self) -> bool {
        !matches!(self.body, Body::Absent)
    }

    /// Returns `true` if one of the two is a declaration and the other its implementation.
    fn is_pair(&self, other: &Self) -> bool {
        matches!(
            (self.body, other.body),
            (Body::Absent, Body::Elsewhere) | (Body::Elsewhere, Body::Absent)
        )
    }

    /// Returns the keys of a stored payload.
    pub(crate) fn keys(&self, payload: &[u8]) -> Result<Keys, DecodeError> {
        self.submission(payload, |_| {}).map(|submission| submission.keys)
    }

    /// Reads an invocation from JSON. Calls `ignored` with the fields that no argument takes.
    pub(crate) fn submission(
        &self,
        payload: &[u8],
        ignored: impl FnOnce(Vec<String>),
    ) -> Result<Submission, DecodeError> {
        let mut decoder = Decoder::new(payload)?;
        let submission = (self.submission)(&mut decoder)?;
        ignored(decoder.left());
        Ok(submission)
    }

    /// Returns how the JSON shape of the output is traced.
    pub const fn output(&self) -> TypeTrace {
        self.output
    }

    /// Returns whether an invocation with this payload is encrypted by every runtime with encryption keys: its definition
    /// says so, or it has or returns a secret.
    pub(crate) fn is_confidential(&self, payload: &[u8]) -> bool {
        self.def.is_confidential()
            || self.output.secrecy() == Secrecy::Some
            || !secrets_of(&self.def, payload).is_empty()
    }

    /// Writes the default values of the arguments.
    pub(crate) fn encode_defaults(&self) -> fn(&mut Encoder) {
        self.encode_defaults
    }

    /// Decodes and validates a stored payload of the present version.
    pub fn prepare(&self, payload: &[u8]) -> Result<Box<dyn Prepared>, PrepareError> {
        self.prepare_version(self.def.version, payload)
    }

    /// Decodes and validates a stored payload. Upgrades it if its version is older.
    pub fn prepare_version(
        &self,
        version: u32,
        payload: &[u8],
    ) -> Result<Box<dyn Prepared>, PrepareError> {
        self.prepare_with(version, payload, |_| {})
    }

    /// Like [`Self::prepare_version`]. Calls `ignored` with the stored fields that no argument takes.
    pub(crate) fn prepare_with(
        &self,
        version: u32,
        payload: &[u8],
        ignored: impl FnOnce(Vec<String>),
    ) -> Result<Box<dyn Prepared>, PrepareError> {
        let prepared = self.decode_with(version, payload, ignored)?;
        prepared.validate().map_err(PrepareError::Refused)?;
        Ok(prepared)
    }

    /// Decodes a stored payload without validating it.
    pub(crate) fn decode_with(
        &self,
        version: u32,
        payload: &[u8],
        ignored: impl FnOnce(Vec<String>),
    ) -> Result<Box<dyn Prepared>, DecodeError> {
        let mut decoder = Decoder::new(payload)?;
        let prepared = (self.decode)(version, &mut decoder)?;
        let mut left = decoder.left();
        if !left.is_empty() {
            if self.def.strict {
                return Err(DecodeError::Unknown { field: left.swap_remove(0) });
            }
            ignored(left);
        }
        Ok(prepared)
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("name", &self.def.name)
            .field("at", &self.def.location)
            .finish_non_exhaustive()
    }
}

inventory::collect!(Registration);

/// A decoded invocation that is ready to run. It is run on the thread that decoded it; what [`run`](Self::run) returns
/// may be run on another.
pub trait Prepared {
    /// Returns an error for arguments that can never succeed.
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }

    /// Injects the `#[inject]` arguments and calls the function.
    fn run(self: Box<Self>, ctx: JobContext) -> Result<RunFuture, InjectError>;
}

struct Invocation<J>(J);

impl<J: Job> Prepared for Invocation<J> {
    fn validate(&self) -> Result<(), String> {
        self.0.validate()
    }

    fn run(self: Box<Self>, ctx: JobContext) -> Result<RunFuture, InjectError> {
        self.0.run(ctx)
    }
}

/// Compiled once per job, so it contains only code that depends on the job's type.
fn decode<J: Job>(version: u32, args: &mut Decoder<'_>) -> Result<Box<dyn Prepared>, DecodeError> {
    match J::upgrade(version, args).unwrap_or_else(|| J::decode(args)) {
        Ok(job) => Ok(Box::new(Invocation(job))),
        Err(error) => Err(error),
    }
}

/// An invocation of a job that another crate implements.
struct Implemented<H: Handler>(H::Job);

impl<H: Handler> Prepared for Implemented<H> {
    fn validate(&self) -> Result<(), String> {
        self.0.validate()
    }

    fn run(self: Box<Self>, ctx: JobContext) -> Result<RunFuture, InjectError> {
        H::run(self.0, ctx)
    }
}

fn decode_for<H: Handler>(
    version: u32,
    args: &mut Decoder<'_>,
) -> Result<Box<dyn Prepared>, DecodeError> {
    match H::Job::upgrade(version, args).unwrap_or_else(|| H::Job::decode(args)) {
        Ok(job) => Ok(Box::new(Implemented::<H>(job))),
        Err(error) => Err(error),
    }
}

/// The error returned when a stored invocation can never run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The payload does not match the arguments.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The job's `validate` function refused the arguments.
    #[error("the arguments were refused: {0}")]
    Refused(String),
}

/// Finds jobs by their stored names.
///
/// The default is the [`Registry`] of all jobs registered by `#[job]`. Tests and plugins can supply their own.
pub trait JobInvocationResolver: Send + Sync + fmt::Debug + 'static {
    /// Returns the job whose name or alias is `name`.
    fn resolve(&self, name: &str) -> Option<Registration>;

    /// Returns all jobs, ordered by name.
    fn all(&self) -> Vec<Registration>;
}

/// The jobs of a program, by name and alias.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    by_name: Arc<BTreeMap<&'static str, Registration>>,
}

impl Registry {
    /// Creates a registry of all jobs that `#[job]` registered in this program and its linked crates.
    pub fn collect() -> Result<Self, RegistryError> {
        Self::new(inventory::iter::<Registration>().copied())
    }

    /// Creates a registry of exactly these jobs.
    pub fn new(jobs: impl IntoIterator<Item = Registration>) -> Result<Self, RegistryError> {
        let mut by_name = BTreeMap::<&'static str, Registration>::new();
        let mut clashes = BTreeMap::<&'static str, Vec<Registration>>::new();
        for job in jobs {
            for name in job.def.names() {
                match by_name.get(name) {
                    // A declaration and its implementation are one job.
                    Some(first) if first.def.name == job.def.name && first.is_pair(&job) => {
                        if job.is_implemented() {
                            by_name.insert(name, job);
                        }
                    }
                    Some(first) => {
                        clashes.entry(name).or_insert_with(|| vec![*first]).push(job);
                    }
                    None => drop(by_name.insert(name, job)),
                }
            }
        }
        if clashes.is_empty() {
            Ok(Self { by_name: Arc::new(by_name) })
        } else {
            Err(RegistryError::new(clashes))
        }
    }
}

impl JobInvocationResolver for Registry {
    fn resolve(&self, name: &str) -> Option<Registration> {
        self.by_name.get(name).copied()
    }

    fn all(&self) -> Vec<Registration> {
        self.by_name
            .iter()
            .filter(|(name, job)| **name == job.def.name)
            .map(|(_, job)| *job)
            .collect()
    }
}

/// The error returned when several jobs have the same name or alias.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RegistryError {
    /// The names that are used more than once, in order.
    pub names: Vec<&'static str>,
    message: String,
}

impl RegistryError {
    fn new(mut clashes: BTreeMap<&'static str, Vec<Registration>>) -> Self {
        let twice = |jobs: &Vec<Registration>| jobs.iter().all(|job| job.body == Body::Elsewhere);
        let mut message = String::from(if clashes.values().all(twice) {
            "a declared job must have one implementation; remove all but one:"
        } else {
            "several jobs answer to one name; set `name = \"…\"` on all but one:"
        });
        for (name, jobs) in &mut clashes {
            // The linker does not guarantee an order of registrations.
            jobs.sort_by_key(|job| job.def.location);
            let places: Vec<_> = jobs
                .iter()
                .map(|Registration { def: job, .. }| {
                    if job.name == *name {
                        job.location.to_string()
                    } else {
                        format!("{} (alias of `{}`)", job.location, job.name)
                    }
                })
                .collect();
            let _ = write!(message, "\n  `{name}`: {}", places.join(" and "));
        }
        Self { names: clashes.into_keys().collect(), message }
    }
}
