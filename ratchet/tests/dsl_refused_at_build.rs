//! What the macro cannot see is checked when a runtime is built, also if it never starts a worker.
#![cfg(feature = "memory")]

use ratchet::graph::GroupReport;
use ratchet::prelude::*;
use ratchet::{Finished, MemoryStore};

const EVERY_MINUTE_61: &str = "61 * * * *";
const NOWHERE: &str = "Europe/Berlyn";

#[job(cron = EVERY_MINUTE_61)]
async fn bad_expression() {}

#[job(cron = "0 3 * * *", tz = NOWHERE)]
async fn bad_zone() {}

#[job]
async fn charge(order: u64) {
    let _ = order;
}

#[job]
async fn receipt(#[inject] charged: Finished<Charge>) {
    let _ = charged;
}

#[job]
async fn summary(#[inject] batch: GroupReport) {
    let _ = batch;
}

#[job(on_success = Receipt)]
async fn refund() {}

#[job(on_failure = Summary)]
async fn ship() {}

#[job(on_success = Receipt)]
async fn charge_again() {}

/// Returns the message of the error with which a runtime of `jobs` is refused.
async fn refusal<const N: usize>(jobs: [ratchet::definition::Registration; N]) -> String {
    let built = Ratchet::builder(MemoryStore::new()).jobs(jobs).build().await;
    built.expect_err("it is refused").to_string()
}

#[tokio::test]
async fn t_01_a_constant_schedule_is_checked() {
    let message = refusal([BadExpression::JOB, BadZone::JOB]).await;
    assert!(message.contains("bad_expression"), "{message}");
    assert!(message.contains("`61 * * * *`"), "{message}");
    assert!(message.contains("there is no time zone `Europe/Berlyn`"), "{message}");
}

#[tokio::test]
async fn a_callback_that_follows_another_job_is_refused() {
    let message = refusal([Charge::JOB, Receipt::JOB, Refund::JOB]).await;
    assert!(message.contains(".refund` ("), "{message}");
    assert!(message.contains(".receipt` as its callback, but that one follows `"), "{message}");
    assert!(message.contains(".charge` (argument `charged`)"), "{message}");
}

#[tokio::test]
async fn a_callback_of_a_job_cannot_take_the_report_of_a_group() {
    let message = refusal([Ship::JOB, Summary::JOB]).await;
    assert!(message.contains(".ship` ("), "{message}");
    assert!(message.contains("takes the report of a batch, chain or workflow"), "{message}");
    assert!(message.contains("(argument `batch`)"), "{message}");
}

#[tokio::test]
async fn every_refused_callback_is_in_the_message() {
    let all = [Charge::JOB, Receipt::JOB, Refund::JOB, ChargeAgain::JOB, Ship::JOB, Summary::JOB];
    let message = refusal(all).await;
    for job in [".refund`", ".charge_again`", ".ship`"] {
        assert!(message.contains(job), "{message}");
    }
}
