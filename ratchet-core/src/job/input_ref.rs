//! Names for the `#[input]` arguments of a job, with which a workflow binds them to steps.

use std::fmt;
use std::marker::PhantomData;

/// Names an `#[input]` argument of the job `J`: the generated constant `Join::INPUT_LEFT` for an argument `left`.
///
/// See [`StepOptions::input`](crate::StepOptions::input).
///
/// ```
/// # mod ratchet { pub use ratchet_core::Ratchet; pub use ratchet_macros::job; }
/// # use ratchet::{Ratchet, job};
/// # #[job(crate = ::ratchet_core)]
/// # async fn count_rows() -> u64 { 1 }
/// #[job(crate = ::ratchet_core)]
/// async fn add(#[input] left: u64, #[input] right: u64) -> u64 {
///     left + right
/// }
///
/// # fn main() {}
/// # fn demo(ratchet: &Ratchet) {
/// let mut sum = ratchet.workflow("sum");
/// let (one, two) = (sum.first("one", CountRows {}), sum.first("two", CountRows {}));
/// sum.step("add", Add {}, |step| step.input(Add::INPUT_LEFT, &one).input(Add::INPUT_RIGHT, &two));
/// # }
/// ```
pub struct InputRef<J, T> {
    argument: &'static str,
    _types: PhantomData<fn() -> (J, T)>,
}

/// Names an `#[input(all)]` argument of the job `J`, which takes a list of outputs.
///
/// See [`StepOptions::input_all`](crate::StepOptions::input_all).
///
/// ```
/// # mod ratchet { pub use ratchet_core::Ratchet; pub use ratchet_macros::job; }
/// # use ratchet::{Ratchet, job};
/// # #[job(crate = ::ratchet_core)]
/// # async fn count_part() -> u64 { 1 }
/// #[job(crate = ::ratchet_core)]
/// async fn sum_parts(#[input(all)] parts: Vec<u64>) -> u64 {
///     parts.iter().sum()
/// }
///
/// # fn main() {}
/// # fn demo(ratchet: &Ratchet) {
/// let mut sum = ratchet.workflow("sum");
/// let steps = ["one", "two"].map(|name| sum.first(name, CountPart {}));
/// sum.step("total", SumParts {}, |step| step.input_all(SumParts::INPUT_PARTS, &steps));
/// # }
/// ```
pub struct InputListRef<J, L> {
    argument: &'static str,
    _types: PhantomData<fn() -> (J, L)>,
}

macro_rules! reference {
    ($reference:ident) => {
        impl<J, T> $reference<J, T> {
            pub(super) const fn new(argument: &'static str) -> Self {
                Self { argument, _types: PhantomData }
            }

            /// Returns the name of the argument.
            pub const fn argument(&self) -> &'static str {
                self.argument
            }
        }

        impl<J, T> Clone for $reference<J, T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<J, T> Copy for $reference<J, T> {}

        impl<J, T> fmt::Debug for $reference<J, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($reference)).field(&self.argument).finish()
            }
        }
    };
}

reference!(InputRef);
reference!(InputListRef);
