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
    shop::work("2").await
}
