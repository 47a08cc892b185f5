//! Decides the result of inserting jobs. These are pure functions: a store looks up existing keys and ids, [`Plan`]
//! decides, and the store writes the plan. All stores therefore treat used keys the same way.

mod key_use;
mod plan;
#[cfg(test)]
mod tests;

pub use key_use::KeyUse;
pub use plan::{Answers, Keys, Plan, There};
