//! Sanitizer and classification.

mod classify;
mod sanitize;
