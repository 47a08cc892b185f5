//! Warns about stored fields that no argument of their job takes.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The fields that have been reported, so that a backlog of a million rows causes one warning.
#[derive(Debug, Default)]
pub(crate) struct IgnoredFields {
    reported: Mutex<BTreeSet<(&'static str, String)>>,
}

/// The maximum number of reported fields. Payloads can come from anywhere, so the number of names has no bound.
const MOST: usize = 1000;

impl IgnoredFields {
    /// Logs a warning for each of these fields that has not been reported for this job.
    pub(crate) fn report(&self, job: &'static str, fields: Vec<String>) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        for field in fields {
            if reported.len() < MOST && reported.insert((job, field.clone())) {
                tracing::warn!(
                    job,
                    field,
                    "no argument of the job takes a stored field, so its value is ignored; add the argument or an `alias` for it, or mark the job `strict` to refuse such rows"
                );
            }
        }
    }
}
