//! The callback jobs declared with `on_success` and `on_failure`.

use super::{Job, JobDef};

/// A reference to a callback job.
///
/// Contains a function instead of the definition, so that two jobs can name each other.
///
/// ```
/// # mod ratchet { pub use ratchet_core::Job; pub use ratchet_macros::job; }
/// use ratchet::{Job, job};
///
/// #[job(on_failure = Apologize, crate = ::ratchet_core)]
/// async fn send_order(number: u64) {
///     println!("order {number}");
/// }
///
/// #[job(crate = ::ratchet_core)]
/// async fn apologize() {}
///
/// # fn main() {
/// let callback = SendOrder::DEF.on_failure.expect("it is set");
/// assert_eq!(callback.def().name, Apologize::DEF.name);
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Callback {
    def: fn() -> JobDef,
}

impl Callback {
    /// Creates a reference to the job `J`.
    pub const fn of<J: CallbackJob>() -> Self {
        Self { def: || J::DEF }
    }

    /// Returns the definition of the callback job.
    pub fn def(&self) -> JobDef {
        (self.def)()
    }
}

/// A job that can be a callback: the runtime can supply all of its arguments.
///
/// Implemented by `#[job]` for a job whose arguments are injected, have a default, or are an `Option`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a job that can be a callback",
    label = "expected the struct of a job to which nothing has to be passed",
    note = "each argument of a callback must be marked `#[inject]`, have a `#[job(default)]`, or be an `Option`; an `#[input]` is only for steps, and `#[inject] job: Finished<J>` gives the result of the job that ended",
    note = "to pass arguments, set the callback where the job is enqueued: `ratchet.enqueue(job).on_success(callback)`"
)]
pub trait CallbackJob: Job {}
