//! Generates a typed client for TypeScript.

use std::fmt::Write as _;

use super::keys::{self, Piece};
use super::names::{Names, camel, is_identifier};
use crate::job::{Contract, JobContract};
use crate::shape::{Content, Enum, Fields, Shape, Tagging, TypeDef};

/// The part that does not depend on the jobs.
const RUNTIME: &str = include_str!("runtime/typescript.ts");

pub(super) fn generate(contract: &Contract, names: &Names, notice: &str) -> String {
    let mut file = format!("// {notice}\n\n{RUNTIME}");
    for (name, (job, def)) in names.types(contract) {
        let types = Types { names, job };
        let _ = writeln!(file, "\nexport type {name} = {};", types.def(def));
    }
    for (name, job) in &contract.jobs {
        write_job(&mut file, names, name, job);
    }
    file.push_str("\n/** The arguments and the output of every job, by its stored name. */\nexport interface Jobs {\n");
    for name in contract.jobs.keys() {
        let job = names.job(name);
        let _ = writeln!(file, "  {}: {{ args: {job}Args; output: {job}Output }};", text(name));
    }
    file.push_str("}\n");
    file
}

/// Returns a string literal.
fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

fn comment(indent: &str, docs: &str) -> String {
    if docs.is_empty() {
        return String::new();
    }
    let lines: Vec<_> =
        docs.lines().map(|line| format!("{indent} * {line}").trim_end().to_owned()).collect();
    format!("{indent}/**\n{}\n{indent} */\n", lines.join("\n").replace("*/", "* /"))
}

fn write_job(file: &mut String, names: &Names, name: &str, job: &JobContract) {
    let (generated, types) = (names.job(name), Types { names, job: name });
    let _ = write!(file, "\n{}", comment("", &job.docs));
    if job.arguments.is_empty() {
        let _ = writeln!(file, "export type {generated}Args = Record<string, never>;");
    } else {
        let _ = writeln!(file, "export interface {generated}Args {{");
        for argument in &job.arguments {
            let optional = if argument.required { "" } else { "?" };
            let _ = write!(file, "{}", comment("  ", &argument.docs));
            let (field, shape) = (property(&argument.name), types.shape(&argument.shape));
            let _ = writeln!(file, "  {field}{optional}: {shape};");
        }
        file.push_str("}\n");
    }
    let _ = writeln!(file, "\nexport type {generated}Output = {};", types.shape(&job.output));
    let arguments = if job.keys.is_empty() { "_args" } else { "args" };
    let _ = writeln!(
        file,
        "\n{}export const {}: JobType<{generated}Args, {generated}Output> = {{",
        comment("", &job.docs),
        camel_of(generated),
    );
    let _ = writeln!(
        file,
        "  name: {},\n  version: {},\n  queue: {},",
        text(name),
        job.version,
        text(&job.queue)
    );
    for (kind, field) in [("idempotency", "idempotencyKey"), ("business", "businessKey")] {
        if let Some(pieces) = keys::template(job, kind) {
            let _ = writeln!(file, "  {field}: ({arguments}) => {},", template(&pieces));
        }
    }
    file.push_str("};\n");
}

fn camel_of(pascal: &str) -> String {
    let name = camel(pascal);
    // Words that cannot be the name of a constant.
    const RESERVED: [&str; 14] = [
        "delete", "new", "import", "export", "default", "class", "function", "return", "switch",
        "void", "in", "enum", "package", "static",
    ];
    if RESERVED.contains(&name.as_str()) { format!("{name}Job") } else { name }
}

fn template(pieces: &[Piece]) -> String {
    let mut literal = String::from("`");
    for piece in pieces {
        match piece {
            Piece::Text(text) => {
                literal.push_str(
                    &text.replace('\\', "\\\\").replace('`', "\\`").replace("${", "\\${"),
                );
            }
            Piece::Argument(name) => {
                let _ = write!(literal, "${{args.{name}}}");
            }
        }
    }
    literal.push('`');
    literal
}

fn property(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { text(name) }
}

struct Types<'a> {
    names: &'a Names,
    job: &'a str,
}

impl Types<'_> {
    fn shape(&self, shape: &Shape) -> String {
        match shape {
            Shape::Any => "unknown".to_owned(),
            Shape::Null => "null".to_owned(),
            Shape::Bool => "boolean".to_owned(),
            Shape::Integer(integer) if integer.is_exact_as_double() => "number".to_owned(),
            Shape::Integer(_) => "number | bigint".to_owned(),
            Shape::Float(_) => "number".to_owned(),
            Shape::Char | Shape::Text(_) => "string".to_owned(),
            Shape::Optional(inner) => match self.shape(inner) {
                unknown if unknown == "unknown" => unknown,
                inner => format!("{inner} | null"),
            },
            Shape::List(item) => format!("Array<{}>", self.shape(item)),
            Shape::Tuple(items) => self.tuple(items),
            Shape::Map(_, value) => format!("Record<string, {}>", self.shape(value)),
            Shape::OneOf(shapes) => {
                let shapes: Vec<_> = shapes.iter().map(|shape| self.shape(shape)).collect();
                shapes.join(" | ")
            }
            Shape::Named(name) => self.names.of_type(self.job, name).to_owned(),
        }
    }

    fn tuple(&self, items: &[Shape]) -> String {
        let items: Vec<_> = items.iter().map(|item| self.shape(item)).collect();
        format!("[{}]", items.join(", "))
    }

    fn fields(&self, fields: &Fields) -> Vec<String> {
        let field = |field: &crate::Field| {
            let optional = if field.required { "" } else { "?" };
            format!("{}{optional}: {}", property(&field.name), self.shape(&field.shape))
        };
        fields.fields.iter().map(field).collect()
    }

    fn def(&self, def: &TypeDef) -> String {
        match def {
            TypeDef::Struct(fields) => object(&self.fields(fields)),
            TypeDef::Enum(def) => self.variants(def),
        }
    }

    fn variants(&self, def: &Enum) -> String {
        let mut variants: Vec<_> = def
            .variants
            .iter()
            .map(|variant| {
                let name = text(&variant.name);
                let content = match &variant.content {
                    Content::Unit => None,
                    Content::Value(shape) => Some(self.shape(shape)),
                    Content::Tuple(items) => Some(self.tuple(items)),
                    Content::Struct(fields) => Some(object(&self.fields(fields))),
                };
                match (&def.tagging, content) {
                    (Tagging::External, None) => name,
                    (Tagging::External, Some(content)) => {
                        object(&[format!("{}: {content}", property(&variant.name))])
                    }
                    (Tagging::Internal { tag }, _) => {
                        let mut fields = vec![format!("{}: {name}", property(tag))];
                        if let Content::Struct(content) = &variant.content {
                            fields.extend(self.fields(content));
                        }
                        object(&fields)
                    }
                    (Tagging::Adjacent { tag, .. }, None) => {
                        object(&[format!("{}: {name}", property(tag))])
                    }
                    (Tagging::Adjacent { tag, content: field }, Some(content)) => object(&[
                        format!("{}: {name}", property(tag)),
                        format!("{}: {content}", property(field)),
                    ]),
                }
            })
            .collect();
        if def.open {
            variants.push("string".to_owned());
        }
        if variants.is_empty() { "never".to_owned() } else { variants.join(" | ") }
    }
}

fn object(fields: &[String]) -> String {
    if fields.is_empty() {
        "Record<string, never>".to_owned()
    } else {
        format!("{{ {} }}", fields.join("; "))
    }
}
