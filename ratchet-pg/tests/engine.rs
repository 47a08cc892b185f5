//! The engine suite on PostgreSQL.

mod support;

ratchet_conformance::engine_suite!(support::PgHarness);
