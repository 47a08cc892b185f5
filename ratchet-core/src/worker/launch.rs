//! Turns a claimed job into a task on the handlers' runtime, and reports its end to the claim loop.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::attempt::{AttemptResult, attempt};
use super::dead_letter;
use super::handler::ThreadExit;
use super::mailbox::Message;
use super::shared::Shared;
use crate::decide::{decide_orphan, follow_up};
use crate::job::JobContext;
use crate::runtime::Task;
use ratchet_store::model::{Claimed, Orphan, Settlement};

impl Shared {
    /// Creates the run of a claimed job. It begins when it is [started](Self::start).
    pub(super) fn launch(self: &Arc<Self>, job: Arc<Claimed>) -> (JobContext, Launched) {
        let token = job.token;
        let ctx = JobContext::new(Arc::clone(&self.host), job, Arc::clone(&self.stopping));
        self.runs().insert(token, ctx.clone());
        (ctx.clone(), Launched { shared: Arc::clone(self), ctx, began: false, reported: false })
    }

    /// Starts runs on the handlers' runtime.
    pub(super) fn start(&self, mut runs: Vec<Launched>) {
        match runs.len() {
            0 => {}
            1 => runs.drain(..).for_each(|run| self.spawn.handler(run.task())),
            _ => self.spawn.handlers(Box::new(runs.into_iter().map(Launched::task))),
        }
    }
}

/// A launched run. It reports its end to the claim loop even if its task is dropped, as a runtime does when it shuts
/// down.
#[derive(Debug)]
pub(super) struct Launched {
    shared: Arc<Shared>,
    ctx: JobContext,
    began: bool,
    reported: bool,
}

impl Launched {
    fn task(mut self) -> Task {
        Box::pin(async move {
            self.began = true;
            let ended =
                attempt(&self.shared.core, &self.ctx, self.shared.spawn.as_ref(), &self).await;
            self.end(ended);
        })
    }

    /// Returns the settlement of a run whose task was dropped before it ended.
    fn vanished(&self) -> Settlement {
        let (core, job) = (&self.shared.core, self.ctx.claimed());
        let release = Settlement::release(job.token);
        if self.shared.stopping.is_cancelled() {
            return release;
        }
        self.shared.counters.vanished.fetch_add(1, Ordering::Relaxed);
        core.meter.vanished();
        if !self.began {
            // The handlers' runtime accepts no tasks, so further claims would end the same way. The watchdog clears the
            // flag when one of its probes succeeds.
            if !self.shared.stalled.swap(true, Ordering::Relaxed) {
                tracing::error!(
                    "the runtime of the handlers drops tasks before they start; the worker stops claiming"
                );
            }
            return release;
        }
        // Treated like a crash: counted, delayed, and finally failed as poisoned.
        tracing::error!(job.id = %job.id(), job.name = %job.spec.name, "the runtime dropped the task of a run");
        let orphan = Orphan { claimed: Claimed::clone(job), started: true };
        let mut settlement = decide_orphan(&orphan, &core.policies, core.entropy.next_u64());
        dead_letter::complete(core, &job.spec, &mut settlement.verdict, dead_letter::host());
        follow_up(job, &mut settlement, &core.policies, || core.ids.job());
        settlement
    }

    fn end(mut self, ended: AttemptResult) {
        self.reported = true;
        self.shared.send(Message::Ended { token: self.ctx.claimed().token, ended });
    }
}

impl ThreadExit for Launched {
    fn notifier(&self) -> Box<dyn FnOnce() + Send> {
        let (shared, token) = (Arc::clone(&self.shared), self.ctx.claimed().token);
        Box::new(move || shared.send(Message::ThreadExited(token)))
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if !self.reported {
            let (token, settlement) = (self.ctx.claimed().token, Box::new(self.vanished()));
            self.shared.send(Message::Ended { token, ended: AttemptResult::Settle(settlement) });
        }
    }
}
