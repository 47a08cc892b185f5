//! Checks the arguments of a job against its contract.

use std::fmt;

use serde_json::{Map, Value};

use crate::job::JobContract;
use crate::shape::{Content, Enum, Fields, Integer, Shape, Tagging, TypeDef};

/// The first mistake in the arguments of a job.
///
/// ```
/// use ratchet_contract::{Argument, JobContract, Shape};
/// use serde_json::json;
///
/// let mut job = JobContract::new("mail");
/// job.arguments = vec![Argument::new("to", Shape::list(Shape::text()))];
/// let mistake = job.check(&json!({ "to": ["ada", 7] })).expect_err("a number is not a text");
/// assert_eq!(mistake.to_string(), "$.to[1] must be a string, not a number");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// Where it is, as a JSON path: `$.order.lines[2].price`.
    pub path: String,
    /// What is wrong. It does not contain the value, which may be secret.
    pub problem: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.problem)
    }
}

impl std::error::Error for Mistake {}

impl JobContract {
    /// Checks arguments that were written by hand or in another language: each must be an argument of the job, those that
    /// are required must be present, and each value must have its shape. What only the code of a type knows, such as a
    /// range of its own, is checked by the worker.
    ///
    /// # Errors
    ///
    /// Returns the first mistake.
    pub fn check(&self, arguments: &Value) -> Result<(), Mistake> {
        let mut payload = self.payload();
        // A caller does not know of fields that only older versions have stored.
        payload.closed = true;
        At { job: self, path: "$".to_owned() }.fields(&payload, arguments)
    }

    /// Checks a stored payload, as a worker would read it: fields that no argument takes are ignored unless the job is
    /// `strict`.
    ///
    /// # Errors
    ///
    /// Returns the first mistake.
    pub fn check_stored(&self, payload: &Value) -> Result<(), Mistake> {
        At { job: self, path: "$".to_owned() }.fields(&self.payload(), payload)
    }

    /// Returns the names of the optional arguments that are absent. A submit from Rust stores them as `null`, so that a
    /// caller must store them too to be recognized as a repeat.
    pub fn absent(&self, arguments: &Value) -> Vec<String> {
        let is_given = |name: &String| arguments.get(name).is_some();
        let absent = self.arguments.iter().filter(|argument| {
            let optional = matches!(argument.shape, Shape::Optional(_)) && !argument.required;
            let given = is_given(&argument.name) || argument.aliases.iter().any(is_given);
            optional && argument.default.is_none() && !given
        });
        absent.map(|argument| argument.name.clone()).collect()
    }

    /// Returns the names of the arguments that have their default value. They do not count when a repeated idempotency key
    /// is compared.
    pub fn defaulted(&self, arguments: &Value) -> Vec<String> {
        let defaulted = self.arguments.iter().filter(|argument| {
            let given = arguments.get(&argument.name);
            given
                .zip(argument.default.as_ref())
                .is_some_and(|(given, default)| same(given, default))
        });
        defaulted.map(|argument| argument.name.clone()).collect()
    }
}

/// A place in the arguments.
struct At<'a> {
    job: &'a JobContract,
    path: String,
}

