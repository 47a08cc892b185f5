//! Runs random workflows on four worker processes, one of which is repeatedly killed. Every job and group must end as
//! the model predicts, and every member must be counted once.
//!
//! `cargo run --release --features workflows --bin workflows -- 300` runs 300 small workflows, `-- 100 1000` runs 100
//! workflows of 1000 steps.

use std::collections::{BTreeMap, HashSet};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use fastrand::Rng;
use ratchet::model::{
    Due, Edge, EdgeTrigger, GroupId, GroupKind, GroupRecord, GroupState, JobId, JobSpec, JobState,
    NewGraph, NewJob, OnConflict, Step, Vertex, Wait, WaitMode,
};
use ratchet::{Job as _, Ratchet, Store, condition, job};
use ratchet_bench_pg::{Server, ids};
use ratchet_conformance::composition::{Fate, fate, predict_told};
use ratchet_pg::PgStore;
use sqlx::PgPool;

#[job(name = "bench.step")]
async fn work_step(fails: bool, nap: u64) -> Result<u32, std::io::Error> {
    tokio::time::sleep(Duration::from_millis(nap)).await;
    if fails { Err(std::io::Error::other("as requested")) } else { Ok(1) }
}

#[condition(name = "yes")]
fn yes(_output: &u32) -> bool {
    true
}

#[condition(name = "no")]
fn no(_output: &u32) -> bool {
    false
}

struct Flow {
    graph: NewGraph,
    fails: HashSet<JobId>,
}

/// Generates a workflow with nested groups and every kind of edge. One job in six fails.
fn flow(rng: &mut Rng, jobs: usize) -> Flow {
    let ids = ids();
    let group = |kind, owner| {
        let mut group = GroupRecord::new(GroupId::from_uuid(ids.job().uuid()), kind, "random");
        group.owner = owner;
        group
    };
    let first = group(GroupKind::Workflow, None);
    let mut inside: BTreeMap<GroupId, Vec<Vertex>> = BTreeMap::from([(first.id, Vec::new())]);
    let mut graph = NewGraph { groups: vec![first], ..NewGraph::default() };
    let mut fails = HashSet::new();
    for number in 0..jobs {
        let owner = graph.groups[rng.usize(..graph.groups.len())].id;
        let point = if rng.u8(..6) == 0 && graph.groups.len() < 6 + jobs / 20 {
            let kind = [GroupKind::Chain, GroupKind::Batch, GroupKind::Workflow][rng.usize(..3)];
            let inner = group(kind, Some(owner));
            let id = inner.id;
            inside.insert(id, Vec::new());
            graph.groups.push(inner);
            Vertex::Group(id)
        } else {
            let id = ids.job();
            let failing = rng.u8(..6) == 0;
            if failing {
                fails.insert(id);
            }
            let mut step = Step::default();
            step.group = Some(owner);
            step.number = u32::try_from(number).expect("few");
            step.first_match = rng.u8(..4) == 0;
            step.wait = rng.bool().then(|| Wait::new(WaitMode::Any, 0));
            let payload = format!("{{\"fails\":{failing},\"nap\":{}}}", rng.u8(..40));
            let mut spec = JobSpec::new("bench.step", payload.into_bytes());
            spec.options.max_retries = 0;
            spec.step = Some(Box::new(step));
            graph.jobs.push(NewJob::new(id, spec));
            Vertex::Job(id)
        };
        let before = inside.get_mut(&owner).expect("a group");
        for _ in 0..rng.usize(..3) {
            if before.is_empty() {
                break;
            }
            let parent = before[rng.usize(..before.len())];
            let when = match (rng.u8(..6), parent) {
                (0, _) => EdgeTrigger::Failure,
                (1, _) => EdgeTrigger::Always,
                (2, Vertex::Job(_)) => {
                    EdgeTrigger::Condition(["yes", "no"][rng.usize(..2)].to_owned())
                }
                (2, Vertex::Group(_)) => EdgeTrigger::Rate(rng.u32(..1_000_000)),
                _ => EdgeTrigger::Success,
            };
            graph.edges.push(Edge::new(parent, point, when));
        }
        before.push(point);
    }
    ratchet_store::rules::graph::link(&mut graph);
    Flow { graph, fails }
}

/// Treats canceled and skipped as equal. If a step has several reasons not to begin, the first one is stored, and which
/// one is first depends on the order of events.
fn alike(a: Fate, b: Fate) -> bool {
    let idle = |fate| matches!(fate, Fate::Canceled | Fate::Skipped);
    a == b || (idle(a) && idle(b))
}

