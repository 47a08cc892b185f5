//! Generated code under the strictest lints: this file has none of its own to break, and clippy runs over it.
#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    clippy::nursery
)]

use ratchet::{Callback, JobContext, State, do_not_retry, job, jobs};

/// An error.
#[do_not_retry]
#[derive(Debug, thiserror::Error)]
pub enum PayError {
    /// For now.
    #[error("timed out")]
    Timeout,
    /// For good.
    #[do_not_retry(reason = "the issuer said no")]
    #[error("declined")]
    Declined,
}

/// A service.
#[derive(Debug)]
pub struct Gateway;

async fn pause() {
    std::future::ready(()).await;
}

/// Every option and every kind of argument.
///
/// # Errors
///
/// If the amount is zero.
#[job(
    alias = "old",
    version = 2,
    queue = "payments",
    priority = high,
    max_retries = 3,
    backoff = exponential("1s", factor = 1.5, max = "30s", jitter = full),
    timeout = "5m",
    soft_timeout = "1m",
    delay = "1s",
    business_key = "pay-{amount}",
    single_instance,
    tags("a"),
    on_success = Tick,
    panic = "dlq",
    validate = check,
    derive(Debug, Clone)
)]
#[circuit_breaker(service = "gateway", failure_rate = 50, ignore(std::fmt::Error))]
pub async fn pay(
    #[inject] ctx: JobContext,
    #[inject] gateway: State<Gateway>,
    /// In cents.
    amount: u64,
    #[job(default = Some(5))] tip: Option<u64>,
    #[job(default, secret)] card: String,
) -> Result<u64, PayError> {
    pause().await;
    drop((ctx, gateway, card));
    if amount == 0 { Err(PayError::Declined) } else { Ok(amount + tip.unwrap_or(0)) }
}

const fn check(pay: &Pay) -> Result<(), &'static str> {
    if pay.amount == 0 { Err("nothing to pay") } else { Ok(()) }
}

/// Recurring.
#[job(cron = "0 3 * * *", tz = "Europe/Berlin")]
pub async fn tick() {
    pause().await;
}

/// Blocking.
#[job(blocking)]
pub fn tidy() {
    std::thread::yield_now();
}

/// A blocking job with an argument.
#[job(blocking)]
#[must_use]
pub fn shrink(image: Vec<u8>) -> Vec<u8> {
    image.into_iter().step_by(2).collect()
}

#[jobs]
impl Gateway {
    /// A method.
    #[job]
    pub async fn charge(&self, id: u32) -> u32 {
        pause().await;
        id
    }

    /// A blocking method.
    #[job(blocking)]
    #[must_use]
    pub fn count(&self, id: u32) -> u32 {
        format!("{self:?}{id}").len().try_into().unwrap_or(0)
    }
}

#[test]
fn generated_code_passes_the_strictest_lints() {
    // What is tested is that this file compiles, and that clippy has nothing to say.
    let callback: Option<Callback> = <Pay as ratchet::Job>::DEF.on_success;
    assert_eq!(callback.map(|job| job.def().name), Some("ui-tests.tick"));
}
