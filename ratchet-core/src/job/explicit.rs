//! [`ExplicitOptions`]: which options a definition sets itself.

use super::JobDef;
use ratchet_store::model::{Backoff, Priority};

/// The options that were given on a definition, as opposed to those that have the default of the library. Defaults of
/// the process replace only the latter.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools)] // one per option
pub(super) struct ExplicitOptions {
    pub(super) queue: bool,
    pub(super) priority: bool,
    pub(super) max_retries: bool,
    pub(super) backoff: bool,
    pub(super) timeout: bool,
}

impl ExplicitOptions {
    pub(super) const NONE: Self =
        Self { queue: false, priority: false, max_retries: false, backoff: false, timeout: false };
}

/// Tells which options a definition sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sets<'a>(pub(super) &'a JobDef);

/// A field can also be assigned directly, so a value that differs from the default of the library counts as given.
impl Sets<'_> {
    pub(crate) fn queue(self) -> bool {
        self.0.explicit.queue || self.0.queue != JobDef::DEFAULT_QUEUE
    }

    pub(crate) fn priority(self) -> bool {
        self.0.explicit.priority || self.0.priority != Priority::Normal
    }

    pub(crate) fn max_retries(self) -> bool {
        self.0.explicit.max_retries || self.0.max_retries != JobDef::DEFAULT_MAX_RETRIES
    }

    pub(crate) fn backoff(self) -> bool {
        self.0.explicit.backoff || self.0.backoff != Backoff::DEFAULT
    }

    pub(crate) fn timeout(self) -> bool {
        self.0.explicit.timeout || self.0.timeout != JobDef::DEFAULT_TIMEOUT
    }
}
