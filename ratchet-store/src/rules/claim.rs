//! Decides which due jobs a claim takes.
//!
//! A store reads the rules of the requested queues, the breakers that are not closed, and the due jobs in order. It
//! offers each job to a [`ClaimPlan`] and starts the jobs that the plan accepts. `explain` uses the same plan, so that
//! what it calls claimable is claimed next.

mod key_rates;

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;

use self::key_rates::KeyRates;
pub use self::key_rates::SpentKey;
use super::Admission;
use super::turns::Turns;
use crate::model::{
    Breaker, ConcurrencyKey, Gate, KeyRate, QueueDemand, QueueRules, Rate, Suspects, Suspicion,
};

/// What a claim must know about a due job.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The queue of the job.
    pub queue: &'a str,
    /// Whether the claimer can run the job ([`KnownJobs::can_run`](crate::model::KnownJobs::can_run)).
    pub known: bool,
    /// How often the job has crashed its worker.
    pub crashes: u32,
    /// The concurrency key of the job.
    pub concurrency: Option<&'a ConcurrencyKey>,
    /// The service that the job calls.
    pub service: Option<&'a str>,
    /// Whether the job [has expired](crate::model::JobRecord::is_expired).
    pub expired: bool,
}

/// A condition that keeps a job from being claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The job has expired.
    Expired,
    /// The claimer does not know the job.
    Unknown,
    /// The queue gives no more jobs to this claim: it is closed, or the claim has taken as many as it requested.
    Queue(Gate),
    /// The concurrency key is held by as many runs as its limit allows, or is locked by another claim.
    Key,
    /// The breaker of the service admits no run.
    Service(Admission),
    /// The concurrency key has used up the rate that its queue allows each key.
    KeyRate {
        /// When the next job of the key can be claimed.
        until: Timestamp,
    },
    /// The job has crashed its workers and must run in isolation.
    Isolation,
    /// The job has crashed its workers, and the claim can return no more jobs like it.
    Suspect,
}

/// A job that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// If the job is a probe: the number of the opening that it probes.
    pub probe: Option<u64>,
}

/// The runs that hold a concurrency key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holders {
    /// This many runs hold it.
    Runs(u64),
    /// Another claim has locked the key, so it cannot be counted now.
    Locked,
}

/// The state of one claim: the conditions that it evaluates, and what it has accepted so far.
#[derive(Debug, Clone)]
pub struct ClaimPlan {
    now: Timestamp,
    suspects: Suspects,
    queues: HashMap<String, Queue>,
    services: HashMap<String, Service>,
    keys: HashMap<String, Key>,
    isolated_seen: bool,
    isolated_waiting: bool,
    suspects_waiting: bool,
    /// The accepted jobs of [`Suspicion::Few`] and of [`Suspicion::Single`].
    taken_few: u32,
    taken_single: u32,
}

#[derive(Debug, Clone, Default)]
struct Queue {
    requested: u32,
    /// The stored rules and the number of running jobs, if the queue has rules.
    rules: Option<(QueueRules, u64)>,
    taken: u32,
    /// In a fair queue: the tenant of the last accepted job.
    last_tenant: Option<String>,
    /// In a queue with a rate per key: the keys that the claim has met.
    key_rates: KeyRates,
}

#[derive(Debug, Clone)]
struct Service {
    breaker: Breaker,
    /// The number of running probes.
    probing: u64,
    taken: u64,
}

#[derive(Debug, Clone)]
struct Key {
    holders: Holders,
    taken: u64,
}

impl ClaimPlan {
    /// Starts a claim of these queues.
    pub fn new(queues: &[QueueDemand], suspects: Suspects, now: Timestamp) -> Self {
        let queue = |demand: &QueueDemand| {
            let queue = Queue { requested: demand.limit, ..Queue::default() };
            (demand.queue.clone(), queue)
        };
        Self {
            now,
            suspects,
            queues: queues.iter().map(queue).collect(),
            services: HashMap::new(),
            keys: HashMap::new(),
            isolated_seen: false,
            isolated_waiting: false,
            suspects_waiting: false,
            taken_few: 0,
            taken_single: 0,
        }
    }

