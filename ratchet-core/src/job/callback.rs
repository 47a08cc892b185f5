//! The job that runs when another has finished, as declared by `on_success` and `on_failure`.

use super::{Job, JobDef};

/// A reference to the callback job of a declaration.
///
/// It holds a function, not the definition itself, so that two jobs may name each other.
#[derive(Debug, Clone, Copy)]
pub struct Callback {
    def: fn() -> JobDef,
}

impl Callback {
    /// The callback `J`.
    ///
    /// # Panics
    ///
    /// If `J` takes an argument that is neither injected nor has a default: at compile time, since nobody would be
    /// there to fill it in.
    pub const fn of<J: Job>() -> Self {
        Self::check::<J>();
        Self { def: || J::DEF }
    }

    /// The definition of the callback job.
    pub fn def(&self) -> JobDef {
        (self.def)()
    }

    /// Compile-time check of a declared callback: nobody is there to fill in its arguments.
    ///
    /// # Panics
    ///
    /// If `J` takes an argument that is neither injected nor has a default.
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
