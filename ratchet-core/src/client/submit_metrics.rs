//! Measures submits.

use std::sync::Arc;
use std::time::Duration;

use crate::events::JobRef;
use crate::runtime::Core;
use ratchet_store::model::{InsertError, Inserted};

impl Core {
    /// Measures an insert that was sent at `sent`.
    pub(super) fn record_insert(&self, sent: Duration, error: Option<&InsertError>) {
        self.meter.store_call("insert", self.clock.monotonic().saturating_sub(sent));
        let cause = match error {
            None => return,
            Some(InsertError::Store(error)) => {
                self.meter.store_error("insert", error);
                return;
            }
            Some(InsertError::BusinessKeysTaken(_)) => "business_key",
            Some(InsertError::IdempotencyMismatch { .. }) => "idempotency_mismatch",
            Some(_) => "other",
        };
        self.meter.refused(cause);
    }

    /// Measures the answers of an insert.
    pub(super) fn record_submits<'a>(
        &self,
        answers: impl IntoIterator<Item = (&'a Inserted, &'a JobRef)>,
    ) {
        // Consecutive jobs with the same name and queue share their strings, and are counted together.
        let mut alike: Option<(&JobRef, u64)> = None;
        for (answer, job) in answers {
            match answer {
                Inserted::Created(_) => {}
                Inserted::Duplicate(_) => {
                    self.meter.suppressed("idempotency_key");
                    continue;
                }
                Inserted::Holder(_) => {
                    self.meter.suppressed("business_key");
                    continue;
                }
            }
            let is_alike = |first: &JobRef| {
                Arc::ptr_eq(&first.name, &job.name) && Arc::ptr_eq(&first.queue, &job.queue)
            };
            match &mut alike {
                Some((first, count)) if is_alike(first) => *count += 1,
                _ => {
                    self.record_alike(alike.take());
                    alike = Some((job, 1));
                }
            }
        }
        self.record_alike(alike);
    }

    fn record_alike(&self, jobs: Option<(&JobRef, u64)>) {
        if let Some((job, count)) = jobs {
            self.meter.submitted(&job.queue, &job.name, count);
        }
    }
}
