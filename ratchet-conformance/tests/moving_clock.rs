//! Runs the suite with a running clock, to check that it does not depend on a virtual one.

mod harness;

ratchet_conformance::suite!(harness::Ticking);
