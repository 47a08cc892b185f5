//! The first version of a program with recurring jobs and limits. `scripts/proof versions` starts it.

#![forbid(unsafe_code)]

use std::time::Duration;

use ratchet::prelude::*;

#[path = "../shop.rs"]
mod shop;

/// Renamed by the next version.
#[job(name = "shop.bill", cron = "* * * * * *", queue = "shop")]
async fn bill() {}

/// Loses its `cron` in the next version.
#[job(name = "shop.tidy", cron = "* * * * * *", queue = "shop")]
async fn tidy() {}

/// Deleted by the next version.
#[job(name = "shop.report", cron = "* * * * * *", queue = "shop")]
async fn report() {}

#[tokio::main]
async fn main() -> Result<(), shop::Problem> {
    shop::work("1", |shop| {
        shop.queue("mail", |queue| queue.rate(1, Duration::from_secs(1)))
            .queue("rows", |queue| queue.cluster_concurrency(4))
    })
    .await
}
