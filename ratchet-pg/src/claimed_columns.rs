//! Reads the claimed jobs of a queue from a row of an exchange: their ids in order, and the complete specs of plain
//! jobs.

use std::collections::HashMap;
use std::sync::Arc;
use std::vec::IntoIter;

use ratchet_store::model::Priority;
use ratchet_store::model::{Claimed, JobId, JobSpec, Token};
use uuid::Uuid;

use crate::decode_claim::{self, Claim};
use crate::spec::{instant, micros, to_u32};
use sqlx::Row;
use sqlx::postgres::PgRow;

/// The index of the first column of a line in a row of an exchange.
const LINE: usize = 7;

/// The index of the first column of a job.
pub(crate) const JOB: usize = 15;

/// The claimed jobs of a queue as columns, in the order of their lease.
pub(crate) struct ClaimedColumns {
    /// The index of the queue in the request.
    pub(crate) place: usize,
    jobs: IntoIter<Uuid>,
    dues: IntoIter<i64>,
    /// `None` if every job had to be looked up.
    inline_columns: Option<InlineColumns>,
}

/// The specs of plain jobs as columns. A job without a payload was looked up.
struct InlineColumns {
    sort_keys: IntoIter<i64>,
    names: IntoIter<String>,
    versions: IntoIter<i32>,
    services: IntoIter<Option<String>>,
    payloads: IntoIter<Option<Vec<u8>>>,
}

impl ClaimedColumns {
    /// Reads the line of a row. Returns `None` if the row has none.
    pub(crate) fn of(row: &PgRow) -> Result<Option<Self>, sqlx::Error> {
        let Some(place) = row.try_get::<Option<i64>, _>(LINE)? else { return Ok(None) };
        let inline_columns = match row.try_get::<Option<Vec<i64>>, _>(LINE + 3)? {
            None => None,
            Some(sort_keys) => Some(InlineColumns {
                sort_keys: sort_keys.into_iter(),
                names: row.try_get::<Vec<_>, _>(LINE + 4)?.into_iter(),
                versions: row.try_get::<Vec<_>, _>(LINE + 5)?.into_iter(),
                services: row.try_get::<Vec<_>, _>(LINE + 6)?.into_iter(),
                payloads: row.try_get::<Vec<_>, _>(LINE + 7)?.into_iter(),
            }),
        };
        Ok(Some(Self {
            place: decode_claim::place(place)?,
            jobs: row.try_get::<Vec<_>, _>(LINE + 1)?.into_iter(),
            dues: row.try_get::<Vec<_>, _>(LINE + 2)?.into_iter(),
            inline_columns,
        }))
    }

    /// Returns the jobs in order, including those that were looked up, and the ids of jobs that were not found.
    pub(crate) fn jobs(
        mut self,
        claim: Claim<'_>,
        looked_up: &mut HashMap<JobId, Claimed>,
    ) -> (Vec<Claimed>, Vec<JobId>) {
        let (mut jobs, mut missing) = (Vec::with_capacity(self.jobs.len()), Vec::new());
        for job in self.jobs.map(JobId::from_uuid) {
            let due = self.dues.next();
            let inline = self.inline_columns.as_mut().and_then(InlineColumns::next);
            match (inline, due) {
                (Some(inline), Some(due)) => jobs.push(inline.claimed(job, due, claim)),
                _ => match looked_up.remove(&job) {
                    Some(job) => jobs.push(job),
                    None => missing.push(job),
                },
            }
        }
        (jobs, missing)
    }
}

impl InlineColumns {
    /// Returns the next job, or `None` if it was looked up.
    fn next(&mut self) -> Option<InlineJob> {
        let (sort_key, name) = (self.sort_keys.next()?, self.names.next()?);
        let (version, service) = (self.versions.next()?, self.services.next()?);
        let payload = self.payloads.next()??;
        Some(InlineJob { sort_key, name, version, service, payload })
    }
}

/// A plain job: only these fields are set, it is the first run, and the job was due when it was submitted.
struct InlineJob {
    sort_key: i64,
    name: String,
    version: i32,
    service: Option<String>,
    payload: Vec<u8>,
}

impl InlineJob {
    fn claimed(self, job: JobId, due: i64, claim: Claim<'_>) -> Claimed {
        let mut spec = JobSpec::new(self.name, self.payload);
        spec.version = to_u32(self.version);
        claim.queue.clone_into(&mut spec.queue);
        spec.priority = priority(due, self.sort_key);
        spec.service = self.service;
        let due = instant(due);
        Claimed {
            token: Token { job, lease: claim.lease, version: 1 },
            spec: Arc::new(spec),
            attempts: 0,
            crashes: 0,
            deferrals: 0,
            generation: 1,
            run: 1,
            queued_at: due,
            due,
            claimed_at: instant(claim.now),
            node: claim.node,
            progress: None,
            checkpoint: None,
            probe: None,
        }
    }
}

/// Derives the priority from the distance between due time and sort key, with the default boost per level.
fn priority(due: i64, sort_key: i64) -> Priority {
    let level = due.saturating_sub(sort_key) / micros(JobSpec::DEFAULT_BOOST);
    u8::try_from(level).ok().and_then(Priority::from_level).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_told_by_its_place_in_line() {
        for level in Priority::ALL {
            let mut spec = JobSpec::new("job", Vec::new());
            spec.priority = level;
            assert_eq!(priority(1_000, spec.sort_key(1_000)), level);
        }
    }
}
