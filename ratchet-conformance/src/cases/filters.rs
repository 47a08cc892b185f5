//! Random filters over random jobs: a store selects what [`Filter::matches`] selects.

use fastrand::Rng;
use ratchet_store::model::{
    ArgumentTest, Claimed, Filter, JobId, JobRecord, JobState, PageRequest,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, secs};

const JOBS: u32 = 60;
const FILTERS: u32 = 250;

/// Submits jobs that differ in everything that a filter selects by.
async fn fill(world: &World, rng: &mut Rng) {
    let node = world.node().await;
    for _ in 0..JOBS {
        let payload = format!(r#"{{"n":{},"to":["a",{{"b":"{}"}}]}}"#, rng.u8(..3), rng.u8(..3));
        let mut job = world.job().payload(payload.as_bytes());
        job = if rng.bool() { job.named("bill") } else { job };
        job = if rng.bool() { job.queue("other") } else { job };
        job = if rng.bool() { job.tag("x") } else { job };
        job = if rng.bool() { job.tenant("acme") } else { job };
        job = if rng.u8(..4) == 0 { job.due_in(secs(rng.u64(1..200))) } else { job };
        let id = world.submit(job).await;
        world.pass(secs(10)).await;
        match rng.u8(..6) {
            0 => drop(world.pause(id).await),
            1 => drop(world.cancel(id).await),
            _ => continue_some(world, &node.claim(1).await, rng).await,
        }
    }
}

/// Settles runs in different ways, or leaves them.
async fn continue_some(world: &World, runs: &[Claimed], rng: &mut Rng) {
    for run in runs {
        let settlement = match rng.u8(..5) {
            0 => run.succeed(),
            1 => run.fail(),
            2 => run.fail_with("Connection refused"),
            3 => run.retry(secs(rng.u64(1..300))),
            _ => continue,
        };
        world.apply(settlement).await;
    }
}

fn random(rng: &mut Rng, jobs: &[JobRecord]) -> Filter {
    let mut filter = Filter::any();
    for _ in 0..rng.u8(1..4) {
        let job = &jobs[rng.usize(..jobs.len())];
        filter = match rng.u8(..18) {
            0 | 1 => filter.state(JobState::ALL[rng.usize(..6)]),
            2 => filter.queue(["default", "other"][rng.usize(..2)]),
            3 => filter.name(["mail", "bill"][rng.usize(..2)]),
            4 => filter.tag("x"),
            5 => filter.tenant("acme"),
            6 => filter.fingerprint("boom"),
            7 => filter.queued_before(job.queued_at),
            8 => filter.queued_after(job.queued_at),
            9 => filter.attempts_above(rng.u32(..2)),
            10 => filter.attempts_below(rng.u32(..2)),
            11 => filter.due_before(job.due),
            12 => filter.due_after(job.due),
            13 => job.finished_at.map_or(filter.clone(), |at| filter.finished_after(at)),
            14 => job.finished_at.map_or(filter.clone(), |at| filter.finished_before(at)),
            15 => filter.error_text(["REFUSED", "oo"][rng.usize(..2)]),
            16 => job.node.map_or(filter.clone(), |node| filter.node(node)),
            _ if rng.bool() => filter.argument(ArgumentTest::new(["n"], rng.u8(..4).to_string())),
            _ => filter.argument(ArgumentTest::new(["to", "1", "b"], rng.u8(..4).to_string())),
        };
    }
    filter
}

/// Returns every job that a listing finds, page by page.
async fn listed(world: &World, filter: &Filter) -> Vec<JobId> {
    let (mut found, mut before) = (Vec::new(), None);
    // The loop is bounded so that a store that ignores the cursor fails instead of hanging.
    for _ in 0..JOBS {
        let request = PageRequest { before, limit: 7 };
        let page = world.store.list(filter, request).await.expect("a page");
        found.extend(page.jobs.iter().map(|job| job.id));
        before = page.next;
        if before.is_none() {
            return found;
        }
    }
    panic!("{filter}: the pages have no end");
}

pub async fn o_03_every_filter_selects_what_it_means(world: &World) {
    let mut rng = Rng::with_seed(28);
    fill(world, &mut rng).await;
    let all = PageRequest { before: None, limit: 1000 };
    let jobs = world.store.list(&Filter::any(), all).await.expect("a page").jobs;
    assert_eq!(jobs.len(), JOBS as usize);
    let mut selective = 0;
    for _ in 0..FILTERS {
        let filter = random(&mut rng, &jobs);
        let text = filter.to_string();
        let now = world.now().await;
        assert_eq!(Filter::parse(&text, now).expect("reads"), filter, "{text}");
        let mut wanted: Vec<_> =
            jobs.iter().filter(|job| filter.matches(job)).map(|job| job.id).collect();
        selective += usize::from(!wanted.is_empty() && wanted.len() < jobs.len());
        assert_eq!(listed(world, &filter).await, wanted, "{text}");
        wanted.reverse();
        assert_eq!(listed(world, &filter.oldest_first()).await, wanted, "{text}");
    }
    assert!(selective > 100, "only {selective} filters select some jobs and not others");
}
