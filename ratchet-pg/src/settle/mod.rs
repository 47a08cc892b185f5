//! Settlements: plain successes on the fast path, everything else in one transaction with a fixed number of statements,
//! whatever the size of the batch.

mod apart;
mod batch;
mod free;
mod moves;
mod notes;
mod steps;

use std::collections::{BTreeSet, HashMap, HashSet};

use ratchet_store::Wake;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Applied, AttemptOutcome, ClaimReply, ClaimRequest, JobId, JobState, Notice, Settled,
    Settlement, Verdict,
};

pub(crate) use self::apart::any_keyed;
pub(crate) use self::free::Tokens;
pub(crate) use self::moves::{Ends, Left, Lines, RunEnd};
pub(crate) use self::notes::Notes;
use self::steps::{Plain, any_step, report_as_one_walk};
use crate::exchange::Successes;
use crate::fault::{Fault, is_blocked, transact};
use crate::leases::Known;
use crate::lost_connection::is_retryable;
use crate::spec::instant;
use crate::store::Inner;
use crate::unclaimable::is_unclaimable;
use crate::unconfirmed_claims::ClaimInFlight;
use crate::wake::Hint;
use sqlx::{PgConnection, Postgres, Transaction};

/// The notifications to send after a settlement is committed.
#[derive(Debug, Default)]
pub(crate) struct PostCommit {
    pub(crate) hints: Vec<Hint>,
    /// Jobs may have become claimable, possibly before the bounds of claims.
    pub(crate) unsettled: bool,
    /// A breaker has closed.
    pub(crate) closed: bool,
}

impl PostCommit {
    pub(crate) fn add(&mut self, more: Self) {
        self.hints.extend(more.hints);
        self.unsettled |= more.unsettled;
        self.closed |= more.closed;
    }
}

impl Inner {
    pub(crate) async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, Fault> {
        let (settled, _) = self.settle_then(&settlements, None).await?;
        Ok(settled)
    }

    pub(crate) async fn settle_and_claim(
        &self,
        settlements: Vec<Settlement>,
        request: &ClaimRequest,
    ) -> Result<(Vec<Settled>, ClaimReply), Fault> {
        let (settled, reply) = self.settle_then(&settlements, Some(request)).await?;
        let reply = match reply {
            Some(reply) => {
                self.try_to_set_aside_unreadable().await;
                reply
            }
            // A failed claim must not hide the settlements.
            None => self.claim(request).await.unwrap_or_else(|fault| {
                let error = ratchet_store::StoreError::from(fault);
                tracing::warn!(%error, "a claim failed after its settlements; the next one tries again");
                ClaimReply::default()
            }),
        };
        Ok((settled, reply))
    }

    /// Settles, and claims in the same commit if the fast path can do both.
    async fn settle_then(
        &self,
        settlements: &[Settlement],
        request: Option<&ClaimRequest>,
    ) -> Result<(Vec<Settled>, Option<ClaimReply>), Fault> {
        if settlements.is_empty() {
            return Ok((Vec::new(), None));
        }
        let sorted = self.sort(settlements);
        let shape = sorted.shape();
        let fast = match shape {
            Shape::Plain => self.settle_all_plain(settlements, &sorted.plain, request).await,
            Shape::Mixed => self.settle_mixed(settlements, &sorted).await.map(|all| (all, None)),
            Shape::General => return Ok((self.settle_slowly(settlements).await?, None)),
        };
        match fast {
            Ok((settled, reply)) => Ok((self.settle_late(settlements, settled).await?, reply)),
            // One of them was settled before, or there was a conflict in a graph. The slow path decides.
            Err(fault) if is_retryable(&fault) => {
                Ok((self.settle_slowly(settlements).await?, None))
            }
            // A waiting job may be the cause. The settlements must not depend on it.
            Err(fault) if request.is_some() && is_unclaimable(&fault) => {
                Box::pin(self.settle_then(settlements, None)).await
            }
            Err(fault) if shape == Shape::Mixed && is_blocked(&fault) => {
                Ok((self.settle_apart(settlements).await?, None))
            }
            Err(fault) => Err(fault),
        }
    }

