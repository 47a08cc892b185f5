//! The return value of a job: `()`, a value, or a `Result` with any of the usual error types.
//!
//! The spelling of the return type does not matter. Whether it is a `Result` is determined from the type itself: an
//! inherent constant of [`Probe`] shadows the one of [`ProbeFallback`] exactly if the type is a `Result`. The constant
//! selects the implementation of [`ReturnShape`] through a const parameter, so the two implementations never overlap.

use std::error::Error;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::domain_failure::is_domain_failure;
use crate::failure::{HandlerError, JobError};
use ratchet_store::model::nesting;

/// The result of a run: the output as JSON, or the error that the handler returned.
pub(crate) type Returned = Result<Output, HandlerError>;

/// The future of one run. Boxed, so that the [`Job`](super::Job) trait stays simple and cheap to compile.
#[derive(Debug)]
pub struct RunFuture {
    pub(crate) work: Work,
}

/// How a run is executed.
pub(crate) enum Work {
    /// Polled on the runtime of the handlers.
    Async(Pin<Box<dyn Future<Output = Returned> + Send>>),
    /// Called on a thread that may block.
    Blocking(Box<dyn FnOnce() -> Returned + Send>),
}

impl std::fmt::Debug for Work {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Async(_) => "Async",
            Self::Blocking(_) => "Blocking",
        })
    }
}

/// The return value of a job, as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// The value; `None` for `()` and `null`.
    Json(Option<String>),
    /// The value, which is the `Err` of a `Result`. The job still succeeded.
    DomainFailure(String),
    /// The value could not be serialized, for this reason. The job still succeeded.
    Unserializable(String),
}

/// Determines whether a return type is a `Result`.
#[derive(Debug)]
pub struct Probe<R>(PhantomData<R>);

impl<T, E> Probe<Result<T, E>> {
    /// The type is a `Result`.
    pub const FALLIBLE: bool = true;
}

/// The fallback of [`Probe`] for all other types.
pub trait ProbeFallback {
    /// The type is not a `Result`.
    const FALLIBLE: bool = false;
}

impl<R> ProbeFallback for Probe<R> {}

/// The output of a return type: `T` for a `Result<T, E>`, otherwise the type itself. Intentionally without bounds.
pub trait ReturnShape<const FALLIBLE: bool> {
    /// The type that `handle.wait()` returns.
    type Output;
}

impl<T> ReturnShape<false> for T {
    type Output = T;
}

impl<T, E> ReturnShape<true> for Result<T, E> {
    type Output = T;
}

/// A return type that can be converted to an output or an error.
///
/// The marker `M` distinguishes the implementations: [`Plain`] for a value, [`Fallible`] for a `Result`. For a plain
/// value, rustc reports errors on this trait. For a `Result`, it reports them on the traits of its two types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a job",
    label = "this type cannot be stored and read back",
    note = "a job's result is saved as JSON: it must implement `serde::Serialize` and `serde::Deserialize`, and be `Send + 'static`",
    note = "return `()` if the result is not needed"
)]
pub trait JobReturn<const FALLIBLE: bool, M>: 'static {
    /// Converts the value.
    fn into_returned(self) -> Returned;
}

/// Marker of `JobReturn`: a plain value.
#[derive(Debug)]
pub struct Plain;

/// Marker of `JobReturn`: a `Result` whose error is converted with `M`.
#[derive(Debug)]
pub struct Fallible<M>(PhantomData<M>);

/// A value that a job can return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a job",
    label = "this type cannot be stored and read back",
    note = "a job's result is saved as JSON: it must implement `serde::Serialize` and `serde::Deserialize`, and be `Send + 'static`",
    note = "return `()` if the result is not needed"
)]
pub trait JobOutput: Sized + Send + 'static {
    #[doc(hidden)]
    fn into_output(self) -> Output;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> JobOutput for T {
    fn into_output(self) -> Output {
        let mut json = Vec::new();
        match nesting::write(&mut json, &self) {
            Ok(()) if json == b"null" => Output::Json(None),
            Ok(()) => match String::from_utf8(json) {
                Ok(json) if is_domain_failure(&self) => Output::DomainFailure(json),
                Ok(json) => Output::Json(Some(json)),
                Err(error) => Output::Unserializable(error.to_string()),
            },
            Err(error) => Output::Unserializable(error.to_string()),
        }
    }
}

