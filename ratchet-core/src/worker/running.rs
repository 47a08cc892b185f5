//! Runs in flight: their deadlines, and what happens to those that do not stop.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::stop_signal::StopCause;
use crate::config::Config;
use crate::context::JobContext;
use crate::model::{Claimed, Token};

/// A run in flight.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) ctx: JobContext,
    pub(super) started: Duration,
    phase: Phase,
    /// When to look at it next.
    check: Check,
}

/// An instant, and a number that tells those of one instant apart: jobs of one claim share it, and their tokens are long.
type Check = (Duration, u64);

impl Run {
    pub(super) fn job(&self) -> &Arc<Claimed> {
        self.ctx.claimed()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Within its time.
    Fresh,
    /// The warning was given.
    Warned,
    /// Asked to stop.
    Asked,
    /// Its future was dropped, or will be when its thread yields.
    Aborted,
    /// It did not give back its thread. Its outcome is settled without it.
    Runaway,
}

/// What a look at the clock brought up.
#[derive(Debug)]
pub(super) enum Due {
    /// Most of its time is gone.
    Soft(Arc<Claimed>, Duration),
    /// It does not stop: settle it without its handler, for this cause.
    Runaway(Token, StopCause),
}

/// Every run in flight.
#[derive(Debug, Default)]
pub(super) struct RunningJobs {
    runs: HashMap<Token, Run>,
    timers: BTreeMap<Check, Token>,
    /// The number of the last timer.
    last: u64,
    runaways: usize,
}

impl RunningJobs {
    pub(super) fn insert(&mut self, ctx: JobContext, now: Duration) {
        let job = ctx.claimed();
        let options = &job.spec.options;
        let soft =
            options.soft_timeout.unwrap_or(options.timeout.mul_f64(0.8)).min(options.timeout);
        let token = job.token;
        let check = self.look_at(token, now.saturating_add(soft));
        self.runs.insert(token, Run { ctx, started: now, phase: Phase::Fresh, check });
    }

    fn look_at(&mut self, token: Token, at: Duration) -> Check {
        self.last += 1;
        let check = (at, self.last);
        self.timers.insert(check, token);
        check
    }

    /// Takes a run out, if it is still here.
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

    /// A run that ended for the store but whose blocking thread goes on: it stays until that ends.
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

    /// Whether everything that is left does not stop.
    pub(super) fn only_runaways(&self) -> bool {
        self.runs.len() == self.runaways
    }

    /// Asks a canceled run to stop; it has a grace time before it is dropped.
    pub(super) fn cancel(&mut self, token: Token, now: Duration, config: &Config) {
        // The token of the cancel is that of the run: another run of the same job is not meant.
        if let Some(run) =
            self.runs.get(&token).filter(|run| matches!(run.phase, Phase::Fresh | Phase::Warned))
        {
            run.ctx.stop_signal().request(StopCause::Canceled);
            self.move_to(token, Phase::Asked, now.saturating_add(config.cancel_grace));
        }
    }

    /// Stops every run and gives its job back.
    pub(super) fn release_all(&mut self, now: Duration, config: &Config) {
        let mut tokens: Vec<_> = self.runs.keys().copied().collect();
        // The order of a hash map differs from run to run: a simulation could not be repeated.
        tokens.sort_unstable();
        for token in tokens {
            self.abort(token, StopCause::Released, now, config);
        }
    }

    /// The next instant at which something is due.
    pub(super) fn next_check(&self) -> Option<Duration> {
        self.timers.first_key_value().map(|((at, _), _)| *at)
    }

    /// Looks at every run whose time has come.
    pub(super) fn tick(&mut self, now: Duration, config: &Config) -> Vec<Due> {
        let mut due = Vec::new();
        while let Some(first) = self.timers.first_entry().filter(|first| first.key().0 <= now) {
            let token = first.remove();
            let Some(run) = self.runs.get(&token) else { continue };
            match run.phase {
                Phase::Fresh => {
                    // Told even by a loop that comes late: a timeout never comes without its warning.
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
