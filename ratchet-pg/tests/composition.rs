//! Chains, batches, workflows, schedules and items on PostgreSQL.

mod support;

ratchet_conformance::composition_suite!(support::PgHarness);
