//! The stored arguments of a job: one typed constant for each.

use serde::Serialize;
use serde::de::DeserializeOwned;

use ratchet_contract::{TraceError, Tracer};

use super::{Secrecy, TypeTrace};

/// A type that can be a stored argument of a job: any type that serde can serialize and deserialize.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a job argument",
    label = "this type cannot be stored and read back",
    note = "a job's arguments are saved as JSON and run later by another process: they must implement `serde::Serialize` and `serde::Deserialize`, and own their data",
    note = "for your own type add `#[derive(serde::Serialize, serde::Deserialize)]`; for a pool, client or config take an `#[inject]` argument of type `State<T>` instead"
)]
pub trait JobArg: Sized + 'static {
    #[doc(hidden)]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error>;
    #[doc(hidden)]
    fn read(json: &str) -> Result<Self, serde_json::Error>;
    #[doc(hidden)]
    fn read_absent() -> Option<Self>;
    #[doc(hidden)]
    const TRACE: TypeTrace;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + 'static> JobArg for T {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        ratchet_store::model::nesting::write(out, self)
    }

    fn read(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    fn read_absent() -> Option<Self> {
        super::codec::absent()
    }

    const TRACE: TypeTrace = TypeTrace::of::<T>();
}

/// A stored argument: its name, and how values of its type are written and read.
///
/// Created by [`arg`]. Only that function requires [`JobArg`], so that an unsuitable type causes a single error.
#[derive(Debug)]
pub struct Arg<T> {
    pub(super) def: ArgDef,
    pub(super) write: fn(&T, &mut Vec<u8>) -> Result<(), serde_json::Error>,
    pub(super) read: fn(&str) -> Result<T, serde_json::Error>,
    pub(super) absent: fn() -> Option<T>,
}

impl<T> Clone for Arg<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Arg<T> {}

/// Creates the argument `name`, whose type was written as `ty`.
pub const fn arg<T: JobArg>(name: &'static str, ty: &'static str) -> Arg<T> {
    Arg {
        def: ArgDef::new(name, ty, T::TRACE),
        write: T::write,
        read: T::read,
        absent: T::read_absent,
    }
}

/// Creates an argument that the functions of a module write and read: `#[serde(with = "module")]`.
pub const fn arg_with<T: 'static>(
    name: &'static str,
    ty: &'static str,
    write: fn(&T, &mut Vec<u8>) -> Result<(), serde_json::Error>,
    read: fn(&str) -> Result<T, serde_json::Error>,
    trace: fn(Tracer<'_>) -> Result<(), TraceError>,
) -> Arg<T> {
    Arg { def: ArgDef::new(name, ty, TypeTrace::new(trace)), write, read, absent: || None }
}

/// Creates the serializer for [`arg_with`].
pub fn json_writer(out: &mut Vec<u8>) -> serde_json::Serializer<&mut Vec<u8>> {
    serde_json::Serializer::new(out)
}

/// Creates the deserializer for [`arg_with`].
pub fn json_reader(json: &str) -> serde_json::Deserializer<serde_json::de::StrRead<'_>> {
    serde_json::Deserializer::from_str(json)
}

/// A type for which `#[job(default)]` can supply a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no default value",
    label = "rows written before this argument existed would have nothing to decode to",
    note = "implement `Default` for it, or give the value: `#[job(default = ...)]`"
)]
pub trait DefaultArg: Sized {
    #[doc(hidden)]
    fn default_arg() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> DefaultArg for T {
    fn default_arg() -> Self {
        T::default()
    }
}

/// Returns the default of a type, for [`Arg::default`]. Only this function requires `DefaultArg`.
pub fn default_value<T: DefaultArg>() -> Option<T> {
    Some(T::default_arg())
}

impl<T> Arg<T> {
    /// Sets the value for rows that were stored before the argument existed.
    pub const fn default(mut self, value: fn() -> Option<T>) -> Self {
        self.def.has_default = true;
        self.absent = value;
        self
    }

    /// Marks the argument as secret: it is displayed as `***`.
    pub const fn secret(mut self) -> Self {
        self.def.secret = true;
        self
    }

    /// Sets former names of the argument, under which older rows may have stored it.
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.def.aliases = aliases;
        self
    }

    /// Sets the doc comment of the argument.
    pub const fn docs(mut self, docs: &'static str) -> Self {
        self.def.docs = docs;
        self
    }

    /// Returns the registry's description of the argument.
    pub const fn def(&self) -> ArgDef {
        self.def
    }
}

/// The registry's description of a stored argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgDef {
    /// The name in the stored JSON.
    pub name: &'static str,
    /// The former names of the argument.
    pub aliases: &'static [&'static str],
    /// The type as written in the source.
    pub ty: &'static str,
    /// The doc comment on the argument.
    pub docs: &'static str,
    /// Whether the argument is marked `#[job(secret)]`, or its type is spelled with `Secret<…>`.
    pub secret: bool,
    /// Whether the argument is marked `#[job(default)]`.
    pub has_default: bool,
    /// How the JSON shape of its type is traced.
    pub trace: TypeTrace,
}

impl ArgDef {
    const fn new(name: &'static str, ty: &'static str, trace: TypeTrace) -> Self {
        Self { name, ty, aliases: &[], docs: "", secret: false, has_default: false, trace }
    }

    /// Returns whether the argument is secret, or its type has a [`Secret`](crate::Secret) somewhere. Traces the type when
    /// it is called first, which takes about a millisecond.
    pub fn has_secret(&self) -> bool {
        self.secrecy() == Secrecy::Some
    }

    pub(crate) fn secrecy(&self) -> Secrecy {
        if self.secret { Secrecy::Some } else { self.trace.secrecy() }
    }

    /// Returns a stored value of the argument for display: with `***` in place of its secrets. Returns `None` if the
    /// argument is secret as a whole, or cannot be read and has a secret.
    pub(crate) fn shown(&self, json: &str) -> Option<String> {
        if self.secret { None } else { self.trace.shown(json) }
    }

    /// Returns all names under which the argument may be stored.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}