#[tokio::main]
async fn main() {
    let mut args = std::env::args().skip(1);
    let arg = args.next().unwrap_or_default();
    if arg.starts_with("postgres:") {
        return work(&arg).await;
    }
    let count: usize = arg.parse().unwrap_or(200);
    let steps: Option<usize> = args.next().and_then(|steps| steps.parse().ok()).filter(|n| *n > 0);
    let seed = args.next().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| fastrand::u64(..));
    println!("seed {seed}");
    let mut rng = Rng::with_seed(seed);
    let server = Server::start();
    let store = PgStore::connect(&server.url()).await.expect("opens");
    let flows: Vec<_> = (0..count).map(|n| flow(&mut rng, steps.unwrap_or(4 + n % 40))).collect();
    let worker = || {
        let program = std::env::current_exe().expect("this program");
        Command::new(program).arg(server.url()).spawn().expect("starts")
    };
    let mut workers: Vec<Child> = (0..4).map(|_| worker()).collect();
    let (started, mut kills) = (Instant::now(), 0);
    let mut open: Vec<&Flow> = Vec::new();
    let mut coming = flows.iter();
    loop {
        // Insert workflows while workers are killed.
        for flow in coming.by_ref().take(count.div_ceil(20)) {
            store.insert_graph(flow.graph.clone()).await.expect("inserted");
            open.push(flow);
        }
        tokio::time::sleep(Duration::from_millis(600)).await;
        let mut going = Vec::new();
        for flow in open {
            let root = flow.graph.groups[0].id;
            let group = store.group(root).await.expect("reads").expect("is there");
            if !group.state.is_ended() {
                going.push(flow);
            }
        }
        open = going;
        let all_in = coming.len() == 0;
        if all_in && open.is_empty() {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(900), "{} do not end", open.len());
        // Stop killing near the end: a job that is always killed would be poisoned.
        if !all_in || open.len() > count / 20 {
            let victim = rng.usize(..workers.len());
            workers[victim].kill().expect("killed");
            workers[victim].wait().expect("gone");
            workers[victim] = worker();
            kills += 1;
        }
    }
    let took = started.elapsed();
    for mut worker in workers {
        worker.kill().expect("killed");
        worker.wait().expect("gone");
    }
    let (mut jobs, mut reruns, mut poisoned) = (0, 0, 0);
    for flow in &flows {
        let graph = &flow.graph;
        let mut recorded = BTreeMap::new();
        let mut fails = flow.fails.clone();
        for job in &graph.jobs {
            let record = store.get(job.id).await.expect("reads").expect("is there");
            let real = match record.state {
                JobState::Succeeded => Fate::Succeeded,
                JobState::Failed => Fate::Failed,
                JobState::Canceled => fate(record.canceled),
                other => panic!("job {} is {other}", job.id),
            };
            // A job that crashed too many workers fails as poisoned.
            if real == Fate::Failed && fails.insert(job.id) {
                assert!(record.crashes > 1, "{record:?}");
                poisoned += 1;
            }
            jobs += 1;
            reruns += record.run.saturating_sub(1);
            recorded.insert(Vertex::Job(job.id), real);
        }
        for group in &graph.groups {
            let record = store.group(group.id).await.expect("reads").expect("is there");
            let real = match record.state {
                GroupState::Succeeded => Fate::Succeeded,
                GroupState::Failed => Fate::Failed,
                GroupState::Canceled => fate(record.canceled),
                other => panic!("group {} is {other}", group.id),
            };
            assert_eq!(record.counts.ended(), record.counts.total, "{record:?}");
            recorded.insert(Vertex::Group(group.id), real);
        }
        let idle = |(_, fate): &(&Vertex, &Fate)| matches!(fate, Fate::Canceled | Fate::Skipped);
        let idle = recorded.iter().filter(idle).map(|(point, fate)| (*point, *fate)).collect();
        let fates = predict_told(graph, |id| fails.contains(&id), &idle);
        for (point, real) in recorded {
            assert!(alike(real, fates[&point]), "{point}: {real:?}, not {:?}", fates[&point]);
        }
    }
    // A step that was released twice would have a run without a line in the history.
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let sql = "SELECT count(*) FROM ratchet.outcome o WHERE o.run > 0 AND o.run - 1 <>
        (SELECT count(*) FROM ratchet.attempt a WHERE a.job = o.job AND a.run < o.run)";
    let twice: i64 = sqlx::query_scalar(sql).fetch_one(&pool).await.expect("counts");
    assert_eq!(twice, 0, "runs without a line in the history");
    println!(
        "{count} workflows of {jobs} jobs, {kills} kills, {took:?}: all as predicted; {reruns} re-runs, {poisoned} poisoned"
    );
    store.close().await;
}

async fn work(url: &str) {
    let store = PgStore::connect(url).await.expect("opens");
    let ratchet = Ratchet::builder(store)
        // Do not register the jobs of the conformance suites.
        .jobs([WorkStep::JOB])
        .concurrency(20)
        .config(|config| {
            config.lease = Duration::from_secs(2);
            config.heartbeat = Duration::from_millis(400);
            config.maintenance_interval = Duration::from_millis(400);
        })
        .build()
        .await
        .expect("builds");
    let worker = ratchet.start().await.expect("starts");
    worker.stopped().await;
}