impl<T: JobOutput> JobReturn<false, Plain> for T {
    fn into_returned(self) -> Returned {
        Ok(self.into_output())
    }
}

impl<T: JobOutput, E: IntoFailure<M>, M: 'static> JobReturn<true, Fallible<M>> for Result<T, E> {
    fn into_returned(self) -> Returned {
        match self {
            Ok(value) => Ok(value.into_output()),
            Err(error) => Err(error.into_handler_error()),
        }
    }
}

/// An error that a job can return.
///
/// The marker parameter `M` exists because `impl<E: Error>` and `impl for anyhow::Error` would overlap. Each
/// implementation keeps the original error, so that its source chain can be inspected.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a job",
    label = "this error type does not convert into `ratchet::JobError`",
    note = "any `std::error::Error + Send + Sync + 'static` works, and so do `Box<dyn Error + Send + Sync>` and, behind features, `anyhow::Error` and `eyre::Report`"
)]
pub trait IntoFailure<M>: Send + 'static {
    /// Converts the error for the engine.
    fn into_handler_error(self) -> HandlerError;
}

/// Marker of [`IntoFailure`]: any standard error.
#[derive(Debug)]
pub struct ViaError;

/// Marker of [`IntoFailure`]: a boxed error.
#[derive(Debug)]
pub struct ViaBox;

/// Marker of [`IntoFailure`]: the library's own [`JobError`].
#[derive(Debug)]
pub struct ViaJobError;

/// Marker of [`IntoFailure`]: `anyhow::Error`.
#[cfg(feature = "anyhow")]
#[derive(Debug)]
pub struct ViaAnyhow;

/// Marker of [`IntoFailure`]: `eyre::Report`.
#[cfg(feature = "eyre")]
#[derive(Debug)]
pub struct ViaEyre;

#[diagnostic::do_not_recommend]
impl<E: Error + Send + Sync + 'static> IntoFailure<ViaError> for E {
    fn into_handler_error(self) -> HandlerError {
        HandlerError::typed(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoFailure<ViaBox> for Box<dyn Error + Send + Sync> {
    fn into_handler_error(self) -> HandlerError {
        HandlerError::boxed(self)
    }
}

#[diagnostic::do_not_recommend]
impl IntoFailure<ViaJobError> for JobError {
    fn into_handler_error(self) -> HandlerError {
        self.into_handler_error()
    }
}

#[diagnostic::do_not_recommend]
#[cfg(feature = "anyhow")]
impl IntoFailure<ViaAnyhow> for anyhow::Error {
    fn into_handler_error(self) -> HandlerError {
        HandlerError::anyhow(self)
    }
}

#[diagnostic::do_not_recommend]
#[cfg(feature = "eyre")]
impl IntoFailure<ViaEyre> for eyre::Report {
    fn into_handler_error(self) -> HandlerError {
        HandlerError::eyre(self)
    }
}

/// Boxes the future of an async job. Only this function requires a suitable return type and `Send`.
pub fn run<const FALLIBLE: bool, R, M, F>(future: F) -> RunFuture
where
    F: Future<Output = R> + Send + 'static,
    R: JobReturn<FALLIBLE, M>,
    M: 'static,
{
    // Compiled once per job. All other code depends only on the return type and is shared.
    returning(Box::pin(future))
}

fn returning<const FALLIBLE: bool, R: JobReturn<FALLIBLE, M>, M>(
    future: Pin<Box<dyn Future<Output = R> + Send>>,
) -> RunFuture
where
    M: 'static,
{
    RunFuture {
        work: Work::Async(Box::pin(Returning::<FALLIBLE, R, M> { future, by: PhantomData })),
    }
}

/// The user's future with its output converted.
struct Returning<const FALLIBLE: bool, R, M> {
    future: Pin<Box<dyn Future<Output = R> + Send>>,
    by: PhantomData<fn() -> M>,
}

impl<const FALLIBLE: bool, R: JobReturn<FALLIBLE, M>, M> Future for Returning<FALLIBLE, R, M> {
    type Output = Returned;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Returned> {
        self.future.as_mut().poll(cx).map(R::into_returned)
    }
}

/// Boxes the call of a `#[job(blocking)]` function.
pub fn run_blocking<const FALLIBLE: bool, R, M, F>(call: F) -> RunFuture
where
    F: FnOnce() -> R + Send + 'static,
    R: JobReturn<FALLIBLE, M>,
{
    RunFuture { work: Work::Blocking(Box::new(move || call().into_returned())) }
}
