//! What becomes of submitted jobs, one after another. Pure: a store looks up what is there, [`Plan`] decides, and the
//! store writes what is planned. So no store can answer a used key otherwise than another.

mod key_use;
mod plan;
#[cfg(test)]
mod tests;

pub use key_use::KeyUse;
pub use plan::{Answers, Keys, Plan, There};
