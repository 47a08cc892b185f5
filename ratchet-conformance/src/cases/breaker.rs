//! Circuit breakers: shared by the cluster and updated in the commit of the run. Waiting jobs are not claimed.

use std::time::Duration;

use ratchet_store::model::{
    BreakerChange, BreakerSample, BreakerSettings, BreakerState, BreakerUpdate, CallResult,
    Claimed, NewJob, Settled, Settlement,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, secs};

/// Returns settings: the breaker opens for 30 seconds after two failed calls, and closes after two good probes.
fn settings() -> BreakerSettings {
    let mut settings = BreakerSettings::default();
    (settings.min_calls, settings.probes) = (2, 2);
    settings
}

trait Votes {
    fn sampling(self, run: &Claimed, result: CallResult) -> Settlement;
}

impl Votes for Settlement {
    fn sampling(mut self, run: &Claimed, result: CallResult) -> Settlement {
        let service = run.spec.service.clone().expect("the job has a service");
        self.sample =
            Some(BreakerSample { service, result, probe: run.probe, settings: settings() });
        self
    }
}

fn paying(world: &World) -> NewJob {
    world.job().service("pay")
}

fn good(run: &Claimed) -> Settlement {
    run.succeed().sampling(run, CallResult::Success)
}

fn bad(run: &Claimed) -> Settlement {
    run.retry(secs(3600)).sampling(run, CallResult::Failure)
}

/// Opens the breaker of `pay` with two failed runs.
async fn open(world: &World) {
    let node = world.node().await;
    for _ in 0..2 {
        let run = world.run_on(&node, paying(world)).await;
        world.apply(bad(&run)).await;
    }
    assert!(matches!(state(world).await, BreakerState::Open { .. }));
}

async fn state(world: &World) -> BreakerState {
    let breakers = world.store.breakers().await.expect("breakers are listed");
    assert_eq!(breakers.len(), 1, "{breakers:?}");
    breakers[0].state
}

async fn order(world: &World, service: &str, order: BreakerUpdate) -> Option<BreakerChange> {
    world.store.update_breaker(service, order).await.expect("is applied")
}

pub async fn b_02_failures_open_it_and_the_change_is_told(world: &World) {
    let node = world.node().await;
    let first = world.run_on(&node, paying(world)).await;
    assert_eq!(world.apply(bad(&first)).await.breaker, None);
    let second = world.run_on(&node, paying(world)).await;
    let reported = world.apply(bad(&second)).await.breaker;
    let Some(BreakerChange::Opened { until: Some(until) }) = reported else {
        panic!("it should have opened: {reported:?}");
    };
    let wait = Duration::try_from(until.duration_since(world.now().await)).expect("in the future");
    assert!(wait > secs(25) && wait <= secs(30), "{wait:?}");
}

pub async fn b_02_samples_of_one_batch_count_in_order(world: &World) {
    let node = world.node().await;
    world.submit_all((0..3).map(|_| paying(world)).collect()).await;
    let runs = node.claim(3).await;
    let batch = vec![good(&runs[0]), bad(&runs[1]), bad(&runs[2])];
    let reported: Vec<_> = world.settle_all(batch).await.iter().map(changed).collect();
    // One good and one bad call reach the failure rate of 50 %.
    assert!(
        matches!(reported[..], [None, Some(BreakerChange::Opened { .. }), None]),
        "{reported:?}"
    );
}

fn changed(settled: &Settled) -> Option<BreakerChange> {
    match settled {
        Settled::Applied(applied) => applied.breaker,
        other => panic!("not applied: {other:?}"),
    }
}

pub async fn b_02_a_stale_run_is_not_sampled(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, paying(world)).await;
    world.apply(run.release()).await;
    for _ in 0..3 {
        world.stale(bad(&run)).await;
    }
    assert!(world.store.breakers().await.expect("listed").is_empty());
}

pub async fn b_03_it_holds_for_every_node(world: &World) {
    open(world).await;
    world.submit(paying(world)).await;
    assert!(world.node().await.claim(10).await.is_empty());
}

pub async fn b_04_a_waiting_job_uses_nothing(world: &World) {
    open(world).await;
    let node = world.node().await;
    let waiting = world.submit(paying(world)).await;
    let before = world.get(waiting).await;
    node.claim(10).await;
    assert_eq!(world.get(waiting).await, before);
    world.pass(secs(31)).await;
    assert_eq!(node.claim_ids(1).await, [waiting]);
}

pub async fn b_04_the_claim_says_when_to_ask_again(world: &World) {
    open(world).await;
    world.submit(paying(world)).await;
    let node = world.node().await;
    let reply = node.ask(node.request(10)).await;
    let wait = reply.next_due.expect("the breaker half-opens");
    assert!(wait > secs(20) && wait <= secs(30), "{wait:?}");
}

pub async fn b_07_others_do_not_wait_behind_it(world: &World) {
    open(world).await;
    world.submit_all((0..300).map(|_| paying(world)).collect()).await;
    world.pass(secs(1)).await;
    let plain = world.submit(world.job()).await;
    let other = world.submit(world.job().service("ship")).await;
    let node = world.node().await;
    for _ in 0..3 {
        node.claim(0).await;
    }
    assert_eq!(node.claim_ids(10).await, [plain, other]);
}

