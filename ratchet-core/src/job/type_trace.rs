//! How the JSON shape of an argument or output is traced: a function pointer that is called only for a contract.

use std::fmt;
use std::marker::PhantomData;

use ratchet_contract::{Shapes, TraceError, TraceFn, Traced, Tracer, traced};
use serde::de::DeserializeOwned;

/// The function that traces the JSON shape of one type. Nothing is traced until [`Self::trace`] is called.
#[derive(Clone, Copy)]
pub struct TypeTrace(TraceFn);

impl TypeTrace {
    /// The type `()`.
    pub const UNIT: Self = Self(traced::<()>);

    /// Creates the trace of the type that the function deserializes.
    pub const fn new(read: TraceFn) -> Self {
        Self(read)
    }

    /// Traces the type. Adds its named types to `shapes`.
    pub fn trace(self, shapes: &mut Shapes) -> Traced {
        shapes.trace(self.0)
    }
}

impl fmt::Debug for TypeTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TypeTrace")
    }
}

/// Two types are compared by their definitions. The functions that trace them have no identity.
impl PartialEq for TypeTrace {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for TypeTrace {}

/// Finds the trace of an output. The bounds of outputs are required elsewhere, so that a mistake causes one error.
#[derive(Debug)]
pub struct OutputProbe<T>(PhantomData<T>);

impl<T: DeserializeOwned> OutputProbe<T> {
    /// The trace of the type.
    pub const TRACE: TypeTrace = TypeTrace(traced::<T>);
}

/// The fallback of [`OutputProbe`] for types that cannot be outputs, which is reported by `run`.
pub trait OutputProbeFallback {
    /// A trace that knows nothing.
    const TRACE: TypeTrace = TypeTrace(untraced);
}

impl<T> OutputProbeFallback for OutputProbe<T> {}

fn untraced(_: Tracer<'_>) -> Result<(), TraceError> {
    Err(serde::de::Error::custom("its type cannot be deserialized"))
}
