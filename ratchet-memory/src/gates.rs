//! Queue rules and circuit breakers.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::key_rates::KeyRates;
use super::keys::Slot;
use super::tables::Tables;
use ratchet_store::Wake;
use ratchet_store::model::{
    Breaker, BreakerChange, BreakerRecord, BreakerSample, BreakerSettings, BreakerUpdate, JobId,
    JobState, QueueRecord, QueueRules, QueueUpdate,
};
use ratchet_store::rules::ClaimContext;

/// The rules of queues and the breakers of services.
#[derive(Debug, Default)]
pub(super) struct Gates {
    pub(super) queues: BTreeMap<String, QueueRules>,
    pub(super) breakers: BTreeMap<String, Breaker>,
    pub(super) key_rates: KeyRates,
}

impl Gates {
    /// Returns `true` if the end of a run frees capacity in this queue.
    pub(super) fn limits_runs(&self, queue: &str) -> bool {
        self.queues.get(queue).is_some_and(|rules| rules.limits.concurrency.is_some())
    }
}

impl Tables {
    pub(super) fn count_sample(
        &mut self,
        sample: &BreakerSample,
        now: Timestamp,
    ) -> Option<BreakerChange> {
        let change = self.breaker(&sample.service, sample.settings, now).count(sample, now);
        self.wake_if_closed(change);
        change
    }

    pub(super) fn update_breaker(
        &mut self,
        service: &str,
        order: BreakerUpdate,
        now: Timestamp,
    ) -> Option<BreakerChange> {
        if order.declarations().is_some_and(|declarations| !self.nodes.are_newest(declarations)) {
            return None;
        }
        let change = self.breaker(service, BreakerSettings::default(), now).apply(order, now);
        self.wake_if_closed(change);
        change
    }

    pub(super) fn breakers(&self, now: Timestamp) -> Vec<BreakerRecord> {
        let breakers = self.gates.breakers.iter();
        breakers
            .map(|(service, breaker)| BreakerRecord {
                service: service.clone(),
                breaker: breaker.clone(),
                state: breaker.state(now),
            })
            .collect()
    }

    pub(super) fn update_queue(&mut self, queue: &str, order: QueueUpdate, now: Timestamp) -> bool {
        if order.declarations().is_some_and(|declarations| !self.nodes.are_newest(declarations)) {
            return false;
        }
        let rules = self.gates.queues.entry(queue.to_owned()).or_default();
        let before = rules.limits.rate_per_key;
        let changed = rules.apply(order);
        let rate = rules.limits.rate_per_key;
        if rate != before {
            self.gates.key_rates.change(queue, rate, now);
        }
        if rules.is_empty() {
            self.gates.queues.remove(queue);
        }
        if changed {
            self.wakes.push(Wake::Unblocked);
        }
        changed
    }

    pub(super) fn queues(&self, now: Timestamp) -> Vec<QueueRecord> {
        let queues = self.gates.queues.iter();
        queues
            .map(|(queue, rules)| {
                let running = self.running(queue);
                let gate = rules.gate(running, now);
                let full_keys = self.gates.key_rates.full(queue, now);
                QueueRecord { queue: queue.clone(), rules: rules.clone(), running, gate, full_keys }
            })
            .collect()
    }

    pub(super) fn claim_context(&self, id: JobId, now: Timestamp) -> Option<ClaimContext> {
        let job = self.jobs.get(&id)?.job.clone();
        let spec = std::sync::Arc::clone(&job.spec);
        let mut around = ClaimContext::new(job, now);
        around.rules = self.gates.queues.get(&spec.queue).cloned().unwrap_or_default();
        around.running = self.running(&spec.queue);
        if let Some(key) = &spec.concurrency {
            around.holders = self.keys.holders(&Slot::Key(key.key.clone()));
            around.key_rate = self.gates.key_rates.get(&spec.queue, &key.key);
        }
        if let Some(service) = &spec.service {
            around.breaker = self.gates.breakers.get(service).cloned();
            around.probing =
                around.breaker.as_ref().map_or(0, |breaker| self.probing(service, breaker));
        }
        around.nodes = self.nodes.list(now);
        Some(around)
    }

    /// Returns the number of running jobs of a queue, including lingering runs.
    pub(super) fn running(&self, queue: &str) -> u64 {
        let counts = self.index.counts_of(queue, JobState::Running);
        counts + self.keys.lingering().filter(|(_, run)| run.queue == queue).count() as u64
    }

    pub(super) fn probing(&self, service: &str, breaker: &Breaker) -> u64 {
        self.keys.taken(&Slot::Probe(service.to_owned(), breaker.opening()))
    }

    fn breaker(
        &mut self,
        service: &str,
        settings: BreakerSettings,
        now: Timestamp,
    ) -> &mut Breaker {
        let fresh = || Breaker::new(settings, now);
        self.gates.breakers.entry(service.to_owned()).or_insert_with(fresh)
    }

    fn wake_if_closed(&mut self, change: Option<BreakerChange>) {
        if change == Some(BreakerChange::Closed) {
            self.wakes.push(Wake::Unblocked);
        }
    }
}
