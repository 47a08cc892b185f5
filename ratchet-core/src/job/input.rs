//! Arguments that take the output of a previous step: `#[input] receipt: Receipt`.

use std::any::type_name;

use super::JobContext;
use super::{InjectError, InputListRef, InputRef, Job, JobArg};
use crate::failure::shorten;

/// A job that can follow a job that returns `P` in a chain or workflow.
///
/// Implemented by `#[job]`: a job with `#[input] x: T` can follow jobs that return `T`. A job without inputs can follow
/// any job.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, SubmitError, self as graph}; }
/// use ratchet::graph::{FirstStep, GroupId, StepAfter};
/// use ratchet::{Ratchet, SubmitError};
///
/// // Any two jobs of which the second takes the output of the first.
/// async fn import<A, B>(ratchet: &Ratchet, read: A, write: B) -> Result<GroupId, SubmitError>
/// where
///     A: FirstStep<Output: 'static>,
///     B: StepAfter<A::Output, Output: 'static>,
/// {
///     Ok(ratchet.chain(read).then(write).named("import").await?.id())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot follow a job that returns `{P}`",
    label = "this step takes another output than the one before gives",
    note = "the type of its `#[input]` argument must be what the step before returns on success; a job without `#[input]` follows any",
    note = "in a workflow, a job with several `#[input]` arguments takes each by its constant: `step.input(Join::INPUT_LEFT, &left)`"
)]
pub trait StepAfter<P>: Job {}

/// A job that needs no previous step.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, SubmitError, self as graph}; }
/// use ratchet::graph::{FirstStep, GroupId};
/// use ratchet::{Ratchet, SubmitError};
///
/// // A batch that has the name of its jobs.
/// async fn all<J: FirstStep>(ratchet: &Ratchet, jobs: Vec<J>) -> Result<GroupId, SubmitError> {
///     Ok(ratchet.batch(J::DEF.name).jobs(jobs).await?.id())
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` takes the output of another step and cannot be the first",
    label = "nothing comes before this step",
    note = "a job with an `#[input]` argument follows one that returns it: `ratchet.chain(first).then(second)`"
)]
pub trait FirstStep: Job {}

#[diagnostic::do_not_recommend]
impl<J: StepAfter<NoOutput>> FirstStep for J {}

/// A job without `#[input]` arguments. A callback that is passed to `on_success` or `on_failure` must be one.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Ratchet, SubmitError, self as graph}; }
/// use ratchet::graph::{FirstStep, WithoutInputs};
/// use ratchet::{Ratchet, SubmitError};
///
/// async fn watched<J, A>(ratchet: &Ratchet, jobs: Vec<J>, alarm: A) -> Result<(), SubmitError>
/// where
///     J: FirstStep,
///     A: WithoutInputs, // for example a job that takes `#[inject] batch: GroupReport`
/// {
///     ratchet.batch("import").jobs(jobs).on_failure(alarm).await.map(drop)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` takes the output of a step and cannot be a callback",
    label = "this job has an `#[input]` argument",
    note = "`#[inject] job: Finished<J>` gives a callback the result of the job that ended"
)]
pub trait WithoutInputs: Job {}

#[diagnostic::do_not_recommend]
impl<J: StepAfter<NoOutput>> WithoutInputs for J {}

/// The output of a step that has none to pass on: a group, or a failed step.
///
/// ```
/// # mod ratchet { pub use ratchet_core as graph; }
/// # async fn demo<A, R, B>(ratchet: &ratchet_core::Ratchet, read: A, rows: Vec<R>, report: B) -> Result<(), ratchet_core::SubmitError>
/// # where A: ratchet_core::FirstStep<Output: 'static>, R: ratchet_core::FirstStep, B: ratchet_core::StepAfter<ratchet_core::NoOutput, Output: 'static> {
/// use ratchet::graph::{Chain, NoOutput};
///
/// let rows = ratchet.batch("rows").jobs(rows);
/// let chain: Chain<'_, NoOutput> = ratchet.chain(read).then_batch(rows);
/// chain.then(report).await?; // `report` must be a job without `#[input]`
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct NoOutput;

/// A list that takes the outputs of several steps: `#[input(all)] parts: Vec<Part>`.
///
/// ```
/// # mod ratchet { pub use ratchet_macros::job; }
/// use ratchet::job;
///
/// // A step that takes the outputs of all steps before it, whatever their number.
/// #[job(crate = ::ratchet_core)]
/// async fn total_price(#[input(all)] cents: Vec<u64>) -> u64 {
///     cents.iter().sum()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(total_price(vec![1200, 350]).await, 1550); // the bare function, as in a unit test
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`#[input(all)]` takes a list of outputs, and `{Self}` is none",
    label = "must be a `Vec`",
    note = "an argument that takes the output of one step is marked `#[input]`"
)]
pub trait FanIn: Sized {
    /// The type of the outputs.
    type Item: 'static;
    #[doc(hidden)]
    fn collect(items: Vec<Self::Item>) -> Self;
}

