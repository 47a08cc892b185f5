//! The suite every store must pass.

mod support;

ratchet_conformance::suite!(support::PgHarness);
