//! Tests of the differential runner: two equal stores must agree, and a faulty store must be detected.

mod broken_stores;
mod harness;

use broken_stores::{Fault, Faulty};
use harness::{Memory, Ticking};
use ratchet_conformance::Harness;
use ratchet_conformance::differential::{
    Divergence, Op, generate, generate_graphs, results, run_both,
};

#[tokio::test]
async fn memory_agrees_with_memory() {
    for seed in 0..40 {
        let ops = generate(seed, 400);
        let same = run_both(&Memory::fresh().await, &Memory::fresh().await, &ops).await;
        assert_eq!(same, Ok(()), "seed {seed}");
        let ops = generate_graphs(seed, 100);
        let same = run_both(&Memory::fresh().await, &Memory::fresh().await, &ops).await;
        assert_eq!(same, Ok(()), "graphs of seed {seed}");
    }
}

#[tokio::test]
async fn a_clock_that_goes_on_makes_no_difference() {
    for seed in 0..20 {
        let ops = generate(seed, 400);
        let same = run_both(&Memory::fresh().await, &Ticking::fresh().await, &ops).await;
        assert_eq!(same, Ok(()), "seed {seed}");
    }
}

#[test]
fn same_seed_gives_the_same_operations() {
    assert_eq!(generate(7, 200), generate(7, 200));
    assert_ne!(generate(7, 200), generate(8, 200));
    assert_eq!(generate(7, 200).len(), 200);
}

#[test]
fn every_operation_is_generated() {
    let ops = generate(1, 2000);
    let mut names: Vec<_> = ops
        .iter()
        .map(|op| format!("{op:?}").split(['(', ' ']).next().unwrap_or_default().to_owned())
        .collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 23, "{names:?}");
    let graphs = generate_graphs(1, 2000);
    for kind in [
        |op: &Op| matches!(op, Op::InsertGraph(_)),
        |op: &Op| matches!(op, Op::Extend(_)),
        |op: &Op| matches!(op, Op::Group(_)),
    ] {
        assert!(graphs.iter().any(kind) && !ops.iter().any(kind), "only where they are asked for");
    }
    assert!(ops.iter().any(|op| matches!(op, Op::Pass(_))));
}

async fn diverges(fault: Fault) -> Divergence {
    for seed in 0..20 {
        let ops = generate(seed, 400);
        let faulty = Faulty::new(fault);
        if let Err(divergence) = run_both(&Memory::fresh().await, &faulty, &ops).await {
            assert_ne!(divergence.left, divergence.right);
            return divergence;
        }
    }
    panic!("{fault:?} was not noticed");
}

#[tokio::test]
async fn a_purge_that_does_nothing_is_noticed() {
    assert!(diverges(Fault::NeverPurges).await.op.contains("Purge"));
}

#[tokio::test]
async fn lost_children_are_noticed() {
    assert!(diverges(Fault::LosesChildren).await.op.contains("Settle"));
}

#[tokio::test]
async fn lost_graphs_are_noticed() {
    for seed in 0..20 {
        let ops = generate_graphs(seed, 400);
        let faulty = Faulty::new(Fault::LosesGraphs);
        if let Err(divergence) = run_both(&Memory::fresh().await, &faulty, &ops).await {
            assert!(divergence.op.contains("Settle"), "{divergence}");
            return;
        }
    }
    panic!("they were not noticed");
}

#[tokio::test]
async fn a_forgotten_lingering_run_is_noticed() {
    diverges(Fault::ForgetsLingering).await;
}

#[tokio::test]
async fn a_priority_that_is_not_kept_is_noticed() {
    diverges(Fault::FlattensPriority).await;
}

#[tokio::test]
async fn a_delay_that_is_not_kept_is_noticed() {
    diverges(Fault::IgnoresDelays).await;
}

/// The generated operations must cover every kind of result, including conflicts and jobs that crash twice, which are rare.
#[tokio::test]
async fn random_operations_reach_every_kind_of_answer() {
    let mut reported = String::new();
    for seed in 0..240 {
        let ops = if seed < 120 { generate(seed, 400) } else { generate_graphs(seed, 400) };
        reported += &results(&Memory::fresh().await, &ops).await.join("\n");
    }
    for answer in [
        "Created",
        "Duplicate(",
        "Holder(",
        "BusinessKeysTaken",
        "IdempotencyMismatch",
        "state: Succeeded",
        "state: Failed",
        "Stale { state: Some(Canceled) }",
        "Stale { state: Some(Running) }",
        "DroppedChild",
        "NotFound",
        "IllegalTransition",
        "BusinessKeyTaken {",
        "Unchanged",
        "retried: [0",
        "key_taken: [0",
        "suspects (true, ",
        ", true) next",
        "crashes: 2",
        "generation: 2",
        "renewed [(",
        "lost",
        "Err(Data)",
        "DeadLetter(",
        "Alert(Alert",
        "original: Some(",
        "GroupCanceled(",
        "GroupUnchanged",
        "GroupSealed",
        "GroupNotFound",
        "StepExists",
        "DroppedGraph",
        "MovedWithGraph {",
        "UpstreamFailed",
        "NotTaken",
        "reopened: [0",
        "released: [0",
    ] {
        assert!(reported.contains(answer), "no {answer}");
    }
}
