//! Chains, batches and workflows with real handlers on SQLite.

mod harness;

ratchet_conformance::composition_engine_suite!(harness::SqliteHarness);
