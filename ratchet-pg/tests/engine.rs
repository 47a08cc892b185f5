//! The engine suites on PostgreSQL.

mod support;

ratchet_conformance::engine_suite!(support::PgHarness);

mod composed {
    ratchet_conformance::composition_engine_suite!(super::support::PgHarness);
}
