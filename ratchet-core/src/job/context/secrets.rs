//! The secrets of a run, and the texts of the handler without them.

use std::sync::PoisonError;

use serde::Serialize;
use serde_json::Value;

use super::JobContext;
use super::recorded::{self, KeepError, SCANNED, line};
use crate::failure::{Classifier, KnownSecrets};
use crate::job::{collecting, masking};

impl JobContext {
    /// Adds secrets of the run.
    pub(crate) fn learn(&self, secrets: impl IntoIterator<Item = Value>) {
        let mut secrets = secrets.into_iter().peekable();
        if secrets.peek().is_some() {
            let mut known = self.run.secrets.lock().unwrap_or_else(PoisonError::into_inner);
            secrets.for_each(|secret| known.add(&secret));
        }
    }

    /// Adds the secrets that are read or written meanwhile.
    pub(crate) fn learning<T>(&self, work: impl FnOnce() -> T) -> T {
        let (result, secrets) = collecting(work);
        self.learn(secrets);
        result
    }

    /// Returns the secrets of the run.
    pub(crate) fn secrets(&self) -> KnownSecrets {
        self.run.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns what classifies and sanitizes the texts of this run.
    pub(crate) fn classifier(&self) -> Classifier {
        self.run.host.classifier().knowing(self.secrets())
    }

    /// Returns a log line or a progress message for storage: sanitized and truncated.
    pub(super) fn sanitized(&self, text: &str) -> String {
        // A huge text is not scanned to its end.
        let most = text.floor_char_boundary(SCANNED);
        line(self.classifier().line(&text[..most]), text.len())
    }

    /// Returns a value as JSON with `***` in place of its secrets and those of the run.
    pub(super) fn masked<T: Serialize>(
        &self,
        what: &'static str,
        value: &T,
    ) -> Result<String, KeepError> {
        let json = masking(|| recorded::json(what, value))?;
        let secrets = self.secrets();
        if secrets.is_empty() || secrets.hide(&json) == json {
            return Ok(json);
        }
        let hidden = serde_json::from_str(&json).map(|mut value| {
            secrets.hide_in_json(&mut value);
            value.to_string()
        });
        hidden.map_err(|error| KeepError::Encode { what, error })
    }
}
