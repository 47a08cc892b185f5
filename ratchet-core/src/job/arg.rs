//! The stored arguments of a job: one typed constant each.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// A type that can be a stored argument of a job: anything that serde can write and read back.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a job argument",
    label = "this type cannot be stored and read back",
    note = "a job's arguments are saved as JSON and run later by another process: they must implement `serde::Serialize` and `serde::Deserialize`, and be `Send + 'static`",
    note = "for your own type add `#[derive(serde::Serialize, serde::Deserialize)]`; for a pool, client or config take an `#[inject]` argument of type `State<T>` instead"
)]
pub trait JobArg: Sized + Send + 'static {
    #[doc(hidden)]
    fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error>;
    #[doc(hidden)]
    fn read(json: &str) -> Result<Self, serde_json::Error>;
    #[doc(hidden)]
    fn read_absent() -> Option<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + 'static> JobArg for T {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        crate::model::nesting::write(out, self)
    }

    fn read(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    fn read_absent() -> Option<Self> {
        super::codec::absent()
    }
}

/// A stored argument: its name, and how values of its type are written and read.
///
/// Made by [`arg`], the only place that asks for [`JobArg`], so that an unfit type is one error.
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

/// The argument `name`, whose type was written as `ty`.
pub const fn arg<T: JobArg>(name: &'static str, ty: &'static str) -> Arg<T> {
    Arg {
        def: ArgDef { name, ty, docs: "", secret: false, has_default: false },
        write: T::write,
        read: T::read,
        absent: T::read_absent,
    }
}

/// A type that `#[job(default)]` can fill in.
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

/// The default of a type, as [`Arg::default`] takes it; the one place that asks for `DefaultArg`.
pub fn default_value<T: DefaultArg>() -> Option<T> {
    Some(T::default_arg())
}

impl<T> Arg<T> {
    /// Rows written before the argument existed get this value.
    pub const fn default(mut self, value: fn() -> Option<T>) -> Self {
        self.def.has_default = true;
        self.absent = value;
        self
    }

    /// Shown as `***` wherever a person may read it.
    pub const fn secret(mut self) -> Self {
        self.def.secret = true;
        self
    }

    /// The doc comment on the argument.
    pub const fn docs(mut self, docs: &'static str) -> Self {
        self.def.docs = docs;
        self
    }

    /// What the registry keeps of this argument.
    pub const fn def(&self) -> ArgDef {
        self.def
    }
}

/// What the registry knows of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgDef {
    /// The name in the stored JSON.
    pub name: &'static str,
    /// The type as it was written.
    pub ty: &'static str,
    /// The doc comment.
    pub docs: &'static str,
    /// Marked `#[job(secret)]`.
    pub secret: bool,
    /// Marked `#[job(default)]`.
    pub has_default: bool,
}
