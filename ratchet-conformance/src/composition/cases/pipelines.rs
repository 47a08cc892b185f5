//! Pipelines that a job accepts: their declarations, and the admission of hand-offs as jobs.

use ratchet_store::model::{
    Acceptor, Claimed, JobId, JobState, NewAdmission, NewHandOff, NewJob, PipelineRecord,
    Settlement,
};

use crate::World;
use crate::cases::nodes::version_of;
use crate::fixture::{JobExt, Node, RunExt, hours, mins, secs};

const PIPELINE: &str = "pages";

fn acceptor(limit: Option<u32>) -> Acceptor {
    Acceptor { pipeline: PIPELINE.to_owned(), job: "index".to_owned(), backlog_limit: limit }
}

/// Joins a node of a program, whose declarations become the newest.
async fn program(world: &World, name: &str, version: u64) -> Node {
    let node = version_of(world, name, version).await;
    assert!(node.try_declare().await);
    node
}

async fn declare(world: &World, node: &Node, acceptors: &[Acceptor]) -> Vec<String> {
    world.store.declare_pipelines(&node.declarations, acceptors).await.expect("declares")
}

async fn accepted(world: &World) -> Option<PipelineRecord> {
    let mut all = world.store.pipelines(None).await.expect("reads");
    assert_eq!(world.store.pipelines(Some(PIPELINE)).await.expect("reads"), all);
    assert!(world.store.pipelines(Some("other")).await.expect("reads").is_empty());
    all.pop()
}

async fn backlog(world: &World) -> u64 {
    let stats = world.store.hand_off_stats(PIPELINE).await.expect("reads");
    let record = accepted(world).await.expect("it is accepted");
    assert_eq!(stats.backlog, record.backlog);
    stats.backlog
}

fn handing(run: &Claimed, keys: &[&str]) -> Settlement {
    let mut settlement = run.succeed();
    let hand_off = |key: &&str| NewHandOff {
        tenant: Some("acme".to_owned()),
        correlation_id: Some("request-9".to_owned()),
        ..NewHandOff::new(PIPELINE, *key, serde_json::json!({ "page": key }))
    };
    settlement.hand_offs = keys.iter().map(hand_off).collect();
    settlement
}

async fn hand_off(world: &World, keys: &[&str]) -> JobId {
    let run = world.run(world.job()).await;
    world.apply(handing(&run, keys)).await;
    run.id()
}

fn admission(world: &World, key: &str) -> NewAdmission {
    NewAdmission { key: key.to_owned(), job: world.job().named("index") }
}

async fn admit(world: &World, admissions: &[NewAdmission]) -> Vec<bool> {
    world.store.admit_hand_offs(PIPELINE, admissions.to_vec()).await.expect("admits")
}

/// Joins a node that knows `index`.
async fn indexer(world: &World) -> Node {
    let node = world.stranger().knowing(&[("index", 1)]);
    node.join(hours(1000)).await;
    node
}

pub async fn i_05_declared_pipelines_belong_to_the_newest_version(world: &World) {
    assert_eq!(accepted(world).await, None);
    let first = program(world, "site", 1).await;
    assert!(declare(world, &first, &[acceptor(Some(5))]).await.is_empty());
    let record = accepted(world).await.expect("it is accepted");
    assert_eq!((record.program.as_str(), record.job.as_str()), ("site", "index"));
    assert_eq!((record.backlog_limit, record.backlog, record.refusals), (Some(5), 0, 0));
    assert_eq!(record.room(), Some(5));
    let next = program(world, "site", 2).await;
    assert!(declare(world, &next, &[acceptor(None)]).await.is_empty());
    assert_eq!(accepted(world).await.expect("it is accepted").room(), None);
    assert!(declare(world, &first, &[]).await.is_empty(), "its declarations are not the newest");
    assert!(accepted(world).await.is_some());
    assert!(declare(world, &next, &[]).await.is_empty());
    assert_eq!(accepted(world).await, None);
}

