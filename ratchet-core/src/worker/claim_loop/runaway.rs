//! Settles a runaway: a run whose handler does not release its thread.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use super::ClaimLoop;
use crate::decide::{AlwaysRetry, Outcome, Policies};
use crate::job::StopCause;
use crate::worker::attempt;
use crate::worker::settlement::{self, RunEffects};
use crate::worker::settler::PendingSettlement;
use crate::worker::shared::Shared;
use ratchet_store::model::{Claimed, RunNotes, Token};

/// A settlement that waits for the retry policy.
pub(super) type Undecided = Pin<Box<dyn Future<Output = PendingSettlement> + Send>>;

impl ClaimLoop {
    /// Settles a run whose handler does not release its thread.
    pub(super) fn give_up_on(&mut self, token: Token, cause: StopCause, now: Duration) {
        let Some(run) = self.running_jobs.get(token) else { return };
        let job = Arc::clone(run.job());
        tracing::error!(job.id = %job.id(), job.name = %job.spec.name, ?cause, "a handler ignored cancellation and still occupies its thread; its run is settled without it");
        if cause == StopCause::Canceled {
            return;
        }
        let runaway = Runaway {
            shared: Arc::clone(&self.shared),
            outcome: attempt::stopped(&job, Some(cause)),
            job,
            duration: now.saturating_sub(run.started),
            notes: run.ctx.take_news().unwrap_or_default(),
        };
        self.unsettled_lingering.insert(token);
        match &runaway.outcome {
            Outcome::Failed(_) => self.undecided.push(Box::pin(runaway.ask())),
            // The retry policy applies only to failures.
            _ => {
                let settled = runaway.settle(&self.shared.core.policies);
                self.settler.push(settled, now);
            }
        }
    }
}

/// A run that is settled without its handler.
#[derive(Debug, Clone)]
struct Runaway {
    shared: Arc<Shared>,
    job: Arc<Claimed>,
    outcome: Outcome,
    duration: Duration,
    notes: RunNotes,
}

impl Runaway {
    fn settle(self, policies: &Policies) -> PendingSettlement {
        let Self { shared, job, outcome, duration, notes } = self;
        let effects = RunEffects { notes, lingering: true, ..RunEffects::default() };
        let settlement =
            settlement::of_run(&shared.core, policies, &job, outcome, duration, effects);
        PendingSettlement { job, settlement }
    }

    /// Decides with the retry policy. The policy is user code and may itself be the code that does not return, so it
    /// runs on a blocking thread. If it takes too long, it is ignored.
    async fn ask(self) -> PendingSettlement {
        let core = Arc::clone(&self.shared.core);
        let (answer, answered) = oneshot::channel();
        let question = self.clone();
        self.shared.spawn.blocking(Box::new(move || {
            let policies = question.shared.core.policies.clone();
            let _ = answer.send(question.settle(&policies));
        }));
        let limit = core.config.runaway_after;
        tokio::select! {
            biased;
            Ok(decided) = answered => decided,
            () = core.clock.sleep(limit) => {
                tracing::error!(job.id = %self.job.id(), job.name = %self.job.spec.name, "the retry policy has not returned for {limit:?}; the attempt counter decides");
                let policies = Policies { retry: Arc::new(AlwaysRetry), ..core.policies.clone() };
                self.settle(&policies)
            }
        }
    }
}
