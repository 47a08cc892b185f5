//! The engine on this store.

mod support;

ratchet_conformance::engine_suite!(support::PgHarness);
