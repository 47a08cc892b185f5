//! The conformance suite that every store must pass, on PostgreSQL.

mod support;

ratchet_conformance::suite!(support::PgHarness);
