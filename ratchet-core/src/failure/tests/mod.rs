//! Sanitiser and classification.

mod classify;
mod sanitize;
