//! Decides the result of inserting jobs. These are pure functions: a store looks up existing keys and ids, [`Plan`]
//! decides, and the store writes the plan. All stores therefore treat used keys the same way.

mod idempotency_record;
mod key_holder;
mod plan;
#[cfg(test)]
mod tests;

pub use idempotency_record::{IdempotencyRecord, KeyUse};
pub use key_holder::KeyHolder;
pub use plan::{Answers, Existing, Keys, Plan};
