//! The store in a file passes the suite.

mod harness;

ratchet_conformance::suite!(harness::SqliteHarness);
