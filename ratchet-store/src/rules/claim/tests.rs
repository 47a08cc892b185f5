//! Tests of the conditions of a claim.

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
    let rate = Rate { jobs: 3, per: Duration::from_mins(1) };
    rules.apply(QueueUpdate::Limit(QueueLimits {
        concurrency: Some(5),
        rate: Some(rate),
        ..QueueLimits::default()
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

fn each_key(jobs: u32) -> QueueRules {
    let per = Duration::from_mins(1);
    let rate_per_key = Some(Rate { jobs, per });
    let mut rules = QueueRules::default();
    rules.apply(QueueUpdate::Limit(QueueLimits { rate_per_key, ..QueueLimits::default() }));
    rules
}

/// Counts a key as free, and sets the stored state of its rate.
fn meet(plan: &mut ClaimPlan, key: &str, state: KeyRate) {
    plan.set_holders(key, Holders::Runs(0));
    plan.set_key_rate("q", key, state);
}

// spec: Q-06
#[test]
fn q_06_a_key_that_has_used_up_its_rate_holds_up_no_other() {
    let (busy, idle) = (
        ConcurrencyKey { key: "busy".to_owned(), limit: 9 },
        ConcurrencyKey { key: "idle".to_owned(), limit: 9 },
    );
    let [of_busy, of_idle] =
        [&busy, &idle].map(|key| Candidate { concurrency: Some(key), ..job() });
    let mut plan = plan(99, TOGETHER);
    assert_eq!(plan.unread_key(&of_busy), None, "the queue has no rate per key");
    plan.set_rules("q", each_key(2), 0);
    assert_eq!(plan.unread_key(&of_busy), Some("busy"));
    meet(&mut plan, "busy", KeyRate::default());
    meet(&mut plan, "idle", KeyRate::default());
    assert_eq!(plan.unread_key(&of_busy), None);
    assert_eq!(plan.key_room("q", "busy"), 2);
    assert!(plan.offer(&of_busy).is_ok() && plan.offer(&of_busy).is_ok());
    let until = crate::model::later(NOW, Duration::from_micros(60_000_001));
    assert_eq!(plan.offer(&of_busy), Err(Obstacle::KeyRate { until }));
    assert!(plan.offer(&of_idle).is_ok(), "another key");
    assert!(plan.offer(&job()).is_ok(), "no key");
    let spent = plan.spend_keys(NOW);
    let names: Vec<_> = spent.iter().map(|spent| (&*spent.key, spent.back)).collect();
    assert_eq!(names, [("busy", until), ("idle", NOW)]);
    assert_eq!(spent[0].state.frees_waiting_at(NOW), Some(until));
    assert!(!spent[1].state.is_waiting());
    assert!(plan.spend_keys(NOW).is_empty(), "once");
}

// spec: Q-06
#[test]
fn q_06_a_stored_state_counts_in_the_next_claim_until_its_time_has_passed() {
    let key = ConcurrencyKey { key: "k".to_owned(), limit: 9 };
    let keyed = Candidate { concurrency: Some(&key), ..job() };
    let mut first = plan(9, TOGETHER);
    first.set_rules("q", each_key(1), 0);
    meet(&mut first, "k", KeyRate::default());
    assert!(first.offer(&keyed).is_ok());
    let state = first.spend_keys(NOW).remove(0).state;
    let mut next = plan(9, TOGETHER);
    next.set_rules("q", each_key(1), 0);
    meet(&mut next, "k", state.clone());
    assert!(matches!(next.offer(&keyed), Err(Obstacle::KeyRate { .. })));
    let spent = next.spend_keys(NOW).remove(0);
    assert!(spent.state.is_waiting());
    meet(&mut next, "k", spent.state.clone());
    assert!(next.offer(&keyed).is_err());
    assert!(next.spend_keys(NOW).is_empty(), "nothing new is known");
    let later = crate::model::later(NOW, Duration::from_secs(61));
    let mut last =
        ClaimPlan::new(&[QueueDemand { queue: "q".to_owned(), limit: 9 }], TOGETHER, later);
    last.set_rules("q", each_key(1), 0);
    meet(&mut last, "k", spent.state);
    assert!(last.offer(&keyed).is_ok());
}

// spec: Q-06
#[test]
fn q_06_another_obstacle_comes_before_the_rate_of_the_key() {
    let key = ConcurrencyKey { key: "k".to_owned(), limit: 1 };
    let keyed = Candidate { concurrency: Some(&key), ..job() };
    let mut plan = plan(9, TOGETHER);
    plan.set_rules("q", each_key(1), 0);
    plan.set_holders("k", Holders::Runs(0));
    assert!(matches!(plan.offer(&keyed), Err(Obstacle::KeyRate { .. })), "not before it was read");
    plan.set_key_rate("q", "k", KeyRate::default());
    assert!(plan.offer(&keyed).is_ok());
    assert_eq!(plan.offer(&keyed), Err(Obstacle::Key), "a run must end first");
    assert!(!plan.spend_keys(NOW)[0].state.is_waiting());
    plan.restart();
    assert_eq!(plan.key_room("q", "k"), 0, "what was spent is kept");
}
