//! A schedule that is given as a constant is checked when a runtime is built, also if it never starts a worker.
#![cfg(feature = "memory")]

use ratchet::{MemoryStore, Ratchet, job};

const EVERY_MINUTE_61: &str = "61 * * * *";
const NOWHERE: &str = "Europe/Berlyn";

#[job(cron = EVERY_MINUTE_61)]
async fn bad_expression() {}

#[job(cron = "0 3 * * *", tz = NOWHERE)]
async fn bad_zone() {}

#[tokio::test]
async fn t_01_a_constant_schedule_is_checked_when_the_runtime_is_built() {
    let refused = Ratchet::builder(MemoryStore::new()).build().await.expect_err("it is refused");
    let message = refused.to_string();
    assert!(message.contains("bad_expression"), "{message}");
    assert!(message.contains("`61 * * * *`"), "{message}");
    assert!(message.contains("there is no time zone `Europe/Berlyn`"), "{message}");
}