pub async fn b_02_half_open_lets_only_probes_through(world: &World) {
    open(world).await;
    let ids = world.submit_all((0..5).map(|_| paying(world)).collect()).await;
    world.pass(secs(31)).await;
    let (one, two) = (world.node().await, world.node().await);
    let first = one.claim(1).await;
    let second = two.claim(10).await;
    assert_eq!([first[0].id(), second[0].id()], ids[..2]);
    assert_eq!(second.len(), 1, "two probes over both nodes");
    assert!(first[0].probe.is_some() && first[0].probe == second[0].probe);
    assert!(one.claim(10).await.is_empty());
}

pub async fn b_02_good_probes_close_it(world: &World) {
    open(world).await;
    let ids = world.submit_all((0..4).map(|_| paying(world)).collect()).await;
    world.pass(secs(31)).await;
    let node = world.node().await;
    let probes = node.claim(10).await;
    assert_eq!(world.apply(good(&probes[0])).await.breaker, None);
    assert!(node.claim(10).await.is_empty(), "one good, one out: nothing more to try");
    assert_eq!(world.apply(good(&probes[1])).await.breaker, Some(BreakerChange::Closed));
    assert_eq!(state(world).await, BreakerState::Closed);
    let rest = node.claim(10).await;
    assert_eq!(rest.iter().map(Claimed::id).collect::<Vec<_>>(), ids[2..]);
    assert!(rest.iter().all(|run| run.probe.is_none()));
}

pub async fn b_02_one_bad_probe_opens_it_again(world: &World) {
    open(world).await;
    world.submit_all((0..4).map(|_| paying(world)).collect()).await;
    world.pass(secs(31)).await;
    let node = world.node().await;
    let probes = node.claim(10).await;
    let reported = world.apply(bad(&probes[0])).await.breaker;
    assert!(matches!(reported, Some(BreakerChange::Opened { .. })), "{reported:?}");
    assert_eq!(
        world.apply(good(&probes[1])).await.breaker,
        None,
        "it is a probe of another opening"
    );
    assert!(node.claim(10).await.is_empty());
    world.pass(secs(31)).await;
    assert_eq!(node.claim(10).await.len(), 2);
}

pub async fn b_07_a_blank_probe_is_handed_back(world: &World) {
    open(world).await;
    world.submit_all((0..4).map(|_| paying(world)).collect()).await;
    world.pass(secs(31)).await;
    let node = world.node().await;
    let probes = node.claim(10).await;
    world.apply(probes[0].defer(secs(100)).sampling(&probes[0], CallResult::Ignored)).await;
    let again = node.claim(10).await;
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].probe, probes[0].probe);
}

pub async fn b_07_a_canceled_probe_is_handed_back(world: &World) {
    open(world).await;
    world.submit_all((0..4).map(|_| paying(world)).collect()).await;
    world.pass(secs(31)).await;
    let node = world.node().await;
    let probes = node.claim(10).await;
    world.cancel(probes[0].id()).await;
    world.release_holds(probes[0].token).await;
    assert_eq!(node.claim(10).await.len(), 1);
}

pub async fn b_07_the_probe_of_a_dead_node_is_handed_back(world: &World) {
    open(world).await;
    world.submit_all((0..4).map(|_| paying(world)).collect()).await;
    world.pass(secs(31)).await;
    assert_eq!(world.mortal(secs(10)).await.claim(10).await.len(), 2);
    world.pass(secs(11)).await;
    for orphan in world.orphans().await {
        world.apply(orphan.claimed.rescue(1)).await;
    }
    assert_eq!(world.node().await.claim(10).await.len(), 2);
}

pub async fn b_02_runs_from_before_say_nothing_new(world: &World) {
    let node = world.node().await;
    let late = world.run_on(&node, paying(world)).await;
    open(world).await;
    world.pass(secs(31)).await;
    assert_eq!(world.apply(good(&late)).await.breaker, None);
    assert_eq!(state(world).await, BreakerState::HalfOpen { good: 0 });
}

pub async fn b_06_operators_open_and_close_it(world: &World) {
    let waiting = world.submit(paying(world)).await;
    let node = world.node().await;
    let opened = order(world, "pay", BreakerUpdate::Open(None)).await;
    assert_eq!(opened, Some(BreakerChange::Opened { until: None }));
    world.pass(secs(100_000)).await;
    assert!(node.claim(10).await.is_empty());
    assert_eq!(order(world, "pay", BreakerUpdate::Close).await, Some(BreakerChange::Closed));
    assert_eq!(order(world, "pay", BreakerUpdate::Close).await, None);
    assert_eq!(node.claim_ids(10).await, [waiting]);
}

pub async fn b_06_an_order_may_be_for_a_while(world: &World) {
    world.submit(paying(world)).await;
    let node = world.node().await;
    order(world, "pay", BreakerUpdate::Open(Some(secs(60)))).await;
    assert!(node.claim(10).await.is_empty());
    world.pass(secs(61)).await;
    assert!(node.claim_one().await.probe.is_some());
}

pub async fn b_03_every_service_has_its_own(world: &World) {
    open(world).await;
    let other = world.submit(world.job().service("ship")).await;
    assert_eq!(world.node().await.claim_ids(10).await, [other]);
}

pub async fn b_07_what_was_held_back_comes_in_order(world: &World) {
    open(world).await;
    let ids = world.submit_all((0..200).map(|_| paying(world)).collect()).await;
    let node = world.node().await;
    node.claim(10).await;
    order(world, "pay", BreakerUpdate::Close).await;
    let mut claimed = Vec::new();
    while claimed.len() < 200 {
        let next = node.claim_ids(50).await;
        assert!(!next.is_empty(), "{} of 200 came", claimed.len());
        claimed.extend(next);
    }
    assert_eq!(claimed, ids);
}
