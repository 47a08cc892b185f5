//! [`RunningJobs`]: the runs of this worker, their deadlines, and the escalation for runs that do not stop.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use crate::config::Config;
use crate::job::JobContext;
use crate::job::StopCause;
use crate::meter::InFlight;
use ratchet_store::model::{Claimed, Token};

/// A run in progress.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) ctx: JobContext,
    pub(super) started: Duration,
    /// Counts the run as in progress.
    _in_flight: Option<InFlight>,
    phase: Phase,
    /// When to check it next.
    check: Check,
}

/// A time, and a number that distinguishes runs with the same time. It is shorter than the token.
type Check = (Duration, u64);

impl Run {
    pub(super) fn job(&self) -> &Arc<Claimed> {
        self.ctx.claimed()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The soft timeout has not been reached.
    Fresh,
    /// The soft timeout was reported.
    Warned,
    /// The handler was requested to stop.
    Asked,
    /// The handler's future was dropped, or will be when its thread yields.
    Aborted,
    /// The handler did not release its thread. The run is settled without it.
    Runaway,
}

/// An event that a check of the deadlines found.
#[derive(Debug)]
pub(super) enum Due {
    /// The run has reached its soft timeout, after this time.
    Soft(Arc<Claimed>, Duration),
    /// The run does not stop and must be settled without its handler.
    Runaway(Token, StopCause),
}

/// All runs of this worker.
#[derive(Debug, Default)]
pub(super) struct RunningJobs {
    runs: HashMap<Token, Run>,
    timers: BTreeMap<Check, Token>,
    /// The number of the newest timer.
    last: u64,
    runaways: usize,
}

impl RunningJobs {
    pub(super) fn insert(&mut self, ctx: JobContext, in_flight: Option<InFlight>, now: Duration) {
        let job = ctx.claimed();
        let options = &job.spec.options;
        let soft =
            options.soft_timeout.unwrap_or(options.timeout.mul_f64(0.8)).min(options.timeout);
        let token = job.token;
        let check = self.look_at(token, now.saturating_add(soft));
        self.runs.insert(
            token,
            Run { ctx, started: now, _in_flight: in_flight, phase: Phase::Fresh, check },
        );
    }

    fn look_at(&mut self, token: Token, at: Duration) -> Check {
        self.last += 1;
        let check = (at, self.last);
        self.timers.insert(check, token);
        check
    }

    /// Removes a run, if it is still present.
    pub(super) fn remove(&mut self, token: Token) -> Option<Run> {
        let run = self.runs.remove(&token)?;
        self.timers.remove(&run.check);
        if run.phase == Phase::Runaway {
            self.runaways -= 1;
        }
        Some(run)
    }

    pub(super) fn get(&self, token: Token) -> Option<&Run> {
        self.runs.get(&token)
    }

    pub(super) fn is_runaway(&self, token: Token) -> bool {
        self.runs.get(&token).is_some_and(|run| run.phase == Phase::Runaway)
    }

    /// Marks a run whose thread is still running although its outcome is decided. It stays until the thread ends.
    pub(super) fn mark_runaway(&mut self, token: Token) {
        let Some(run) = self.runs.get_mut(&token) else { return };
        if run.phase != Phase::Runaway {
            run.phase = Phase::Runaway;
            self.runaways += 1;
            self.timers.remove(&run.check);
        }
    }

    pub(super) fn runaways(&self) -> usize {
        self.runaways
    }

    /// Returns whether all remaining runs are runaways.
    pub(super) fn only_runaways(&self) -> bool {
        self.runs.len() == self.runaways
    }

    /// Requests a canceled run to stop. After a grace period it is aborted.
    pub(super) fn cancel(&mut self, token: Token, now: Duration, config: &Config) {
        // The token identifies one run, so a later run of the same job is not affected.
        if let Some(run) =
            self.runs.get(&token).filter(|run| matches!(run.phase, Phase::Fresh | Phase::Warned))
        {
            run.ctx.stop_signal().request(StopCause::Canceled);
            self.move_to(token, Phase::Asked, now.saturating_add(config.cancel_grace));
        }
    }

    /// Aborts every run, so that its job is returned to the queue.
    pub(super) fn release_all(&mut self, now: Duration, config: &Config) {
        let mut tokens: Vec<_> = self.runs.keys().copied().collect();
        // Sorted, because the random order of a hash map would make simulations irreproducible.
        tokens.sort_unstable();
        for token in tokens {
            self.abort(token, StopCause::Released, now, config);
        }
    }

    /// Returns the time of the next check.
    pub(super) fn next_check(&self) -> Option<Duration> {
        self.timers.first_key_value().map(|((at, _), _)| *at)
    }

    /// Checks every run that is due.
    pub(super) fn tick(&mut self, now: Duration, config: &Config) -> Vec<Due> {
        let mut due = Vec::new();
        while let Some(first) = self.timers.first_entry().filter(|first| first.key().0 <= now) {
            let token = first.remove();
            let Some(run) = self.runs.get(&token) else { continue };
            match run.phase {
                Phase::Fresh => {
                    // Reported even if the loop is late, so that a warning precedes every timeout.
                    due.push(Due::Soft(Arc::clone(run.job()), now.saturating_sub(run.started)));
                    let deadline = run.started.saturating_add(run.job().spec.options.timeout);
                    self.move_to(token, Phase::Warned, deadline);
                }
                Phase::Warned => self.abort(token, StopCause::Timeout, now, config),
                Phase::Asked => {
                    let cause = run.ctx.stop_signal().cause().unwrap_or(StopCause::Canceled);
                    self.abort(token, cause, now, config);
                }
                Phase::Aborted => {
                    let cause = run.ctx.stop_signal().cause().unwrap_or(StopCause::Released);
                    self.mark_runaway(token);
                    due.push(Due::Runaway(token, cause));
                }
                Phase::Runaway => {}
            }
        }
        due
    }

    fn abort(&mut self, token: Token, cause: StopCause, now: Duration, config: &Config) {
        let Some(run) = self
            .runs
            .get(&token)
            .filter(|run| !matches!(run.phase, Phase::Aborted | Phase::Runaway))
        else {
            return;
        };
        run.ctx.stop_signal().abort(cause);
        self.move_to(token, Phase::Aborted, now.saturating_add(config.runaway_after));
    }

    fn move_to(&mut self, token: Token, phase: Phase, check: Duration) {
        let Some(run) = self.runs.get(&token) else { return };
        self.timers.remove(&run.check);
        let check = self.look_at(token, check);
        if let Some(run) = self.runs.get_mut(&token) {
            run.phase = phase;
            run.check = check;
        }
    }
}
