//! Arguments that the runtime injects instead of the stored payload.

use std::any::TypeId;

use super::JobContext;
use super::state::{State, short_type_name};

/// A type that the runtime can inject into a job: the type of an argument marked `#[inject]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be injected",
    label = "the runtime does not know where to take this from",
    note = "`#[inject]` arguments are `JobContext`, `State<T>` or `Option<State<T>>` for what was registered with `.state(value)`, `Finished<J>` in a callback, or `GroupReport` in the callback of a batch"
)]
pub trait Inject: Sized + 'static {
    /// Returns the requirement of the injection. It is checked when a worker has started.
    fn need() -> InjectRequirement;

    /// Returns the value for one run.
    fn inject(ctx: &JobContext) -> Result<Self, InjectError>;
}

/// The requirement of an injected argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InjectRequirement {
    /// None: every run can inject it.
    Nothing,
    /// A registered state.
    State {
        /// The type that must be registered.
        id: TypeId,
        /// The name of the type, for the error message.
        name: String,
    },
    /// The job must run as the callback of a job.
    Finished {
        /// The name of that job; `None` for any job.
        job: Option<&'static str>,
    },
    /// The job must run as the callback of a batch, chain or workflow.
    Group,
}

/// The registry's description of an injected argument.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Injection {
    /// The name of the argument.
    pub argument: &'static str,
    /// Returns the requirement of the argument.
    pub need: fn() -> InjectRequirement,
}

/// An injected argument.
///
/// Created by [`injected`]. Only that function requires [`Inject`], so that an unsuitable type causes a single error.
#[derive(Debug)]
pub struct Injected<T> {
    def: Injection,
    take: fn(&JobContext) -> Result<T, InjectError>,
}

/// Creates the injected argument `argument` of type `T`.
pub const fn injected<T: Inject>(argument: &'static str) -> Injected<T> {
    Injected { def: injection::<T>(argument), take: T::inject }
}

impl<T> Injected<T> {
    /// Returns the registry's description of the argument.
    pub const fn def(&self) -> Injection {
        self.def
    }

    /// Returns the value for one run.
    pub fn inject(&self, ctx: &JobContext) -> Result<T, InjectError> {
        (self.take)(ctx)
    }
}

/// Creates the registry's description of the injected argument `argument` of type `T`.
pub const fn injection<T: Inject>(argument: &'static str) -> Injection {
    Injection { argument, need: T::need }
}

/// Returns the value of an injected argument for one run.
pub fn inject<T: Inject>(ctx: &JobContext) -> Result<T, InjectError> {
    T::inject(ctx)
}

/// The error returned when an argument cannot be injected.
#[derive(Debug, thiserror::Error)]
#[error("cannot inject `{wanted}`: {why}")]
pub struct InjectError {
    /// The requested type.
    pub wanted: String,
    /// The reason, for the error message.
    pub why: String,
}

impl Inject for JobContext {
    fn need() -> InjectRequirement {
        InjectRequirement::Nothing
    }

    fn inject(ctx: &JobContext) -> Result<Self, InjectError> {
        Ok(ctx.clone())
    }
}

// Without `Send + Sync`: the future of a job that takes such a state is not `Send`, and one error is enough.
impl<T: 'static> Inject for State<T> {
    fn need() -> InjectRequirement {
        InjectRequirement::State { id: TypeId::of::<T>(), name: short_type_name::<Self>() }
    }

    fn inject(ctx: &JobContext) -> Result<Self, InjectError> {
        ctx.state().ok_or_else(|| InjectError {
            wanted: short_type_name::<Self>(),
            why: "it was not registered; call `.state(value)` on the builder".to_owned(),
        })
    }
}

/// `None` if no such state was registered.
impl<T: 'static> Inject for Option<State<T>> {
    fn need() -> InjectRequirement {
        InjectRequirement::Nothing
    }

    fn inject(ctx: &JobContext) -> Result<Self, InjectError> {
        Ok(ctx.state())
    }
}
