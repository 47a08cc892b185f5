//! [`RunHost`]: what a run needs from the runtime that executes it.

use std::any::Any;
use std::fmt;

use super::States;
use crate::failure::Classifier;
use ratchet_store::env::Clock;

/// The runtime of a run, as the context of the run sees it. Client and worker know the runtime itself.
pub(crate) trait RunHost: Any + fmt::Debug + Send + Sync {
    fn clock(&self) -> &dyn Clock;

    fn states(&self) -> &States;

    fn classifier(&self) -> &Classifier;
}