    /// Settles any settlements on the slow path: together, or one by one if another transaction blocks some of them.
    async fn settle_slowly(&self, settlements: &[Settlement]) -> Result<Vec<Settled>, Fault> {
        let all: Vec<_> = settlements.iter().collect();
        match transact!(self, |db| self.settle_general(db, &all).await?) {
            Ok((settled, post_commit)) => {
                self.tell(post_commit);
                Ok(settled)
            }
            Err(fault) if is_blocked(&fault) => self.settle_apart(settlements).await,
            Err(fault) => Err(fault),
        }
    }

    /// Settles a batch of plain successes. Takes one statement, unless they are steps of a graph, carry breaker
    /// samples, or have outcomes to deliver.
    async fn settle_all_plain(
        &self,
        settlements: &[Settlement],
        plain: &[Plain<'_>],
        request: Option<&ClaimRequest>,
    ) -> Result<(Vec<Option<Settled>>, Option<ClaimReply>), Fault> {
        let in_flight = self.unconfirmed_claims.begin();
        let count = settlements.len();
        let silent = |asked: &Settlement| asked.sample.is_none() && asked.notices.is_empty();
        if settlements.iter().all(silent) && !any_step(plain) {
            let mut db = self.pool.acquire().await?;
            let (settled, post_commit, reply) =
                self.settle_plain(&mut db, count, plain, request, &in_flight).await?;
            db.done().await?;
            in_flight.confirm();
            self.tell(post_commit);
            return Ok((settled, reply));
        }
        // The graphs are locked and block other transactions, so the claim is made later. It can then also take the
        // released steps.
        let request = request.filter(|_| !any_step(plain));
        let mut tx = self.pool.begin().await?;
        self.lock_graphs_of(&mut tx, plain.iter().map(|(_, settlement, _)| *settlement)).await?;
        let (mut settled, mut post_commit, reply) =
            self.settle_plain(&mut tx, count, plain, request, &in_flight).await?;
        if leaves_samples(settlements, &settled) {
            tx.rollback().await?;
            let settled = self.settle_slowly(settlements).await?;
            return Ok((settled.into_iter().map(Some).collect(), None));
        }
        self.propagate_plain(&mut tx, plain, &mut settled, &mut post_commit).await?;
        self.finish(&mut tx, settlements.iter(), &mut settled, &mut post_commit).await?;
        commit(tx).await?;
        in_flight.confirm();
        self.tell(post_commit);
        Ok((settled, reply))
    }

    /// Does what follows every settlement on any path, in its commit: records the notices of the applied settlements,
    /// and counts their breaker samples.
    async fn finish<'a>(
        &self,
        db: &mut PgConnection,
        settlements: impl Iterator<Item = &'a Settlement> + Clone,
        settled: &mut [Option<Settled>],
        post_commit: &mut PostCommit,
    ) -> Result<(), Fault> {
        let answers = settled.iter().map(Option::as_ref);
        self.record_applied(db, settlements.clone().zip(answers)).await?;
        let all: Vec<_> = settlements.collect();
        let mut answers: Vec<_> = settled.iter_mut().map(Option::as_mut).collect();
        post_commit.closed |= self.count_samples(db, &all, &mut answers).await?;
        Ok(())
    }

    /// Settles any settlements on the slow path, and counts their breaker samples.
    pub(crate) async fn settle_general(
        &self,
        db: &mut PgConnection,
        settlements: &[&Settlement],
    ) -> Result<(Vec<Settled>, PostCommit), Fault> {
        self.lock_graphs_of(db, settlements.iter().copied()).await?;
        let (settled, mut post_commit) = self.settle_batch(db, settlements).await?;
        let mut settled: Vec<_> = settled.into_iter().map(Some).collect();
        self.finish(db, settlements.iter().copied(), &mut settled, &mut post_commit).await?;
        Ok((settled.into_iter().flatten().collect(), post_commit))
    }

