//! Runs the engine cases on the memory store.

mod harness;

ratchet_conformance::engine_suite!(harness::Memory);
