//! The first version of a program with recurring jobs. `scripts/proof versions` starts it.

#![forbid(unsafe_code)]

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
    shop::work("1").await
}
