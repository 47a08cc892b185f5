//! Arguments that take the output of a previous step: `#[input] receipt: Receipt`.

use std::any::type_name;

use super::JobContext;
use super::{InjectError, Job, JobArg};
use crate::failure::shorten;

/// A job that can follow a job that returns `P` in a chain or workflow.
///
/// Implemented by `#[job]`: a job with `#[input] x: T` can follow jobs that return `T`. A job without inputs can follow
/// any job.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot follow a job that returns `{P}`",
    label = "this step takes another output than the one before gives",
    note = "the type of its `#[input]` argument must be what the step before returns on success; a job without `#[input]` follows any"
)]
pub trait StepAfter<P>: Job {}

/// A job that needs no previous step.
#[diagnostic::on_unimplemented(
    message = "`{Self}` takes the output of another step and cannot be the first",
    label = "nothing comes before this step",
    note = "a job with an `#[input]` argument follows one that returns it: `ratchet.chain(first).then(second)`"
)]
pub trait FirstStep: Job {}

#[diagnostic::do_not_recommend]
impl<J: StepAfter<NoOutput>> FirstStep for J {}

/// The output of a step that has none to pass on: a group, or a failed step.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct NoOutput;

/// An argument that takes the output of a step.
///
/// Created by [`input`]. Only that function requires [`JobArg`], so that an unsuitable type causes a single error.
#[derive(Debug)]
pub struct Input<T> {
    def: InputDef,
    read: fn(&str) -> Result<T, serde_json::Error>,
}

/// The registry's description of an argument that takes the output of a step.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct InputDef {
    /// The name of the argument.
    pub argument: &'static str,
    /// The name of the step it comes from; `None` for the previous step.
    pub step: Option<&'static str>,
    /// Returns the full name of its type.
    pub ty: fn() -> &'static str,
}

/// Creates the argument `argument` of type `T`, taken from the previous step.
pub const fn input<T: JobArg>(argument: &'static str) -> Input<T> {
    Input { def: InputDef { argument, step: None, ty: type_name::<T> }, read: T::read }
}

impl<T> Input<T> {
    /// Sets the name of the step that the value comes from.
    pub const fn from(mut self, step: &'static str) -> Self {
        self.def.step = Some(step);
        self
    }

    /// Returns the registry's description of the argument.
    pub const fn def(&self) -> InputDef {
        self.def
    }

    /// Returns the value for one run.
    pub fn take(&self, ctx: &JobContext) -> Result<T, InjectError> {
        let refused = |why| InjectError { wanted: shorten((self.def.ty)()), why };
        let json = ctx.input_json(self.def.step).map_err(refused)?;
        let from = self.def.step.unwrap_or("the step before");
        (self.read)(&json).map_err(|error| refused(format!("the output of {from}: {error}")))
    }
}
