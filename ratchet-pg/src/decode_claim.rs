//! Builds claimed jobs from the rows of a claim.

use std::collections::HashMap;
use std::sync::Arc;

use ratchet_store::model::{ClaimRequest, Claimed, JobId, LeaseId, NodeId, Token};
use uuid::Uuid;

use crate::claimed_columns::ClaimedColumns;
use crate::spec::{instant, spec_from, to_u32, to_u64};
use crate::unreadable::{Unread, is_unreadable};
use sqlx::Row;
use sqlx::postgres::PgRow;

/// An answered claim, with one lease for each requested queue.
pub(crate) struct Claims<'a> {
    pub(crate) request: &'a ClaimRequest,
    pub(crate) leases: &'a [Uuid],
    pub(crate) now: i64,
}

/// The jobs that a claim took.
#[derive(Default)]
pub(crate) struct Taken {
    /// Each job with the index of its queue in the request.
    pub(crate) jobs: Vec<(usize, Claimed)>,
    /// The claimed jobs that cannot be read.
    pub(crate) unread: Vec<Unread>,
}

/// The values that the claimed jobs of one queue have in common.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) queue: &'a str,
    pub(crate) lease: LeaseId,
    pub(crate) now: i64,
    pub(crate) node: NodeId,
}

impl<'a> Claims<'a> {
    /// Returns the jobs of these lines and those that cannot be read. `rows` holds the jobs that had to be looked up:
    /// they have the columns of a claimed job, starting at column `first`.
    pub(crate) fn in_line(
        &self,
        lines: Vec<ClaimedColumns>,
        rows: &[&PgRow],
        first: usize,
    ) -> Result<Taken, sqlx::Error> {
        let Taken { jobs, unread } = self.looked_up(rows, first)?;
        let mut looked_up: HashMap<_, _> =
            jobs.into_iter().map(|(_, job)| (job.id(), job)).collect();
        let mut taken = Taken { jobs: Vec::new(), unread };
        for line in lines {
            let place = line.place;
            let claim = self.of(place)?;
            let (jobs, missing) = line.jobs(claim, &mut looked_up);
            taken.jobs.extend(jobs.into_iter().map(|job| (place, job)));
            for job in missing {
                if taken.unread.iter().all(|unread| unread.job != job) {
                    taken.unread.push(Unread::missing(job, claim.lease));
                }
            }
        }
        Ok(taken)
    }

    /// Returns the jobs of rows that have the columns of a claimed job, starting at column `first`.
    pub(crate) fn looked_up(&self, rows: &[&PgRow], first: usize) -> Result<Taken, sqlx::Error> {
        let mut taken = Taken::default();
        for row in rows {
            let place = place(row.try_get(first + 1)?)?;
            let claim = self.of(place)?;
            match claimed(row, first, claim) {
                Ok(job) => taken.jobs.push((place, job)),
                Err(error) if is_unreadable(&error) => {
                    let job = JobId::from_uuid(row.try_get_unchecked(first)?);
                    taken.unread.push(Unread::new(job, Some(claim.lease), &error));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }

    fn of(&self, place: usize) -> Result<Claim<'a>, sqlx::Error> {
        let lease =
            self.leases.get(place).ok_or_else(|| protocol_error("a claim from no queue"))?;
        Ok(Claim {
            queue: &self.request.queues[place].queue,
            lease: LeaseId::from_uuid(*lease),
            now: self.now,
            node: self.request.node,
        })
    }
}

/// Converts a queue number, which the database counts from one, to an index into the requested queues.
pub(crate) fn place(number: i64) -> Result<usize, sqlx::Error> {
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    place.ok_or_else(|| protocol_error("a claim from no queue"))
}

/// Returns an error for a row that none of the store's statements produces.
pub(crate) fn protocol_error(what: &str) -> sqlx::Error {
    sqlx::Error::Protocol(what.to_owned())
}

/// Reads a claimed job. Columns are read by position and without a type check, because looking them up would take most
/// of the time.
fn claimed(row: &PgRow, first: usize, claim: Claim<'_>) -> Result<Claimed, sqlx::Error> {
    let to_u64 =
        |at: usize| Ok::<_, sqlx::Error>(to_u64(row.try_get_unchecked::<i64, _>(first + at)?));
    let to_u32 =
        |at: usize| Ok::<_, sqlx::Error>(to_u32(row.try_get_unchecked::<i32, _>(first + at)?));
    let time = |at: usize| Ok::<_, sqlx::Error>(instant(row.try_get_unchecked(first + at)?));
    let token = Token {
        job: JobId::from_uuid(row.try_get_unchecked(first)?),
        lease: claim.lease,
        version: to_u64(2)? + 1,
    };
    Ok(Claimed {
        token,
        run: to_u64(3)? + 1,
        due: time(4)?,
        attempts: to_u32(5)?,
        crashes: to_u32(6)?,
        deferrals: to_u32(7)?,
        generation: to_u32(8)?,
        queued_at: time(9)?,
        spec: Arc::new(spec_from(row, first + 10, claim.queue)?),
        claimed_at: instant(claim.now),
        node: claim.node,
        progress: None,
        checkpoint: None,
        probe: None,
    })
}
