//! Jobs for the tests.

use ratchet_macros::job;

/// Greets somebody.
#[allow(clippy::unused_async)] // a job is an async fn
#[job(name = "test.greet", crate = ::ratchet_core)]
pub(crate) async fn greet(name: String) -> String {
    format!("hello {name}")
}

/// Says it louder.
#[allow(clippy::unused_async)] // a job is an async fn
#[allow(dead_code)] // not every test has a use for it
#[job(name = "test.shout", crate = ::ratchet_core)]
pub(crate) async fn shout(#[input] said: String) -> String {
    said.to_uppercase()
}
