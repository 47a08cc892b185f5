//! One exchange with the store: settles finished runs, claims more jobs, and releases the slots of runs that ended
//! late.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::settler::{PendingSettlement, record_results, settle_bisecting};
use super::shared::Shared;
use super::trouble::Verb;
use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{ClaimReply, ClaimRequest, QueueDemand, Settled, Suspects, Token};

/// What a claim requested.
pub(super) struct Asked {
    pub(super) queues: Vec<QueueDemand>,
    pub(super) suspects: Suspects,
}

/// The result of an exchange with the store.
pub(super) struct Exchanged {
    /// The batch of settlements was accepted.
    pub(super) settled: bool,
    /// Settlements that failed and must be retried.
    pub(super) unsettled: Vec<PendingSettlement>,
    /// Settlements that another transaction blocks.
    pub(super) blocked: Vec<PendingSettlement>,
    /// The reply to the claim. `None` if there was no claim or it failed.
    pub(super) claimed: Option<ClaimReply>,
    /// Whether other nodes claim from these queues, if that was checked.
    pub(super) competing: Option<bool>,
    /// What the claim requested, if there was one.
    pub(super) asked: Option<Asked>,
    /// The exchange failed, and the next one must back off.
    pub(super) failed: bool,
    /// Runs whose slots could not be released.
    pub(super) still_held: Vec<Token>,
    /// Runs that the store has settled as lingering. Their slots can be released from now on.
    pub(super) lingering: Vec<Token>,
}

impl Exchanged {
    /// Returns how many jobs the claim requested.
    pub(super) fn requested(&self) -> u32 {
        self.asked.iter().flat_map(|asked| &asked.queues).map(|queue| queue.limit).sum()
    }
}

/// An exchange in flight.
pub(super) type Exchange = Pin<Box<dyn Future<Output = Exchanged> + Send>>;

/// Settles a batch, claims, and releases slots. Store errors become part of the result.
pub(super) async fn exchange(
    shared: Arc<Shared>,
    batch: Vec<PendingSettlement>,
    request: Option<ClaimRequest>,
    letting_go: Vec<Token>,
    check_competition: bool,
) -> Exchanged {
    let store = &shared.core.store;
    let settlements: Vec<_> = batch.iter().map(|pending| pending.settlement.clone()).collect();
    let asked = request
        .as_ref()
        .map(|request| Asked { queues: request.queues.clone(), suspects: request.suspects });
    if !settlements.is_empty() {
        crash_point(CrashPoint::SettleBefore);
    }
    if request.is_some() {
        crash_point(CrashPoint::ClaimBefore);
    }
    let answer = async {
        match (settlements.is_empty(), request) {
            (true, None) => Ok((Vec::new(), None)),
            (true, Some(request)) => {
                store.claim(request).await.map(|claimed| (Vec::new(), Some(claimed)))
            }
            (false, None) => store.settle(settlements).await.map(|settled| (settled, None)),
            (false, Some(request)) => store
                .settle_and_claim(settlements, request)
                .await
                .map(|(settled, claimed)| (settled, Some(claimed))),
        }
    };
    let check = has_competing_claimers(
        &shared,
        asked.as_ref().map(|asked| &*asked.queues),
        check_competition,
    );
    let sent = shared.core.clock.monotonic();
    let (answer, competing) = beside(answer, check).await;
    record_call(&shared, sent, (!batch.is_empty(), asked.is_some()), answer.as_ref().err());
    let still_held = release_holds(&shared, letting_go).await;
    let mut lingering = lingering(&batch);
    note_trouble(&shared, answer.as_ref(), asked.is_some(), !batch.is_empty());
    match answer {
        Ok((settled, claimed)) => {
            if !batch.is_empty() {
                crash_point(CrashPoint::SettleAnswered);
            }
            let any = !batch.is_empty();
            let blocked = record_results(&shared, batch, &settled);
            lingering.retain(|token| blocked.iter().all(|left| left.settlement.token != *token));
            Exchanged {
                settled: any,
                unsettled: Vec::new(),
                blocked,
                claimed,
                competing,
                asked,
                failed: false,
                still_held,
                lingering,
            }
        }
        Err(error) if !error.is_about_data() || batch.is_empty() => {
            tracing::warn!(%error, held = batch.len(), "the store is unavailable; outcomes are kept until it is back");
            Exchanged {
                settled: false,
                unsettled: batch,
                blocked: Vec::new(),
                claimed: None,
                competing,
                asked,
                failed: true,
                still_held,
                lingering: Vec::new(),
            }
        }
        Err(error) => {
            tracing::error!(%error, "the store refused a batch of outcomes; it is split to find the one at fault");
            let unsettled = settle_bisecting(&shared, batch).await;
            lingering.retain(|token| unsettled.iter().all(|left| left.settlement.token != *token));
            Exchanged {
                settled: false,
                failed: !unsettled.is_empty(),
                unsettled,
                blocked: Vec::new(),
                claimed: None,
                competing,
                asked,
                still_held,
                lingering,
            }
        }
    }
}

