//! Listing, filtering and counting jobs.

use ratchet_store::model::{ArgumentTest, Filter, JobId, JobState, PageRequest, TerminalReason};

use crate::World;
use crate::fixture::{JobExt, RunExt, secs};

pub async fn l_07_listing_is_newest_first(world: &World) {
    let mut wanted = world.submit_all(world.jobs(5)).await;
    wanted.reverse();
    assert_eq!(world.list(Filter::any()).await, wanted);
}

pub async fn l_07_pages_follow_one_another(world: &World) {
    let mut wanted = world.submit_all(world.jobs(7)).await;
    wanted.reverse();
    let (mut seen, mut sizes, mut before) = (Vec::new(), Vec::new(), None);
    // The loop is bounded so that a store that ignores the cursor fails instead of hanging.
    for _ in 0..5 {
        let request = PageRequest { before, limit: 3 };
        let page = world.store.list(&Filter::any(), request).await.expect("a page");
        sizes.push(page.jobs.len());
        seen.extend(page.jobs.iter().map(|job| job.id));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!((seen, sizes), (wanted, vec![3, 3, 1]));
}

pub async fn l_07_listing_can_be_oldest_first(world: &World) {
    let wanted = world.submit_all(world.jobs(7)).await;
    let oldest_first = Filter::any().oldest_first();
    assert_eq!(world.list(oldest_first.clone()).await, wanted);
    let (mut seen, mut sizes, mut before) = (Vec::new(), Vec::new(), None);
    for _ in 0..5 {
        let request = PageRequest { before, limit: 3 };
        let page = world.store.list(&oldest_first, request).await.expect("a page");
        sizes.push(page.jobs.len());
        seen.extend(page.jobs.iter().map(|job| job.id));
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    assert_eq!((seen, sizes), (wanted, vec![3, 3, 1]));
}

pub async fn l_07_last_full_page_has_no_next(world: &World) {
    world.submit_all(world.jobs(3)).await;
    let request = PageRequest { before: None, limit: 3 };
    let page = world.store.list(&Filter::any(), request).await.expect("a page");
    assert_eq!((page.jobs.len(), page.next), (3, None));
}

pub async fn l_07_pages_of_a_filter_skip_what_does_not_fit(world: &World) {
    let mut wanted = Vec::new();
    for _ in 0..4 {
        world.submit(world.job().named("bill")).await;
        wanted.insert(0, world.submit(world.job()).await);
    }
    let filter = Filter::any().name("mail");
    let first = PageRequest { before: None, limit: 3 };
    let page = world.store.list(&filter, first).await.expect("a page");
    let next = PageRequest { before: page.next, limit: 3 };
    let rest = world.store.list(&filter, next).await.expect("a page");
    let ids: Vec<_> = page.jobs.iter().chain(&rest.jobs).map(|job| job.id).collect();
    assert_eq!((ids, rest.next), (wanted, None));
}

pub async fn l_07_listing_tells_what_get_tells(world: &World) {
    let run = world.run(world.job().tag("t")).await;
    world.apply(run.fail()).await;
    let page = world.store.list(&Filter::any(), PageRequest::default()).await.expect("a page");
    assert_eq!(page.jobs, [world.get(run.id()).await]);
}

async fn one_of_each(world: &World) -> [(JobState, JobId); 6] {
    let done = world.succeeded(world.job()).await;
    let failed = world.failed(world.job()).await;
    let canceled = world.canceled(world.job()).await;
    let running = world.run(world.job()).await.id();
    let paused = world.submit(world.job()).await;
    world.pause(paused).await;
    let pending = world.submit(world.job()).await;
    [
        (JobState::Succeeded, done),
        (JobState::Failed, failed),
        (JobState::Canceled, canceled),
        (JobState::Running, running),
        (JobState::Paused, paused),
        (JobState::Pending, pending),
    ]
}

pub async fn l_07_jobs_are_found_by_state(world: &World) {
    for (state, id) in one_of_each(world).await {
        assert_eq!(world.list(Filter::any().state(state)).await, [id], "{state}");
    }
    let two = Filter::any().state(JobState::Failed).state(JobState::Succeeded);
    assert_eq!(world.list(two).await.len(), 2);
}

pub async fn l_07_jobs_are_found_by_what_was_submitted(world: &World) {
    let plain = world.submit(world.job()).await;
    let job = world.job().named("bill").queue("q").tag("x").tag("y").tenant("acme");
    let id = world.submit(job.key("order").correlation("request")).await;
    for filter in [
        Filter::any().name("bill"),
        Filter::any().queue("q"),
        Filter::any().tag("x"),
        Filter::any().tag("y"),
        Filter::any().tenant("acme"),
        Filter::any().business_key("order"),
        Filter::any().correlation_id("request"),
    ] {
        assert_eq!(world.list(filter.clone()).await, [id], "{filter:?}");
    }
    assert_eq!(world.list(Filter::any().name("mail")).await, [plain]);
    assert!(world.list(Filter::any().name("mail").queue("q")).await.is_empty());
}

pub async fn d_01_dead_jobs_are_found_by_what_went_wrong(world: &World) {
    let boom = world.failed(world.job()).await;
    let run = world.run(world.job()).await;
    world.apply(run.fail_with("bang")).await;
    assert_eq!(world.list(Filter::any().fingerprint("boom")).await, [boom]);
    assert_eq!(world.list(Filter::any().fingerprint("bang")).await, [run.id()]);
    assert_eq!(world.list(Filter::any().reason(TerminalReason::RetryExhausted)).await.len(), 2);
    assert!(world.list(Filter::any().reason(TerminalReason::Invalid)).await.is_empty());
}

pub async fn l_07_jobs_are_found_by_the_time_they_were_submitted(world: &World) {
    let old = world.submit(world.job()).await;
    world.pass(secs(60)).await;
    let between = world.now().await;
    world.pass(secs(60)).await;
    let new = world.submit(world.job()).await;
    assert_eq!(world.list(Filter::any().queued_before(between)).await, [old]);
    assert_eq!(world.list(Filter::any().queued_after(between)).await, [new]);
}

pub async fn o_03_jobs_are_found_by_their_arguments(world: &World) {
    let payload = |text: &str| text.as_bytes().to_vec();
    let order =
        world.submit(world.job().payload(&payload(r#"{"order":{"id":42},"to":["a","b"]}"#))).await;
    let signed = payload(r#"{"$ratchet":{"v":1,"sign":"s1:AAAA","args":{"order":{"id":43}}}}"#);
    let signed = world.submit(world.job().payload(&signed)).await;
    let sealed = payload(r#"{"$ratchet":{"v":1,"seal":"e1:AAAA"}}"#);
    world.submit(world.job().payload(&sealed)).await;
    world.submit(world.job().payload(&payload("not json"))).await;
    let test = |path: &str, value: &str| ArgumentTest::new(path.split('.'), value);
    for (tests, found) in [
        (vec![test("order.id", "42")], vec![order]),
        (vec![test("order.id", "43")], vec![signed]),
        (vec![test("order.id", "42"), test("to.1", "b")], vec![order]),
        (vec![test("order.id", "42"), test("to.1", "a")], vec![]),
        (vec![test("$ratchet.v", "1")], vec![]),
    ] {
        let filter = tests.into_iter().fold(Filter::any(), Filter::argument);
        assert_eq!(world.list(filter.clone()).await, found, "{filter}");
    }
}

pub async fn o_03_jobs_are_found_by_their_runs(world: &World) {
    let node = world.node().await;
    world.submit(world.job()).await;
    let retried = node.claim_one().await;
    world.apply(retried.retry(secs(3600))).await;
    world.submit(world.job()).await;
    let failed = node.claim_one().await;
    world.apply(failed.fail_with("Connection refused by host")).await;
    world.pass(secs(60)).await;
    let between = world.now().await;
    world.pass(secs(60)).await;
    let waiting = world.submit(world.job()).await;
    let (retried, failed) = (retried.id(), failed.id());
    let later = between.checked_add(secs(1800)).expect("in range");
    let error_type = world.get(failed).await.error.expect("an error").error_type;
    for (filter, found) in [
        (Filter::any().attempts_above(0), vec![failed, retried]),
        (Filter::any().attempts_below(1), vec![waiting]),
        (Filter::any().attempts_above(0).attempts_below(1), vec![]),
        (Filter::any().node(node.id), vec![failed, retried]),
        (Filter::any().node(world.stranger().id), vec![]),
        (Filter::any().error_text("connection REFUSED"), vec![failed]),
        (Filter::any().error_type(&error_type), vec![failed, retried]),
        (Filter::any().error_type(format!("{error_type}2")), vec![]),
        (Filter::any().due_after(later), vec![retried]),
        (Filter::any().due_before(later), vec![waiting, failed]),
        (Filter::any().finished_before(between), vec![failed]),
        (Filter::any().finished_after(between), vec![]),
        (Filter::any().state(JobState::Pending).attempts_above(0), vec![retried]),
    ] {
        assert_eq!(world.list(filter.clone()).await, found, "{filter}");
        let mut oldest: Vec<_> = found;
        oldest.reverse();
        assert_eq!(world.list(filter.clone().oldest_first()).await, oldest, "{filter}");
    }
}

pub async fn d_01_retried_job_is_no_longer_found_as_dead(world: &World) {
    let id = world.failed(world.job()).await;
    world.retry(id).await;
    assert!(world.list(Filter::any().fingerprint("boom")).await.is_empty());
    assert!(world.list(Filter::any().state(JobState::Failed)).await.is_empty());
}

pub async fn v_03_counts_follow_every_move(world: &World) {
    use JobState::{Canceled, Failed, Paused, Pending, Running};
    let id = world.submit(world.job().queue("default")).await;
    let node = world.node().await;
    let mut states = vec![only_state(world).await];
    let run = node.claim_one().await;
    states.push(only_state(world).await);
    world.apply(run.fail()).await;
    states.push(only_state(world).await);
    world.pause(id).await;
    states.push(only_state(world).await);
    world.resume(id).await;
    world.retry(id).await;
    world.cancel(id).await;
    states.push(only_state(world).await);
    assert_eq!(states, [Pending, Running, Failed, Paused, Canceled]);
}

/// Returns the state of the only job, according to the counts.
async fn only_state(world: &World) -> JobState {
    let counts = world.counts().await;
    let queue = &counts.queues["default"];
    let present: Vec<_> = queue.states.iter().filter(|(_, count)| **count > 0).collect();
    assert_eq!((present.len(), *present[0].1), (1, 1), "{counts:?}");
    *present[0].0
}

pub async fn v_03_counts_are_kept_by_queue(world: &World) {
    world.submit_all(world.jobs(3)).await;
    world.submit_all(world.jobs(2).into_iter().map(|job| job.queue("other")).collect()).await;
    let counts = world.counts().await;
    assert_eq!(counts.on("default", JobState::Pending), 3);
    assert_eq!(counts.on("other", JobState::Pending), 2);
    assert_eq!(counts.state(JobState::Pending), 5);
    assert_eq!(counts.on("other", JobState::Failed), 0);
}

pub async fn v_03_empty_store_counts_nothing(world: &World) {
    for state in JobState::ALL {
        assert_eq!(world.counts().await.state(state), 0);
    }
}
