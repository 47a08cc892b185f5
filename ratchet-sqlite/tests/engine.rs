//! The engine on the store in a file.

mod harness;

ratchet_conformance::engine_suite!(harness::SqliteHarness);
