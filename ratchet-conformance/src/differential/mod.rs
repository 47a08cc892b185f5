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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use async_trait::async_trait;
    use ratchet_core::VirtualClock;
    use ratchet_memory::MemoryStore;
    use ratchet_store::Store;

    use super::*;

    struct Memory(MemoryStore, VirtualClock);

    #[async_trait]
    impl Harness for Memory {
        async fn fresh() -> Self {
            let clock = VirtualClock::new();
            Self(MemoryStore::with_clock(Arc::new(clock.clone())), clock)
        }

        fn store(&self) -> Arc<dyn Store> {
            Arc::new(self.0.clone())
        }

        async fn advance(&self, by: Duration) {
            self.1.advance(by);
        }
    }

    /// The generated operations must cover every kind of result, including conflicts.
    #[tokio::test]
    async fn random_operations_reach_every_kind_of_answer() {
        let mut reported = String::new();
        for seed in 0..60 {
            let memory = Memory::fresh().await;
            let mut side = Driver::new(&memory).await;
            let ops = if seed < 30 { generate(seed, 400) } else { generate_graphs(seed, 400) };
            for op in ops {
                reported += &side.act(&op).await;
                reported += "\n";
            }
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
}
