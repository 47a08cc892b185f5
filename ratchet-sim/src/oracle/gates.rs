//! An independent model of circuit breakers and queue rules.

use std::collections::{BTreeMap, VecDeque};

use jiff::{SignedDuration, Timestamp};
use ratchet_memory::Inspection;
use ratchet_store::model::{
    Breaker, BreakerSettings, BreakerUpdate, Claimed, QueueLimits, QueueUpdate, Rate, Settlement,
};

use super::Oracle;

/// The rules of a queue, and the recent claims from it.
#[derive(Debug, Default)]
pub(super) struct QueueBook {
    paused: bool,
    /// By program.
    declared: BTreeMap<String, QueueLimits>,
    set: Option<QueueLimits>,
    claims: VecDeque<Timestamp>,
    /// By concurrency key.
    keyed: BTreeMap<String, VecDeque<Timestamp>>,
}

/// Forgets claims that are older than the period of a rate. Returns the number of the others.
fn within(claims: &mut VecDeque<Timestamp>, rate: Rate, now: Timestamp) -> usize {
    let per = SignedDuration::try_from(rate.per).unwrap_or(SignedDuration::MAX);
    while claims.front().is_some_and(|first| now.duration_since(*first) >= per) {
        claims.pop_front();
    }
    claims.len()
}

impl Oracle {
    pub(crate) fn queue_ordered(&mut self, view: &Inspection<'_>, queue: &str, order: QueueUpdate) {
        if order.declarations().is_some_and(|declarations| !view.are_newest(declarations)) {
            return;
        }
        let book = self.queues.entry(queue.to_owned()).or_default();
        match order {
            QueueUpdate::Pause => book.paused = true,
            QueueUpdate::Resume => book.paused = false,
            QueueUpdate::Limit(limits) => book.set = Some(limits),
            QueueUpdate::Reset => book.set = None,
            QueueUpdate::Declare { declarations, limits } => {
                book.declared.insert(declarations.program, limits);
            }
            other => unreachable!("the simulation does not send {other:?}"),
        }
    }

    /// Checks that the rules of its queue allowed a job to be claimed.
    pub(super) fn gate_passed(&mut self, job: &Claimed, now: Timestamp) {
        let queue = &job.spec.queue;
        let running = self.holding.values().filter(|run| run.spec.queue == *queue).count();
        let Some(book) = self.queues.get_mut(queue) else { return };
        book.claims.push_back(now);
        // All nodes of the simulation belong to one program.
        let declared = || book.declared.values().next().copied().unwrap_or_default();
        let limits = book.set.unwrap_or_else(declared);
        let mut problem = book.paused.then(|| "it is paused".to_owned());
        if let Some(limit) = limits.concurrency
            && running > limit as usize
        {
            problem = Some(format!("{running} run, {limit} may"));
        }
        if let Some(rate) = limits.rate {
            let claims = within(&mut book.claims, rate, now);
            if claims > rate.jobs as usize {
                problem = Some(format!("{claims} claims within {:?}", rate.per));
            }
        }
        if let Some(key) = &job.spec.concurrency {
            let keyed = book.keyed.entry(key.key.clone()).or_default();
            keyed.push_back(now);
            if let Some(rate) = limits.rate_per_key {
                let claims = within(keyed, rate, now);
                if claims > rate.jobs as usize {
                    let per = rate.per;
                    problem = Some(format!("{claims} claims of key `{}` within {per:?}", key.key));
                }
            }
        }
        if let Some(problem) = problem {
            self.accuse(|| format!("{} was claimed from queue `{queue}`: {problem}", job.id()));
        }
    }

    pub(crate) fn breaker_ordered(
        &mut self,
        view: &Inspection<'_>,
        service: &str,
        order: BreakerUpdate,
    ) {
        if order.declarations().is_some_and(|declarations| !view.are_newest(declarations)) {
            return;
        }
        let now = view.now();
        self.breaker(service, BreakerSettings::default(), now).apply(order, now);
        self.check_breakers(view);
    }

    /// Counts the breaker sample of an applied settlement, in commit order.
    pub(super) fn sampled(&mut self, view: &Inspection<'_>, settlement: &Settlement) {
        if let Some(sample) = &settlement.sample {
            let now = view.now();
            self.breaker(&sample.service, sample.settings, now).count(sample, now);
        }
    }

    pub(super) fn check_breakers(&mut self, view: &Inspection<'_>) {
        let wrong =
            self.breakers.iter().find(|(service, breaker)| view.breaker(service) != Some(breaker));
        let wrong = wrong.map(|(service, breaker)| {
            format!(
                "breaker `{service}` is {:?}, its samples say {breaker:?}",
                view.breaker(service)
            )
        });
        if let Some(wrong) = wrong {
            self.accuse(|| wrong);
        }
    }

    fn breaker(
        &mut self,
        service: &str,
        settings: BreakerSettings,
        now: Timestamp,
    ) -> &mut Breaker {
        self.breakers.entry(service.to_owned()).or_insert_with(|| Breaker::new(settings, now))
    }
}
