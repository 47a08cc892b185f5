//! Tools for testing your own jobs: run them inline in the test's task, with a clock that you advance. Nothing sleeps.
//!
//! A [`Sandbox`] is a runtime over a memory store and a virtual clock, or over a store of yours. Enqueue jobs as in
//! production, then call [`Sandbox::drain`] to run those that are due, one after another, on the same code path as a
//! worker.
//!
//! ```
//! # mod ratchet { pub use ratchet_core::testing; pub use ratchet_core::JobError; pub use ratchet_core::JobState; pub use ratchet_core::assert_enqueued; }
//! use std::time::Duration;
//! use ratchet::testing::Sandbox;
//! use ratchet::{JobError, JobState, assert_enqueued};
//! use ratchet_macros::job;
//!
//! #[job(max_retries = 3, crate = ::ratchet_core)]
//! async fn greet(#[inject] ctx: ratchet_core::JobContext, name: String) -> Result<String, JobError> {
//!     if ctx.attempt() == 1 {
//!         return Err(JobError::msg("the first try always fails"));
//!     }
//!     Ok(format!("hello {name}"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sandbox = Sandbox::builder().jobs([<Greet as ratchet_core::Job>::JOB]).build().await?;
//! let handle = sandbox.enqueue(Greet { name: "Ada".into() }).await?;
//! assert_enqueued!(sandbox, Greet { name: "Ada".into() });
//!
//! let first = sandbox.drain().await?;
//! assert_eq!(first.retried, 1);
//!
//! sandbox.advance(Duration::from_secs(60)); // past the backoff
//! sandbox.drain().await?;
//! assert_eq!(handle.wait().await?, "hello Ada");
//! # Ok(())
//! # }
//! ```

mod assert;
mod drive;
mod elapse;
mod sandbox;

pub use assert::{Enqueued, EnqueuedJob};
#[doc(hidden)]
pub use assert::{Expected, check_enqueued, field};
pub use sandbox::{Drained, Sandbox, SandboxBuilder};
