//! `codegen`: writes code from a lock file, for callers that are not Rust. Needs no store.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use ratchet_contract::{Codegen, Contract};

use crate::args::{CodegenArgs, CodegenTarget};
use crate::exit::{ExitStatus, Failure};

pub(crate) fn run(args: &CodegenArgs) -> Result<(), Failure> {
    let lock = &args.lock;
    let text = fs::read_to_string(lock).map_err(|error| {
        let problem = format!(
            "cannot read {}: {error}; `ratchet::lock_test!()` and `RATCHET_LOCK=update cargo test` write it",
            lock.display()
        );
        Failure::new(ExitStatus::NotFound, problem)
    })?;
    let contract: Contract = text.parse().map_err(|error| {
        Failure::new(ExitStatus::Refused, format!("{}: {error}", lock.display()))
    })?;
    let generated = codegen(args.target).generate(&contract);
    match &args.out {
        None => Ok(io::stdout().write_all(generated.as_bytes())?),
        Some(path) if args.check => check(args, path, &generated),
        Some(path) => Ok(fs::write(path, generated)?),
    }
}

fn codegen(target: CodegenTarget) -> Codegen {
    match target {
        CodegenTarget::JsonSchema => Codegen::JsonSchema,
        CodegenTarget::Typescript => Codegen::Typescript,
        CodegenTarget::Python => Codegen::Python,
        CodegenTarget::Sql => Codegen::Sql,
        CodegenTarget::Docs => Codegen::Docs,
    }
}

fn check(args: &CodegenArgs, path: &Path, generated: &str) -> Result<(), Failure> {
    if fs::read_to_string(path).ok().as_deref() == Some(generated) {
        return Ok(());
    }
    let problem = format!(
        "{} is out of date; write it with `ratchet codegen {} --lock {} --out {}`",
        path.display(),
        codegen(args.target).name(),
        args.lock.display(),
        path.display()
    );
    Err(Failure::new(ExitStatus::Refused, problem))
}
