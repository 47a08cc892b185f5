//! The conformance suite that every store must pass, on SQLite.

mod harness;

ratchet_conformance::suite!(harness::SqliteHarness);
