//! [`Handler`]: the implementation of a job that another crate declares without a body.

use super::{
    InjectError, Injection, InputDef, Job, JobContext, JobDef, JobOutput, Location, Registration,
    ReturnShape, RunFuture,
};

/// The implementation of a job that was declared without a body, written by `#[job(implements = path)]`.
///
/// A declaration makes it possible to enqueue a job without compiling its handler and its dependencies. The
/// documentation of `#[job]` has an example.
pub trait Handler: Sized + 'static {
    /// The declared job.
    type Job: Job;

    /// The definition of the job with the arguments that only the implementation has.
    const DEF: JobDef;

    /// The registry entry of the implementation, for `.jobs([SendEmailHandler::JOB])`.
    const JOB: Registration = Registration::implementing::<Self>();

    /// Injects the `#[inject]` arguments and calls the function.
    fn run(job: Self::Job, ctx: JobContext) -> Result<RunFuture, InjectError>;
}

/// A job that is declared without a body. Implemented by `#[job]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a job that is declared without a body",
    label = "must be the struct of a declaration",
    note = "`#[job] async fn send_email(to: String);` declares `SendEmail`"
)]
pub trait Declared: Job {
    /// The job itself. A type that is no declaration has none, so that nothing else is reported about it.
    type Job: Job;
}

/// Checks that a worker can take the arguments of a declared job to the thread that runs it.
pub const fn declared_arguments<J: Send>() {}

/// Returns the definition of an implementation. The options are those of the declaration.
///
/// # Panics
///
/// Panics at compile time if an argument of the declaration is missing, or the `#[input]` arguments differ.
#[must_use]
pub const fn implemented(
    mut declared: JobDef,
    arguments: &[&str],
    injections: &'static [Injection],
    inputs: &'static [InputDef],
    blocking: bool,
    location: Location,
) -> JobDef {
    // An argument that the declaration does not have is reported where it is read.
    assert!(
        arguments.len() >= declared.args.len(),
        "the implementation must take every argument of the declaration"
    );
    assert!(
        same_inputs(declared.inputs, inputs),
        "the `#[input]` arguments must be those of the declaration, in the same order"
    );
    (declared.injections, declared.inputs) = (injections, inputs);
    (declared.blocking, declared.location) = (blocking, location);
    declared
}

const fn same_inputs(declared: &[InputDef], implemented: &[InputDef]) -> bool {
    let mut index = 0;
    while index < declared.len() && index < implemented.len() {
        let (declared, implemented) = (&declared[index], &implemented[index]);
        let same_step = match (declared.step, implemented.step) {
            (Some(declared), Some(implemented)) => same(declared, implemented),
            (None, None) => true,
            _ => false,
        };
        if !same(declared.argument, implemented.argument)
            || !same_step
            || declared.all != implemented.all
        {
            return false;
        }
        index += 1;
    }
    declared.len() == implemented.len()
}

/// Compares texts, because `==` is not const.
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    a.len() == b.len()
}

/// A type that is the same in the declaration and in the implementation of a job.
#[diagnostic::on_unimplemented(
    message = "the declaration has an argument of type `{Self}` here, the implementation takes `{T}`",
    label = "must be the type that the declaration has"
)]
pub trait DeclaredAs<T> {
    #[doc(hidden)]
    fn same(self) -> T;
}

#[diagnostic::do_not_recommend]
impl<T> DeclaredAs<T> for T {
    fn same(self) -> T {
        self
    }
}

/// Checks that an argument has the declared type.
pub fn declared_argument<D: DeclaredAs<T>, T>(value: D) -> T {
    value.same()
}

/// An output that is the same in the declaration and in the implementation of a job.
#[diagnostic::on_unimplemented(
    message = "the declaration returns `{D}` on success, the implementation returns `{Self}`",
    label = "must return what the declaration returns"
)]
pub trait ReturnsDeclared<D> {}

#[diagnostic::do_not_recommend]
impl<T> ReturnsDeclared<T> for T {}

/// Checks that the implementation returns what the declaration returns.
pub const fn same_output<D, T: ReturnsDeclared<D>>() {}

/// Checks that the output of a declared job can be stored. Only this function requires it.
pub const fn declared_output<const FALLIBLE: bool, R: ReturnShape<FALLIBLE>>()
where
    R::Output: JobOutput,
{
}
