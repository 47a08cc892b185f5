//! Infers the shape of a type that reads a whole value before it looks at it, by trying values.
//!
//! These are internally tagged enums, structs with `#[serde(flatten)]`, and types with their own visitor for any value.

use serde_json::{Map, Value, json};

use super::error::{Problem, TraceError};
use super::node::{Inferred, InferredForm};
use super::samples::TEXTS;
use crate::shape::{Content, Enum, Field, Fields, Integer, Shape, Tagging, Variant};

/// Decodes a value. `Ok` says that the type accepts it.
pub(super) type Try<'a> = &'a mut dyn FnMut(Value) -> Result<(), TraceError>;

/// The most fields of an object that are looked for.
const FIELDS: usize = 200;

/// Returns the shape and a value, or why there is none.
pub(super) fn infer(expecting: &str, decode: Try<'_>) -> Result<Inferred, String> {
    if let Some(name) = expecting.strip_prefix("internally tagged enum ") {
        return tagged(name, decode);
    }
    if let Some(name) = expecting.strip_prefix("struct ") {
        let (fields, sample) = object(Map::new(), decode)?;
        return Ok(Inferred {
            form: InferredForm::Struct(last_segment(name), fields),
            sample: Some(Value::Object(sample)),
        });
    }
    // An untagged enum hides the errors of its variants, so objects that it accepts cannot be found.
    let nothing = json!({ "\u{1}": null });
    if let Err(TraceError(Problem::Other(text))) = decode(nothing)
        && text.contains("untagged enum")
    {
        return Err(text);
    }
    let (shape, sample) = single(decode)?;
    Ok(Inferred { form: InferredForm::Shape(shape), sample: Some(sample) })
}

fn last_segment(name: &str) -> String {
    name.rsplit("::").next().unwrap_or(name).to_owned()
}

/// Returns the shape of a value that is not an object with known fields.
fn single(decode: Try<'_>) -> Result<(Shape, Value), String> {
    let mut accepts = |value: Value| decode(value).is_ok();
    let everything =
        [json!(null), json!(true), json!(1), json!(1.5), json!("a"), json!([]), json!({})];
    if everything.iter().all(|value| accepts(value.clone())) {
        return Ok((Shape::Any, Value::Null));
    }
    let mut found = Vec::new();
    let text = TEXTS.iter().find(|(text, _)| accepts(json!(text)));
    if let Some((text, format)) = text {
        found.push((Shape::Text(format.map(str::to_owned)), json!(text)));
    }
    if accepts(json!(1)) {
        let shape = if accepts(json!(1.5)) {
            Shape::Float(64)
        } else {
            Shape::Integer(range(&mut accepts))
        };
        found.push((shape, json!(1)));
    } else if accepts(json!(1.5)) {
        found.push((Shape::Float(64), json!(1.5)));
    }
    if accepts(json!(true)) {
        found.push((Shape::Bool, json!(true)));
    }
    if accepts(json!([])) {
        found.push((Shape::list(Shape::Any), json!([])));
    }
    if accepts(json!({})) {
        found.push((Shape::Map(Box::new(Shape::text()), Box::new(Shape::Any)), json!({})));
    }
    let null = accepts(Value::Null);
    let sample = found.first().map(|(_, sample)| sample.clone());
    let mut shapes: Vec<Shape> = found.into_iter().map(|(shape, _)| shape).collect();
    let shape = match (shapes.len(), null) {
        (0, false) => return Err("it accepts no value that was tried".to_owned()),
        (0, true) => return Ok((Shape::Null, Value::Null)),
        (1, _) => shapes.remove(0),
        _ => Shape::OneOf(shapes),
    };
    let shape = if null { Shape::optional(shape) } else { shape };
    Ok((shape, sample.unwrap_or(Value::Null)))
}

fn range(accepts: &mut dyn FnMut(Value) -> bool) -> Integer {
    let signed = accepts(json!(-1));
    let is_in =
        |bits: u32| if signed { i64::MAX >> (64 - bits) } else { (1 << (bits - 1)) * 2 - 1 };
    let wider = [8, 16, 32].into_iter().find(|bits| !accepts(json!(is_in(*bits) + 1)));
    Integer { signed, bits: wider.map_or(64, |bits| u8::try_from(bits).unwrap_or(64)) }
}

/// Finds the fields that an object must have. Fields that can be left out are not found.
fn object(
    mut sample: Map<String, Value>,
    decode: Try<'_>,
) -> Result<(Fields, Map<String, Value>), String> {
    let mut fields = Vec::new();
    while fields.len() < FIELDS {
        let name = match decode(Value::Object(sample.clone())) {
            Ok(()) => return Ok((Fields { fields, closed: false }, sample)),
            Err(TraceError(Problem::Missing(name))) if !sample.contains_key(name) => name,
            Err(error) => return Err(error.to_string()),
        };
        let mut decode_field = |value: Value| {
            let mut tried = sample.clone();
            tried.insert(name.to_owned(), value);
            match decode(Value::Object(tried)) {
                Err(TraceError(Problem::Missing(other))) if other != name => Ok(()),
                result => result,
            }
        };
        let (shape, value) = match single(&mut decode_field) {
            Ok((shape, value)) => (shape, value),
            Err(_) => match decode_field(json!("\u{1}")) {
                Err(TraceError(Problem::UnknownVariant([first, ..]))) => {
                    (Shape::text(), json!(first))
                }
                _ => return Err(format!("field `{name}` accepts no value that was tried")),
            },
        };
        fields.push(Field { name: name.to_owned(), aliases: Vec::new(), shape, required: true });
        sample.insert(name.to_owned(), value);
    }
    Err("it has too many fields".to_owned())
}

fn tagged(name: &str, decode: Try<'_>) -> Result<Inferred, String> {
    let tag = match decode(json!({})) {
        Err(TraceError(Problem::Missing(tag))) => tag,
        Err(error) => return Err(error.to_string()),
        Ok(()) => return Err("it accepts an object without a tag".to_owned()),
    };
    let variants = match decode(json!({ tag: "\u{1}" })) {
        Err(TraceError(Problem::UnknownVariant(variants))) => variants,
        Err(error) => return Err(error.to_string()),
        // `#[serde(other)]` accepts any tag, and then the variants cannot be listed.
        Ok(()) => return Err("it accepts any tag".to_owned()),
    };
    let (mut found, mut first) = (Vec::new(), None);
    for variant in variants {
        let tagged = Map::from_iter([(tag.to_owned(), json!(variant))]);
        let (fields, sample) =
            object(tagged, decode).map_err(|why| format!("variant `{variant}`: {why}"))?;
        first.get_or_insert(Value::Object(sample));
        let content =
            if fields.fields.is_empty() { Content::Unit } else { Content::Struct(fields) };
        found.push(Variant { name: (*variant).to_owned(), content });
    }
    let tagging = Tagging::Internal { tag: tag.to_owned() };
    let form = Enum { tagging, variants: found, open: false };
    Ok(Inferred { form: InferredForm::Enum(last_segment(name), form), sample: first })
}
