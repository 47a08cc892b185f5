//! The same road on a timer: rescue orphans, report news, deliver notices, purge.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::publish::publish;
use super::recurring::fire_due;
use super::shared::{Message, Shared};
use super::sinks::deliver;
use crate::crash::{CrashPoint, crash_point};
use crate::decide::{decide_orphan, follow_up};
use crate::job::{Backoff, Jitter};
use crate::model::{JobState, Settled};
use crate::store::StoreError;

/// Sweeps until the worker is over.
pub(super) async fn run_maintenance(shared: Arc<Shared>) {
    let core = &shared.core;
    let mut purged = None;
    loop {
        // Spread, so that the nodes of a cluster do not sweep in step.
        let sweep = core.config.sweep;
        let pause = sweep / 2
            + Backoff::fixed(sweep / 2).jitter(Jitter::Full).delay(1, core.entropy.next_u64());
        tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            () = core.clock.sleep(pause) => {}
        }
        deliver_elsewhere(&shared);
        let now = core.clock.monotonic();
        let purge_due = purged.is_none_or(|at| now.saturating_sub(at) >= PURGE_EVERY);
        tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            swept = sweep_once(&shared, purge_due) => {
                match swept {
                    Ok(()) if purge_due => purged = Some(now),
                    Ok(()) => {}
                    Err(error) => {
                        tracing::warn!(%error, "a sweep failed; the next one tries again");
                    }
                }
            }
        }
    }
}

const PURGE_EVERY: Duration = Duration::from_mins(1);

async fn sweep_once(shared: &Shared, purge_due: bool) -> Result<(), StoreError> {
    // What one of them cannot do keeps no other from its work. The first error is told.
    let mut swept = report_news(shared).await;
    swept = swept.and(rescue(shared).await);
    swept = swept.and(fire_due(&shared.core).await);
    if purge_due {
        swept = swept.and(purge(shared).await);
    }
    swept
}

/// Brings back the jobs of nodes that died. Any node may: the fence sees to it that one succeeds.
async fn rescue(shared: &Shared) -> Result<(), StoreError> {
    const BATCH: u32 = 200;
    let core = &shared.core;
    loop {
        let orphans = core.store.orphans(BATCH).await?;
        if orphans.is_empty() {
            return Ok(());
        }
        crash_point(CrashPoint::RescueFound);
        let settlements: Vec<_> = orphans
            .iter()
            .map(|orphan| {
                let mut settlement = decide_orphan(orphan, &core.policies, core.entropy.next_u64());
                follow_up(&orphan.claimed, &mut settlement, &core.policies, || core.ids.job());
                settlement
            })
            .collect();
        crash_point(CrashPoint::RescueDecided);
        let settled = core.store.settle(settlements.clone()).await?;
        crash_point(CrashPoint::RescueAnswered);
        for ((orphan, settlement), settled) in orphans.iter().zip(&settlements).zip(&settled) {
            // Somebody else was quicker, or the worker was alive after all: no news.
            if let Settled::Applied(_) = settled {
                shared.counters.rescued.fetch_add(1, Ordering::Relaxed);
                publish(core, &orphan.claimed, settlement, settled);
            }
        }
        // Those that are blocked come again with the next sweep.
        let all_blocked = settled.iter().all(|settled| matches!(settled, Settled::Blocked { .. }));
        if orphans.len() < BATCH as usize || all_blocked {
            return Ok(());
        }
    }
}

/// Writes what running handlers have noted. A run whose token is no longer current is called off.
async fn report_news(shared: &Shared) -> Result<(), StoreError> {
    let mut news: Vec<_> =
        shared.runs().iter().filter_map(|(token, run)| Some((*token, run.take_news()?))).collect();
    if news.is_empty() {
        return Ok(());
    }
    // The order of a hash map differs from run to run: a simulation could not be repeated.
    news.sort_unstable_by_key(|(token, _)| *token);
    let tokens: Vec<_> = news.iter().map(|(token, _)| *token).collect();
    let current = shared.core.store.report(news).await?;
    for (token, _) in tokens.into_iter().zip(current).filter(|(_, current)| !current) {
        shared.send(Message::Cancel(token));
    }
    Ok(())
}

/// Removes what has been kept long enough: one node at a time, in bounded batches.
async fn purge(shared: &Shared) -> Result<(), StoreError> {
    const BATCH: u32 = 1000;
    const MOST_BATCHES: usize = 20;
    let (core, config) = (&shared.core, &shared.core.config);
    if !core.store.lead(shared.node(), PURGE_EVERY * 2).await? {
        return Ok(());
    }
    let kept = [
        (JobState::Succeeded, config.keep_succeeded),
        (JobState::Canceled, config.keep_canceled),
        (JobState::Failed, config.keep_failed),
    ];
    for (state, age) in kept.into_iter().filter_map(|(state, age)| Some((state, age?))) {
        for _ in 0..MOST_BATCHES {
            let removed = core.store.purge(state, age, BATCH).await?;
            if removed < u64::from(BATCH) {
                break;
            }
        }
    }
    Ok(())
}

/// Sinks are the user's code: they run where handlers run, one round at a time.
fn deliver_elsewhere(shared: &Arc<Shared>) {
    let listening = shared.core.sinks.channels().next().is_some();
    let now = shared.core.clock.monotonic();
    if !listening {
        return;
    }
    if !shared.deliveries.begin(now) {
        if let Some(problem) = shared.deliveries.new_problem(now, shared.delivery_stall()) {
            tracing::error!("{problem}");
        }
        return;
    }
    // Also when the task is dropped or panics: the next round must not wait for it.
    let round = Round(Arc::clone(shared));
    shared.spawn.handler(Box::pin(async move {
        if let Err(error) = deliver(&round.0.core, &round.0.deliveries).await {
            tracing::warn!(%error, "notices could not be delivered; they are tried again");
        }
    }));
}

/// A round of deliveries in progress.
struct Round(Arc<Shared>);

impl Drop for Round {
    fn drop(&mut self) {
        self.0.deliveries.end();
    }
}
