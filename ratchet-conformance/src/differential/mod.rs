//! Random operations against two stores side by side: every answer must be the same.
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

mod generate;
mod normal;
mod op;
mod side;

use std::fmt;

pub use generate::generate;
pub use op::{Ending, How, Op};

use self::side::Side;
use crate::Harness;

/// How often everything is compared, and not only the answers.
const INSPECT_EVERY: usize = 16;

/// The first answer in which two stores differed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The number of the operation.
    pub step: usize,
    /// The operation.
    pub op: String,
    /// What the first store answered.
    pub left: String,
    /// What the second store answered.
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

/// Carries out the same operations on both stores and compares their answers, which are made comparable first: ids are
/// chosen by the generator, leases are left out, and times are rounded relative to the start.
///
/// Both stores must be fresh.
///
/// # Panics
///
/// If a store fails: that is no answer to compare.
pub async fn run_both(
    left: &dyn Harness,
    right: &dyn Harness,
    ops: &[Op],
) -> Result<(), Divergence> {
    let (mut a, mut b) = (Side::new(left).await, Side::new(right).await);
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
