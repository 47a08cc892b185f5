//! Periodic maintenance: reports the notes of runs, rescues orphans, cancels expired jobs, fires schedules, admits
//! hand-offs, runs bulk operations, delivers notices, writes statistics, and purges old jobs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::admission::admit;
use super::bulk_operations::BulkOperations;
use super::dead_letter;
use super::deliver::deliver;
use super::expire::cancel_expired;
use super::mailbox::Message;
use super::old_jobs::OldJobs;
use super::publish::publish;
use super::recurring::fire_due;
use super::shared::Shared;
use super::trouble::Verb;
use super::unknown_jobs::UnknownJobs;
use super::unreadable_jobs;
use super::watch::check_watched;
use crate::config::RunMode;
use crate::decide::{decide_orphan, follow_up};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{Backoff, Jitter};
use ratchet_store::model::{NodeId, Settled, Settlement, Verdict};

/// Sweeps until the worker has stopped.
pub(super) async fn run_maintenance(shared: Arc<Shared>) {
    let core = &shared.core;
    let mut purged = None;
    let mut minute = Minute::default();
    let mut bulk = BulkOperations::default();
    // A worker that stops by itself claims nothing before the first sweep.
    let mut awaited = core.config.run != RunMode::UntilStopped;
    loop {
        // With jitter, so that the nodes of a cluster do not sweep at the same time.
        let sweep = core.config.maintenance_interval;
        let pause = sweep / 2
            + Backoff::fixed(sweep / 2).jitter(Jitter::Full).delay(1, core.entropy.next_u64());
        let pause = if awaited { Duration::ZERO } else { pause };
        let until = core.clock.monotonic().saturating_add(pause);
        // Deliver at once what was stored, without delaying the sweep.
        loop {
            let pause = until.saturating_sub(core.clock.monotonic());
            tokio::select! {
                biased;
                () = shared.over.cancelled() => return,
                () = core.clock.sleep(pause) => break,
                () = shared.delivery_stored.notified() => deliver_elsewhere(&shared),
                () = shared.handed_off.notified() => admit_at_once(core).await,
                () = pause_of_old_jobs(&minute, core) => tokio::select! {
                    biased;
                    () = shared.over.cancelled() => return,
                    () = minute.old_jobs.step(core) => {}
                },
            }
        }
        deliver_elsewhere(&shared);
        let now = core.clock.monotonic();
        let purge_due = purged.is_none_or(|at| now.saturating_sub(at) >= PURGE_EVERY);
        tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            swept = sweep_once(&shared, &mut bulk, purge_due.then_some(&mut minute)) => {
                if std::mem::take(&mut awaited) {
                    shared.send(Message::Swept);
                }
                let at = core.clock.monotonic();
                match swept {
                    Ok(()) => {
                        shared.sweep_trouble.passed(Verb::Sweep, at);
                        if purge_due {
                            purged = Some(now);
                        }
                    }
                    Err(error) => {
                        core.meter.sweep_failed();
                        core.meter.store_error("sweep", &error);
                        shared.sweep_trouble.failed(Verb::Sweep, at, &error);
                        tracing::warn!(%error, "a sweep failed; the next one tries again");
                    }
                }
            }
        }
    }
}

const PURGE_EVERY: Duration = Duration::from_mins(1);

/// What the tasks of every minute remember.
#[derive(Default)]
struct Minute {
    unknown: UnknownJobs,
    old_jobs: OldJobs,
}

/// Waits for the next step with which old jobs are removed. Waits forever if none are left.
async fn pause_of_old_jobs(minute: &Minute, core: &Core) {
    match minute.old_jobs.pause(core.clock.monotonic()) {
        Some(pause) => core.clock.sleep(pause).await,
        None => std::future::pending().await,
    }
}

/// Runs the tasks of a sweep, and those of every minute if they are due.
async fn sweep_once(
    shared: &Shared,
    bulk: &mut BulkOperations,
    minute: Option<&mut Minute>,
) -> Result<(), StoreError> {
    // Each task runs even if an earlier one failed. The first error is returned.
    let mut swept = report_news(shared).await;
    swept = swept.and(rescue(shared).await);
    swept = swept.and(cancel_expired(&shared.core).await);
    swept = swept.and(fire_due(&shared.core).await);
    swept = swept.and(admit(&shared.core).await);
    swept = swept.and(shared.core.write_stats_if_due().await);
    swept = swept.and(bulk.run(shared).await);
    if let Some(minute) = minute {
        swept = swept.and(minutely(shared, minute).await);
    }
    swept
}

