//! Runs a single case.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;

use crate::{Harness, World};

/// The time limit of a case. It catches a store that hangs, and is generous enough for a slow machine.
const LONGEST: Duration = Duration::from_mins(3);

/// Runs one case on a fresh store.
///
/// # Panics
///
/// Panics if the case fails or exceeds the time limit.
pub fn run<H, C>(case: C)
where
    H: Harness,
    C: for<'a> FnOnce(&'a World) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
{
    // The concurrency cases need several threads to produce real races.
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build();
    runtime.expect("a runtime can be built").block_on(async {
        let world = World::new(Arc::new(H::fresh().await));
        tokio::time::timeout(LONGEST, case(&world)).await.expect("the case comes to an end");
    });
}
