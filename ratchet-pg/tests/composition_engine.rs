//! Chains, batches and workflows with real handlers on PostgreSQL.

mod support;

ratchet_conformance::composition_engine_suite!(support::PgHarness);
