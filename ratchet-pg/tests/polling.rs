//! The suite on a store that neither listens nor prepares, as behind a transaction pooler.

mod support;

ratchet_conformance::suite!(support::PollHarness);