impl At<'_> {
    fn wrong(&self, problem: impl Into<String>) -> Mistake {
        Mistake { path: self.path.clone(), problem: problem.into() }
    }

    fn field(&self, name: &str) -> Self {
        let plain = !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        let step = if plain { format!(".{name}") } else { format!("[{}]", Value::from(name)) };
        self.step(&step)
    }

    fn step(&self, step: &str) -> Self {
        At { job: self.job, path: format!("{}{step}", self.path) }
    }

    fn must(&self, wanted: &str, value: &Value) -> Mistake {
        self.wrong(format!("must be {wanted}, not {}", kind(value)))
    }

    fn shape(&self, shape: &Shape, value: &Value) -> Result<(), Mistake> {
        let fits = |fits: bool, wanted: &str| match fits {
            true => Ok(()),
            false => Err(self.must(wanted, value)),
        };
        match shape {
            Shape::Any => Ok(()),
            Shape::Null => fits(value.is_null(), "null"),
            Shape::Bool => fits(value.is_boolean(), "true or false"),
            Shape::Integer(range) => self.integer(*range, value),
            Shape::Float(_) => fits(value.is_number(), "a number"),
            Shape::Char => {
                let single = value.as_str().is_some_and(|text| text.chars().count() == 1);
                fits(single, "a string with one character")
            }
            Shape::Text(format) => {
                fits(value.is_string(), "a string")?;
                match (format.as_deref(), value.as_str()) {
                    (Some("uuid"), Some(text)) if !is_uuid(text) => {
                        Err(self
                            .wrong("must be a UUID, such as 67e55044-10b1-426f-9247-bb680e5fe0c8"))
                    }
                    _ => Ok(()),
                }
            }
            Shape::Optional(_) if value.is_null() => Ok(()),
            Shape::Optional(inner) => self.shape(inner, value),
            Shape::List(item) => {
                let items = value.as_array().ok_or_else(|| self.must("an array", value))?;
                let mut items = items.iter().enumerate();
                items.try_for_each(|(at, value)| self.step(&format!("[{at}]")).shape(item, value))
            }
            Shape::Tuple(shapes) => self.tuple(shapes, value),
            Shape::Map(key, of) => {
                let entries = value.as_object().ok_or_else(|| self.must("an object", value))?;
                entries.iter().try_for_each(|(name, value)| {
                    let at = self.field(name);
                    if let Shape::Integer(range) = **key {
                        let number = name.parse::<i128>().ok();
                        if !number.is_some_and(|it| range.lowest() <= it && it <= range.highest()) {
                            return Err(
                                at.wrong(format!("must have a key that is {}", within(range)))
                            );
                        }
                    }
                    at.shape(of, value)
                })
            }
            Shape::OneOf(shapes) => {
                let fits = shapes.iter().any(|shape| self.shape(shape, value).is_ok());
                let shapes: Vec<_> = shapes.iter().map(ToString::to_string).collect();
                if fits {
                    Ok(())
                } else {
                    Err(self.must(&format!("one of {}", shapes.join(", ")), value))
                }
            }
            Shape::Named(name) => match self.job.types.get(name) {
                Some(TypeDef::Struct(fields)) => self.fields(fields, value),
                Some(TypeDef::Enum(def)) => self.variant(def, value),
                None => Ok(()),
            },
        }
    }

    fn integer(&self, range: Integer, value: &Value) -> Result<(), Mistake> {
        let Some(number) = value.as_number() else { return Err(self.must(&within(range), value)) };
        let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
        match whole {
            Some(whole) if range.lowest() <= whole && whole <= range.highest() => Ok(()),
            Some(_) => Err(self.wrong(format!("must be {}", within(range)))),
            // JSON text beyond 64 bits is read as a floating-point number here, but exactly by a worker.
            None if range.bits == 128 && number.as_f64().is_some_and(|it| it.fract() == 0.0) => {
                Ok(())
            }
            None => Err(self.must(&within(range), value)),
        }
    }

    fn tuple(&self, shapes: &[Shape], value: &Value) -> Result<(), Mistake> {
        let items = value.as_array().ok_or_else(|| self.must("an array", value))?;
        if items.len() != shapes.len() {
            let (wanted, found) = (shapes.len(), items.len());
            return Err(self.wrong(format!("must be an array of {wanted} values, not {found}")));
        }
        let mut items = shapes.iter().zip(items).enumerate();
        items.try_for_each(|(at, (shape, value))| self.step(&format!("[{at}]")).shape(shape, value))
    }

    fn fields(&self, fields: &Fields, value: &Value) -> Result<(), Mistake> {
        let object = value.as_object().ok_or_else(|| self.must("an object", value))?;
        self.fields_of(fields, object, |_| false)
    }

    /// Checks the fields of an object, except those that belong to the enum around it.
    fn fields_of(
        &self,
        fields: &Fields,
        object: &Map<String, Value>,
        is_tag: impl Fn(&str) -> bool,
    ) -> Result<(), Mistake> {
        for (name, value) in object.iter().filter(|(name, _)| !is_tag(name)) {
            match fields.find(name) {
                Some(field) => self.field(name).shape(&field.shape, value)?,
                None if fields.closed => {
                    let known: Vec<_> = fields.fields.iter().map(|field| &*field.name).collect();
                    let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                    return Err(self
                        .field(name)
                        .wrong(format!("is not known; the fields are: {known}")));
                }
                None => {}
            }
        }
        let is_given = |name: &String| object.contains_key(name);
        let missing = fields.fields.iter().find(|field| {
            field.required && !is_given(&field.name) && !field.aliases.iter().any(is_given)
        });
        missing.map_or(Ok(()), |field| Err(self.field(&field.name).wrong("is missing")))
    }

    fn variant(&self, def: &Enum, value: &Value) -> Result<(), Mistake> {
        match &def.tagging {
            Tagging::External => match value {
                Value::String(name) => self.named(def, name, None),
                Value::Object(object) if object.len() == 1 => {
                    let (name, content) = object.iter().next().unzip();
                    self.named(def, name.map_or("", String::as_str), content)
                }
                other => {
                    Err(self.must("the name of a variant, or an object with one field", other))
                }
            },
            Tagging::Internal { tag } => {
                let object = value.as_object().ok_or_else(|| self.must("an object", value))?;
                let name = self.tag(object, tag)?;
                let Some(variant) = self.find(def, name)? else { return Ok(()) };
                match &variant.content {
                    Content::Struct(fields) => self.fields_of(fields, object, |name| name == tag),
                    Content::Value(Shape::Named(name)) => match self.job.types.get(name) {
                        Some(TypeDef::Struct(fields)) => {
                            self.fields_of(fields, object, |name| name == tag)
                        }
                        _ => Ok(()),
                    },
                    _ => Ok(()),
                }
            }
            Tagging::Adjacent { tag, content } => {
                let object = value.as_object().ok_or_else(|| self.must("an object", value))?;
                let name = self.tag(object, tag)?;
                let at = self.field(content);
                let Some(variant) = self.find(def, name)? else { return Ok(()) };
                at.content(&variant.content, object.get(content))
            }
        }
    }

    fn tag<'v>(&self, object: &'v Map<String, Value>, tag: &str) -> Result<&'v str, Mistake> {
        let at = self.field(tag);
        let value = object.get(tag).ok_or_else(|| at.wrong("is missing"))?;
        value.as_str().ok_or_else(|| at.must("the name of a variant", value))
    }

    fn named(&self, def: &Enum, name: &str, content: Option<&Value>) -> Result<(), Mistake> {
        let Some(variant) = self.find(def, name)? else { return Ok(()) };
        let at = if content.is_some() { self.field(name) } else { self.step("") };
        at.content(&variant.content, content)
    }

    fn find<'v>(&self, def: &'v Enum, name: &str) -> Result<Option<&'v crate::Variant>, Mistake> {
        let found = def.variants.iter().find(|variant| variant.name == name);
        if found.is_none() && !def.open {
            let known: Vec<_> = def.variants.iter().map(|variant| &*variant.name).collect();
            return Err(self.wrong(format!("must be one of {}", known.join(", "))));
        }
        Ok(found)
    }

    fn content(&self, content: &Content, value: Option<&Value>) -> Result<(), Mistake> {
        match (content, value) {
            (Content::Unit, None | Some(Value::Null))
            | (Content::Value(Shape::Optional(_)), None) => Ok(()),
            (Content::Unit, Some(value)) => {
                Err(self.must("null, because the variant has no content", value))
            }
            (_, None) => Err(self.wrong("must have the content of its variant")),
            (Content::Value(shape), Some(value)) => self.shape(shape, value),
            (Content::Tuple(shapes), Some(value)) => self.tuple(shapes, value),
            (Content::Struct(fields), Some(value)) => self.fields(fields, value),
        }
    }
}

fn within(range: Integer) -> String {
    if range.bits == 128 {
        return "a whole number".to_owned();
    }
    format!("a whole number from {} to {}", range.lowest(), range.highest())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number with a fraction",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Compares two values. Numbers are compared by value: `1` and `1.0` are the same.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same_field = |(name, one)| other.get(name).is_some_and(|other| same(one, other));
            one.len() == other.len() && one.iter().all(same_field)
        }
        _ => one == other,
    }
}

/// Returns whether the text is a UUID in one of the forms that are usually read: with hyphens or without.
fn is_uuid(text: &str) -> bool {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let digits = text.chars().filter(|c| *c != '-');
    digits.clone().count() == 32
        && digits.clone().all(|c| c.is_ascii_hexdigit())
        && (text.len() == 32 || text.len() == 36)
}

#[cfg(test)]
mod tests;
