//! The suites that every store must pass, on PostgreSQL.

mod support;

ratchet_conformance::suite!(support::PgHarness);

mod composed {
    ratchet_conformance::composition_suite!(super::support::PgHarness);
}
