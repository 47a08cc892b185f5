//! Jobs for the tests.

use ratchet_macros::job;

/// Greets somebody.
#[job(name = "test.greet", crate = ::ratchet_core)]
pub(crate) async fn greet(name: String) -> String {
    format!("hello {name}")
}
