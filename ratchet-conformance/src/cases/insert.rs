//! Inserts: a job must be stored exactly as it was submitted.

use std::time::Duration;

use ratchet_core::Priority;
use ratchet_store::model::{InsertError, Inserted, JobRecord, JobSpec, JobState, NewJob};

use crate::World;
use crate::fixture::{JobExt, hours, secs};

fn with_every_option(world: &World) -> NewJob {
    let mut job = world.job().queue("q").priority(Priority::High).version(3).payload(b"[1,2]");
    job = job.key("order-1").idempotent("once").tenant("acme").tag("a").tag("b");
    job = job.correlation("request-9").traced().at_most(4, "gateway").due_in(hours(1));
    job.spec.service = Some("payments".to_owned());
    job.spec.on_success = Some(Box::new(JobSpec::new("thank", b"1".to_vec())));
    job.spec.on_failure = Some(Box::new(JobSpec::new("sorry", b"2".to_vec())));
    job.spec.boost = secs(77);
    job.spec.options.max_retries = 9;
    job.spec.options.timeout = secs(11);
    job.spec.options.soft_timeout = Some(secs(8));
    job
}

pub async fn s_02_every_option_reads_back_equal(world: &World) {
    let job = with_every_option(world);
    let id = world.submit(job.clone()).await;
    assert_eq!(*world.get(id).await.spec, job.spec);
}

pub async fn s_02_claim_hands_over_every_option(world: &World) {
    let job = with_every_option(world);
    let node = world.node().await.serving(&["q"]).knowing(&[("mail", 3)]);
    world.submit(job.clone()).await;
    world.pass(hours(1)).await;
    assert_eq!(*node.claim_one().await.spec, job.spec);
}

pub async fn s_02_new_job_is_pending_and_untouched(world: &World) {
    let job = world.job();
    let id = world.submit(job.clone()).await;
    let stored = world.get(id).await;
    let fresh = JobRecord::pending(id, job.spec, stored.due, stored.queued_at);
    assert_eq!(stored, fresh);
    assert_eq!((stored.state, stored.generation, stored.run), (JobState::Pending, 1, 0));
}

pub async fn s_02_payload_may_be_any_bytes(world: &World) {
    let bytes: Vec<u8> = (0..=255).collect();
    let id = world.submit(world.job().payload(&bytes)).await;
    assert_eq!(world.get(id).await.spec.payload, bytes);
}

pub async fn s_02_texts_may_be_any_language(world: &World) {
    let id = world.submit(world.job().tag("naïve 'quoted' \"日本\" 🦀").correlation("")).await;
    let spec = world.get(id).await.spec;
    assert_eq!(spec.tags, ["naïve 'quoted' \"日本\" 🦀"]);
    assert_eq!(spec.correlation_id.as_deref(), Some(""));
}

pub async fn s_02_delay_is_added_to_the_stores_clock(world: &World) {
    let id = world.submit(world.job().due_in(hours(2))).await;
    let job = world.get(id).await;
    let wait = Duration::try_from(job.due.duration_since(job.queued_at));
    assert_eq!(wait.expect("due after queued"), hours(2));
}

pub async fn s_02_instant_is_kept(world: &World) {
    let instant = world.now().await + secs(90);
    let id = world.submit(world.job().due_at(instant)).await;
    assert_eq!(world.get(id).await.due, instant);
}

pub async fn s_02_instant_is_kept_to_the_microsecond(world: &World) {
    let instant = world.now().await + Duration::from_nanos(7_007_007);
    let id = world.submit(world.job().due_at(instant)).await;
    let due = world.get(id).await.due;
    assert_eq!(due.as_nanosecond(), i128::from(instant.as_microsecond()) * 1000);
}

pub async fn l_07_queued_time_is_the_stores(world: &World) {
    world.pass(hours(5)).await;
    let before = world.now().await;
    let id = world.submit(world.job()).await;
    let queued = world.get(id).await.queued_at;
    assert!(before <= queued && queued <= world.now().await, "{before} {queued}");
}

pub async fn s_02_unknown_job_is_absent(world: &World) {
    assert_eq!(world.find(world.unknown_id()).await, None);
}

pub async fn s_06_same_id_twice_is_refused(world: &World) {
    let job = world.job();
    world.submit(job.clone()).await;
    let other = world.job();
    let refused = world.insert(vec![other.clone(), job.clone().named("bill")]).await;
    assert!(matches!(refused, Err(InsertError::DuplicateId(id)) if id == job.id), "{refused:?}");
    assert_eq!(world.find(other.id).await, None);
    assert_eq!(world.get(job.id).await.spec.name, "mail");
}

pub async fn s_06_empty_batch_is_fine(world: &World) {
    assert_eq!(world.insert(Vec::new()).await.expect("nothing to refuse"), Vec::<Inserted>::new());
}
