//! A workflow: named steps, a condition with `otherwise`, and a refund when shipping fails.

use ratchet::prelude::*;
use ratchet_examples::Scratch;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
struct Order {
    id: u32,
    amount: u32,
}

#[job]
async fn charge(id: u32, amount: u32) -> Order {
    println!("charge: order {id}, {amount} €");
    Order { id, amount }
}

#[job]
async fn review(#[input] order: Order) {
    println!("review: order {} is large", order.id);
}

#[job(max_retries = 0)]
async fn ship(#[input(step = "charge")] order: Order) -> Result<(), JobError> {
    println!("ship: order {}", order.id);
    if order.id == 13 { Err(fatal("the lorry is gone").into()) } else { Ok(()) }
}

#[job]
async fn refund(#[input(step = "charge")] order: Order) {
    println!("refund: {} € for order {}", order.amount, order.id);
}

/// Stored in the workflow by name, and evaluated by the worker that ran the previous step.
#[condition]
fn is_large(order: &Order) -> bool {
    order.amount > 1000
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("order_workflow").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).concurrency(1).build().await?;
    let worker = ratchet.start().await?;
    for (id, amount) in [(1, 20), (13, 5000)] {
        let mut order = ratchet.workflow(format!("order-{id}"));
        let charge = order.first("charge", Charge { id, amount });
        let review = order.step("review", Review {}, |step| step.after_if(&charge, IS_LARGE));
        // Only large orders are reviewed. The others are shipped at once.
        let ship = order.step("ship", Ship {}, |step| step.after(&review).otherwise(&charge).any());
        order.step("refund", Refund {}, |step| step.after_failure(&ship));
        let order = order.await?;
        order.wait().await?;
        print!("{}", order.to_text().await?);
    }
    worker.stop().await;
    Ok(())
}