    /// Settles plain successes on the fast path and the rest on the slow path, in one commit.
    async fn settle_mixed(
        &self,
        settlements: &[Settlement],
        sorted: &Sorted<'_>,
    ) -> Result<Vec<Option<Settled>>, Fault> {
        let rest: Vec<_> = sorted.rest.iter().map(|(_, settlement)| *settlement).collect();
        let mut tx = self.pool.begin().await?;
        self.lock_graphs_of(&mut tx, settlements.iter()).await?;
        // Lock all leases at once: two sets that are each locked in order are not in one common order.
        let tokens: Vec<_> = settlements.iter().map(|settlement| settlement.token).collect();
        self.lock_leases(&mut tx, &tokens).await?;
        // This exchange claims nothing.
        let in_flight = self.unconfirmed_claims.begin();
        let plain =
            self.settle_plain(&mut tx, settlements.len(), &sorted.plain, None, &in_flight).await?;
        let (mut settled, mut post_commit, _) = plain;
        self.propagate_plain(&mut tx, &sorted.plain, &mut settled, &mut post_commit).await?;
        let (answers, more) = self.settle_batch(&mut tx, &rest).await?;
        post_commit.add(more);
        for ((index, _), answer) in sorted.rest.iter().zip(answers) {
            settled[*index] = Some(answer);
        }
        if leaves_samples(settlements, &settled) {
            tx.rollback().await?;
            let settled = self.settle_slowly(settlements).await?;
            return Ok(settled.into_iter().map(Some).collect());
        }
        report_as_one_walk(&mut settled, &sorted.rest.iter().map(|(index, _)| *index).collect());
        self.finish(&mut tx, settlements.iter(), &mut settled, &mut post_commit).await?;
        commit(tx).await?;
        self.tell(post_commit);
        Ok(settled)
    }

    /// Settles on the slow path what the fast path has left. Most of these are stale, because their lease has no such
    /// member.
    async fn settle_late(
        &self,
        settlements: &[Settlement],
        mut settled: Vec<Option<Settled>>,
    ) -> Result<Vec<Settled>, Fault> {
        let late = |index: &usize| settled[*index].is_none();
        let late: Vec<_> = (0..settlements.len()).filter(late).collect();
        if !late.is_empty() {
            let those: Vec<_> = late.iter().map(|index| &settlements[*index]).collect();
            let (answers, post_commit) =
                transact!(self, |db| self.settle_general(db, &those).await?)?;
            self.tell(post_commit);
            for (index, answer) in late.into_iter().zip(answers) {
                settled[index] = Some(answer);
            }
        }
        Ok(settled.into_iter().flatten().collect())
    }

    /// Locks the graphs that these settlements may affect, before anything else. Jobs known not to be part of a graph
    /// need no lock.
    async fn lock_graphs_of(
        &self,
        db: &mut PgConnection,
        settlements: impl Iterator<Item = &Settlement>,
    ) -> Result<(), Fault> {
        let (mut jobs, mut groups) = (Vec::new(), BTreeSet::new());
        for Settlement { token, .. } in settlements {
            match self.leases.step(*token) {
                Known::NoStep => {}
                Known::Step(place) if place.group().is_some() => groups.extend(place.group()),
                Known::Step(_) | Known::Nothing => jobs.push(token.job.uuid()),
            }
        }
        self.lock_graphs(db, jobs, groups).await
    }

