//! Encodes arguments to JSON and decodes them, one argument at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::value::Error as ValueError;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde_json::value::RawValue;

use super::Arg;

/// Writes the arguments of a job as a JSON object.
#[derive(Debug)]
pub struct Encoder {
    json: Vec<u8>,
    error: Option<EncodeError>,
}

impl Encoder {
    pub(crate) fn new() -> Self {
        Self { json: vec![b'{'], error: None }
    }

    /// Writes one argument. The first error is kept and returned by the submission.
    pub fn put<T>(&mut self, arg: Arg<T>, value: &T) {
        if self.error.is_some() {
            return;
        }
        if self.json.len() > 1 {
            self.json.push(b',');
        }
        // Argument names are Rust identifiers and need no escaping.
        self.json.push(b'"');
        self.json.extend_from_slice(arg.def.name.as_bytes());
        self.json.extend_from_slice(b"\":");
        if let Err(error) = (arg.write)(value, &mut self.json) {
            self.error = Some(EncodeError { argument: arg.def.name, error });
        }
    }

    /// Writes the default value of an argument, if it has one.
    pub fn put_default<T>(&mut self, arg: Arg<T>) {
        if arg.def.has_default
            && let Some(value) = (arg.absent)()
        {
            self.put(arg, &value);
        }
    }

    pub(crate) fn finish(mut self) -> Result<Vec<u8>, EncodeError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.json.push(b'}');
        Ok(self.json)
    }
}

/// Reads the arguments of a job from a JSON object.
#[derive(Debug)]
pub struct Decoder<'a> {
    payload: &'a [u8],
    fields: BTreeMap<Cow<'a, str>, &'a RawValue>,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(payload: &'a [u8]) -> Result<Self, DecodeError> {
        let fields =
            serde_json::from_slice(payload).map_err(|error| DecodeError::NotAnObject { error })?;
        Ok(Self { payload, fields })
    }

    /// Reads one argument, under its name or one of its aliases.
    pub fn take<T>(&mut self, arg: Arg<T>) -> Result<T, DecodeError> {
        let argument = arg.def.name;
        let mut names = std::iter::once(&argument).chain(arg.def.aliases);
        match names.find_map(|name| self.fields.remove(*name)) {
            Some(raw) => {
                // The text of serde quotes the value.
                let hide = |error| if arg.def.has_secret() { hidden() } else { error };
                (arg.read)(raw.get())
                    .map_err(|error| DecodeError::Argument { argument, error: hide(error) })
            }
            None => (arg.absent)().ok_or(DecodeError::Missing { argument }),
        }
    }

    /// Takes all fields at once: returns the whole payload.
    pub(super) fn take_all(&mut self) -> &'a [u8] {
        self.fields.clear();
        self.payload
    }

    /// Returns the stored fields that no argument has taken.
    pub(crate) fn left(self) -> Vec<String> {
        self.fields.into_keys().map(Cow::into_owned).collect()
    }
}

/// Replaces the error of a secret argument.
fn hidden() -> serde_json::Error {
    serde::de::Error::custom(super::secret::HIDDEN)
}

/// The error returned when an argument cannot be written as JSON.
#[derive(Debug, thiserror::Error)]
#[error("cannot encode argument `{argument}`: {error}")]
pub struct EncodeError {
    /// The name of the argument.
    pub argument: &'static str,
    /// The error of serde.
    pub error: serde_json::Error,
}

/// The error returned when a stored payload does not match the arguments of its job.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The payload is not a JSON object.
    #[error("the payload is not a JSON object: {error}")]
    NotAnObject {
        /// The error of serde.
        error: serde_json::Error,
    },
    /// The value of an argument has the wrong type.
    #[error("cannot decode argument `{argument}`: {error}")]
    Argument {
        /// The name of the argument.
        argument: &'static str,
        /// The error of serde.
        error: serde_json::Error,
    },
    /// A job that is `strict` has no argument for a stored field.
    #[error("no argument takes the stored field `{field}`; add the argument, or an `alias` for it")]
    Unknown {
        /// The name of the stored field.
        field: String,
    },
    /// The arguments have an older version, and cannot be upgraded.
    #[error("cannot upgrade the arguments of version {version}: {why}")]
    Upgrade {
        /// The version of the stored arguments.
        version: u32,
        /// The error of serde or of the upgrade function.
        why: String,
    },
    /// The arguments are older than every upgrade function.
    #[error(
        "the arguments have version {version}, and the oldest that is upgraded is {oldest}; lower `oldest`, and add an `upgrade` function"
    )]
    TooOld {
        /// The version of the stored arguments.
        version: u32,
        /// The oldest version with an upgrade function.
        oldest: u32,
    },
    /// An argument is missing and has no default.
    #[error(
        "argument `{argument}` is missing; mark it `#[job(default)]` if older rows may lack it"
    )]
    Missing {
        /// The name of the argument.
        argument: &'static str,
    },
}

impl DecodeError {
    /// Returns what a caller who has passed the arguments must know. [`Display`](std::fmt::Display) is for the author of
    /// the job, who reads about stored arguments.
    pub(crate) fn for_the_caller(&self) -> String {
        match self {
            Self::Missing { argument } => format!("argument `{argument}` is missing"),
            Self::Unknown { field } => format!("it has no argument `{field}`"),
            other => other.to_string(),
        }
    }
}

/// Returns the value of a missing argument: `None` for an `Option`, no value for other types.
pub(super) fn absent<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

/// A deserializer that supports only an absent `Option`.
struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ValueError> {
        Err(ValueError::custom("absent"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_none()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
