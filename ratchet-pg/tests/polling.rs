//! The suites on a store that only polls, behind a pooler that hands out connections by the transaction.

mod support;

ratchet_conformance::suite!(support::PooledHarness);

mod composed {
    ratchet_conformance::composition_suite!(super::support::PooledHarness);
}
