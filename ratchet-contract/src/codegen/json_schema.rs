//! Generates a JSON Schema (2020-12).

use serde_json::{Map, Value, json};

use super::names::Names;
use crate::job::Contract;
use crate::shape::{Content, Enum, Fields, Shape, Tagging, TypeDef};

/// Formats that JSON Schema defines.
const FORMATS: [&str; 7] = ["uuid", "date-time", "date", "time", "duration", "uri", "email"];

pub(super) fn generate(contract: &Contract, names: &Names, notice: &str) -> String {
    let mut defs = Map::new();
    for (name, (job, def)) in names.types(contract) {
        defs.insert(name.to_owned(), Schema { names, job }.type_def(def));
    }
    let mut jobs = Map::new();
    for (name, job) in &contract.jobs {
        let schema = Schema { names, job: name };
        let mut arguments = schema.fields(&job.payload());
        for argument in &job.arguments {
            let property = &mut arguments["properties"][&argument.name];
            if let Value::Object(property) = property {
                if !argument.docs.is_empty() {
                    property.insert("description".to_owned(), json!(argument.docs));
                }
                if let Some(default) = &argument.default {
                    property.insert("default".to_owned(), default.clone());
                }
                if argument.secret {
                    property.insert("writeOnly".to_owned(), json!(true));
                }
            }
        }
        let generated = names.job(name);
        defs.insert(format!("{generated}Args"), arguments);
        defs.insert(format!("{generated}Output"), schema.shape(&job.output));
        let entry = json!({
            "description": job.docs,
            "version": job.version,
            "queue": job.queue,
            "arguments": { "$ref": format!("#/$defs/{generated}Args") },
            "output": { "$ref": format!("#/$defs/{generated}Output") },
        });
        jobs.insert(name.clone(), entry);
    }
    let document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": notice,
        "$defs": defs,
        "x-ratchet-jobs": jobs,
    });
    format!("{document:#}\n")
}

struct Schema<'a> {
    names: &'a Names,
    job: &'a str,
}

impl Schema<'_> {
    fn shape(&self, shape: &Shape) -> Value {
        match shape {
            Shape::Any => json!({}),
            Shape::Null => json!({ "type": "null" }),
            Shape::Bool => json!({ "type": "boolean" }),
            Shape::Integer(integer) => {
                let mut schema = json!({ "type": "integer" });
                if !integer.signed {
                    schema["minimum"] = json!(0);
                } else if integer.bits <= 64 {
                    schema["minimum"] = json!(i64::try_from(integer.lowest()).unwrap_or(i64::MIN));
                }
                if integer.bits <= 64 {
                    schema["maximum"] = json!(u64::try_from(integer.highest()).unwrap_or(u64::MAX));
                }
                schema
            }
            Shape::Float(_) => json!({ "type": "number" }),
            Shape::Char => json!({ "type": "string", "minLength": 1, "maxLength": 1 }),
            Shape::Text(Some(format)) if FORMATS.contains(&format.as_str()) => {
                json!({ "type": "string", "format": format })
            }
            Shape::Text(_) => json!({ "type": "string" }),
            Shape::Optional(inner) => {
                json!({ "anyOf": [self.shape(inner), { "type": "null" }] })
            }
            Shape::List(item) => json!({ "type": "array", "items": self.shape(item) }),
            Shape::Tuple(items) => self.tuple(items),
            Shape::Map(_, value) => {
                json!({ "type": "object", "additionalProperties": self.shape(value) })
            }
            Shape::OneOf(shapes) => {
                let shapes: Vec<_> = shapes.iter().map(|shape| self.shape(shape)).collect();
                json!({ "anyOf": shapes })
            }
            Shape::Named(name) => {
                json!({ "$ref": format!("#/$defs/{}", self.names.of_type(self.job, name)) })
            }
        }
    }

    fn tuple(&self, items: &[Shape]) -> Value {
        let count = items.len();
        let items: Vec<_> = items.iter().map(|item| self.shape(item)).collect();
        json!({ "type": "array", "prefixItems": items, "minItems": count, "maxItems": count })
    }

    fn fields(&self, fields: &Fields) -> Value {
        let mut properties = Map::new();
        for field in &fields.fields {
            properties.insert(field.name.clone(), self.shape(&field.shape));
        }
        let required: Vec<_> =
            fields.fields.iter().filter(|field| field.required).map(|field| &field.name).collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        if fields.closed {
            schema["additionalProperties"] = json!(false);
        }
        schema
    }

    fn type_def(&self, def: &TypeDef) -> Value {
        match def {
            TypeDef::Struct(fields) => self.fields(fields),
            TypeDef::Enum(def) => self.variants(def),
        }
    }

    fn content(&self, content: &Content) -> Value {
        match content {
            Content::Unit => json!({ "type": "null" }),
            Content::Value(shape) => self.shape(shape),
            Content::Tuple(items) => self.tuple(items),
            Content::Struct(fields) => self.fields(fields),
        }
    }

    fn variants(&self, def: &Enum) -> Value {
        let mut variants: Vec<Value> = def
            .variants
            .iter()
            .map(|variant| {
                let name = &variant.name;
                match (&def.tagging, &variant.content) {
                    (Tagging::External, Content::Unit) => json!({ "const": name }),
                    (Tagging::External, content) => json!({
                        "type": "object",
                        "properties": { name: self.content(content) },
                        "required": [name],
                        "additionalProperties": false,
                    }),
                    (Tagging::Internal { tag }, content) => {
                        let mut schema = match content {
                            Content::Struct(fields) => self.fields(fields),
                            _ => json!({ "type": "object", "properties": {} }),
                        };
                        schema["properties"][tag] = json!({ "const": name });
                        let mut required = vec![json!(tag)];
                        if let Some(others) = schema.get("required").and_then(Value::as_array) {
                            required.extend(others.clone());
                        }
                        schema["required"] = json!(required);
                        schema
                    }
                    (Tagging::Adjacent { tag, .. }, Content::Unit) => json!({
                        "type": "object",
                        "properties": { tag: { "const": name } },
                        "required": [tag],
                    }),
                    (Tagging::Adjacent { tag, content: field }, content) => json!({
                        "type": "object",
                        "properties": { tag: { "const": name }, field: self.content(content) },
                        "required": [tag, field],
                    }),
                }
            })
            .collect();
        if def.open {
            variants.push(json!({ "type": "string" }));
        }
        json!({ "anyOf": variants })
    }
}
