//! How the JSON of an argument or output is traced and masked: function pointers that are called only for a contract or for
//! display.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{LazyLock, PoisonError, RwLock};

use ratchet_contract::{Shapes, TraceError, TraceFn, Traced, Tracer, traced};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::secret::masked;
use super::secret_scope;
use crate::failure::catch_panic;

/// Writes a JSON value again with `***` in place of every [`Secret`](super::Secret).
type MaskFn = fn(&str, &mut Vec<u8>) -> Result<(), serde_json::Error>;

/// The functions that trace the JSON shape of one type and mask its secrets. Nothing is traced until [`Self::trace`] is
/// called.
#[derive(Clone, Copy)]
pub struct TypeTrace {
    read: TraceFn,
    /// `None` for a type whose values cannot be read and written again.
    mask: Option<MaskFn>,
}

/// Whether a type has a [`Secret`](super::Secret) somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrecy {
    /// It has none.
    None,
    /// It has one.
    Some,
    /// A part of the type is not known, and may have one.
    Unknown,
}

/// What was found out about types, by the functions that trace them.
static KNOWN: LazyLock<RwLock<HashMap<usize, Secrecy>>> = LazyLock::new(RwLock::default);

impl TypeTrace {
    /// The type `()`.
    pub const UNIT: Self = Self::of::<()>();

    /// Creates the trace of the type that the function deserializes.
    pub const fn new(read: TraceFn) -> Self {
        Self { read, mask: None }
    }

    /// Creates the trace of a type.
    pub const fn of<T: Serialize + DeserializeOwned>() -> Self {
        Self { read: traced::<T>, mask: Some(masked::<T>) }
    }

    /// Traces the type. Adds its named types to `shapes`.
    pub fn trace(self, shapes: &mut Shapes) -> Traced {
        let (traced, has_secret) = secret_scope::tracing(|| shapes.trace(self.read));
        let secrecy = match has_secret {
            true => Secrecy::Some,
            false if traced.is_complete => Secrecy::None,
            false => Secrecy::Unknown,
        };
        KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(self.key(), secrecy);
        traced
    }

    /// Returns whether the type has a secret. Traces the type when it is called first.
    pub(crate) fn secrecy(self) -> Secrecy {
        let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&self.key()).copied();
        known.unwrap_or_else(|| {
            self.trace(&mut Shapes::default());
            let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
            known.get(&self.key()).copied().unwrap_or(Secrecy::Unknown)
        })
    }

    /// Returns a stored value for display: with `***` in place of its secrets, or `None` if it cannot be read and its type
    /// has some. An unreadable value of a type that is not known in full is returned as it is: it almost never has a secret,
    /// and shows why it cannot be read.
    pub(crate) fn shown(self, json: &str) -> Option<String> {
        match self.secrecy() {
            Secrecy::None => Some(json.to_owned()),
            Secrecy::Some => self.masked(json),
            Secrecy::Unknown => self.masked(json).or_else(|| Some(json.to_owned())),
        }
    }

    fn masked(self, json: &str) -> Option<String> {
        let (mask, mut out) = (self.mask?, Vec::new());
        // The code of the type may panic.
        catch_panic(|| mask(json, &mut out)).ok()?.ok()?;
        String::from_utf8(out).ok()
    }

    /// Functions that are the same code have the same address, and then the same result.
    fn key(self) -> usize {
        self.read as usize
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

impl<T: Serialize + DeserializeOwned> OutputProbe<T> {
    /// The trace of the type.
    pub const TRACE: TypeTrace = TypeTrace::of::<T>();
}

/// The fallback of [`OutputProbe`] for types that cannot be outputs, which is reported by `run`.
pub trait OutputProbeFallback {
    /// A trace that knows nothing.
    const TRACE: TypeTrace = TypeTrace::new(untraced);
}

impl<T> OutputProbeFallback for OutputProbe<T> {}

fn untraced(_: Tracer<'_>) -> Result<(), TraceError> {
    Err(serde::de::Error::custom("its type cannot be deserialized"))
}
