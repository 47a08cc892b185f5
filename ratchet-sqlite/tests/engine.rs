//! The engine suite on SQLite.

mod harness;

ratchet_conformance::engine_suite!(harness::SqliteHarness);
