//! Generates a typed client for Python.

use std::fmt::Write as _;

use super::keys::{self, Piece};
use super::names::{Names, is_identifier};
use crate::job::{Contract, JobContract};
use crate::shape::{Content, Enum, Field, Fields, Shape, Tagging, TypeDef};

/// The part that does not depend on the jobs.
const RUNTIME: &str = include_str!("runtime/python.py");

pub(super) fn generate(contract: &Contract, names: &Names, notice: &str) -> String {
    let mut file = format!("# {notice}\n{RUNTIME}");
    for (name, (job, def)) in names.types(contract) {
        let mut types = Types { names, job, helpers: String::new() };
        let body = types.def(name, def);
        file.push_str(&types.helpers);
        file.push_str(&body);
    }
    for (name, job) in &contract.jobs {
        write_job(&mut file, names, name, job);
    }
    file
}

/// Returns a string literal.
fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}

/// Words that cannot be a name.
const RESERVED: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Types that a field with their name would hide.
const BUILTINS: [&str; 9] =
    ["bool", "dict", "float", "int", "list", "object", "str", "tuple", "type"];

fn field_name(name: &str) -> String {
    let mut name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    // The names that every job has.
    const TAKEN: [&str; 6] =
        ["name", "version", "queue", "payload", "idempotency_key", "business_key"];
    if [&RESERVED[..], &TAKEN, &BUILTINS].concat().contains(&name.as_str()) {
        name.push('_');
    }
    name
}

fn docstring(indent: &str, docs: &str) -> String {
    let docs = docs.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"");
    let lines: Vec<_> = docs.lines().collect();
    match lines.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}\"\"\"{line}\"\"\"\n"),
        lines => {
            let rest: Vec<_> =
                lines.iter().map(|line| format!("{indent}{line}").trim_end().to_owned()).collect();
            format!("{indent}\"\"\"{}\n{indent}\"\"\"\n", rest.join("\n").trim_start())
        }
    }
}

fn write_job(file: &mut String, names: &Names, name: &str, job: &JobContract) {
    let generated = names.job(name);
    let types = Types { names, job: name, helpers: String::new() };
    let output = match &job.output {
        Shape::Null => "None".to_owned(),
        output => types.shape(output),
    };
    let _ = write!(
        file,
        "\n\n@dataclass(frozen=True, kw_only=True)\nclass {generated}(JobType[{}]):\n",
        text(&output)
    );
    let docs = if job.docs.is_empty() { format!("The job `{name}`.") } else { job.docs.clone() };
    file.push_str(&docstring("    ", &docs));
    let _ = writeln!(file, "\n    name: ClassVar[str] = {}", text(name));
    let _ = writeln!(file, "    version: ClassVar[int] = {}", job.version);
    let _ = writeln!(file, "    queue: ClassVar[str] = {}", text(&job.queue));
    for argument in &job.arguments {
        let shape = types.shape(&argument.shape);
        let (field, docs) = (field_name(&argument.name), argument.docs.replace('\n', " "));
        if !docs.is_empty() {
            let _ = writeln!(file, "    # {docs}");
        }
        let _ = match (argument.required, shape.ends_with(" | None")) {
            (true, _) => writeln!(file, "    {field}: {shape}"),
            (false, true) => writeln!(file, "    {field}: {shape} = None"),
            (false, false) => writeln!(file, "    {field}: {shape} | None = None"),
        };
    }
    file.push_str(
        "\n    def payload(self) -> dict[str, object]:\n        values: dict[str, object] = {",
    );
    for argument in job.arguments.iter().filter(|argument| argument.required) {
        let _ = write!(
            file,
            "\n            {}: self.{},",
            text(&argument.name),
            field_name(&argument.name)
        );
    }
    let required = job.arguments.iter().any(|argument| argument.required);
    file.push_str(if required { "\n        }\n" } else { "}\n" });
    for argument in job.arguments.iter().filter(|argument| !argument.required) {
        let field = field_name(&argument.name);
        let _ = writeln!(
            file,
            "        if self.{field} is not None:\n            values[{}] = self.{field}",
            text(&argument.name)
        );
    }
    file.push_str("        return values\n");
    for kind in ["idempotency", "business"] {
        if let Some(pieces) = keys::template(job, kind) {
            let _ = writeln!(
                file,
                "\n    def {kind}_key(self) -> str | None:\n        return {}",
                template(job, &pieces)
            );
        }
    }
}

fn template(job: &JobContract, pieces: &[Piece]) -> String {
    let parts: Vec<_> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(part) => text(part),
            Piece::Argument(name) => {
                let is_bool =
                    job.arguments.iter().any(|a| a.name == *name && a.shape == Shape::Bool);
                let field = field_name(name);
                if is_bool {
                    format!("str(self.{field}).lower()")
                } else {
                    format!("str(self.{field})")
                }
            }
        })
        .collect();
    parts.join(" + ")
}

struct Types<'a> {
    names: &'a Names,
    job: &'a str,
    /// The types of variants, which need names of their own.
    helpers: String,
}

