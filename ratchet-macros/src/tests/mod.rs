//! Tests over whole expansions.
