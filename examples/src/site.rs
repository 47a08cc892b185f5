//! The README, and the pages of `docs/site` with Rust code. Their snippets are compiled as documentation tests.

#[doc = include_str!("../../docs/site/concepts/composition.md")]
mod concepts_composition {}

#[doc = include_str!("../../docs/site/concepts/job.md")]
mod concepts_job {}

#[doc = include_str!("../../docs/site/concepts/outcome.md")]
mod concepts_outcome {}

#[doc = include_str!("../../docs/site/concepts/queue.md")]
mod concepts_queue {}

#[doc = include_str!("../../docs/site/concepts/run.md")]
mod concepts_run {}

#[doc = include_str!("../../docs/site/guides/deployment.md")]
mod guides_deployment {}

#[doc = include_str!("../../docs/site/guides/upgrades.md")]
mod guides_upgrades {}

#[doc = include_str!("../../docs/site/index.md")]
mod index {}

#[doc = include_str!("../../docs/site/operations/doctor.md")]
mod operations_doctor {}

#[doc = include_str!("../../README.md")]
mod readme {}

#[doc = include_str!("../../docs/site/reference/events.md")]
mod reference_events {}

#[doc = include_str!("../../docs/site/snippets/define.md")]
mod snippets_define {}

#[doc = include_str!("../../docs/site/snippets/delay.md")]
mod snippets_delay {}

#[doc = include_str!("../../docs/site/snippets/enqueue.md")]
mod snippets_enqueue {}

#[doc = include_str!("../../docs/site/snippets/failures.md")]
mod snippets_failures {}

#[doc = include_str!("../../docs/site/snippets/limits.md")]
mod snippets_limits {}

#[doc = include_str!("../../docs/site/snippets/recurring.md")]
mod snippets_recurring {}

#[doc = include_str!("../../docs/site/snippets/retry.md")]
mod snippets_retry {}

#[doc = include_str!("../../docs/site/snippets/test.md")]
mod snippets_test {}

#[doc = include_str!("../../docs/site/snippets/transaction.md")]
mod snippets_transaction {}

#[doc = include_str!("../../docs/site/snippets/unique.md")]
mod snippets_unique {}

#[doc = include_str!("../../docs/site/start/first_job.md")]
mod start_first_job {}

#[doc = include_str!("../../docs/site/start/worker.md")]
mod start_worker {}
