//! The engine suites on SQLite.

mod harness;

ratchet_conformance::engine_suite!(harness::SqliteHarness);

mod composed {
    ratchet_conformance::composition_engine_suite!(super::harness::SqliteHarness);
}
