//! The conformance suites on a store that only polls, behind a transaction pooler.

mod support;

ratchet_conformance::suite!(support::PooledHarness);

mod composed {
    ratchet_conformance::composition_suite!(super::support::PooledHarness);
}
