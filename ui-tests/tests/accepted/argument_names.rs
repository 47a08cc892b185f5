//! Whatever an argument is called, generated code does not trip over it.
#![deny(warnings)]
#![allow(clippy::too_many_arguments)]

use ratchet::{JobContext, job};

const TO: usize = 4;

#[job]
pub async fn names(
    ctx: u8,
    args: u8,
    self_: u8,
    r#type: String,
    job: u8,
    fields: u8,
    run: u8,
    encode: [u8; TO],
    to: u8,
    __ratchet: u8,
    error: u8,
    mut changed: u8,
    #[inject] context: JobContext,
) {
    changed += 1;
    let _ = (
        ctx, args, self_, r#type, job, fields, run, encode, to, __ratchet, error, changed, context,
    );
}

#[job(blocking, business_key = "{r#type}-{ctx}")]
pub fn r#move(r#type: String, ctx: u8, injected_2: u8, #[inject] context: JobContext) {
    let _ = (r#type, ctx, injected_2, context);
}

pub struct Service;

#[ratchet::jobs]
impl Service {
    #[job]
    pub async fn names(&self, service: u8, arg_1: u8, ctx: u8, r#fn: u8) {
        let _ = (service, arg_1, ctx, r#fn);
    }
}

#[test]
fn runs() {
    let _ = Move { r#type: String::new(), ctx: 1, injected_2: 2 };
    let _ = ServiceNames { service: 1, arg_1: 2, ctx: 3, r#fn: 4 };
}
