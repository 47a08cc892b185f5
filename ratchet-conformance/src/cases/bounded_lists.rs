//! How many jobs a page of a listing examines.

use std::sync::Arc;

use ratchet_core::Ratchet;
use ratchet_store::model::{ArgumentTest, Filter, JobId, JobState, Page, PageRequest};

use crate::World;
use crate::fixture::{JobExt, secs};

/// Submits a job, then more jobs than a page examines, and then a job in another queue. Returns the first one.
async fn fill(world: &World) -> JobId {
    let mut jobs = vec![world.job().payload(br#"{"n":7}"#).tenant("rare")];
    jobs.extend((0..Page::EXAMINED + 5).map(|_| world.job()));
    jobs.push(world.job().queue("other"));
    let mut first = None;
    while !jobs.is_empty() {
        let rest = jobs.split_off(jobs.len().min(1000));
        let ids = world.submit_all(jobs).await;
        first.get_or_insert(ids[0]);
        jobs = rest;
    }
    first.expect("an id")
}

/// Lists the two pages of a filter that matches nothing but the first of these jobs.
async fn check_two_pages(world: &World, filter: &Filter, first: JobId) {
    let most = u64::from(Page::EXAMINED);
    let request = PageRequest { before: None, limit: 10 };
    let page = world.store.list(filter, request).await.expect("a page");
    assert!(page.jobs.is_empty() && page.is_limited(request), "{filter}: {page:?}");
    assert_eq!(page.examined, Some(most), "{filter}");
    let request = PageRequest { before: page.next, limit: 10 };
    let page = world.store.list(filter, request).await.expect("a page");
    let found: Vec<_> = page.jobs.iter().map(|job| job.id).collect();
    assert_eq!((found, page.next, page.examined), (vec![first], None, Some(7)), "{filter}");
}

/// Conditions without an index, whether a statement can compare them or not.
pub async fn o_14_a_page_examines_a_limited_number_of_jobs(world: &World) {
    let first = fill(world).await;
    let by_argument = Filter::any().argument(ArgumentTest::new(["n"], "7"));
    check_two_pages(world, &by_argument, first).await;
    check_two_pages(world, &Filter::any().tenant("rare"), first).await;
    check_two_pages(world, &by_argument.tenant("rare").queue("default"), first).await;
    // The last job is found at once, so no other job is examined.
    let filter = Filter::any().queue("other");
    let request = PageRequest { before: None, limit: 1 };
    let page = world.store.list(&filter, request).await.expect("a page");
    assert_eq!((page.jobs.len(), page.examined), (1, Some(1)));
    assert_eq!(page.next, Some(page.jobs[0].id));
    let oldest = filter.oldest_first();
    let page = world.store.list(&oldest, request).await.expect("a page");
    assert_eq!((page.jobs.len(), page.examined), (0, Some(u64::from(Page::EXAMINED))));
    let request = PageRequest { before: page.next, limit: 1 };
    let page = world.store.list(&oldest, request).await.expect("a page");
    assert_eq!((page.jobs.len(), page.next, page.examined), (1, None, Some(7)));
}

/// A count stops as well, unless the store keeps the number.
pub async fn o_14_counts_examine_a_limited_number_of_jobs(world: &World) {
    fill(world).await;
    let ratchet =
        Ratchet::builder_shared(Arc::clone(&world.store)).jobs([]).build().await.expect("builds");
    let all = u64::from(Page::EXAMINED) + 7;
    let count = async |filter: &Filter, cap| {
        let found = ratchet.jobs().count(filter, cap).await.expect("counts");
        (found.count, found.exact)
    };
    assert_eq!(count(&Filter::any(), u64::MAX).await, (all, true));
    assert_eq!(count(&Filter::any().state(JobState::Pending), 5).await, (5, false));
    assert_eq!(count(&Filter::any().queue("other"), 5).await, (1, true));
    assert_eq!(count(&Filter::any().state(JobState::Failed), 5).await, (0, true));
    // The first job is the last one that a search would find.
    assert_eq!(count(&Filter::any().tenant("rare"), 5).await, (0, false));
    assert_eq!(count(&Filter::any().tenant("rare").oldest_first(), 5).await, (1, false));
}

/// An index finds the jobs in these states, so no others are examined.
pub async fn o_14_jobs_in_rare_states_are_found_at_once(world: &World) {
    let failed = world.failed(world.job().tenant("acme")).await;
    let canceled = world.submit(world.job().tenant("acme")).await;
    world.cancel(canceled).await;
    let paused = world.submit(world.job().tenant("acme")).await;
    world.pause(paused).await;
    let failed_then_paused = world.failed(world.job().tenant("acme")).await;
    world.pause(failed_then_paused).await;
    let node = world.node().await;
    let running = world.submit(world.job().tenant("acme")).await;
    assert_eq!(node.claim(1).await.len(), 1);
    let retried = world.failed(world.job().tenant("acme")).await;
    world.retry(retried).await;
    world.pass(secs(1)).await;
    let waiting = world.submit(world.job().tenant("acme").due_in(secs(100))).await;
    for _ in 0..20 {
        world.submit(world.job().queue("other")).await;
    }
    let request = PageRequest { before: None, limit: 10 };
    for (state, mut wanted) in [
        (JobState::Failed, vec![failed]),
        (JobState::Canceled, vec![canceled]),
        (JobState::Paused, vec![failed_then_paused, paused]),
        (JobState::Running, vec![running]),
    ] {
        let filter = Filter::any().state(state).tenant("acme");
        for filter in [filter.clone(), filter.oldest_first()] {
            let page = world.store.list(&filter, request).await.expect("a page");
            let found: Vec<_> = page.jobs.iter().map(|job| job.id).collect();
            assert_eq!((&found, page.next), (&wanted, None), "{filter}");
            assert_eq!(page.examined, Some(wanted.len() as u64), "{filter}");
            wanted.reverse();
        }
    }
    let filter = Filter::any().state(JobState::Pending).tenant("acme");
    let page = world.store.list(&filter, request).await.expect("a page");
    let found: Vec<_> = page.jobs.iter().map(|job| job.id).collect();
    assert_eq!((found, page.next, page.examined), (vec![waiting, retried], None, Some(22)));
    let filter = Filter::any().fingerprint("boom");
    let page = world.store.list(&filter, request).await.expect("a page");
    assert_eq!((page.jobs.len(), page.examined), (2, Some(3)));
    let open = Filter::any().state(JobState::Paused).state(JobState::Failed);
    let open = open.state(JobState::Running);
    let page = world.store.list(&open, PageRequest { before: None, limit: 2 }).await;
    let page = page.expect("a page");
    let found: Vec<_> = page.jobs.iter().map(|job| job.id).collect();
    assert_eq!(found, [running, failed_then_paused]);
    assert_eq!((page.next, page.examined), (Some(failed_then_paused), None));
}
