//! The engine on the store in memory.

mod harness;

ratchet_conformance::engine_suite!(harness::Memory);
