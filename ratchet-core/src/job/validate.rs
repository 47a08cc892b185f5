//! The function given with `#[job(validate = path)]`.

use std::fmt;

/// A function that checks the arguments of the job `J`.
///
/// `E` is the type of its error.
#[diagnostic::on_unimplemented(
    message = "`validate` must name a `fn(&{J}) -> Result<(), impl Display>`",
    label = "this function has another signature",
    note = "it borrows the invocation, and returns `Ok(())` or the reason why the arguments can never succeed"
)]
pub trait Validate<J, E> {
    /// Checks the arguments.
    fn validate(self, job: &J) -> Result<(), E>;
}

#[diagnostic::do_not_recommend]
impl<J, E: fmt::Display, F: FnOnce(&J) -> Result<(), E>> Validate<J, E> for F {
    fn validate(self, job: &J) -> Result<(), E> {
        self(job)
    }
}

/// Calls the function and converts its error to text. Only this function requires [`Validate`].
pub fn validated<J, E: fmt::Display, F: Validate<J, E>>(check: F, job: &J) -> Result<(), String> {
    check.validate(job).map_err(|error| error.to_string())
}
