//! Attributes around a job: `cfg`, `deprecated`, lint levels, other macros.
#![deny(warnings, missing_docs, dead_code)]

use ratchet::{circuit_breaker, job};

/// Not there at all.
#[cfg(any())]
#[job]
async fn absent_above(broken: &str) {}

/// Not there either.
#[job]
#[cfg(any())]
async fn absent_below(broken: &str) {}

/// On its way out.
#[deprecated = "use `modern`"]
#[job]
pub async fn ancient(n: u32) {
    let _ = n;
}

/// A lint that is allowed on the function is allowed on its struct.
#[job]
#[allow(non_snake_case)]
pub async fn modern(Size: u32) {
    let _ = Size;
}

/// An expected lint is not expected of the struct.
#[job]
#[expect(unused_variables)]
pub async fn expected(n: u32) {}

/// The breaker may stand above the job.
#[circuit_breaker(service = "a")]
#[job]
pub async fn above(n: u32) {
    let _ = n;
}

/// Or below.
#[job]
#[circuit_breaker(service = "a")]
pub async fn below(n: u32) {
    let _ = n;
}

/// Or far above.
#[circuit_breaker(service = "a")]
#[doc(alias = "x")]
#[job]
#[inline]
pub async fn far_above(#[allow(unused_variables)] n: u32) {}

#[test]
fn runs() {
    let _ = (Above { n: 1 }, Below { n: 1 }, FarAbove { n: 1 });
}
