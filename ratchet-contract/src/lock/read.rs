//! Reads the lock file.

use std::str::FromStr;

use serde_json::Value;

use super::HEADER;
use crate::job::{Argument, Contract, JobContract};
use crate::notation::{Reader, ShapeError};
use crate::shape::{Enum, Fields, Shape, Tagging, TypeDef, Variant};

/// The error returned when a lock file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} of the lock file: {problem}; restore it from version control, or write it again with `RATCHET_LOCK=accept cargo test`"
)]
pub struct LockError {
    /// The number of the line, starting at 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

impl FromStr for Contract {
    type Err = LockError;

    fn from_str(text: &str) -> Result<Self, LockError> {
        let mut file = File { contract: Self::default(), job: None, part: Part::Job };
        let first = text.lines().next().unwrap_or_default();
        if first.trim_end() != HEADER {
            let problem = format!("expected `{HEADER}`: the file has another format");
            return Err(LockError { line: 1, problem });
        }
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            file.line(line).map_err(|problem| LockError { line: index + 1, problem })?;
        }
        Ok(file.contract)
    }
}

struct File {
    contract: Contract,
    /// The name of the job whose block is read.
    job: Option<String>,
    part: Part,
}

/// What an indented line belongs to.
enum Part {
    Job,
    Argument,
    Type(String),
}

type Parsed<T> = Result<T, String>;

#[allow(clippy::needless_pass_by_value)] // for `map_err`
fn shape_error(error: ShapeError) -> String {
    error.to_string()
}

fn json(text: &str) -> Parsed<Value> {
    serde_json::from_str(text).map_err(|error| format!("expected JSON: {error}"))
}

fn number(text: &str) -> Parsed<u32> {
    text.parse().map_err(|_| format!("expected a version, found `{text}`"))
}

fn add_line(docs: &mut String, line: &str, first: bool) {
    if !first {
        docs.push('\n');
    }
    docs.push_str(line);
}

impl File {
    fn line(&mut self, line: &str) -> Parsed<()> {
        let content = line.trim_start();
        let (word, rest) = content.split_once(' ').unwrap_or((content, ""));
        match (line.len() - content.len(), word) {
            (0, "job") if !rest.is_empty() => {
                self.job = Some(rest.to_owned());
                self.part = Part::Job;
                match self.contract.jobs.insert(rest.to_owned(), JobContract::new("default")) {
                    None => Ok(()),
                    Some(_) => Err(format!("job `{rest}` is in the file twice")),
                }
            }
            (2, _) => self.job_line(word, rest),
            (4, _) => self.part_line(content, word, rest),
            _ => Err(format!("expected `job NAME`, found `{line}`")),
        }
    }

    fn current(&mut self) -> Parsed<&mut JobContract> {
        let job = self.job.as_ref().and_then(|name| self.contract.jobs.get_mut(name));
        job.ok_or_else(|| "expected `job NAME` first".to_owned())
    }

    fn job_line(&mut self, word: &str, rest: &str) -> Parsed<()> {
        let mut part = Part::Job;
        let job = self.current()?;
        match word {
            "doc" => {
                let first = job.docs.is_empty();
                add_line(&mut job.docs, rest, first);
            }
            "alias" => job.aliases.push(rest.to_owned()),
            "version" => job.version = number(rest)?,
            "upgrades" => job.upgrades_from = Some(number(rest.trim_start_matches("from "))?),
            "queue" => rest.clone_into(&mut job.queue),
            "strict" => job.strict = true,
            "key" => {
                let (kind, template) =
                    rest.split_once(' ').ok_or("expected `key KIND TEMPLATE`")?;
                job.keys.insert(kind.to_owned(), template.to_owned());
            }
            "arg" => {
                let mut reader = Reader::new(rest);
                let field = reader.field().map_err(shape_error)?;
                reader.end().map_err(shape_error)?;
                let required = field.required;
                job.arguments.push(Argument { required, ..Argument::new(field.name, field.shape) });
                part = Part::Argument;
            }
            "output" => job.output = rest.parse::<Shape>().map_err(shape_error)?,
            "secret" if rest == "output" => job.secret_output = true,
            "type" => {
                let mut reader = Reader::new(rest);
                let name = reader.name().map_err(shape_error)?;
                let def = type_line(&mut reader)?;
                job.types.insert(name.clone(), def);
                part = Part::Type(name);
            }
            "payload" => {
                let (version, payload) =
                    rest.split_once(' ').ok_or("expected `payload VERSION JSON`")?;
                job.payloads.insert(number(version)?, json(payload)?);
            }
            _ => return Err(format!("unknown word `{word}`")),
        }
        self.part = part;
        Ok(())
    }

    fn part_line(&mut self, content: &str, word: &str, rest: &str) -> Parsed<()> {
        let part = std::mem::replace(&mut self.part, Part::Job);
        let job = self.current()?;
        match &part {
            Part::Job => return Err(format!("nothing can be inside of this: `{content}`")),
            Part::Argument => {
                let argument = job.arguments.last_mut().ok_or("expected an argument first")?;
                match word {
                    "doc" => {
                        let first = argument.docs.is_empty();
                        add_line(&mut argument.docs, rest, first);
                    }
                    "alias" => argument.aliases.push(rest.to_owned()),
                    "default" => argument.default = Some(json(rest)?),
                    "secret" => argument.secret = true,
                    _ => return Err(format!("unknown word `{word}`")),
                }
            }
            Part::Type(name) => {
                let mut reader = Reader::new(content);
                match job.types.get_mut(name) {
                    Some(TypeDef::Struct(fields)) => {
                        fields.fields.push(reader.field().map_err(shape_error)?);
                    }
                    Some(TypeDef::Enum(def)) => {
                        let name = reader.name().map_err(shape_error)?;
                        let content = reader.content().map_err(shape_error)?;
                        def.variants.push(Variant { name, content });
                    }
                    None => return Err("expected a type first".to_owned()),
                }
                reader.end().map_err(shape_error)?;
            }
        }
        self.part = part;
        Ok(())
    }
}

fn type_line(reader: &mut Reader<'_>) -> Parsed<TypeDef> {
    if reader.take("struct") {
        let closed = reader.take("closed");
        reader.end().map_err(shape_error)?;
        return Ok(TypeDef::Struct(Fields { fields: Vec::new(), closed }));
    }
    if !reader.take("enum") {
        return Err("expected `struct` or `enum`".to_owned());
    }
    let mut tagging = Tagging::External;
    if reader.take("tag") {
        let tag = reader.name().map_err(shape_error)?;
        tagging = match reader.take("content") {
            true => Tagging::Adjacent { tag, content: reader.name().map_err(shape_error)? },
            false => Tagging::Internal { tag },
        };
    }
    let open = reader.take("open");
    reader.end().map_err(shape_error)?;
    Ok(TypeDef::Enum(Enum { tagging, variants: Vec::new(), open }))
}
