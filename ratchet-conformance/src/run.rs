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
pub fn run<H: Harness>(case: Case) {
    run_in(Box::pin(async { World::new(Arc::new(H::fresh().await)) }), case);
}

/// A case whose future is in a box.
pub(crate) type Case = for<'a> fn(&'a World) -> CaseFuture<'a>;

/// The future of a case.
pub(crate) type CaseFuture<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

fn run_in(world: Pin<Box<dyn Future<Output = World>>>, case: Case) {
    // The concurrency cases need several threads to produce real races.
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build();
    runtime.expect("a runtime can be built").block_on(async {
        let world = world.await;
        tokio::time::timeout(LONGEST, case(&world)).await.expect("the case comes to an end");
    });
}
