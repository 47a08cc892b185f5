//! The runtime under another name.
#![deny(warnings)]
#![allow(missing_docs, missing_debug_implementations)]
#![no_implicit_prelude]

extern crate ratchet as jobs;

#[jobs::job(crate = ::jobs, queue = "mail")]
pub async fn send_email(to: ::std::string::String) {
    let _ = to;
}

pub struct Service;

#[jobs::jobs(crate = ::jobs)]
impl Service {
    #[job]
    pub async fn charge(&self, id: u32) {
        let _ = id;
    }

    #[job(queue = "mail")]
    pub async fn refund(&self, id: u32) {
        let _ = id;
    }
}

#[jobs::do_not_retry(reason = "no", crate = ::jobs)]
#[derive(Debug, ::thiserror::Error)]
#[error("no")]
pub struct No;
