//! Chains, batches and workflows with real handlers on the memory store.

mod harness;

ratchet_conformance::composition_engine_suite!(harness::Memory);
