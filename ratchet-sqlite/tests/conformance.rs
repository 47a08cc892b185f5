//! The suites that every store must pass, on SQLite.

mod harness;

ratchet_conformance::suite!(harness::SqliteHarness);

mod composed {
    ratchet_conformance::composition_suite!(super::harness::SqliteHarness);
}
