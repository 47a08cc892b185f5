//! From an error, a panic or a refusal to a [`Failure`]: data that one pipeline decides about.

mod caught;
mod directive;
mod permanent;

pub use caught::{Caught, JobError};
pub use directive::{Directive, fatal, invalid, reject, retry_after, snooze};
pub use permanent::{PermanentError, permanent, permanent_reason};
