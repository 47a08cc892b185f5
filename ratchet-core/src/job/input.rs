//! Arguments that come from the steps before: `#[input] receipt: Receipt`.

use std::any::type_name;

use super::state::shorten;
use super::{InjectError, Job, JobArg};
use crate::context::JobContext;

/// A job that may follow one that returns `P` in a chain or workflow.
///
/// `#[job]` implements it: a job with `#[input] x: T` follows jobs that return `T`, one without follows any.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot follow a job that returns `{P}`",
    label = "this step takes another output than the one before gives",
    note = "the type of its `#[input]` argument must be what the step before returns on success; a job without `#[input]` follows any"
)]
pub trait Follows<P>: Job {}

/// A job that needs no step before it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` takes the output of another step and cannot be the first",
    label = "nothing comes before this step",
    note = "a job with an `#[input]` argument follows one that returns it: `ratchet.chain(first).then(second)`"
)]
pub trait Begins: Job {}

#[diagnostic::do_not_recommend]
impl<J: Follows<NoOutput>> Begins for J {}

/// What a step gives on that has nothing to give on: a group, or the end of a failure.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct NoOutput;

/// An argument that takes the output of a step: what the registry keeps of it, and how it is taken.
///
/// Made by [`input`], the only place that asks for [`JobArg`], so that an unfit type is one error.
#[derive(Debug)]
pub struct Input<T> {
    def: InputDef,
    read: fn(&str) -> Result<T, serde_json::Error>,
}

/// What the registry knows of an argument that takes the output of a step.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct InputDef {
    /// The argument.
    pub argument: &'static str,
    /// The step it comes from; `None` for the one before.
    pub step: Option<&'static str>,
    /// The full name of its type.
    pub ty: fn() -> &'static str,
}

/// The argument `argument` of type `T`, from the step before.
pub const fn input<T: JobArg>(argument: &'static str) -> Input<T> {
    Input { def: InputDef { argument, step: None, ty: type_name::<T> }, read: T::read }
}

impl<T> Input<T> {
    /// It comes from the step of this name.
    pub const fn from(mut self, step: &'static str) -> Self {
        self.def.step = Some(step);
        self
    }

    /// What the registry keeps of this argument.
    pub const fn def(&self) -> InputDef {
        self.def
    }

    /// Takes the value for one run.
    pub fn take(&self, ctx: &JobContext) -> Result<T, InjectError> {
        let refused = |why| InjectError { wanted: shorten((self.def.ty)()), why };
        let json = ctx.input_json(self.def.step).map_err(refused)?;
        let from = self.def.step.unwrap_or("the step before");
        (self.read)(&json).map_err(|error| refused(format!("the output of {from}: {error}")))
    }
}
