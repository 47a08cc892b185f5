#![doc = include_str!("../docs/contract.md")]

pub use ratchet_contract::{
    Argument, Change, Content, Contract, Enum, Field, Fields, Integer, JobContract, LockError,
    Mismatch, Note, Problem, Review, Shape, ShapeError, Shapes, Tagging, TraceError, TraceFn,
    Traced, Tracer, TypeDef, Types, Variant, Warning, traced,
};
pub use ratchet_core::{Described, LockFailure, LockMode, LockReport, check_lock, describe};

/// Adds a test that compares the jobs of this program with the file `ratchet.lock` of the package.
///
/// The [module](crate::contract) describes the file and the rules. Crates whose jobs would not be linked otherwise are
/// named: `lock_test!(shop, billing)`.
///
/// ```
/// # use ratchet as shop;
/// // tests/lock.rs
/// ratchet::lock_test!(shop);
/// ```
#[macro_export]
macro_rules! lock_test {
    ($($jobs:path),* $(,)?) => {
        $(#[allow(unused_imports)] use $jobs as _;)*

        #[test]
        fn ratchet_lock() {
            $crate::__private::lock_test(::core::env!("CARGO_MANIFEST_DIR"));
        }
    };
}
