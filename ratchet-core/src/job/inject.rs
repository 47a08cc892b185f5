//! Arguments that come from the runtime instead of the stored payload.

use std::any::TypeId;

use super::state::{State, short_type_name};
use crate::context::JobContext;

/// A type that the runtime can hand to a job: an argument marked `#[inject]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected",
    label = "the runtime does not know where to take this from",
    note = "`#[inject]` arguments are `JobContext`, `State<T>` for what was registered with `.state(value)`, `Finished<J>` in a callback, or `GroupReport` in the callback of a batch"
)]
pub trait Inject: Sized + Send + 'static {
    /// What must be there for the injection to work; checked when a worker starts.
    fn need() -> Need;

    /// Takes the value for one run.
    fn inject(ctx: &JobContext) -> Result<Self, InjectError>;
}

/// What an injected argument needs from the runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// Nothing: every run has it.
    Nothing,
    /// A registered state.
    State {
        /// The type that must have been registered.
        id: TypeId,
        /// Its name, for the error.
        name: String,
    },
    /// To be run as the callback of a job.
    Finished {
        /// The name of that job; `None` if any will do.
        job: Option<&'static str>,
    },
    /// To be run as the callback of a batch, chain or workflow.
    Group,
}

/// An injected argument of a job, as the registry keeps it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Injection {
    /// The argument.
    pub argument: &'static str,
    /// What it needs.
    pub need: fn() -> Need,
}

/// An injected argument: what the registry keeps of it, and how it is taken.
///
/// Made by [`injected`], the only place that asks for [`Inject`], so that an unfit type is one error.
#[derive(Debug)]
pub struct Injected<T> {
    def: Injection,
    take: fn(&JobContext) -> Result<T, InjectError>,
}

/// The injected argument `argument` of type `T`.
pub const fn injected<T: Inject>(argument: &'static str) -> Injected<T> {
    Injected { def: injection::<T>(argument), take: T::inject }
}

impl<T> Injected<T> {
    /// What the registry keeps of this argument.
    pub const fn def(&self) -> Injection {
        self.def
    }

    /// Takes the value for one run.
    pub fn inject(&self, ctx: &JobContext) -> Result<T, InjectError> {
        (self.take)(ctx)
    }
}

/// The injected argument `argument` of type `T`, as the registry keeps it.
pub const fn injection<T: Inject>(argument: &'static str) -> Injection {
    Injection { argument, need: T::need }
}

/// Takes an injected argument for one run.
pub fn inject<T: Inject>(ctx: &JobContext) -> Result<T, InjectError> {
    T::inject(ctx)
}

/// An injected argument could not be provided.
#[derive(Debug, thiserror::Error)]
#[error("cannot inject `{wanted}`: {why}")]
pub struct InjectError {
    /// The type that was asked for.
    pub wanted: String,
    /// Why it is not there.
    pub why: String,
}

impl Inject for JobContext {
    fn need() -> Need {
        Need::Nothing
    }

    fn inject(ctx: &JobContext) -> Result<Self, InjectError> {
        Ok(ctx.clone())
    }
}

impl<T: Send + Sync + 'static> Inject for State<T> {
    fn need() -> Need {
        Need::State { id: TypeId::of::<T>(), name: short_type_name::<Self>() }
    }

    fn inject(ctx: &JobContext) -> Result<Self, InjectError> {
        ctx.state().ok_or_else(|| InjectError {
            wanted: short_type_name::<Self>(),
            why: "it was not registered; call `.state(value)` on the builder".to_owned(),
        })
    }
}
