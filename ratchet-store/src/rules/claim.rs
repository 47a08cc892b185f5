//! Decides which due jobs a claim takes.
//!
//! A store reads the rules of the requested queues, the breakers that are not closed, and the due jobs in order. It
//! offers each job to a [`ClaimPlan`] and starts the jobs that the plan accepts. `explain` uses the same plan, so that
//! what it calls claimable is claimed next.

use std::collections::HashMap;
use std::time::Duration;

use jiff::Timestamp;

use super::Admission;
use super::turns::Turns;
use crate::model::{Breaker, ConcurrencyKey, Gate, QueueDemand, QueueRules, Suspects, Suspicion};

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

#[derive(Debug, Clone)]
struct Queue {
    requested: u32,
    /// The stored rules and the number of running jobs, if the queue has rules.
    rules: Option<(QueueRules, u64)>,
    taken: u32,
    /// In a fair queue: the tenant of the last accepted job.
    last_tenant: Option<String>,
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
            let queue = Queue { requested: demand.limit, rules: None, taken: 0, last_tenant: None };
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
        [expired, unknown, queue, key, service, self.suspect(job)].into_iter().flatten()
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

    /// Forgets the jobs that were offered. Rules, breakers and holders are kept.
    pub fn restart(&mut self) {
        for queue in self.queues.values_mut() {
            (queue.taken, queue.last_tenant) = (0, None);
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

    /// Returns how long until a rate limit or a breaker opens without intervention.
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
    fn gate(&self, now: Timestamp) -> Gate {
        let open = Gate::Open { most: u32::MAX };
        self.rules.as_ref().map_or(open, |(rules, running)| rules.gate(*running, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BreakerSettings, BreakerUpdate, QueueLimits, QueueUpdate};

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn plan(limit: u32, suspects: Suspects) -> ClaimPlan {
        ClaimPlan::new(&[QueueDemand { queue: "q".to_owned(), limit }], suspects, NOW)
    }

    fn job() -> Candidate<'static> {
        Candidate {
            queue: "q",
            known: true,
            crashes: 0,
            concurrency: None,
            service: None,
            expired: false,
        }
    }

    const TOGETHER: Suspects = Suspects::beside_others(5);

    #[test]
    fn a_claim_takes_what_it_requested_and_no_more() {
        let mut plan = plan(2, TOGETHER);
        assert_eq!(plan.offer(&Candidate { known: false, ..job() }), Err(Obstacle::Unknown));
        assert!(plan.offer(&job()).is_ok());
        assert!(plan.offer(&job()).is_ok());
        let open = Gate::Open { most: u32::MAX };
        assert_eq!(plan.offer(&job()), Err(Obstacle::Queue(open)));
        assert!(plan.offer(&Candidate { queue: "another", ..job() }).is_err());
    }

    // spec: L-10
    #[test]
    fn l_10_an_expired_job_is_passed_over() {
        let mut plan = plan(1, TOGETHER);
        assert_eq!(plan.offer(&Candidate { expired: true, ..job() }), Err(Obstacle::Expired));
        assert!(plan.offer(&job()).is_ok(), "it takes no place");
    }

    #[test]
    fn q_02_accepted_jobs_count_against_their_key() {
        let (one, two) = (
            ConcurrencyKey { key: "k".to_owned(), limit: 1 },
            ConcurrencyKey { key: "k".to_owned(), limit: 2 },
        );
        let mut plan = plan(9, TOGETHER);
        let (strict, lax) = (
            Candidate { concurrency: Some(&one), ..job() },
            Candidate { concurrency: Some(&two), ..job() },
        );
        assert_eq!(plan.uncounted_key(&strict), Some("k"));
        assert_eq!(plan.offer(&strict), Err(Obstacle::Key), "not before it was counted");
        plan.set_holders("k", Holders::Runs(0));
        assert_eq!(plan.uncounted_key(&strict), None);
        assert!(plan.offer(&strict).is_ok());
        assert_eq!(plan.offer(&strict), Err(Obstacle::Key));
        assert!(plan.offer(&lax).is_ok(), "a job with a higher limit");
        assert_eq!(plan.offer(&lax), Err(Obstacle::Key));
        plan.set_holders("k", Holders::Locked);
        assert!(plan.is_locked("k"));
        assert_eq!(plan.offer(&lax), Err(Obstacle::Key));
    }

    #[test]
    fn q_01_rules_limit_a_queue_and_are_spent() {
        let mut rules = QueueRules::default();
        let rate = crate::model::Rate { jobs: 3, per: Duration::from_mins(1) };
        rules.apply(QueueUpdate::Limit(QueueLimits {
            concurrency: Some(5),
            rate: Some(rate),
            fair: false,
        }));
        let mut plan = plan(9, TOGETHER);
        plan.set_rules("q", rules, 3);
        assert_eq!(plan.room("q"), 2, "three of five run");
        assert!(plan.offer(&job()).is_ok() && plan.offer(&job()).is_ok());
        assert!(plan.offer(&job()).is_err());
        assert_eq!(plan.spend(NOW).len(), 1);
        assert_eq!(plan.room("q"), 0, "five of five run");
        assert_eq!(plan.spend(NOW).len(), 0, "once");
    }

    #[test]
    fn b_02_probes_are_limited_and_numbered() {
        let mut breaker = Breaker::new(BreakerSettings { probes: 2, ..Default::default() }, NOW);
        breaker.apply(BreakerUpdate::Open(Some(Duration::ZERO)), NOW);
        let mut plan = plan(9, TOGETHER);
        plan.set_breaker("s", breaker.clone(), 1);
        let call = Candidate { service: Some("s"), ..job() };
        assert_eq!(plan.offer(&call), Ok(Accepted { probe: Some(1) }));
        assert!(matches!(plan.offer(&call), Err(Obstacle::Service(_))), "two probes run");
        assert_eq!(plan.blocked_services(), ["s"]);
        assert!(plan.offer(&job()).is_ok(), "other jobs pass");
        breaker.apply(BreakerUpdate::Open(Some(Duration::from_secs(7))), NOW);
        plan.set_breaker("s", breaker, 0);
        assert!(matches!(plan.offer(&call), Err(Obstacle::Service(_))), "it is open");
        assert_eq!(plan.opens_in(), Some(Duration::from_secs(7)));
    }

    #[test]
    fn p_06_a_claim_returns_few_suspects_beside_others() {
        let (few, single) = (Candidate { crashes: 3, ..job() }, Candidate { crashes: 4, ..job() });
        let mut plan = plan(99, Suspects { few: 2, ..TOGETHER });
        assert!(plan.offer(&few).is_ok() && plan.offer(&few).is_ok());
        assert!(!plan.suspects_waiting());
        assert_eq!(plan.offer(&few), Err(Obstacle::Suspect));
        assert!(plan.offer(&single).is_ok(), "grades are counted apart");
        assert_eq!(plan.offer(&single), Err(Obstacle::Suspect));
        assert!(plan.suspects_waiting() && !plan.isolated_waiting());
        assert!(plan.offer(&Candidate { crashes: 2, ..job() }).is_ok());
        plan.restart();
        assert!(plan.offer(&few).is_ok() && plan.offer(&single).is_ok());
    }

    #[test]
    fn p_06_only_the_first_of_all_jobs_is_isolated() {
        let suspect = Candidate { crashes: 5, ..job() };
        let mut plan = plan(9, Suspects::idle(5));
        assert!(plan.can_run(&suspect));
        assert_eq!(plan.offer(&suspect), Err(Obstacle::Isolation));
        assert!(plan.isolated_seen() && plan.isolated_waiting());
        assert_eq!(plan.first_if_isolated([(1, 5, "suspect"), (2, 0, "other")]), Some("suspect"));
        assert_eq!(plan.first_if_isolated([(2, 5, "suspect"), (1, 0, "other")]), None);
        plan.suspects = TOGETHER;
        assert_eq!(plan.first_if_isolated([(1, 5, "suspect")]), None);
    }
}
