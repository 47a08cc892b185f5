//! Generated code finds everything by itself: nothing of the prelude is in scope here.
#![no_implicit_prelude]
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]

use ::std::string::String;

/// An error.
#[::ratchet::do_not_retry(reason = "no")]
#[derive(Debug, ::thiserror::Error)]
#[error("no")]
pub struct No;

/// An error with kinds.
#[derive(Debug, ::thiserror::Error)]
#[::ratchet::do_not_retry]
pub enum Kinds {
    /// Marked.
    #[error("a")]
    #[do_not_retry]
    A(u8),
    /// Not marked.
    #[error("b")]
    B {
        /// A field.
        x: u8,
    },
}

mod checks {
    pub(crate) fn check(_: &super::Everything) -> ::std::result::Result<(), ::std::string::String> {
        ::std::result::Result::Ok(())
    }
}

/// A state.
#[derive(Debug)]
pub struct Gateway;

/// Takes every option there is.
#[::ratchet::job(
    name = "shop.everything",
    alias = "old",
    alias = "older",
    version = 2,
    queue = "mail",
    priority = high,
    max_retries = 3,
    backoff = exponential("1s", factor = 1.5, max = "30s", jitter = full),
    timeout = "1h30m",
    soft_timeout = "500ms",
    delay = "1d",
    business_key = "{{order}}-{id}",
    idempotency_key = "{pair.0}",
    concurrency_key = "c-{id}",
    concurrency_limit = 3,
    tags("a", "b"),
    on_success = Callback,
    on_failure = Callback,
    panic = "dlq",
    validate = checks::check,
    derive(Debug, Clone),
    crate = ::ratchet
)]
#[::ratchet::circuit_breaker(
    service = "gateway",
    profile = "api",
    failure_rate = 50,
    window = 10,
    min_calls = 3,
    open_for = "1m",
    probes = 2,
    ignore(No)
)]
pub async fn everything(
    #[inject] ctx: ::ratchet::JobContext,
    #[inject] gateway: ::ratchet::State<Gateway>,
    id: u64,
    pair: (u8, u8),
    #[job(default)] note: String,
    #[job(default = 5, secret)] pin: u32,
    maybe: ::std::option::Option<u8>,
) -> ::std::result::Result<u64, No> {
    let _ = (ctx, gateway, pair, note, pin, maybe);
    if id == 0 {
        return ::std::result::Result::Err(No);
    }
    ::std::result::Result::Ok(id)
}

/// A callback.
#[::ratchet::job(cron = "0 3 * * MON-FRI", tz = "Europe/Berlin", single_instance)]
pub async fn callback() {}

/// A blocking job.
#[::ratchet::job(blocking, backoff = linear("1s", max = "1m"))]
pub fn block(n: u32) -> u32 {
    n
}

/// A service.
#[derive(Debug)]
pub struct Service;

#[::ratchet::jobs]
impl Service {
    /// A method.
    #[job]
    pub async fn method(&self, n: u32) -> u32 {
        n
    }

    /// A blocking method.
    #[job(blocking, backoff = none)]
    pub fn block(&self, n: u32) -> u32 {
        n
    }
}
