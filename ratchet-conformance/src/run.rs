//! How one case is run.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;

use crate::{Harness, World};

/// A store that hangs fails its case; a slow machine does not.
const LONGEST: Duration = Duration::from_mins(3);

/// Runs one case on a fresh store.
///
/// # Panics
///
/// If the case fails: that is its purpose.
pub fn run<H, C>(case: C)
where
    H: Harness,
    C: for<'a> FnOnce(&'a World) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
{
    // More than one thread, so that the races of the concurrency cases are real.
    let runtime = Builder::new_multi_thread().worker_threads(4).enable_all().build();
    runtime.expect("a runtime can be built").block_on(async {
        let world = World::new(Arc::new(H::fresh().await));
        tokio::time::timeout(LONGEST, case(&world)).await.expect("the case comes to an end");
    });
}