impl<T: 'static> FanIn for Vec<T> {
    type Item = T;

    fn collect(items: Self) -> Self {
        items
    }
}

/// A list of `T`. Generic, so that a bound on it can name the output of any step.
#[doc(hidden)]
pub trait ListOf<T> {}

impl<T: 'static> ListOf<T> for Vec<T> {}

/// An argument that takes the output of a step, or the outputs of several steps.
///
/// Created by [`input`] and [`input_all`]. Only these functions require [`JobArg`], so that an unsuitable type causes a
/// single error.
///
/// ```
/// # mod ratchet { pub use ratchet_core::{Job, JobContext, self as definition, self as graph}; }
/// use ratchet::definition::{InjectError, input};
/// use ratchet::graph::Input;
///
/// // What `#[job]` generates for `#[input(step = "charge")] receipt: u64`.
/// const RECEIPT: Input<u64> = input("receipt").from("charge");
///
/// fn receipt(ctx: &ratchet::JobContext) -> Result<u64, InjectError> {
///     RECEIPT.take(ctx)
/// }
/// assert_eq!(RECEIPT.def().step, Some("charge"));
/// ```
#[derive(Debug)]
pub struct Input<T> {
    def: InputDef,
    read: fn(&[String], &str) -> Result<T, String>,
}

/// The registry's description of an argument that takes the output of a step.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct InputDef {
    /// The name of the argument.
    pub argument: &'static str,
    /// The name of the step it comes from; `None` if the workflow decides.
    pub step: Option<&'static str>,
    /// Whether it takes the outputs of all parents as a list.
    pub all: bool,
    /// Whether the job has several arguments without the name of a step, so that the workflow names the argument.
    pub by_argument: bool,
    /// Returns the full name of its type. For a list: of the elements.
    pub ty: fn() -> &'static str,
}

/// Creates the argument `argument` of type `T`, taken from the previous step.
pub const fn input<T: JobArg>(argument: &'static str) -> Input<T> {
    Input { def: InputDef::new(argument, false, type_name::<T>), read: read_one::<T> }
}

/// Creates the argument `argument`, a list of the outputs of all parents.
pub const fn input_all<L: FanIn>(argument: &'static str) -> Input<L>
where
    L::Item: JobArg,
{
    Input { def: InputDef::new(argument, true, type_name::<L::Item>), read: read_all::<L> }
}

impl InputDef {
    const fn new(argument: &'static str, all: bool, ty: fn() -> &'static str) -> Self {
        Self { argument, step: None, all, by_argument: false, ty }
    }
}

impl<T> Input<T> {
    /// Sets the name of the step that the value comes from.
    pub const fn from(mut self, step: &'static str) -> Self {
        self.def.step = Some(step);
        self
    }

    /// Marks one of several arguments without the name of a step.
    pub const fn by_argument(mut self) -> Self {
        self.def.by_argument = true;
        self
    }

    /// Returns the registry's description of the argument.
    pub const fn def(&self) -> InputDef {
        self.def
    }

    /// Returns the name by which a workflow binds this argument of the job `J`.
    pub const fn reference<J>(&self) -> InputRef<J, T> {
        InputRef::new(self.def.argument)
    }

    /// Returns the name by which a workflow binds this list of the job `J`.
    pub const fn list_reference<J>(&self) -> InputListRef<J, T> {
        InputListRef::new(self.def.argument)
    }

    /// Returns the value for one run.
    pub fn take(&self, ctx: &JobContext) -> Result<T, InjectError> {
        let refused = |why| InjectError { wanted: shorten((self.def.ty)()), why };
        let outputs = ctx.input_json(&self.def).map_err(refused)?;
        let from = self.def.step.unwrap_or("the step before");
        (self.read)(&outputs, from).map_err(refused)
    }
}

fn read_one<T: JobArg>(outputs: &[String], from: &str) -> Result<T, String> {
    let [output] = outputs else {
        return Err(format!("it takes one output, and {} are there", outputs.len()));
    };
    T::read(output).map_err(|error| format!("the output of {from}: {error}"))
}

fn read_all<L: FanIn>(outputs: &[String], _: &str) -> Result<L, String>
where
    L::Item: JobArg,
{
    let read = |(number, output): (usize, &String)| {
        let error = |error| format!("output {} of {}: {error}", number + 1, outputs.len());
        L::Item::read(output).map_err(error)
    };
    outputs.iter().enumerate().map(read).collect::<Result<_, _>>().map(L::collect)
}
