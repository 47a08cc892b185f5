//! Writes the lock file.

use std::fmt;

use super::HEADER;
use crate::job::{Argument, Contract, JobContract};
use crate::notation::Name;
use crate::shape::{Shape, Tagging, TypeDef};

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEADER}")?;
        writeln!(
            f,
            "# What the queued jobs of this program look like. `ratchet::lock_test!()` compares the code with it."
        )?;
        writeln!(
            f,
            "# Written by `RATCHET_LOCK=update cargo test`. Commit it, and review its diff like code."
        )?;
        for (name, job) in &self.jobs {
            write_job(f, name, job)?;
        }
        Ok(())
    }
}

fn write_job(f: &mut fmt::Formatter<'_>, name: &str, job: &JobContract) -> fmt::Result {
    writeln!(f, "\njob {name}")?;
    write_docs(f, "  ", &job.docs)?;
    for alias in &job.aliases {
        writeln!(f, "  alias {alias}")?;
    }
    writeln!(f, "  version {}", job.version)?;
    if let Some(oldest) = job.upgrades_from {
        writeln!(f, "  upgrades from {oldest}")?;
    }
    writeln!(f, "  queue {}", job.queue)?;
    if job.strict {
        writeln!(f, "  strict")?;
    }
    for (kind, template) in &job.keys {
        writeln!(f, "  key {kind} {template}")?;
    }
    for argument in &job.arguments {
        write_argument(f, argument)?;
    }
    if job.output != Shape::Null {
        writeln!(f, "  output {}", job.output)?;
    }
    if job.secret_output {
        writeln!(f, "  secret output")?;
    }
    for (name, def) in &job.types {
        write_type(f, name, def)?;
    }
    for (version, payload) in &job.payloads {
        writeln!(f, "  payload {version} {payload}")?;
    }
    Ok(())
}

fn write_argument(f: &mut fmt::Formatter<'_>, argument: &Argument) -> fmt::Result {
    let optional = if argument.required { "" } else { "?" };
    writeln!(f, "  arg {}{optional}: {}", Name(&argument.name), argument.shape)?;
    write_docs(f, "    ", &argument.docs)?;
    for alias in &argument.aliases {
        writeln!(f, "    alias {alias}")?;
    }
    if let Some(default) = &argument.default {
        writeln!(f, "    default {default}")?;
    }
    if argument.secret {
        writeln!(f, "    secret")?;
    }
    Ok(())
}

fn write_docs(f: &mut fmt::Formatter<'_>, indent: &str, docs: &str) -> fmt::Result {
    for line in docs.lines() {
        writeln!(f, "{}", format!("{indent}doc {}", line.trim_end()).trim_end())?;
    }
    Ok(())
}

fn write_type(f: &mut fmt::Formatter<'_>, name: &str, def: &TypeDef) -> fmt::Result {
    let name = Name(name);
    match def {
        TypeDef::Struct(fields) => {
            writeln!(f, "  type {name} struct{}", if fields.closed { " closed" } else { "" })?;
            for field in &fields.fields {
                writeln!(f, "    {field}")?;
            }
        }
        TypeDef::Enum(def) => {
            let open = if def.open { " open" } else { "" };
            match &def.tagging {
                Tagging::External => writeln!(f, "  type {name} enum{open}")?,
                Tagging::Internal { tag } => {
                    writeln!(f, "  type {name} enum tag {}{open}", Name(tag))?;
                }
                Tagging::Adjacent { tag, content } => {
                    writeln!(
                        f,
                        "  type {name} enum tag {} content {}{open}",
                        Name(tag),
                        Name(content)
                    )?;
                }
            }
            for variant in &def.variants {
                writeln!(f, "    {}{}", Name(&variant.name), variant.content)?;
            }
        }
    }
    Ok(())
}
