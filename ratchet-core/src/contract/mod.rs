//! The contract of the registered jobs: their arguments and outputs with JSON shapes, and the lock file.

mod describe;
mod lock_test;

pub use describe::{Described, describe};
pub use lock_test::{LockFailure, LockMode, LockReport, check_lock, lock_test};
