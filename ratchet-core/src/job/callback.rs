//! The callback jobs declared with `on_success` and `on_failure`.

use super::{Job, JobDef};

/// A reference to a callback job.
///
/// Contains a function instead of the definition, so that two jobs can name each other.
#[derive(Debug, Clone, Copy)]
pub struct Callback {
    def: fn() -> JobDef,
}

impl Callback {
    /// Creates a reference to the job `J`.
    ///
    /// # Panics
    ///
    /// Panics at compile time if `J` has an argument that is neither injected nor has a default, because a callback
    /// gets no stored arguments.
    pub const fn of<J: Job>() -> Self {
        Self::check::<J>();
        Self { def: || J::DEF }
    }

    /// Returns the definition of the callback job.
    pub fn def(&self) -> JobDef {
        (self.def)()
    }

    /// Checks at compile time that `J` can be a callback. A callback gets no stored arguments.
    ///
    /// # Panics
    ///
    /// Panics if `J` has an argument that is neither injected nor has a default.
    pub const fn check<J: Job>() {
        let args = J::ARGS;
        let mut i = 0;
        while i < args.len() {
            assert!(
                args[i].has_default,
                "a callback named on `#[job]` takes only `#[inject]` arguments or arguments with `#[job(default)]`; \
                 to pass arguments, set it where the job is enqueued"
            );
            i += 1;
        }
    }
}
