//! The guide, with one page per concept. All snippets are compiled as doc tests.

#[doc = include_str!("../docs/guide/configuration.md")]
pub mod configuration {}

#[doc = include_str!("../docs/guide/retries.md")]
pub mod retries {}

#[doc = include_str!("../docs/guide/keys.md")]
pub mod keys {}

#[doc = include_str!("../docs/guide/guards.md")]
pub mod guards {}

#[doc = include_str!("../docs/guide/security.md")]
pub mod security {}

#[doc = include_str!("../docs/guide/erasure.md")]
pub mod erasure {}

#[doc = include_str!("../docs/guide/transactions.md")]
pub mod transactions {}

#[doc = include_str!("../docs/guide/connections.md")]
pub mod connections {}

#[doc = include_str!("../docs/guide/sql.md")]
pub mod sql {}

#[doc = include_str!("../docs/guide/operations.md")]
pub mod operations {}

#[doc = include_str!("../docs/guide/command_line.md")]
pub mod command_line {}

#[doc = include_str!("../docs/guide/dashboard.md")]
pub mod dashboard {}

#[doc = include_str!("../docs/guide/metrics.md")]
pub mod metrics {}

#[doc = include_str!("../docs/guide/testing.md")]
pub mod testing {}

#[doc = include_str!("../docs/guide/schedules.md")]
pub mod schedules {}

#[doc = include_str!("../docs/guide/composition.md")]
pub mod composition {}

#[doc = include_str!("../docs/attributes/argument.md")]
pub mod argument {}

#[doc = include_str!("../docs/attributes/inject.md")]
pub mod inject {}

#[doc = include_str!("../docs/attributes/input.md")]
pub mod input {}