    /// Settles successes that have only a result, in one statement that may also claim.
    async fn settle_plain(
        &self,
        db: &mut PgConnection,
        count: usize,
        plain: &[Plain<'_>],
        request: Option<&ClaimRequest>,
        in_flight: &ClaimInFlight<'_>,
    ) -> Result<(Vec<Option<Settled>>, PostCommit, Option<ClaimReply>), Fault> {
        let placed: Vec<_> = plain.iter().map(|(_, asked, place)| (*asked, *place)).collect();
        let (status, reply) =
            self.exchange(db, Successes::new(&placed), request, in_flight).await?;
        let applied: Option<HashSet<_>> = status.applied.as_ref().map(|jobs| jobs.iter().collect());
        let mut settled = vec![None; count];
        let mut post_commit =
            PostCommit { unsettled: !status.freed.is_empty(), ..PostCommit::default() };
        let at = instant(status.now);
        for (index, asked, _) in plain {
            if applied.as_ref().is_none_or(|jobs| jobs.contains(&asked.token.job.uuid())) {
                let done = Applied::new(JobState::Succeeded, at, None);
                settled[*index] = Some(Settled::Applied(done));
                post_commit.hints.push(Wake::Finished(asked.token.job).into());
            }
        }
        let reply = request.filter(|_| status.answered()).map(|_| reply);
        post_commit.hints.extend(status.freed.into_iter().map(|queue| Wake::Work { queue }.into()));
        Ok((settled, post_commit, reply))
    }

    /// Separates the plain successes from the rest.
    fn sort<'a>(&self, settlements: &'a [Settlement]) -> Sorted<'a> {
        let places = self.leases.places(settlements.iter().map(|settlement| settlement.token));
        let mut sorted = Sorted::default();
        let mut jobs = HashSet::with_capacity(settlements.len());
        for ((index, settlement), place) in settlements.iter().enumerate().zip(places) {
            match place.filter(|_| is_plain(settlement)) {
                // A job that is settled twice in one batch is not plain: the first settlement must win.
                Some(place) if jobs.insert(settlement.token.job) => {
                    sorted.plain.push((index, settlement, place));
                }
                _ => sorted.rest.push((index, settlement)),
            }
        }
        let twice = |(_, other): &(usize, &Settlement)| jobs.contains(&other.token.job);
        if sorted.rest.iter().any(twice) {
            sorted = Sorted { plain: Vec::new(), rest: settlements.iter().enumerate().collect() };
        }
        sorted
    }

    pub(crate) async fn states(
        &self,
        db: &mut PgConnection,
        jobs: impl Iterator<Item = JobId>,
    ) -> Result<HashMap<JobId, JobState>, Fault> {
        let ids: BTreeSet<_> = jobs.map(JobId::uuid).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let jobs = self.jobs(db, ids.into_iter().collect()).await?;
        Ok(jobs.into_iter().map(|job| (job.id, job.state)).collect())
    }

    /// Sends the notifications of a committed settlement.
    pub(crate) fn tell(&self, post_commit: PostCommit) {
        if post_commit.unsettled {
            self.bounds.clear();
        }
        self.wakes.send(post_commit.hints);
        if post_commit.closed {
            self.unblocked();
        }
    }
}

/// The settlements of the fast path and the rest, with their index in the batch.
#[derive(Debug, Default)]
struct Sorted<'a> {
    plain: Vec<Plain<'a>>,
    rest: Vec<(usize, &'a Settlement)>,
}

/// Which path a batch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Only plain successes: one statement, which may also claim.
    Plain,
    /// Plain successes by that statement and the rest by others, in one commit.
    Mixed,
    /// No plain success: a fixed number of statements for all of them.
    General,
}

impl Sorted<'_> {
    fn shape(&self) -> Shape {
        match (self.plain.is_empty(), self.rest.is_empty()) {
            (false, true) => Shape::Plain,
            (false, false) => Shape::Mixed,
            (true, _) => Shape::General,
        }
    }
}

/// Returns whether the fast path has left a settlement with a breaker sample for the slow path. Breakers must count the
/// samples of a batch in order: the same results in another order can open a breaker instead of closing it.
fn leaves_samples(settlements: &[Settlement], settled: &[Option<Settled>]) -> bool {
    let mut both = settlements.iter().zip(settled);
    both.any(|(settlement, settled)| settled.is_none() && settlement.sample.is_some())
}

async fn commit(tx: Transaction<'_, Postgres>) -> Result<(), Fault> {
    crash_point(CrashPoint::CommitBefore);
    tx.commit().await?;
    crash_point(CrashPoint::CommitAfter);
    Ok(())
}

/// Returns whether a settlement is a success with only a result, and possibly an outcome to deliver.
fn is_plain(settlement: &Settlement) -> bool {
    matches!(settlement.verdict, Verdict::Succeed { .. })
        && settlement.outcome == AttemptOutcome::Success
        && settlement.notes.is_empty()
        && settlement.spawned.is_empty()
        && settlement.graphs.is_empty()
        && settlement.notices.iter().all(|notice| matches!(notice, Notice::Outcome(_)))
        && settlement.rejects.is_empty()
        && settlement.hand_offs.is_empty()
        && settlement.refused_hand_offs.is_empty()
        && !settlement.lingering
}
