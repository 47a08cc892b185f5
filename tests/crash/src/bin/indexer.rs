//! The program that receives, slowly. `scripts/proof handoff` starts it.

#![forbid(unsafe_code)]

use std::time::Duration;

use ratchet::prelude::*;

#[allow(dead_code, reason = "each executable uses a part of this module")]
#[path = "../pages.rs"]
mod pages;

/// Receives a page and returns its number.
#[job(
    name = "proof.index",
    queue = "index",
    accepts = "proof-pages",
    concurrency_limit = 4,
    backlog_limit = 100,
    max_retries = 50
)]
async fn index(page: HandedOff<u32>) -> u32 {
    tokio::time::sleep(Duration::from_millis(20)).await;
    page.checkpoint
}

#[tokio::main]
async fn main() -> Result<(), pages::Problem> {
    pages::work("indexer", Index::JOB, 4).await
}
