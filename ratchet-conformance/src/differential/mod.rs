//! Runs random operations against two stores. Both must return the same results.
//!
//! ```no_run
//! # use ratchet_conformance::{Harness, differential};
//! # async fn example<A: Harness, B: Harness>() {
//! let ops = differential::generate(42, 500);
//! let same = differential::run_both(&A::fresh().await, &B::fresh().await, &ops).await;
//! if let Err(divergence) = same {
//!     panic!("{divergence}");
//! }
//! # }
//! ```

mod driver;
mod generate;
mod graphs;
mod normalize;
mod op;
mod operators;
mod pipelines;
mod stats;

use std::fmt;

pub use generate::{generate, generate_graphs};
pub use op::{Ending, How, Op};

pub(crate) use self::driver::Driver;
use crate::Harness;

/// The number of operations between two full comparisons of the stored data.
const INSPECT_EVERY: usize = 16;

/// The first result in which two stores differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The index of the operation.
    pub step: usize,
    /// The operation, in its debug form.
    pub op: String,
    /// The result of the first store.
    pub left: String,
    /// The result of the second store.
    pub right: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, op, left, right } = self;
        let pairs = left.lines().zip(right.lines());
        let (a, b) = pairs.into_iter().find(|(a, b)| a != b).unwrap_or((left, right));
        write!(f, "step {step} of the two stores differs\nafter {op}\n  left: {a}\n right: {b}")
    }
}

impl std::error::Error for Divergence {}

/// Runs the same operations on both stores and compares the results.
///
/// To make the results comparable, the generator chooses the ids, leases are omitted, and times are rounded relative
/// to the start.
///
/// Both stores must be fresh.
///
/// # Panics
///
/// Panics if a store returns a store error.
pub async fn run_both(
    left: &dyn Harness,
    right: &dyn Harness,
    ops: &[Op],
) -> Result<(), Divergence> {
    let (mut a, mut b) = (Driver::new(left).await, Driver::new(right).await);
    for (step, op) in ops.iter().enumerate() {
        let same = |left: String, right: String| {
            if left == right {
                return Ok(());
            }
            Err(Divergence { step, op: format!("{op:?}"), left, right })
        };
        same(a.act(op).await, b.act(op).await)?;
        same(a.glance().await, b.glance().await)?;
        if step % INSPECT_EVERY == 0 || step + 1 == ops.len() {
            same(a.inspect().await, b.inspect().await)?;
        }
    }
    Ok(())
}

/// Runs operations against one store and returns the results, in the form that is compared.
pub async fn results(harness: &dyn Harness, ops: &[Op]) -> Vec<String> {
    let mut side = Driver::new(harness).await;
    let mut results = Vec::with_capacity(ops.len());
    for op in ops {
        results.push(side.act(op).await);
    }
    results
}
