//! A fraud check as a workflow: three checks run in parallel, their scores are joined, and a condition chooses the end.

use ratchet::prelude::*;
use ratchet_examples::Scratch;

/// Each check returns a score from 0 to 100.
#[job(queue = "checks")]
async fn check(kind: String, order: u64) -> u32 {
    match (kind.as_str(), order) {
        ("velocity", 7) => 90,
        ("address", 7) => 70,
        _ => 10,
    }
}

/// Waits for all checks, and takes their outputs in the order in which the workflow names them.
#[job(queue = "checks")]
async fn score(#[input(all)] scores: Vec<u32>) -> u32 {
    scores.iter().sum::<u32>() / scores.len().max(1) as u32
}

#[condition]
fn is_suspicious(score: &u32) -> bool {
    *score >= 50
}

#[job]
async fn review(order: u64, #[input(step = "score")] score: u32) {
    println!("order {order}: score {score}, a person must look at it");
}

#[job]
async fn accept(order: u64, #[input(step = "score")] score: u32) {
    println!("order {order}: score {score}, accepted");
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let scratch = Scratch::open("fraud-workflow").await?;
    let ratchet = Ratchet::builder(scratch.store.clone()).build().await?;
    let worker = ratchet.start().await?;
    for order in [1, 7] {
        let mut flow = ratchet.workflow(format!("fraud-{order}"));
        let checks: Vec<_> = ["velocity", "address", "card"]
            .into_iter()
            .map(|kind| flow.first(kind, Check { kind: kind.to_owned(), order }))
            .collect();
        let score = flow.step("score", Score {}, |step| {
            checks.iter().fold(step, |step, check| step.after(check))
        });
        flow.step("review", Review { order }, |step| step.after_if(&score, IS_SUSPICIOUS));
        flow.step("accept", Accept { order }, |step| step.otherwise(&score));
        let flow = flow.await?;
        flow.wait().await?;
        print!("{}", flow.to_text().await?);
    }
    worker.stop().await;
    Ok(())
}
