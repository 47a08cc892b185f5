//! Random filters over random jobs: a store selects what [`Filter::matches`] selects.

use std::sync::Arc;

use fastrand::Rng;
use ratchet_core::Ratchet;
use ratchet_store::model::{
    ArgumentTest, BulkVerb, Claimed, Filter, JobId, JobRecord, JobState, PageRequest,
};

use crate::World;
use crate::fixture::{JobExt, RunExt, secs};

const JOBS: u32 = 60;

/// How many random filters are compared. `RATCHET_FILTERS` sets another number.
fn rounds() -> u32 {
    std::env::var("RATCHET_FILTERS").map_or(200, |number| number.parse().expect("a number"))
}

/// Submits jobs that differ in everything that a filter selects by.
pub(super) async fn fill(world: &World, rng: &mut Rng) {
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

pub(super) fn random(rng: &mut Rng, jobs: &[JobRecord]) -> Filter {
    let mut filter = Filter::any();
    for _ in 0..rng.u8(1..4) {
        let job = &jobs[rng.usize(..jobs.len())];
        filter = match rng.u8(..20) {
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
            17 => filter.id(job.id),
            18 => (0..rng.usize(2..30))
                .fold(filter, |filter, _| filter.id(jobs[rng.usize(..jobs.len())].id)),
            _ if rng.bool() => filter.argument(ArgumentTest::new(["n"], rng.u8(..4).to_string())),
            _ => filter.argument(ArgumentTest::new(["to", "1", "b"], rng.u8(..4).to_string())),
        };
    }
    filter
}

/// Returns every job that a listing finds, page by page.
pub(super) async fn listed(world: &World, filter: &Filter) -> Vec<JobId> {
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

async fn check_counts(ratchet: &Ratchet, filter: &Filter, wanted: &[JobId]) {
    let all = wanted.len() as u64;
    for cap in [1000, 5] {
        let found = ratchet.jobs().count(filter, cap).await.expect("counts");
        assert_eq!(found.count, all.min(cap), "{filter}");
        // A full page of a filter that compares jobs does not show whether it is the last one.
        if all != cap {
            assert_eq!(found.exact, all < cap, "{filter}");
        }
    }
}

/// A preview finds the jobs that a listing finds, in the states that the verb changes.
async fn check_preview(ratchet: &Ratchet, verb: BulkVerb, filter: &Filter, jobs: &[JobRecord]) {
    let preview = ratchet.operations().preview(verb, filter).await.expect("a preview");
    let wanted: Vec<_> = jobs
        .iter()
        .filter(|job| filter.matches(job) && preview.filter.states.contains(&job.state))
        .map(|job| job.id)
        .collect();
    assert_eq!((preview.count, preview.exact), (wanted.len() as u64, true), "{filter}");
    assert!(preview.sample.iter().all(|id| wanted.contains(id)), "{filter}");
}

pub async fn o_03_every_filter_selects_what_it_means(world: &World) {
    let mut rng = Rng::with_seed(28);
    fill(world, &mut rng).await;
    let all = PageRequest { before: None, limit: 1000 };
    let jobs = world.store.list(&Filter::any(), all).await.expect("a page").jobs;
    assert_eq!(jobs.len(), JOBS as usize);
    let mut selective = 0;
    let ratchet =
        Ratchet::builder_shared(Arc::clone(&world.store)).jobs([]).build().await.expect("builds");
    for round in 0..rounds() {
        let filter = random(&mut rng, &jobs);
        let text = filter.to_string();
        let now = world.now().await;
        assert_eq!(Filter::parse(&text, now).expect("reads"), filter, "{text}");
        let mut wanted: Vec<_> =
            jobs.iter().filter(|job| filter.matches(job)).map(|job| job.id).collect();
        selective += usize::from(!wanted.is_empty() && wanted.len() < jobs.len());
        check_counts(&ratchet, &filter, &wanted).await;
        let verbs = [BulkVerb::Retry, BulkVerb::Cancel, BulkVerb::Pause, BulkVerb::Resume];
        let verb = verbs[round as usize % verbs.len()].clone();
        check_preview(&ratchet, verb, &filter, &jobs).await;
        assert_eq!(listed(world, &filter).await, wanted, "{text}");
        wanted.reverse();
        assert_eq!(listed(world, &filter.oldest_first()).await, wanted, "{text}");
    }
    assert!(selective > 100, "only {selective} filters select some jobs and not others");
}
