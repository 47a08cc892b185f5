//! The interleaving matrix. For every two operations that touch the same job, key, slot, lease, graph, schedule or
//! queue, the first is held at a point while the second runs to its end or until it waits. Then the first continues,
//! and the database is audited.
//!
//! The points of an operation are recorded by a run without a hold. There is one before every statement, and one before
//! and after every commit. `short` tries one point of every pair and is part of the tests. `whole` tries all points:
//!
//! ```sh
//! scripts/proof interleaving
//! ```

mod audit;
mod cell;
mod coverage;
mod scene;
mod stress;
#[path = "../support/mod.rs"]
mod support;
mod verb;

use cell::{Depth, run};
use scene::Place;

/// Every pair, held right before the commit, or before the only statement.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_pair_of_verbs_at_one_point_1() {
    at_one_point(&Place::ALL[..HALF]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_pair_of_verbs_at_one_point_2() {
    at_one_point(&Place::ALL[HALF..]).await;
}

/// How many scenes the first test has.
const HALF: usize = Place::ALL.len() / 2;

async fn at_one_point(places: &[Place]) {
    let table = run(Depth::Short, places).await;
    assert!(table.failures.is_empty(), "{}", table.failures.join("\n"));
    // Fewer pairs would mean that scenes have lost their operations.
    assert!(table.pairs > 450, "{} pairs", table.pairs);
}

/// Every pair at every point. `RATCHET_MATRIX_DOCS` is the path of the page to write, `RATCHET_MATRIX_SCENE` selects
/// one scene.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes many minutes: `scripts/proof interleaving`"]
async fn every_pair_of_verbs_at_every_point() {
    let table = run(Depth::Whole, &Place::ALL).await;
    if let Ok(page) = std::env::var("RATCHET_MATRIX_DOCS") {
        std::fs::write(page, table.page()).expect("the page can be written");
    }
    assert!(table.failures.is_empty(), "{}", table.failures.join("\n"));
}
