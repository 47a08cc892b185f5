//! [`Secret`]: a value that is stored, and masked wherever it is shown.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use super::keys::MayBeShown;
use super::secret_scope;
use crate::failure::MASK;

/// A value that is stored with the job and masked wherever it is shown: an argument, an output, or a field of one.
///
/// [`Debug`](fmt::Debug) and [`Display`](fmt::Display) are `***`, and there is no `Deref`: [`expose`](Self::expose) returns
/// the value. It is stored like the value itself, so that `String` and `Secret<String>` have the same JSON.
///
/// An argument whose type is spelled with `Secret<…>` counts as `#[job(secret)]`. In another type, the field is masked
/// wherever the argument or the output is shown. While a job runs, the texts of its secrets are replaced by `***` in its
/// errors, panics, log lines, progress messages, warnings and rejected items. A job that has or returns a secret is
/// encrypted if the runtime has an encryption key.
///
/// When it is dropped, a `String`, a `Vec<u8>`, a boxed slice of them, a number or an array of 16, 32 or 64 bytes is
/// overwritten in memory. Another type must do so itself. Copies that the application makes are not overwritten, and
/// neither is the JSON of the arguments.
///
/// ```
/// # mod ratchet { pub use ratchet_core as security; }
/// use ratchet::security::Secret;
///
/// let token: Secret<String> = "hunter2".into();
/// assert_eq!(format!("{token} {token:?}"), "*** ***");
/// assert_eq!(token.expose(), "hunter2");
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret<T: 'static>(T);

impl<T: 'static> Secret<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Refuses the secret in a key. Only generated code calls it.
    #[doc(hidden)]
    pub fn key_field(&self) -> &Self
    where
        Self: MayBeShown,
    {
        self
    }
}

impl<T: 'static> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret<String> {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl<T: 'static> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl<T: 'static> fmt::Display for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl<T: 'static> Drop for Secret<T> {
    fn drop(&mut self) {
        overwrite(&mut self.0);
    }
}

/// Overwrites a value of a known type. There is no way to ask whether a type can be overwritten.
fn overwrite(value: &mut dyn Any) {
    macro_rules! known {
        ($($ty:ty),* $(,)?) => {
            $(if let Some(value) = value.downcast_mut::<$ty>() {
                value.zeroize();
                return;
            })*
        };
    }
    known!(String, Vec<u8>, Box<str>, Box<[u8]>, Vec<String>, Option<String>, Option<Vec<u8>>);
    known!([u8; 16], [u8; 32], [u8; 64]);
    known!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, char, bool);
}

/// The name under which serde sees the type.
const NAME: &str = "ratchet::Secret";

impl<T: Serialize + 'static> Serialize for Secret<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if secret_scope::is_masking() {
            return to.serialize_str(MASK);
        }
        secret_scope::collect(&self.0);
        to.serialize_newtype_struct(NAME, &self.0)
    }
}

/// `T` must implement `Serialize` too, so that the text of the value is known while its job runs.
impl<'de, T: Deserialize<'de> + Serialize + 'static> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_newtype_struct(NAME, Inner(PhantomData))
    }
}

struct Inner<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Serialize + 'static> Visitor<'de> for Inner<T> {
    type Value = Secret<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a secret value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Secret<T>, D::Error> {
        // The tracer learns about a type from its errors, and its values are made up.
        if secret_scope::trace() {
            return T::deserialize(from).map(Secret);
        }
        // The error of the value would quote it.
        let value = T::deserialize(from).map_err(|_| D::Error::custom(HIDDEN))?;
        secret_scope::collect(&value);
        Ok(Secret(value))
    }
}

/// The error of a secret value that cannot be read.
pub(super) const HIDDEN: &str =
    "the stored value does not fit; it is not shown because it is secret";

/// Reads a value and writes it again with `***` in place of every [`Secret`]. Compiled once per type of an argument or
/// output.
pub(super) fn masked<T: Serialize + DeserializeOwned>(
    json: &str,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    let value: T = serde_json::from_str(json)?;
    secret_scope::masking(|| ratchet_store::model::nesting::write(out, &value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_10_a_secret_is_overwritten_when_it_is_dropped() {
        let mut text = "hunter2".to_owned();
        overwrite(&mut text);
        assert_eq!(text, "");
        let mut key = [7_u8; 32];
        overwrite(&mut key);
        assert_eq!(key, [0; 32]);
        let mut number = 4711_u64;
        overwrite(&mut number);
        assert_eq!(number, 0);
    }

    #[test]
    fn z_10_the_json_of_a_secret_is_that_of_its_value() {
        let secret = Secret::new(vec!["a".to_owned()]);
        let json = serde_json::to_string(&secret).expect("writes");
        assert_eq!(json, r#"["a"]"#);
        let read: Secret<Vec<String>> = serde_json::from_str(&json).expect("reads");
        assert_eq!(read, secret);
        let error = serde_json::from_str::<Secret<u32>>(r#""hunter2""#).expect_err("is no number");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
}