/// Measures a call to the store that settles, claims, or both.
fn record_call(
    shared: &Shared,
    sent: Duration,
    (settles, claims): (bool, bool),
    error: Option<&StoreError>,
) {
    let operation = match (settles, claims) {
        (true, true) => "settle_and_claim",
        (true, false) => "settle",
        (false, true) => "claim",
        // The exchange only releases slots.
        (false, false) => return,
    };
    let (meter, now) = (&shared.core.meter, shared.core.clock.monotonic());
    meter.store_call(operation, now.saturating_sub(sent));
    if let Some(error) = error {
        meter.store_error(operation, error);
    }
}

/// Records whether claims and settlements succeed.
fn note_trouble(
    shared: &Shared,
    answer: Result<&(Vec<Settled>, Option<ClaimReply>), &StoreError>,
    claims: bool,
    settles: bool,
) {
    let (now, trouble) = (shared.core.clock.monotonic(), &shared.trouble);
    match answer {
        Ok((_, claimed)) => {
            if settles {
                report_return(trouble.passed(Verb::Settle, now));
            }
            // With settlements in the same call, a store may report a failed claim as an empty one.
            if claims && (!settles || claimed.as_ref().is_some_and(|reply| !reply.jobs.is_empty()))
            {
                report_return(trouble.passed(Verb::Claim, now));
            }
        }
        Err(error) => {
            if claims {
                trouble.failed(Verb::Claim, now, error);
            }
            // A data error concerns single outcomes. The batch is settled by bisection instead.
            if settles && !error.is_about_data() {
                trouble.failed(Verb::Settle, now, error);
            }
        }
    }
}

/// Logs the end of an outage.
fn report_return(outage: Option<Duration>) {
    if let Some(outage) = outage {
        tracing::info!(?outage, "the store is back");
    }
}

/// Runs both futures concurrently but waits only for `answer`, so that the check never delays jobs.
async fn beside<T>(
    answer: impl Future<Output = T>,
    check: impl Future<Output = Option<bool>>,
) -> (T, Option<bool>) {
    let (answer, check) = (pin!(answer), pin!(check));
    match select(check, answer).await {
        Either::Left((competing, answer)) => (answer.await, competing),
        Either::Right((answer, _)) => (answer, None),
    }
}

fn lingering(batch: &[PendingSettlement]) -> Vec<Token> {
    let lingering = batch.iter().filter(|pending| pending.settlement.lingering);
    lingering.map(|pending| pending.settlement.token).collect()
}

/// Returns whether other nodes claim from these queues. Errors are ignored, because the answer only affects speed.
async fn has_competing_claimers(
    shared: &Shared,
    queues: Option<&[QueueDemand]>,
    check_competition: bool,
) -> Option<bool> {
    let queues = queues.filter(|_| check_competition)?;
    shared.core.store.has_competing_claimers(shared.node(), queues).await.ok()
}

/// Releases the slots and keys of ended runs. On failure, returns the tokens to try again.
async fn release_holds(shared: &Shared, tokens: Vec<Token>) -> Vec<Token> {
    if tokens.is_empty() {
        return tokens;
    }
    match shared.core.store.release_holds(tokens.clone()).await {
        Ok(()) => Vec::new(),
        Err(error) => {
            shared.core.meter.store_error("release_holds", &error);
            tracing::warn!(%error, "slots and keys of ended runs could not be released; the worker tries again");
            tokens
        }
    }
}