pub async fn i_05_one_program_accepts_a_pipeline(world: &World) {
    let site = program(world, "site", 1).await;
    assert!(declare(world, &site, &[acceptor(Some(5))]).await.is_empty());
    let shop = program(world, "shop", 1).await;
    assert_eq!(declare(world, &shop, &[acceptor(Some(9))]).await, [PIPELINE]);
    assert!(declare(world, &shop, &[]).await.is_empty(), "it removes nothing of another program");
    assert_eq!(accepted(world).await.expect("it is accepted").program, "site");
    site.leave().await;
    world.pass(secs(1)).await;
    assert!(
        declare(world, &shop, &[acceptor(Some(9))]).await.is_empty(),
        "no node runs the other program"
    );
    let record = accepted(world).await.expect("it is accepted");
    assert_eq!((record.program.as_str(), record.backlog_limit), ("shop", Some(9)));
}

pub async fn i_05_hand_off_is_admitted_once(world: &World) {
    let from = hand_off(world, &["a", "b"]).await;
    let site = program(world, "site", 1).await;
    declare(world, &site, &[acceptor(Some(5))]).await;
    let taken = world.store.take_hand_offs(PIPELINE, 10, mins(5)).await.expect("takes");
    let origin = |it: &ratchet_store::model::HandOff| {
        (it.handed.tenant.clone(), it.handed.correlation_id.clone())
    };
    assert_eq!(origin(&taken[0]), (Some("acme".to_owned()), Some("request-9".to_owned())));
    world.pass(secs(3)).await;
    let first = admission(world, "a");
    assert_eq!(admit(world, &[first.clone(), admission(world, "absent")]).await, [true, false]);
    assert_eq!(world.state(first.job.id).await, JobState::Pending);
    // A repeated call, as after a lost reply, and another process that held the same hand-off.
    let other = admission(world, "a");
    assert_eq!(admit(world, &[first.clone(), other.clone()]).await, [true, false]);
    assert_eq!(world.find(other.job.id).await, None);
    let twice = [admission(world, "b"), admission(world, "b")];
    assert_eq!(admit(world, &twice).await, [true, false]);
    let found = world.store.admission(first.job.id).await.expect("reads").expect("it was admitted");
    assert_eq!((found.pipeline.as_str(), found.key.as_str(), found.from), (PIPELINE, "a", from));
    assert_eq!(found.handed_at, taken[0].at);
    assert!(found.latency() >= secs(3) && found.latency() < hours(1), "{found:?}");
    assert_eq!(world.store.admission(other.job.id).await.expect("reads"), None);
    let again = world.store.take_hand_offs(PIPELINE, 10, mins(0)).await.expect("takes");
    assert!(again.is_empty(), "an admitted hand-off is not handed out");
    hand_off(world, &["a"]).await;
    let stats = world.store.hand_off_stats(PIPELINE).await.expect("reads");
    assert_eq!((stats.backlog, stats.finished, stats.repeats, stats.admitted), (2, 0, 1, 2));
    assert!(stats.latency >= secs(3) && stats.longest_latency >= stats.latency, "{stats:?}");
}

pub async fn i_05_finished_hand_off_is_not_admitted(world: &World) {
    hand_off(world, &["a"]).await;
    world.store.finish_hand_offs(PIPELINE, &["a".to_owned()]).await.expect("finishes");
    let late = admission(world, "a");
    assert_eq!(admit(world, std::slice::from_ref(&late)).await, [false]);
    assert_eq!(world.find(late.job.id).await, None);
}

