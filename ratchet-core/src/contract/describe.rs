//! Describes registered jobs as a [`Contract`].

use std::panic::{AssertUnwindSafe, catch_unwind};

use ratchet_contract::{Argument, Contract, JobContract, Shape, Shapes};
use serde_json::{Map, Value};

use crate::job::{ArgDef, DecodeError, Encoder, Registration, Secrecy};

/// The contract of some jobs, and what could not be found out about them.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Described {
    /// The contract.
    pub contract: Contract,
    /// What could not be traced, and what to do about it.
    pub warnings: Vec<String>,
}

/// Describes jobs: traces the types of their arguments and outputs.
///
/// The types are deserialized from made-up values, which takes about a millisecond per job. Panics of their code are
/// caught. What cannot be traced has the shape `any` and a warning.
pub fn describe(jobs: impl IntoIterator<Item = Registration>) -> Described {
    let mut described = Described::default();
    for job in jobs {
        let contract = describe_job(&job, &mut described.warnings);
        described.contract.jobs.insert(job.def.name.to_owned(), contract);
    }
    described
}

fn describe_job(job: &Registration, warnings: &mut Vec<String>) -> JobContract {
    let def = &job.def;
    let mut contract = JobContract::new(def.queue);
    let mut shapes = Shapes::default();
    let defaults = defaults(job);
    let mut samples = Vec::new();
    for arg in def.args {
        let traced = arg.trace.trace(&mut shapes);
        warnings.extend(traced.warnings.iter().map(|warning| {
            format!("job `{}`: `{}{}` {}", def.name, arg.name, warning.path, warning.text)
        }));
        samples.push(traced.sample);
        contract.arguments.push(argument(arg, traced.shape, &defaults));
    }
    let output = job.output().trace(&mut shapes);
    warnings.extend(output.warnings.iter().map(|warning| {
        format!("job `{}`: the output `{}` {}", def.name, warning.path, warning.text)
    }));
    contract.output = output.shape;
    contract.secret_output = job.output().secrecy() == Secrecy::Some;
    contract.types = shapes.into_types();
    contract.aliases = def.aliases.iter().map(ToString::to_string).collect();
    contract.version = def.version;
    contract.upgrades_from = def.upgrades_from;
    contract.strict = def.strict;
    contract.docs = def.docs.to_owned();
    let keys = [
        ("business", def.keys.business),
        ("idempotency", def.keys.idempotency),
        ("concurrency", def.keys.concurrency),
    ];
    for (kind, template) in keys {
        if let Some(template) = template {
            contract.keys.insert(kind.to_owned(), template.to_owned());
        }
    }
    find_required(job, &mut contract, &samples);
    match example(job, &contract, samples) {
        Some(payload) => drop(contract.payloads.insert(def.version, payload)),
        None => warnings.push(format!(
            "job `{}`: no example of its payload could be made; add a `payload` line to the lock file by hand",
            def.name
        )),
    }
    contract
}

fn argument(arg: &ArgDef, shape: Shape, defaults: &Map<String, Value>) -> Argument {
    let optional = matches!(shape, Shape::Optional(_));
    let mut argument = Argument::new(arg.name, shape);
    argument.aliases = arg.aliases.iter().map(ToString::to_string).collect();
    argument.required = !arg.has_default && !optional;
    argument.default = defaults.get(arg.name).cloned();
    argument.secret = arg.has_secret();
    // The lock file is committed, and a generated client must not contain it.
    argument.default.take_if(|_| argument.secret);
    argument.docs = arg.docs.to_owned();
    argument
}

/// Returns the default values of the arguments. The expressions of the application may panic.
fn defaults(job: &Registration) -> Map<String, Value> {
    let mut encoder = Encoder::new();
    let written = catch_unwind(AssertUnwindSafe(|| {
        (job.encode_defaults())(&mut encoder);
        encoder.finish().ok()
    }));
    let json = written.ok().flatten().unwrap_or_default();
    serde_json::from_slice(&json).unwrap_or_default()
}

/// Finds out by decoding which arguments a payload can lack: a wrapper around an `Option` may or may not be one.
fn find_required(job: &Registration, contract: &mut JobContract, samples: &[Option<Value>]) {
    for index in 0..contract.arguments.len() {
        let name = contract.arguments[index].name.clone();
        let mut payload = Map::new();
        for (argument, sample) in contract.arguments.iter().zip(samples) {
            if let (Some(sample), true) = (sample, argument.name != name) {
                payload.insert(argument.name.clone(), sample.clone());
            }
        }
        match decode(job, job.def.version, &Value::Object(payload)) {
            Err(DecodeError::Missing { argument }) if argument == name => {
                contract.arguments[index].required = true;
            }
            Ok(()) => contract.arguments[index].required = false,
            Err(_) => {}
        }
    }
}

/// Returns a payload that the job reads.
fn example(
    job: &Registration,
    contract: &JobContract,
    samples: Vec<Option<Value>>,
) -> Option<Value> {
    let mut payload = Map::new();
    for (argument, sample) in contract.arguments.iter().zip(samples) {
        match sample {
            Some(sample) => drop(payload.insert(argument.name.clone(), sample)),
            None if argument.required => return None,
            None => {}
        }
    }
    let payload = Value::Object(payload);
    decode(job, job.def.version, &payload).ok().map(|()| payload)
}

/// Decodes a payload. It is not validated: arguments that `validate` refuses can be read, and a worker describes its jobs
/// when it starts, which a function that does not return must not prevent.
pub(super) fn decode(job: &Registration, version: u32, payload: &Value) -> Result<(), DecodeError> {
    let json = payload.to_string();
    let decoded = catch_unwind(AssertUnwindSafe(|| {
        job.decode_with(version, json.as_bytes(), |_| {}).map(drop)
    }));
    match decoded {
        Ok(decoded) => decoded,
        Err(_) => Err(DecodeError::NotAnObject {
            error: serde::de::Error::custom("the code of an argument panicked"),
        }),
    }
}
