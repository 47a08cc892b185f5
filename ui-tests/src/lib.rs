//! Compile-fail and compile-pass cases of Ratchet's attributes live under `fail` and `pass`; see `tests/ui.rs`.
