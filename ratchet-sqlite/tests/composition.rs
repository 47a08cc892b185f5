//! Chains, batches and workflows on SQLite.

mod harness;

ratchet_conformance::composition_suite!(harness::SqliteHarness);
