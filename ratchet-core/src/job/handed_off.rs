//! [`HandedOff`]: the argument of a job that accepts a pipeline, and [`OnFull`]: how a publisher reacts to a full one.

use jiff::Timestamp;
use ratchet_store::model::JobId;
use serde::{Deserialize, Serialize};

/// A hand-off as the job that accepts its pipeline receives it: the one stored argument of that job.
///
/// ```
/// # mod ratchet { pub use ratchet_core as definition; }
/// use ratchet::definition::HandedOff;
///
/// #[derive(serde::Deserialize)]
/// struct Page {
///     url: String,
/// }
///
/// async fn index(page: HandedOff<Page>) {
///     println!("{}: {}", page.key, page.checkpoint.url);
/// }
/// # let _ = index;
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HandedOff<T> {
    /// The name of the pipeline.
    pub pipeline: String,
    /// The key of the hand-off, under which it is admitted once.
    pub key: String,
    /// The job that handed it over.
    pub from: JobId,
    /// When it was handed over.
    pub at: Timestamp,
    /// The data handed over.
    pub checkpoint: T,
}

/// What a job that hands off to a pipeline does if the pipeline is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFull {
    /// The run is deferred before its handler is called. It uses no attempt.
    #[default]
    Wait,
    /// The handler is called, and `ctx.hand_off(…)` returns [`KeepError::PipelineFull`](crate::KeepError::PipelineFull).
    Fail,
}

/// An argument that can take a hand-off: [`HandedOff`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot take a hand-off",
    label = "expected `HandedOff<…>`",
    note = "a job with `accepts` takes one stored argument, such as `page: HandedOff<Page>`, where `Page` is what was passed to `ctx.hand_off(…)`"
)]
pub trait TakesHandOff {}

impl<T> TakesHandOff for HandedOff<T> {}

/// Returns the name of an accepted pipeline. Only this function requires [`TakesHandOff`].
pub const fn accepted<T: TakesHandOff>(pipeline: &'static str) -> &'static str {
    pipeline
}
