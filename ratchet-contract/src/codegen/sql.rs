//! Generates a function per job for PostgreSQL.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::keys::{self, Piece};
use super::names::{last, snake};
use crate::job::{Argument, Contract, JobContract};
use crate::shape::Shape;

pub(super) fn generate(contract: &Contract, notice: &str) -> String {
    let mut file = format!("-- {notice}\n");
    let schemas: BTreeSet<_> = contract.jobs.keys().map(|name| schema(name)).collect();
    for schema in schemas {
        let _ = writeln!(file, "\nCREATE SCHEMA IF NOT EXISTS {};", quoted(&schema));
    }
    for (name, job) in &contract.jobs {
        write_function(&mut file, name, job);
    }
    file
}

/// Returns the schema of a job: its package.
fn schema(name: &str) -> String {
    name.split_once('.').map_or_else(|| "jobs".to_owned(), |(package, _)| snake(package))
}

fn quoted(identifier: &str) -> String {
    format!("\"{}\"", identifier.replace('"', "\"\""))
}

fn text(value: &str) -> String {
    format!("'{}'", value.replace('\'', "''"))
}

fn sql_type(shape: &Shape) -> &'static str {
    match shape {
        Shape::Bool => "boolean",
        Shape::Integer(integer) => match (integer.signed, integer.bits) {
            (_, 8) | (true, 16) => "smallint",
            (false, 16) | (true, 32) => "integer",
            (false, 32) | (true, 64) => "bigint",
            _ => "numeric",
        },
        Shape::Float(32) => "real",
        Shape::Float(_) => "double precision",
        Shape::Text(Some(format)) if format == "uuid" => "uuid",
        Shape::Text(Some(format)) if format == "date" => "date",
        Shape::Text(Some(format)) if format == "date-time" => "timestamptz",
        Shape::Char | Shape::Text(_) => "text",
        Shape::Optional(inner) => sql_type(inner),
        _ => "jsonb",
    }
}

fn write_function(file: &mut String, name: &str, job: &JobContract) {
    let (schema, function) = (schema(name), snake(last(name)));
    let path = format!("{}.{}", quoted(&schema), quoted(&function));
    // What is not required comes last: a parameter after one with a default must have one.
    let (required, optional): (Vec<_>, Vec<_>) = job.arguments.iter().partition(|a| a.required);
    let taken = |option: &str| job.arguments.iter().any(|argument| argument.name == option);
    let option =
        |option: &str| if taken(option) { format!("job_{option}") } else { option.to_owned() };
    let (queue, run_at, key) = (option("queue"), option("run_at"), option("idempotency_key"));
    let mut parameters: Vec<String> = Vec::new();
    for argument in &required {
        parameters.push(format!("{} {}", quoted(&argument.name), sql_type(&argument.shape)));
    }
    for argument in &optional {
        parameters.push(format!(
            "{} {} DEFAULT NULL",
            quoted(&argument.name),
            sql_type(&argument.shape)
        ));
    }
    parameters.push(format!("{} text DEFAULT {}", quoted(&queue), text(&job.queue)));
    parameters.push(format!("{} timestamptz DEFAULT NULL", quoted(&run_at)));
    parameters.push(format!("{} text DEFAULT NULL", quoted(&key)));
    let _ = write!(
        file,
        "\nCREATE OR REPLACE FUNCTION {path}(\n    {}\n) RETURNS uuid LANGUAGE plpgsql AS $ratchet$\nBEGIN\n",
        parameters.join(",\n    "),
    );
    let value = |argument: &str| format!("{}.{}", quoted(&function), quoted(argument));
    for argument in &job.arguments {
        for check in checks(name, argument, &value(&argument.name)) {
            let _ = writeln!(file, "    {check}");
        }
    }
    let mut payload = vec!["'{}'::jsonb".to_owned()];
    for argument in &required {
        payload.push(format!(
            "jsonb_build_object({}, {})",
            text(&argument.name),
            value(&argument.name)
        ));
    }
    for argument in &optional {
        let value = value(&argument.name);
        payload.push(format!(
            "CASE WHEN {value} IS NULL THEN '{{}}' ELSE jsonb_build_object({}, {value}) END",
            text(&argument.name)
        ));
    }
    let derived = |kind: &str| {
        keys::template(job, kind).map(|pieces| {
            let parts: Vec<_> = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(part) => text(part),
                    Piece::Argument(name) => format!("{}::text", value(name)),
                })
                .collect();
            parts.join(" || ")
        })
    };
    let key = match derived("idempotency") {
        Some(derived) => format!("COALESCE({}, {derived})", value(&key)),
        None => value(&key),
    };
    let mut arguments = vec![
        format!("name => {}", text(name)),
        format!("payload => {}", payload.join("\n            || ")),
        format!("queue => {}", value(&queue)),
        format!("run_at => {}", value(&run_at)),
        format!("idempotency_key => {key}"),
    ];
    arguments.extend(derived("business").map(|key| format!("business_key => {key}")));
    arguments.push(format!("version => {}", job.version));
    let _ = write!(
        file,
        "    RETURN ratchet.enqueue(\n        {}\n    );\nEND\n$ratchet$;\n",
        arguments.join(",\n        ")
    );
    if !job.docs.is_empty() {
        let types: Vec<_> = required
            .iter()
            .chain(&optional)
            .map(|argument| sql_type(&argument.shape))
            .chain(["text", "timestamptz", "text"])
            .collect();
        let _ = writeln!(
            file,
            "COMMENT ON FUNCTION {path}({}) IS {};",
            types.join(", "),
            text(&job.docs)
        );
    }
}

/// Generates what the types of the parameters do not check.
fn checks(job: &str, argument: &Argument, value: &str) -> Vec<String> {
    let raise = |condition: &str, problem: &str| {
        format!(
            "IF {condition} THEN RAISE EXCEPTION {} USING ERRCODE = '22023'; END IF;",
            text(&format!("{job}: argument {} {problem}", argument.name).replace('%', "%%"))
        )
    };
    let mut checks = Vec::new();
    if argument.required && !matches!(argument.shape, Shape::Optional(_) | Shape::Any | Shape::Null)
    {
        checks.push(raise(&format!("{value} IS NULL"), "must not be null"));
    }
    let inner = match &argument.shape {
        Shape::Optional(inner) => inner,
        shape => shape,
    };
    if let Shape::Integer(integer) = inner {
        let (low, high) = (integer.lowest(), integer.highest());
        let whole = integer.bits >= 64 && sql_type(inner) == "numeric";
        if !matches!((integer.signed, integer.bits), (true, 16 | 32 | 64)) && integer.bits <= 64 {
            checks.push(raise(
                &format!("{value} NOT BETWEEN {low} AND {high}"),
                &format!("must be between {low} and {high}"),
            ));
        }
        if whole {
            checks.push(raise(&format!("{value} <> trunc({value})"), "must be a whole number"));
        }
    }
    if *inner == Shape::Char {
        checks.push(raise(&format!("length({value}) <> 1"), "must be one character"));
    }
    checks
}