/// Rescues the jobs of dead nodes. Any node may do this; the token ensures that only one succeeds.
async fn rescue(shared: &Shared) -> Result<(), StoreError> {
    const BATCH: u32 = 200;
    let core = &shared.core;
    loop {
        let orphans = core.store.orphans(BATCH).await?;
        if orphans.is_empty() {
            return Ok(());
        }
        crash_point(CrashPoint::RescueFound);
        let decide = |orphan| decide_orphan(orphan, &core.policies, core.entropy.next_u64());
        let mut settlements: Vec<_> = orphans.iter().map(decide).collect();
        let fails = |it: &Settlement| matches!(it.verdict, Verdict::Fail { .. });
        let hosts =
            if settlements.iter().any(fails) { hosts(core).await? } else { BTreeMap::new() };
        for (orphan, settlement) in orphans.iter().zip(&mut settlements) {
            let job = &orphan.claimed;
            settlement.notes.confidential = job.spec.confidential();
            let host = hosts.get(&job.node).map_or("", String::as_str);
            dead_letter::complete(core, &job.spec, &mut settlement.verdict, host);
            follow_up(job, settlement, &core.policies, || core.ids.job());
        }
        crash_point(CrashPoint::RescueDecided);
        let settled = core.store.settle(settlements.clone()).await?;
        crash_point(CrashPoint::RescueAnswered);
        for ((orphan, settlement), settled) in orphans.iter().zip(&settlements).zip(&settled) {
            // Otherwise another node was faster, or the worker was still alive.
            if let Settled::Applied(_) = settled {
                shared.counters.rescued.fetch_add(1, Ordering::Relaxed);
                core.meter.rescued(&orphan.claimed.spec.queue);
                publish(core, &orphan.claimed, settlement, settled);
            }
        }
        // Blocked orphans are tried again by the next sweep.
        let all_blocked = settled.iter().all(|settled| matches!(settled, Settled::Blocked { .. }));
        if orphans.len() < BATCH as usize || all_blocked {
            return Ok(());
        }
    }
}

/// Returns the hosts of nodes. A dead node is listed as long as it holds jobs.
async fn hosts(core: &Core) -> Result<BTreeMap<NodeId, String>, StoreError> {
    let nodes = core.store.nodes().await?;
    Ok(nodes.into_iter().map(|node| (node.info.id, node.info.host)).collect())
}

/// Stores the notes of running handlers. A run whose token is no longer current is canceled.
async fn report_news(shared: &Shared) -> Result<(), StoreError> {
    let mut news: Vec<_> =
        shared.runs().iter().filter_map(|(token, run)| Some((*token, run.take_news()?))).collect();
    if news.is_empty() {
        return Ok(());
    }
    // Sorted, because the random order of a hash map would make simulations irreproducible.
    news.sort_unstable_by_key(|(token, _)| *token);
    let tokens: Vec<_> = news.iter().map(|(token, _)| *token).collect();
    let current = shared.core.store.write_notes(news).await?;
    for (token, _) in tokens.into_iter().zip(current).filter(|(_, current)| !current) {
        shared.send(Message::Cancel(token));
    }
    Ok(())
}

/// Reports unknown and unreadable jobs. If this node leads maintenance, checks watched schedules, keeps the history of
/// metrics and removes old jobs.
async fn minutely(shared: &Shared, minute: &mut Minute) -> Result<(), StoreError> {
    let core = &shared.core;
    let leads = core.store.try_lead(shared.node(), PURGE_EVERY * 2).await?;
    let reported = minute.unknown.report(shared, leads).await;
    let reported = reported.and(unreadable_jobs::report(shared, leads).await);
    if !leads {
        minute.old_jobs.stop();
        return reported;
    }
    let watched = check_watched(core, shared.node()).await;
    let kept = core.keep_history(shared.node()).await;
    minute.old_jobs.begin(core).await.and(watched).and(reported).and(kept)
}

/// Admits what this process has handed off, without waiting for the next sweep.
async fn admit_at_once(core: &Core) {
    if let Err(error) = admit(core).await {
        core.meter.store_error("admit", &error);
        tracing::warn!(%error, "hand-offs could not be admitted; the next sweep tries again");
    }
}

/// Starts a round of deliveries on the handlers' runtime, because sinks are user code. At most one round runs at a
/// time.
fn deliver_elsewhere(shared: &Arc<Shared>) {
    let listening = shared.core.sinks.channels().next().is_some();
    let now = shared.core.clock.monotonic();
    if !listening {
        return;
    }
    if !shared.deliveries.begin(now) {
        shared.deliver_again.store(true, Ordering::Release);
        if let Some(problem) = shared.deliveries.new_problem(now, shared.delivery_stall()) {
            tracing::error!("{problem}");
        }
        return;
    }
    // Ends the round even if the task panics or is dropped, so that the next round can begin.
    let round = Round(Arc::clone(shared));
    shared.spawn.handler(Box::pin(async move {
        if let Err(error) = deliver(&round.0.core, &round.0.deliveries).await {
            round.0.core.meter.store_error("deliver", &error);
            tracing::warn!(%error, "deliveries could not be read or acknowledged; the worker tries again");
        }
    }));
}

/// Ends the round of deliveries when dropped.
struct Round(Arc<Shared>);

impl Drop for Round {
    fn drop(&mut self) {
        self.0.deliveries.end();
        if self.0.deliver_again.swap(false, Ordering::AcqRel) {
            self.0.delivery_stored.notify_one();
        }
    }
}
