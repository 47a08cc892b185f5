//! The program that publishes. `scripts/proof handoff` starts it.

#![forbid(unsafe_code)]

use ratchet::Job as _;

#[path = "../pages.rs"]
mod pages;

#[tokio::main]
async fn main() -> Result<(), pages::Problem> {
    pages::work("crawler", pages::Crawl::JOB, 2).await
}
