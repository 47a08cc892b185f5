//! A condition may take `&str` for a `String` and `&[T]` for a `Vec<T>`, and return an alias of `bool`.
#![deny(clippy::ptr_arg)]
use ratchet::condition;

type Verdict = bool;

#[condition]
pub fn is_paid(state: &str) -> bool {
    state == "paid"
}

#[condition]
pub fn has_rows(rows: &[u32]) -> bool {
    !rows.is_empty()
}

#[condition]
pub fn is_big(count: &u64) -> Verdict {
    *count > 100
}

#[test]
fn runs() {
    assert!((IS_PAID.def().evaluate)("\"paid\"").unwrap());
    assert!((HAS_ROWS.def().evaluate)("[1]").unwrap());
    assert!(!(IS_BIG.def().evaluate)("1").unwrap());
}
