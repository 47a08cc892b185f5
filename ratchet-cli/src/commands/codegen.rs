//! `codegen`: writes code from a lock file, for callers that are not Rust. Needs no store.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use ratchet_contract::Codegen;

use super::lock_file;
use crate::args::{CodegenArgs, CodegenTarget};
use crate::exit::{ExitStatus, Failure};

pub(crate) fn run(args: &CodegenArgs) -> Result<(), Failure> {
    let contract = lock_file::read(&args.lock)?;
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
