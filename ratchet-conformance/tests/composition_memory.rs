//! Runs the cases about composition on the memory store.

mod harness;

ratchet_conformance::composition_suite!(harness::Memory);
