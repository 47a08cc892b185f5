//! Jobs for the tests.

use ratchet_macros::job;

/// Returns a greeting.
#[allow(clippy::unused_async)] // a job is an async fn
#[job(name = "test.greet", crate = ::ratchet_core)]
pub(crate) async fn greet(name: String) -> String {
    format!("hello {name}")
}

/// Converts its input to upper case.
#[allow(clippy::unused_async)] // a job is an async fn
#[allow(dead_code)] // not used by every test
#[job(name = "test.shout", crate = ::ratchet_core)]
pub(crate) async fn shout(#[input] said: String) -> String {
    said.to_uppercase()
}