pub async fn i_05_backlog_counts_until_the_job_has_ended(world: &World) {
    let site = program(world, "site", 1).await;
    declare(world, &site, &[acceptor(Some(5))]).await;
    hand_off(world, &["a", "b", "c"]).await;
    assert_eq!(backlog(world).await, 3);
    let jobs: Vec<_> = ["a", "b", "c"].iter().map(|key| admission(world, key)).collect();
    assert_eq!(admit(world, &jobs).await, [true, true, true]);
    assert_eq!(backlog(world).await, 3);
    let node = indexer(world).await;
    let run = node.claim_one().await;
    assert_eq!(backlog(world).await, 3, "it is running");
    world.apply(run.retry(secs(0))).await;
    assert_eq!(backlog(world).await, 3, "it is tried again");
    let run = node.claim_one().await;
    world.apply(run.succeed()).await;
    assert_eq!(backlog(world).await, 2);
    let run = node.claim_one().await;
    let failed = run.id();
    world.apply(run.fail()).await;
    assert_eq!(backlog(world).await, 1, "a dead letter does not hold publishers");
    for id in jobs.iter().map(|it| it.job.id) {
        if world.state(id).await == JobState::Pending {
            world.cancel(id).await;
        }
    }
    assert_eq!(backlog(world).await, 0);
    world.retry(failed).await;
    assert_eq!(backlog(world).await, 1, "it waits again");
    let run = node.claim_one().await;
    world.apply(run.fail()).await;
    assert_eq!(admit(world, &[]).await, Vec::<bool>::new());
    world.retry(failed).await;
    assert_eq!(backlog(world).await, 0, "its end was noted before the retry");
    let stats = world.store.hand_off_stats(PIPELINE).await.expect("reads");
    assert_eq!((stats.finished, stats.admitted), (3, 3));
}

pub async fn i_05_admitted_job_can_be_paused_and_purged(world: &World) {
    let site = program(world, "site", 1).await;
    declare(world, &site, &[acceptor(Some(5))]).await;
    hand_off(world, &["a", "b"]).await;
    let jobs = [admission(world, "a"), admission(world, "b")];
    admit(world, &jobs).await;
    world.pause(jobs[0].job.id).await;
    assert_eq!(backlog(world).await, 2, "a paused job waits");
    let node = indexer(world).await;
    let run = node.claim_one().await;
    world.apply(run.fail()).await;
    world.pause(run.id()).await;
    assert_eq!(backlog(world).await, 1, "a paused dead letter does not wait");
    world.cancel(jobs[0].job.id).await;
    world.pass(hours(2)).await;
    world.purge(JobState::Canceled, hours(1)).await;
    assert_eq!(backlog(world).await, 0);
    assert!(world.store.admission(jobs[0].job.id).await.expect("reads").is_some());
}

pub async fn i_05_jobs_with_keys_are_not_admitted(world: &World) {
    hand_off(world, &["a"]).await;
    let keyed = |change: fn(&mut NewJob)| {
        let mut admission = admission(world, "a");
        change(&mut admission.job);
        admission
    };
    let business = keyed(|job| job.spec.business_key = Some("k".to_owned()));
    let idempotent = keyed(|job| job.spec.idempotency_key = Some("k".to_owned()));
    for refused in [business, idempotent] {
        let id = refused.job.id;
        let error = world.store.admit_hand_offs(PIPELINE, vec![refused]).await;
        let why = error.expect_err("is refused").to_string();
        assert!(why.contains("`a`") && why.contains("`pages`"), "{why}");
        assert_eq!(world.find(id).await, None);
    }
    assert_eq!(admit(world, &[admission(world, "a")]).await, [true], "the hand-off still waits");
}

pub async fn i_05_refusals_are_counted_with_the_run(world: &World) {
    let refusing = |mut settlement: Settlement, count| {
        settlement.refused_hand_offs = vec![(PIPELINE.to_owned(), count), ("other".to_owned(), 1)];
        settlement
    };
    let site = program(world, "site", 1).await;
    declare(world, &site, &[acceptor(Some(5))]).await;
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    world.apply(refusing(run.defer(secs(0)), 1)).await;
    let run = node.claim_one().await;
    world.apply(refusing(run.succeed(), 2)).await;
    world.stale(refusing(run.succeed(), 7)).await;
    assert_eq!(accepted(world).await.expect("it is accepted").refusals, 3);
    let next = program(world, "site", 2).await;
    declare(world, &next, &[acceptor(Some(6))]).await;
    assert_eq!(accepted(world).await.expect("it is accepted").refusals, 3, "it is the same one");
}
