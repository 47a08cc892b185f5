//! The suite does not depend on a clock that stands still: stores on a real one can pass it.

mod harness;

ratchet_conformance::suite!(harness::Ticking);
