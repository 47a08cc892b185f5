//! Structs, enums and variants of every shape, above and below the derive.
#![deny(warnings)]

use ratchet::do_not_retry;

#[do_not_retry]
#[derive(Debug, thiserror::Error)]
#[error("unit")]
pub struct Unit;

#[derive(Debug, thiserror::Error)]
#[do_not_retry(reason = "tuple")]
#[error("tuple")]
pub struct Tuple(pub u8);

#[do_not_retry(all)]
#[derive(Debug, thiserror::Error)]
pub enum All {
    #[error("a")]
    A,
    #[error("b")]
    #[do_not_retry(reason = "its own")]
    B(u8),
}

#[derive(Debug, thiserror::Error)]
#[do_not_retry]
pub enum EveryVariant {
    #[error("a")]
    #[do_not_retry]
    A,
    #[error("b")]
    #[do_not_retry(reason = "b")]
    B { x: u8 },
}

#[do_not_retry(reason = "shared")]
#[derive(Debug, thiserror::Error)]
pub enum Shared {
    #[error("a")]
    #[do_not_retry]
    A,
    #[cfg(any())]
    #[error("b")]
    #[do_not_retry]
    Absent,
    #[error("c")]
    C,
}

#[do_not_retry(all, reason = "every one")]
#[derive(Debug, thiserror::Error)]
pub enum Whole {
    #[error("a")]
    A,
}
