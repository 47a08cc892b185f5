//! Tests of sanitizing and classification.

mod classify;
mod sanitize;
