//! Unconfirmed claims: claims whose answer was lost, so that the server may have committed them while no worker runs
//! their jobs.
//!
//! Because the node is alive, no rescue finds these jobs. The ids of their leases are created here, before the claim is
//! sent. Jobs of an unconfirmed claim are released before the next claim and with the next heartbeats, because a server
//! that has not noticed the lost client may still commit the claim later.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratchet_store::model::{AttemptOutcome, Settlement, Verdict};
use tokio::time::Instant;
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::record::token;
use crate::settle::PostCommit;
use crate::store::Inner;
use crate::unreadable::readable;

/// The leases of unconfirmed claims.
#[derive(Debug)]
pub(crate) struct UnconfirmedClaims {
    lost: Mutex<Vec<Lost>>,
    /// How long after its answer was lost a claim may still commit.
    late: Duration,
}

/// A lease that may exist, or may be committed before `until`.
#[derive(Debug, Clone, Copy)]
struct Lost {
    lease: Uuid,
    until: Instant,
    /// The lease was searched for once and did not exist.
    looked_for: bool,
}

/// A claim in flight. If it is dropped before [`over`](Self::over) is called, its answer was lost.
#[derive(Debug)]
pub(crate) struct ClaimInFlight<'a> {
    unconfirmed_claims: &'a UnconfirmedClaims,
    leases: Mutex<Vec<Uuid>>,
}

impl UnconfirmedClaims {
    /// A statement ends on the server within `statement_timeout`, even if its client is gone.
    pub(crate) fn new(statement_timeout: Duration) -> Self {
        Self { lost: Mutex::default(), late: statement_timeout.saturating_mul(2) }
    }

    pub(crate) fn begin(&self) -> ClaimInFlight<'_> {
        ClaimInFlight { unconfirmed_claims: self, leases: Mutex::default() }
    }

    fn lost(&self) -> MutexGuard<'_, Vec<Lost>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the leases to search for: the new ones, or all of them.
    fn take(&self, all: bool) -> Vec<Lost> {
        self.lost().extract_if(.., |lost| all || !lost.looked_for).collect()
    }
}

impl ClaimInFlight<'_> {
    /// Registers the leases of a claim that is about to be sent.
    pub(crate) fn expect(&self, leases: &[Uuid]) {
        let mut asked = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        asked.extend_from_slice(leases);
    }

    /// Records that the answer has arrived.
    pub(crate) fn confirm(self) {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for ClaimInFlight<'_> {
    fn drop(&mut self) {
        let leases = self.leases.get_mut().unwrap_or_else(PoisonError::into_inner);
        if leases.is_empty() {
            return;
        }
        let now = Instant::now();
        let until = now.checked_add(self.unconfirmed_claims.late).unwrap_or(now);
        let lost = leases.drain(..).map(|lease| Lost { lease, until, looked_for: false });
        self.unconfirmed_claims.lost().extend(lost);
    }
}

impl Inner {
    /// Releases the jobs of unconfirmed claims. With `all`, also searches again for leases that did not exist before.
    pub(crate) async fn give_back_lost(&self, all: bool) -> Result<(), Fault> {
        let lost = self.unconfirmed_claims.take(all);
        if lost.is_empty() {
            return Ok(());
        }
        let asked_at = Instant::now();
        let leases: Vec<_> = lost.iter().map(|lost| lost.lease).collect();
        let given_back = transact!(self, |db| {
            let rows =
                db::query(self.sql.select_tokens()).bind(&leases).fetch_all(&mut *db).await?;
            let tokens = readable("member of a lease", &rows, token)?;
            let found: Vec<_> = tokens.iter().map(|token| token.lease.uuid()).collect();
            let release =
                |token| Settlement::new(token, Verdict::Release, AttemptOutcome::Released);
            let settlements: Vec<_> = tokens.into_iter().map(release).collect();
            let asked: Vec<_> = settlements.iter().collect();
            let post_commit = match asked.is_empty() {
                true => PostCommit::default(),
                false => self.settle_general(db, &asked).await?.1,
            };
            (found, post_commit)
        });
        match given_back {
            Ok((found, post_commit)) => {
                self.tell(post_commit);
                let may_come = |lost: &Lost| asked_at < lost.until && !found.contains(&lost.lease);
                let still = lost.into_iter().filter(may_come);
                let still = still.map(|lost| Lost { looked_for: true, ..lost });
                self.unconfirmed_claims.lost().extend(still);
                Ok(())
            }
            Err(fault) => {
                // Keep them for the next try.
                self.unconfirmed_claims.lost().extend(lost);
                Err(fault)
            }
        }
    }
}
