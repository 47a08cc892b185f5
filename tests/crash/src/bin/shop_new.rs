//! The second version of a program with recurring jobs. `scripts/proof versions` starts it.

#![forbid(unsafe_code)]

use ratchet::prelude::*;

#[path = "../shop.rs"]
mod shop;

#[job(name = "shop.charge", alias = "shop.bill", cron = "* * * * * *", queue = "shop")]
async fn charge() {}

#[job(name = "shop.tidy", queue = "shop")]
async fn tidy() {}

#[tokio::main]
async fn main() -> Result<(), shop::Problem> {
    // The queue `mail` has lost its rate.
    shop::work("2", |shop| shop.queue("rows", |queue| queue.cluster_concurrency(8))).await
}
