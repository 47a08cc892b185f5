//! Crash tests with real processes: a process is aborted at a named point, another one is started, and the store is
//! audited.
//!
//! ```text
//! ratchet-crash-tests matrix [--store sqlite|pg] [--cell point/feature] [--passings N] [--at-once N] [--docs file]
//! ratchet-crash-tests chaos  [--minutes N] [--seed S] [--only "half open"]
//! ratchet-crash-tests fence  [--rounds N] [--seed S]
//! ratchet-crash-tests suspects
//! ratchet-crash-tests versions
//! ratchet-crash-tests order
//! ratchet-crash-tests rollout --before EXECUTABLE --next EXECUTABLE [--seconds N]
//! ratchet-crash-tests handoff
//! ratchet-crash-tests folding [--kills N] [--seed S]
//! ratchet-crash-tests rotation [--rounds N] [--rows N]
//! ratchet-crash-tests audit  --address URL|file --diary file
//! ```
//!
//! `docs/proof` in the repository describes the guarantees and the results.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "these programs are about real time")]

mod address;
mod args;
mod audit;
mod cell;
mod chaos;
mod diary;
mod expect;
mod feature;
mod fence;
mod folding;
mod handoff;
mod jobs;
mod matrix;
mod older;
mod order;
mod pages;
mod rollout;
mod rotation;
mod server;
mod submit;
mod suspects;
mod table;
mod versions;
mod victim;

use std::process::ExitCode;

use crate::args::Args;

#[tokio::main]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let verb = words.next().unwrap_or_default();
    let args = Args::read(words);
    let done = match verb.as_str() {
        "victim" => victim::live(&args).await,
        "matrix" => matrix::run(&args).await,
        "chaos" => chaos::run(&args).await,
        "work" => chaos::crew::work(&args).await,
        "produce" => chaos::crew::produce(&args).await,
        "audit" => audit::run(&args).await,
        "fence" => fence::run(&args).await,
        "versions" => versions::run(&args).await,
        "suspects" => suspects::run(&args).await,
        "suspects-work" => suspects::work(&args).await,
        "handoff" => handoff::run(&args).await,
        "folding" => folding::run(&args).await,
        "folding-work" => folding::work(&args).await,
        "order" => order::run(&args).await,
        "rollout" => rollout::run(&args).await,
        "order-work" => order::work(&args).await,
        "rotation" => rotation::run(&args).await,
        "rotation-work" => rotation::work(&args).await,
        "rotation-submit" => rotation::submit(&args).await,
        "rotation-reencrypt" => rotation::reencrypt(&args).await,
        _ => {
            let verbs = "`matrix`, `chaos`, `fence`, `suspects`, `versions`, `order`, `rollout`, `rotation`, `handoff`, `folding` or `audit`";
            Err(format!("the first argument must be {verbs}").into())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Any error. It is printed and ends the program.
type Problem = Box<dyn std::error::Error + Send + Sync>;
