//! Runs the suite on the memory store.

mod harness;

ratchet_conformance::suite!(harness::Memory);
