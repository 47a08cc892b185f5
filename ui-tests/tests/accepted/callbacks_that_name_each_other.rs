//! Two jobs may be each other's callback.
#![deny(warnings)]

use ratchet::{Job, job};

#[job(on_success = Pong)]
pub async fn ping() {}

#[job(on_success = Ping, on_failure = Pong)]
pub async fn pong(#[job(default)] n: u32) {
    let _ = n;
}

#[test]
fn runs() {
    assert_eq!(Ping::DEF.on_success.map(|callback| callback.def().name), Some(Pong::DEF.name));
    assert_eq!(Pong::DEF.on_success.map(|callback| callback.def().name), Some(Ping::DEF.name));
}
