//! The store in memory passes the suite.

mod harness;

ratchet_conformance::suite!(harness::Memory);
