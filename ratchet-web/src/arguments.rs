//! The arguments of a job as exact text, without secret ones.

use std::fmt;

use ratchet_core::{JobRecord, Ratchet};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// What is shown instead of a secret.
pub(crate) const MASK: &str = "***";

/// The arguments of a job in their stored order. A value is the JSON text that was stored, so that every number is
/// exact.
#[derive(Debug)]
pub(crate) enum Arguments {
    /// One value per argument; `None` if it is secret.
    Fields(Vec<(String, Option<Box<RawValue>>)>),
    /// The payload is not an object, or this program does not know the job.
    Masked,
}

impl Arguments {
    /// Reads the arguments of a job. The runtime decides which of them are secret.
    pub(crate) fn of(ratchet: &Ratchet, job: &JobRecord) -> Self {
        let serde_json::Value::Object(shown) = ratchet.jobs().arguments(job) else {
            return Self::Masked;
        };
        let Ok(Stored(fields)) = serde_json::from_slice::<Stored>(&job.spec.payload) else {
            return Self::Masked;
        };
        let fields = fields.into_iter().map(|(name, stored)| {
            let value = shown.get(&name).and_then(|shown| displayed(shown, stored));
            (name, value)
        });
        Self::Fields(fields.collect())
    }

    /// Reads arguments whose secrets may be shown.
    pub(crate) fn stored(json: &str) -> Self {
        let Ok(Stored(fields)) = serde_json::from_str::<Stored>(json) else {
            return Self::Masked;
        };
        Self::Fields(fields.into_iter().map(|(name, value)| (name, Some(value))).collect())
    }

    /// Returns `true` if a part of the arguments is masked.
    pub(crate) fn has_secrets(ratchet: &Ratchet, job: &JobRecord) -> bool {
        let shown = ratchet.jobs().arguments(job);
        let stored: Option<serde_json::Value> = serde_json::from_slice(&job.spec.payload).ok();
        stored.is_none_or(|stored| stored != shown)
    }

    /// Returns the arguments as a JSON document, with a line per argument.
    pub(crate) fn to_json(&self) -> String {
        let fields = match self {
            Self::Masked => return format!("\"{MASK}\""),
            Self::Fields(fields) if fields.is_empty() => return "{}".to_owned(),
            Self::Fields(fields) => fields,
        };
        let lines: Vec<_> = fields
            .iter()
            .map(|(name, value)| {
                let name = serde_json::Value::from(name.as_str());
                let value = value.as_ref().map_or("\"***\"", |value| value.get());
                format!("  {name}: {value}")
            })
            .collect();
        format!("{{\n{}\n}}", lines.join(",\n"))
    }
}

/// Returns the text of an argument for display: as it is stored, unless it has secrets. Returns `None` if it is secret as
/// a whole.
fn displayed(shown: &serde_json::Value, stored: Box<RawValue>) -> Option<Box<RawValue>> {
    if *shown == MASK {
        return None;
    }
    let is_as_stored =
        serde_json::from_str(stored.get()).is_ok_and(|stored: serde_json::Value| stored == *shown);
    if is_as_stored { Some(stored) } else { RawValue::from_string(shown.to_string()).ok() }
}

/// The fields of an object in their order, each as its text.
struct Stored(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Stored;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Stored, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Stored(fields))
            }
        }
        from.deserialize_map(Fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o_13_numbers_keep_every_digit() {
        let text = r#"{"z":9223372036854775808123,"a":1.10}"#;
        let Stored(fields) = serde_json::from_str(text).expect("an object");
        let fields = fields.into_iter().map(|(name, value)| (name, Some(value))).collect();
        let json = Arguments::Fields(fields).to_json();
        assert_eq!(json, "{\n  \"z\": 9223372036854775808123,\n  \"a\": 1.10\n}");
    }

    #[test]
    fn z_05_a_secret_is_masked() {
        let json = Arguments::Fields(vec![("card".to_owned(), None)]).to_json();
        assert_eq!(json, "{\n  \"card\": \"***\"\n}");
        assert_eq!(Arguments::Masked.to_json(), "\"***\"");
    }
}