    /// Sets the stored rules of a requested queue, and the number of its running jobs.
    pub fn set_rules(&mut self, queue: &str, rules: QueueRules, running: u64) {
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.rules = Some((rules, running));
        }
    }

    /// Sets the breaker of a service, and the number of running probes of its current opening. A service without a
    /// breaker admits every run.
    pub fn set_breaker(&mut self, service: impl Into<String>, breaker: Breaker, probing: u64) {
        self.services.insert(service.into(), Service { breaker, probing, taken: 0 });
    }

    /// Sets the runs that hold a concurrency key.
    pub fn set_holders(&mut self, key: impl Into<String>, holders: Holders) {
        self.keys.insert(key.into(), Key { holders, taken: 0 });
    }

    /// Returns the concurrency key of a job if its holders are not known yet. The store must look them up and call
    /// [`Self::set_holders`] before it offers the job.
    pub fn uncounted_key<'a>(&self, job: &Candidate<'a>) -> Option<&'a str> {
        let key = job.concurrency?.key.as_str();
        (!self.keys.contains_key(key)).then_some(key)
    }

    /// Returns the rate that a queue allows each concurrency key, if it has one.
    pub fn rate_per_key(&self, queue: &str) -> Option<Rate> {
        self.queues.get(queue)?.rate_per_key()
    }

    /// Returns the concurrency key of a job if it has a rate and its state is not known yet. The store must read it and
    /// call [`Self::set_key_rate`] before it offers the job.
    pub fn unread_key<'a>(&self, job: &Candidate<'a>) -> Option<&'a str> {
        let key = job.concurrency?.key.as_str();
        let queue = self.queues.get(job.queue)?;
        (queue.rate_per_key().is_some() && !queue.key_rates.is_known(key)).then_some(key)
    }

    /// Sets the state of a concurrency key in a queue with a rate per key. A key without a state has the default one.
    pub fn set_key_rate(&mut self, queue: &str, key: impl Into<String>, state: KeyRate) {
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.key_rates.set(key.into(), state);
        }
    }

    /// Returns until when a concurrency key has used up the rate that its queue allows each key, if it has.
    pub fn key_full_until(&self, queue: &str, key: &str) -> Option<Timestamp> {
        let queue = self.queues.get(queue)?;
        queue.key_rates.full_until(key, queue.rate_per_key()?, self.now)
    }

    /// Returns how many more jobs of a concurrency key this claim can take by the rate of the key and by what it has
    /// requested from the queue.
    pub fn key_room(&self, queue: &str, key: &str) -> u32 {
        let Some(of) = self.queues.get(queue) else { return 0 };
        let rate = of.rate_per_key();
        rate.map_or(u32::MAX, |rate| of.key_rates.room(key, rate, self.now)).min(self.room(queue))
    }

    /// Returns how many more jobs of a queue this claim can take.
    pub fn room(&self, queue: &str) -> u32 {
        let Some(queue) = self.queues.get(queue) else { return 0 };
        queue.requested.min(queue.gate(self.now).most()).saturating_sub(queue.taken)
    }

    /// Returns the turns of the tenants of a fair queue. Returns `None` if the queue is not fair.
    pub fn turns<J>(&self, queue: &str) -> Option<Turns<J>> {
        let (rules, _) = self.queues.get(queue)?.rules.as_ref()?;
        rules.limits.fair.then(|| Turns::new(rules.last_tenant.clone(), self.room(queue)))
    }

    /// Records that a job of this tenant was accepted in its turn.
    pub fn had_turn(&mut self, queue: &str, tenant: &str) {
        if let Some(queue) = self.queues.get_mut(queue) {
            queue.last_tenant = Some(tenant.to_owned());
        }
    }

    /// Returns how many more jobs of a service this claim can take.
    pub fn service_room(&self, service: Option<&str>) -> u32 {
        match self.admission(service) {
            Admission::All => u32::MAX,
            Admission::Probes { left, .. } => left,
            Admission::Nothing { .. } => 0,
        }
    }

    /// Returns the services whose jobs cannot be claimed now.
    pub fn blocked_services(&self) -> Vec<&str> {
        let services = self.services.keys().map(String::as_str);
        services.filter(|service| self.service_room(Some(service)) == 0).collect()
    }

    /// Returns every condition that keeps a job from being claimed.
    pub fn obstacles(&self, job: &Candidate<'_>) -> impl Iterator<Item = Obstacle> + use<> {
        let expired = job.expired.then_some(Obstacle::Expired);
        let unknown = (!job.known).then_some(Obstacle::Unknown);
        let queue = self.queues.get(job.queue).map_or(Gate::Paused, |queue| queue.gate(self.now));
        let queue = (self.room(job.queue) == 0).then_some(Obstacle::Queue(queue));
        let key = job.concurrency.filter(|key| !self.has_room(key)).map(|_| Obstacle::Key);
        let admission = self.admission(job.service);
        let service = (self.service_room(job.service) == 0).then_some(Obstacle::Service(admission));
        let until = job.concurrency.and_then(|key| self.key_full_until(job.queue, &key.key));
        let rate = until.map(|until| Obstacle::KeyRate { until });
        // The rate of the key comes last: a job that it alone keeps from being claimed starts when time has passed.
        [expired, unknown, queue, key, service, self.suspect(job), rate].into_iter().flatten()
    }

    /// Returns `true` if the job can run, in isolation if it must.
    pub fn can_run(&self, job: &Candidate<'_>) -> bool {
        self.obstacles(job).all(|obstacle| obstacle == Obstacle::Isolation)
    }

    /// Offers the next job of its queue. If it is accepted, the store must start it.
    ///
    /// A rejected job does not block the jobs after it.
    pub fn offer(&mut self, job: &Candidate<'_>) -> Result<Accepted, Obstacle> {
        self.isolated_seen |= self.suspect(job) == Some(Obstacle::Isolation);
        match self.obstacles(job).next() {
            None => Ok(self.accept(job)),
            Some(obstacle) => {
                self.isolated_waiting |= obstacle == Obstacle::Isolation;
                self.suspects_waiting |= obstacle == Obstacle::Suspect;
                if let (Obstacle::KeyRate { .. }, Some(key)) = (obstacle, job.concurrency)
                    && let Some(queue) = self.queues.get_mut(job.queue)
                {
                    queue.key_rates.refuse(&key.key);
                }
                Err(obstacle)
            }
        }
    }

    /// Decides between the first jobs of all queues that [can run](Self::can_run), given as position, number of crashes
    /// and any value. Returns the value of the first of them if it must run in isolation and this claim allows it. The
    /// claim must then [start again](Self::restart), [accept](Self::accept) that job, and take no other.
    pub fn first_if_isolated<P: Ord, T>(
        &self,
        firsts: impl IntoIterator<Item = (P, u32, T)>,
    ) -> Option<T> {
        if !self.suspects.isolated {
            return None;
        }
        let (_, crashes, first) = firsts.into_iter().min_by(|a, b| a.0.cmp(&b.0))?;
        (self.suspects.suspicion(crashes) == Suspicion::Isolated).then_some(first)
    }

    /// Accepts a job, and counts the slot and the probe that it holds while it runs.
    pub fn accept(&mut self, job: &Candidate<'_>) -> Accepted {
        let probe = match self.admission(job.service) {
            Admission::Probes { opening, .. } => Some(opening),
            Admission::All | Admission::Nothing { .. } => None,
        };
        if let Some(queue) = self.queues.get_mut(job.queue) {
            queue.taken += 1;
            if let Some(key) = job.concurrency {
                queue.key_rates.accept(&key.key);
            }
        }
        if let Some(key) = job.concurrency.and_then(|key| self.keys.get_mut(&key.key)) {
            key.taken += 1;
        }
        match self.suspects.suspicion(job.crashes) {
            Suspicion::Few => self.taken_few += 1,
            Suspicion::Single => self.taken_single += 1,
            Suspicion::None | Suspicion::Isolated => {}
        }
        if probe.is_some()
            && let Some(service) = job.service.and_then(|service| self.services.get_mut(service))
        {
            service.taken += 1;
        }
        Accepted { probe }
    }

    /// Forgets the jobs that were offered. Rules, breakers, holders and the states of keys are kept.
    pub fn restart(&mut self) {
        for queue in self.queues.values_mut() {
            (queue.taken, queue.last_tenant) = (0, None);
            queue.key_rates.restart();
        }
        self.services.values_mut().for_each(|service| service.taken = 0);
        self.keys.values_mut().for_each(|key| key.taken = 0);
        (self.isolated_seen, self.isolated_waiting, self.suspects_waiting) = (false, false, false);
        (self.taken_few, self.taken_single) = (0, 0);
    }

    /// Returns `true` if a job that must run in isolation was offered.
    pub fn isolated_seen(&self) -> bool {
        self.isolated_seen
    }

    /// Returns `true` if a job was rejected only because it must run in isolation.
    pub fn isolated_waiting(&self) -> bool {
        self.isolated_waiting
    }

    /// Returns `true` if a job was rejected only because the claim can return no more suspects like it.
    pub fn suspects_waiting(&self) -> bool {
        self.suspects_waiting
    }

    /// Returns `true` if another claim holds the lock of a concurrency key.
    pub fn is_locked(&self, key: &str) -> bool {
        self.keys.get(key).is_none_or(|key| key.holders == Holders::Locked)
    }

    /// Returns `true` if another run can hold a concurrency key.
    pub fn has_room(&self, key: &ConcurrencyKey) -> bool {
        self.keys.get(&key.key).is_some_and(|held| match held.holders {
            Holders::Runs(runs) => key.has_room(runs + held.taken),
            Holders::Locked => false,
        })
    }

    /// Counts the accepted jobs against the limits of their queues, at the time of the commit. Returns the rules that
    /// have changed. The store must write them.
    pub fn spend(&mut self, now: Timestamp) -> Vec<(&str, &QueueRules)> {
        self.now = now;
        let mut changed = Vec::new();
        for (name, queue) in &mut self.queues {
            let taken = std::mem::take(&mut queue.taken);
            let Some((rules, running)) = queue.rules.as_mut().filter(|_| taken > 0) else {
                continue;
            };
            *running += u64::from(taken);
            let before = rules.clone();
            rules.claimed(taken, now);
            if let Some(tenant) = queue.last_tenant.take() {
                rules.last_tenant = Some(tenant);
            }
            if *rules != before {
                changed.push((name.as_str(), &*rules));
            }
        }
        changed
    }

    /// Counts the accepted jobs against the rates of their concurrency keys, at the time of the commit. Returns the keys
    /// whose state has changed. The store must write them.
    pub fn spend_keys(&mut self, now: Timestamp) -> Vec<SpentKey> {
        let mut spent = Vec::new();
        for (name, queue) in &mut self.queues {
            if let Some(rate) = queue.rate_per_key() {
                spent.extend(queue.key_rates.spend(name, rate, now));
            }
        }
        spent.sort_by(|a, b| a.queue.cmp(&b.queue));
        spent
    }

    /// Returns how long until the rate of a queue or a breaker opens without intervention. The store must add when the
    /// rates of keys do ([`KeyRate::frees_waiting_at`]).
    pub fn opens_in(&self) -> Option<Duration> {
        let rates = self.queues.values().filter_map(|queue| queue.gate(self.now).until());
        let breakers =
            self.services.keys().filter_map(|service| match self.admission(Some(service)) {
                Admission::Nothing { until } => until,
                Admission::All | Admission::Probes { .. } => None,
            });
        rates.chain(breakers).min()?.duration_since(self.now).try_into().ok()
    }

    fn admission(&self, service: Option<&str>) -> Admission {
        let service = service.and_then(|service| self.services.get(service));
        service.map_or(Admission::All, |service| {
            service.breaker.admits(service.probing + service.taken, self.now)
        })
    }

    /// Returns the obstacle for a job that has crashed its workers.
    fn suspect(&self, job: &Candidate<'_>) -> Option<Obstacle> {
        let has_room = match self.suspects.suspicion(job.crashes) {
            Suspicion::None => true,
            Suspicion::Few => self.taken_few < self.suspects.few,
            Suspicion::Single => self.taken_single < self.suspects.single,
            Suspicion::Isolated => return Some(Obstacle::Isolation),
        };
        (!has_room).then_some(Obstacle::Suspect)
    }
}

impl ConcurrencyKey {
    /// Returns `true` if another run can hold the key when `taken` runs hold it.
    pub fn has_room(&self, taken: u64) -> bool {
        taken < u64::from(self.limit)
    }
}

impl Queue {
    fn rate_per_key(&self) -> Option<Rate> {
        self.rules.as_ref()?.0.limits.rate_per_key
    }

    fn gate(&self, now: Timestamp) -> Gate {
        let open = Gate::Open { most: u32::MAX };
        self.rules.as_ref().map_or(open, |(rules, running)| rules.gate(*running, now))
    }
}

#[cfg(test)]
mod tests;
