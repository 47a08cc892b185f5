//! The contract of a job as JSON, for the check of arguments by a database.

use serde_json::{Map, Value, json};

use crate::codegen::keys::{self, Piece};
use crate::job::JobContract;
use crate::shape::{Content, Enum, Fields, Shape, Tagging, TypeDef};

impl JobContract {
    /// Returns what a database needs to check arguments like [`check`](Self::check), to derive keys like
    /// [`key`](Self::key) and to find defaults like [`defaulted`](Self::defaulted), as JSON. The SQL function `enqueue`
    /// of the PostgreSQL store reads it.
    ///
    /// ```
    /// use ratchet_contract::{Argument, JobContract, Shape};
    /// use serde_json::json;
    ///
    /// let mut job = JobContract::new("mail");
    /// job.arguments = vec![Argument::new("to", Shape::list(Shape::text()))];
    /// let field = json!({ "name": "to", "aliases": [], "shape": { "list": "string" }, "required": true });
    /// assert_eq!(job.compiled()["arguments"], json!({ "closed": true, "fields": [field] }));
    /// ```
    pub fn compiled(&self) -> Value {
        let mut arguments = self.payload();
        // As in `check`: a caller does not know of fields that only older versions have stored.
        arguments.closed = true;
        let types: Map<_, _> =
            self.types.iter().map(|(name, def)| (name.clone(), self.definition(def))).collect();
        let mut derived = Map::new();
        for kind in self.keys.keys() {
            if let Some(pieces) = keys::template(self, kind) {
                let pieces = pieces.into_iter().map(|piece| match piece {
                    Piece::Text(text) => json!({ "text": text }),
                    Piece::Argument(name) => json!({ "argument": name }),
                });
                derived.insert(kind.clone(), pieces.collect());
            }
        }
        let defaults = self.arguments.iter().filter_map(|argument| {
            argument.default.as_ref().map(|default| (argument.name.clone(), default.clone()))
        });
        json!({
            "arguments": fields(&arguments),
            "types": types,
            "keys": derived,
            "defaults": defaults.collect::<Map<_, _>>(),
        })
    }

    fn definition(&self, def: &TypeDef) -> Value {
        match def {
            TypeDef::Struct(struct_fields) => fields(struct_fields),
            TypeDef::Enum(def) => self.variants(def),
        }
    }

    fn variants(&self, def: &Enum) -> Value {
        let (tag, content) = match &def.tagging {
            Tagging::External => (None, None),
            Tagging::Internal { tag } => (Some(tag), None),
            Tagging::Adjacent { tag, content } => (Some(tag), Some(content)),
        };
        let is_internal = tag.is_some() && content.is_none();
        let variants: Vec<_> = def
            .variants
            .iter()
            .map(|variant| {
                let content = match &variant.content {
                    // The fields of the variant are beside the tag. Other content is not checked.
                    found if is_internal => match found {
                        Content::Struct(beside) => fields(beside),
                        Content::Value(Shape::Named(name)) => match self.types.get(name) {
                            Some(TypeDef::Struct(beside)) => fields(beside),
                            _ => Value::Null,
                        },
                        _ => Value::Null,
                    },
                    Content::Unit => json!("unit"),
                    Content::Value(value) => json!({ "value": shape(value) }),
                    Content::Tuple(items) => {
                        json!({ "value": { "tuple": items.iter().map(shape).collect::<Value>() } })
                    }
                    Content::Struct(inner) => json!({ "struct": fields(inner) }),
                };
                json!({ "name": variant.name, "content": content })
            })
            .collect();
        json!({ "tag": tag, "content": content, "open": def.open, "variants": variants })
    }
}

fn fields(fields: &Fields) -> Value {
    let inner: Vec<_> = fields
        .fields
        .iter()
        .map(|field| {
            json!({
                "name": field.name,
                "aliases": field.aliases,
                "shape": shape(&field.shape),
                "required": field.required,
            })
        })
        .collect();
    json!({ "closed": fields.closed, "fields": inner })
}

fn shape(of: &Shape) -> Value {
    match of {
        Shape::Any => json!("any"),
        Shape::Null => json!("null"),
        Shape::Bool => json!("bool"),
        // As text, because the numbers of JSON may not have 128 bits.
        Shape::Integer(range) => {
            let (lowest, highest) = (range.lowest().to_string(), range.highest().to_string());
            json!({ "integer": [lowest, highest], "bits": range.bits })
        }
        Shape::Float(_) => json!("number"),
        Shape::Char => json!("char"),
        Shape::Text(Some(format)) if format == "uuid" => json!("uuid"),
        Shape::Text(_) => json!("string"),
        Shape::Optional(inner) => json!({ "optional": shape(inner) }),
        Shape::List(item) => json!({ "list": shape(item) }),
        Shape::Tuple(items) => json!({ "tuple": items.iter().map(shape).collect::<Value>() }),
        Shape::Map(key, value) => json!({ "map": [shape(key), shape(value)] }),
        Shape::OneOf(shapes) => {
            let named: Vec<_> = shapes.iter().map(ToString::to_string).collect();
            json!({ "one": shapes.iter().map(shape).collect::<Value>(), "named": named.join(", ") })
        }
        Shape::Named(name) => json!({ "type": name }),
    }
}
