//! Runs the engine cases about composition on the memory store.

mod harness;

ratchet_conformance::composition_engine_suite!(harness::Memory);
