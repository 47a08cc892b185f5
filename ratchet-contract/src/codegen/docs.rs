//! Generates a reference page in Markdown.

use std::fmt::Write as _;

use crate::job::{Argument, Contract, JobContract};
use crate::shape::{Shape, Tagging, TypeDef};

pub(super) fn generate(contract: &Contract, notice: &str) -> String {
    let mut page = format!("<!-- {notice} -->\n\n# Jobs\n");
    if !contract.jobs.is_empty() {
        page.push_str("\n| job | queue | |\n|---|---|---|\n");
    }
    for (name, job) in &contract.jobs {
        let anchor: String = name.to_lowercase().chars().filter(|c| *c != '.').collect();
        let first = cell(job.docs.lines().next().unwrap_or_default());
        let _ = writeln!(page, "| [`{name}`](#{anchor}) | `{}` | {first} |", job.queue);
    }
    for (name, job) in &contract.jobs {
        write_job(&mut page, name, job);
    }
    page
}

/// Escapes what would end a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn code(shape: &Shape) -> String {
    format!("`{}`", cell(&shape.to_string().replace('$', "")))
}

fn write_job(page: &mut String, name: &str, job: &JobContract) {
    let _ = writeln!(page, "\n## {name}");
    if !job.docs.is_empty() {
        let _ = writeln!(page, "\n{}", job.docs);
    }
    let _ = writeln!(page, "\nVersion {}, queue `{}`.", job.version, job.queue);
    for (kind, template) in &job.keys {
        let _ = writeln!(page, "The {kind} key is `{template}`.");
    }
    for alias in &job.aliases {
        let _ = writeln!(page, "Formerly `{alias}`.");
    }
    if !job.arguments.is_empty() {
        page.push_str("\n| argument | shape | | |\n|---|---|---|---|\n");
    }
    for argument in &job.arguments {
        let presence = presence(argument);
        let docs = cell(&argument.docs);
        let line =
            format!("| `{}` | {} | {presence} | {docs}", argument.name, code(&argument.shape));
        let _ = writeln!(page, "{} |", line.trim_end());
    }
    if job.output != Shape::Null {
        let _ = writeln!(page, "\nReturns {}.", code(&job.output));
    }
    for (name, def) in &job.types {
        write_type(page, name, def);
    }
    if let Some(payload) = job.payloads.get(&job.version) {
        let _ = writeln!(page, "\n```json\n{payload:#}\n```");
    }
}

fn presence(argument: &Argument) -> String {
    let mut words = Vec::new();
    match (&argument.default, argument.required) {
        (Some(default), _) => words.push(format!("default `{}`", cell(&default.to_string()))),
        (None, true) => words.push("required".to_owned()),
        (None, false) => words.push("optional".to_owned()),
    }
    if argument.secret {
        words.push("secret".to_owned());
    }
    words.join(", ")
}

fn write_type(page: &mut String, name: &str, def: &TypeDef) {
    let _ = writeln!(page, "\n`{name}`:");
    match def {
        TypeDef::Struct(fields) => {
            page.push_str("\n| field | shape | |\n|---|---|---|\n");
            for field in &fields.fields {
                let presence = if field.required { "required" } else { "optional" };
                let _ =
                    writeln!(page, "| `{}` | {} | {presence} |", field.name, code(&field.shape));
            }
        }
        TypeDef::Enum(def) => {
            match &def.tagging {
                Tagging::External => {}
                Tagging::Internal { tag } => {
                    let _ = writeln!(page, "\nThe variant is in the field `{tag}`.");
                }
                Tagging::Adjacent { tag, content } => {
                    let _ = writeln!(
                        page,
                        "\nThe variant is in the field `{tag}`, its content in `{content}`."
                    );
                }
            }
            page.push('\n');
            for variant in &def.variants {
                let _ = writeln!(
                    page,
                    "- `{}{}`",
                    variant.name,
                    variant.content.to_string().replace('$', "")
                );
            }
        }
    }
}