impl Types<'_> {
    fn shape(&self, shape: &Shape) -> String {
        match shape {
            Shape::Any => "object".to_owned(),
            Shape::Null => "None".to_owned(),
            Shape::Bool => "bool".to_owned(),
            Shape::Integer(_) => "int".to_owned(),
            Shape::Float(_) => "float".to_owned(),
            Shape::Char | Shape::Text(_) => "str".to_owned(),
            Shape::Optional(inner) => match self.shape(inner) {
                inner if inner == "object" || inner.ends_with("None") => inner,
                inner => format!("{inner} | None"),
            },
            Shape::List(item) => format!("list[{}]", self.shape(item)),
            Shape::Tuple(items) => self.tuple(items),
            Shape::Map(_, value) => format!("dict[str, {}]", self.shape(value)),
            Shape::OneOf(shapes) => {
                let shapes: Vec<_> = shapes.iter().map(|shape| self.shape(shape)).collect();
                shapes.join(" | ")
            }
            Shape::Named(name) => self.names.of_type(self.job, name).to_owned(),
        }
    }

    fn tuple(&self, items: &[Shape]) -> String {
        let items: Vec<_> = items.iter().map(|item| self.shape(item)).collect();
        if items.is_empty() {
            "tuple[()]".to_owned()
        } else {
            format!("tuple[{}]", items.join(", "))
        }
    }

    fn def(&mut self, name: &str, def: &TypeDef) -> String {
        match def {
            TypeDef::Struct(fields) => self.typed_dict(name, &[], fields),
            TypeDef::Enum(def) => self.variants(name, def),
        }
    }

    /// Generates a class if all fields can be names of Python, and otherwise the functional form.
    fn typed_dict(&self, name: &str, tags: &[(&str, String)], fields: &Fields) -> String {
        let typed = |field: &Field| {
            let shape = self.shape(&field.shape);
            (
                field.name.clone(),
                if field.required { shape } else { format!("NotRequired[{shape}]") },
            )
        };
        let tags = tags.iter().map(|(tag, shape)| ((*tag).to_owned(), shape.clone()));
        let fields: Vec<_> = tags.chain(fields.fields.iter().map(typed)).collect();
        let hides =
            |name: &String| RESERVED.contains(&name.as_str()) || BUILTINS.contains(&name.as_str());
        let plain = |name: &String| is_identifier(name) && !hides(name);
        if fields.iter().all(|(name, _)| plain(name)) {
            let mut class = format!("\n\nclass {name}(TypedDict):\n");
            for (field, shape) in &fields {
                let _ = writeln!(class, "    {field}: {shape}");
            }
            if fields.is_empty() {
                class.push_str("    pass\n");
            }
            return class;
        }
        let fields: Vec<_> = fields
            .iter()
            .map(|(field, shape)| format!("{}: {}", text(field), text(shape)))
            .collect();
        format!("\n\n{name} = TypedDict({}, {{{}}})\n", text(name), fields.join(", "))
    }

    fn variants(&mut self, name: &str, def: &Enum) -> String {
        let (mut alternatives, mut literals) = (Vec::new(), Vec::new());
        for variant in &def.variants {
            let helper = format!("{name}{}", super::names::pascal(&variant.name));
            let tag = format!("Literal[{}]", text(&variant.name));
            let content = match &variant.content {
                Content::Unit => None,
                Content::Value(shape) => Some(self.shape(shape)),
                Content::Tuple(items) => Some(self.tuple(items)),
                Content::Struct(fields) => match &def.tagging {
                    Tagging::Internal { .. } => None,
                    _ => {
                        let inner = format!("{helper}Content");
                        self.helpers.push_str(&self.typed_dict(&inner, &[], fields));
                        Some(inner)
                    }
                },
            };
            let none = Fields::default();
            let class = match (&def.tagging, content) {
                (Tagging::External, None) => {
                    literals.push(text(&variant.name));
                    continue;
                }
                (Tagging::External, Some(content)) => {
                    self.typed_dict(&helper, &[(&variant.name, content)], &none)
                }
                (Tagging::Internal { tag: field }, _) => {
                    let fields = match &variant.content {
                        Content::Struct(fields) => fields,
                        _ => &none,
                    };
                    self.typed_dict(&helper, &[(field, tag)], fields)
                }
                (Tagging::Adjacent { tag: field, .. }, None) => {
                    self.typed_dict(&helper, &[(field, tag)], &none)
                }
                (Tagging::Adjacent { tag: field, content: inner }, Some(content)) => {
                    self.typed_dict(&helper, &[(field, tag), (inner, content)], &none)
                }
            };
            self.helpers.push_str(&class);
            alternatives.push(helper);
        }
        if !literals.is_empty() {
            alternatives.insert(0, format!("Literal[{}]", literals.join(", ")));
        }
        if def.open {
            alternatives.push("str".to_owned());
        }
        // A type may contain itself, so the alias is a string.
        format!(
            "\n\n{name}: TypeAlias = {}\n",
            text(&alternatives.join(" | ")).replace("\\\"", "'")
        )
    }
}
