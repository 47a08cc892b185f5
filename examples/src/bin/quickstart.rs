//! An order shop on one SQLite file.
//!
//! Orders are charged at a payment gateway that sometimes does not answer. A receipt is mailed only if the charge
//! succeeded. A declined card is not retried: its job goes to the dead-letter queue, where an operator fixes the cause
//! and retries it. Run the program twice: the second run continues with the same file.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ratchet::prelude::*;
use ratchet::{Filter, PageRequest, SqliteStore, State, WaitError};
use serde::{Deserialize, Serialize};

/// The receipt of a paid order.
#[derive(Debug, Serialize, Deserialize)]
struct Receipt {
    order: u64,
    cents: u64,
}

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
enum PaymentError {
    #[error("the gateway did not answer")]
    NoAnswer,
    #[error("the card ending in {last4} was declined")]
    #[do_not_retry(reason = "the issuer said no; asking again changes nothing")]
    Declined { last4: String },
}

/// A fake payment gateway: it declines blocked cards, and answers a flaky order only at the third call.
#[derive(Debug, Default)]
struct Gateway {
    calls: Mutex<HashMap<u64, u32>>,
    blocked: Mutex<Vec<String>>,
}

impl Gateway {
    fn charge(&self, order: u64, card: &str, flaky: bool) -> Result<(), PaymentError> {
        let calls = {
            let mut calls = self.calls.lock().expect("no call panics");
            let calls = calls.entry(order).or_default();
            *calls += 1;
            *calls
        };
        if self.blocked.lock().expect("no call panics").iter().any(|blocked| blocked == card) {
            return Err(PaymentError::Declined {
                last4: card.chars().rev().take(4).collect::<Vec<_>>().iter().rev().collect(),
            });
        }
        if flaky && calls < 3 { Err(PaymentError::NoAnswer) } else { Ok(()) }
    }
}

/// Charges one order. The receipt mail is enqueued in the same commit as the success.
#[job(queue = "payments", max_retries = 5, backoff = fixed("150ms"), timeout = "10s", business_key = "order-{order}")]
// Single failures must not open the breaker; it opens when at least 80 % of the calls fail.
#[circuit_breaker(service = "payment-gateway", failure_rate = 80)]
async fn charge(
    #[inject] ctx: JobContext,
    #[inject] gateway: State<Gateway>,
    order: u64,
    cents: u64,
    #[job(secret)] card: String,
    flaky: bool,
) -> anyhow::Result<Receipt> {
    println!("    charge: order {order}, attempt {}", ctx.attempt());
    gateway.charge(order, &card, flaky)?;
    ctx.enqueue(SendReceipt { order, to: "ada@example.com".to_owned() }).await?;
    Ok(Receipt { order, cents })
}

/// Signals that a mail was sent, to keep the output of this example in order.
#[derive(Debug, Default)]
struct PostOffice {
    sent: tokio::sync::Notify,
}

/// Mails a receipt.
#[job(queue = "mail", tags("customer"))]
async fn send_receipt(#[inject] post: State<PostOffice>, order: u64, to: String) {
    println!("    mail:   the receipt of order {order} goes to {to}");
    post.sent.notify_one();
}

/// Returns a summary line for the end of the day.
#[job]
async fn report(since: u64) -> String {
    format!("orders from number {since} on are settled")
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let began = Instant::now();
    let path = std::env::args().nth(1).unwrap_or_else(|| "quickstart.db".to_owned());
    println!("1. One file, no server: {path}");
    let ratchet = Ratchet::builder(SqliteStore::open(&path).await?)
        .state(Gateway::default())
        .state(PostOffice::default())
        .queue("payments", |queue| queue.concurrency(10))
        .build()
        .await?;
    let earlier = ratchet.jobs().counts().await?;
    let settled = earlier.state(JobState::Succeeded) + earlier.state(JobState::Failed);
    println!(
        "   {}",
        if settled == 0 {
            "It is new.".to_owned()
        } else {
            format!("It remembers {settled} jobs of earlier runs.")
        }
    );
    let worker = ratchet.start().await?;
    let post: State<PostOffice> = ratchet.state().expect("registered above");
    // Use new order numbers in a second run on the same file.
    let first = settled * 10 + 1;

    println!("2. An ordinary order: charged, then mailed");
    let order =
        Charge { order: first, cents: 4200, card: "4111111111111111".to_owned(), flaky: false };
    let receipt = ratchet
        .enqueue(order)
        .priority(Priority::High)
        .await?
        .wait_for(Duration::from_secs(10))
        .await?;
    post.sent.notified().await;
    println!("   paid: {} cents", receipt.cents);

    println!("3. The gateway does not answer twice: the charge is retried automatically");
    let flaky =
        Charge { order: first + 1, cents: 990, card: "4111111111111111".to_owned(), flaky: true };
    ratchet.enqueue(flaky).await?.wait_for(Duration::from_secs(10)).await?;
    post.sent.notified().await;
    println!("   paid at last");

    println!("4. A declined card is not asked twice");
    let gateway_blocks = "5105105105105100".to_owned();
    let gateway: State<Gateway> = ratchet.state().expect("registered above");
    gateway.blocked.lock().expect("no call panics").push(gateway_blocks.clone());
    let declined = Charge { order: first + 2, cents: 100_000, card: gateway_blocks, flaky: false };
    let handle = ratchet.enqueue(declined).await?;
    match handle.wait_for(Duration::from_secs(10)).await {
        Err(WaitError::Failed(envelope)) => {
            println!("   dead letter: {} ({})", envelope.failure.message, envelope.reason);
            println!(
                "   because: {}",
                envelope.explanation.as_deref().unwrap_or("no reason given")
            );
        }
        other => println!("   unexpected: {other:?}"),
    }

    println!(
        "5. An operator looks into the dead-letter queue, has the card unblocked, and retries"
    );
    let dead =
        ratchet.jobs().list(&Filter::any().state(JobState::Failed), PageRequest::default()).await?;
    println!("   dead letters: {}", dead.jobs.len());
    gateway.blocked.lock().expect("no call panics").clear();
    ratchet.jobs().retry(handle.id()).await?;
    let receipt = handle.wait_for(Duration::from_secs(10)).await?;
    post.sent.notified().await;
    println!("   order {} is paid after all", receipt.order);

    println!("6. The end of the day");
    let report =
        ratchet.enqueue(Report { since: first }).await?.wait_for(Duration::from_secs(10)).await?;
    println!("   {report}");
    worker.stop().await;
    let counts = ratchet.jobs().counts().await?;
    let new = |state| counts.state(state) - earlier.state(state);
    println!(
        "   this run: {} succeeded, {} failed",
        new(JobState::Succeeded),
        new(JobState::Failed)
    );
    eprintln!("   ({:.1} s)", began.elapsed().as_secs_f64());
    Ok(())
}
