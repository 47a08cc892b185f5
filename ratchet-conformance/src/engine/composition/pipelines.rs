//! Pipelines that a job accepts, with real handlers.

use std::time::Duration;

use ratchet_core::{
    Explanation, HandedOff, Job as _, JobContext, JobError, JobState, Ratchet, State,
    StoreErrorKind, Waiting, Worker,
};
use ratchet_macros::job;
use serde::{Deserialize, Serialize};

use super::super::cases::encryption::everything;
use super::super::fixture::{EngineFixture, eventually, history, start};
use super::super::keys::both;
use super::super::script::Stage;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Page {
    url: String,
}

fn page(url: &str) -> Page {
    Page { url: url.to_owned() }
}

/// Hands pages to the pipeline `pages`, and waits while it is full.
#[job(name = "test.crawl", hands_off = "pages", max_retries = 0, crate = ::ratchet_core)]
async fn crawl(urls: Vec<String>, #[inject] ctx: JobContext) -> Result<(), JobError> {
    for url in urls {
        ctx.hand_off("pages", url.clone(), &page(&url))?;
    }
    Ok(())
}

/// Hands pages to the pipeline `pages`, and fails while it is full.
#[job(name = "test.push", hands_off = "pages", on_full = fail, max_retries = 0, crate = ::ratchet_core)]
async fn push(urls: Vec<String>, #[inject] ctx: JobContext) -> Result<(), JobError> {
    for url in urls {
        ctx.hand_off("pages", url.clone(), &page(&url))?;
    }
    Ok(())
}

/// Hands a number to the pipeline `pages`, which cannot be read as a page.
#[job(name = "test.garble", max_retries = 0, crate = ::ratchet_core)]
async fn garble(#[inject] ctx: JobContext) -> Result<(), JobError> {
    ctx.hand_off("pages", "garbled", &7)?;
    Ok(())
}

/// Hands a secret to the pipeline `pages`.
#[job(name = "test.whisper", encrypt, max_retries = 0, crate = ::ratchet_core)]
async fn whisper(url: String, #[inject] ctx: JobContext) -> Result<(), JobError> {
    ctx.hand_off("pages", "whispered", &page(&url))?;
    Ok(())
}

/// Accepts the pages. A page fails the first time it is indexed if its URL is `bad`.
#[job(name = "test.index", queue = "index", accepts = "pages", backlog_limit = 3, concurrency_limit = 1, max_retries = 0, crate = ::ratchet_core)]
async fn index(
    page: HandedOff<Page>,
    #[inject] ctx: JobContext,
    #[inject] stage: State<Stage>,
) -> Result<(), JobError> {
    let _inside = stage.enter(ctx.job_id());
    let text = format!(
        "{} {} {:?} {:?}",
        page.key,
        page.checkpoint.url,
        ctx.tenant(),
        ctx.correlation_id()
    );
    let again = stage.notes().contains(&text);
    stage.note(text);
    if page.checkpoint.url == "bad" && !again {
        return Err(JobError::msg("it cannot be indexed"));
    }
    Ok(())
}

async fn site(fixture: &EngineFixture) -> (Ratchet, Worker) {
    start(fixture.builder().queue("index", |queue| queue.concurrency(4)).jobs([
        Crawl::JOB,
        Push::JOB,
        Garble::JOB,
        Index::JOB,
    ]))
    .await
}

fn urls(urls: &[&str]) -> Vec<String> {
    urls.iter().map(|url| (*url).to_owned()).collect()
}

/// Waits until the pipeline has a backlog of this size.
async fn backlog(ratchet: &Ratchet, expected: u64) {
    let pipeline = ratchet.pipeline("pages");
    eventually("the backlog changes", async || {
        pipeline.stats().await.expect("reads").backlog == expected
    })
    .await;
}

/// Returns the jobs that were admitted.
async fn admitted(fixture: &EngineFixture, ratchet: &Ratchet) -> Vec<ratchet_core::JobRecord> {
    let jobs = fixture.all(ratchet).await;
    jobs.into_iter().filter(|job| job.spec.name == "test.index").collect()
}

pub async fn i_05_hand_offs_are_admitted_as_jobs(fixture: EngineFixture) {
    let (ratchet, worker) = site(&fixture).await;
    let from = ratchet.enqueue(Crawl { urls: urls(&["a", "b", "a"]) });
    let from = from.tenant("acme").correlation_id("request-9").await.expect("enqueues");
    from.wait().await.expect("succeeds");
    let pipeline = ratchet.pipeline("pages");
    eventually("both are indexed", async || pipeline.stats().await.expect("reads").finished == 2)
        .await;
    let mut notes = fixture.stage().notes();
    notes.sort();
    let expected = ["a", "b"].map(|it| format!("{it} {it} Some(\"acme\") Some(\"request-9\")"));
    assert_eq!(notes, expected);
    assert_eq!(fixture.stage().most_at_once(), 1, "`concurrency_limit` needs no key");
    let stats = pipeline.stats().await.expect("reads");
    assert_eq!((stats.backlog, stats.repeats, stats.admitted), (0, 1, 2));
    let jobs = admitted(&fixture, &ratchet).await;
    assert_eq!(jobs.len(), 2);
    for job in jobs {
        assert_eq!(job.spec.queue, "index");
        let found = ratchet.jobs().admission(job.id).await.expect("reads").expect("it has one");
        assert_eq!((found.pipeline.as_str(), found.from), ("pages", from.id()));
    }
    assert_eq!(ratchet.jobs().admission(from.id()).await.expect("reads"), None);
    let record = pipeline.acceptor().await.expect("reads").expect("it is accepted");
    assert_eq!((record.job.as_str(), record.backlog_limit), ("test.index", Some(3)));
    assert_eq!(ratchet.pipelines().await.expect("reads"), [record]);
    let error = pipeline.take(10, Duration::ZERO).await.expect_err("is refused");
    assert_eq!(error.kind(), StoreErrorKind::Config);
    let why = error.to_string();
    assert!(why.contains("`pages`") && why.contains("`test.index`"), "{why}");
    let metrics = ratchet.metrics().to_prometheus();
    assert!(metrics.contains("ratchet_handoff_admitted_total{pipeline=\"pages\"} 2"), "{metrics}");
    assert!(metrics.contains("ratchet_handoff_latency_seconds_count{pipeline=\"pages\"} 2"));
    worker.stop().await;
}

pub async fn i_05_full_pipeline_holds_its_publisher(fixture: EngineFixture) {
    let (ratchet, worker) = site(&fixture).await;
    ratchet.queues().pause("index").await.expect("pauses");
    let first = ratchet.enqueue(Crawl { urls: urls(&["a", "b", "c"]) }).await.expect("enqueues");
    first.wait().await.expect("succeeds");
    backlog(&ratchet, 3).await;
    let held = ratchet.enqueue(Crawl { urls: urls(&["d"]) }).await.expect("enqueues");
    let mut why = Vec::new();
    eventually("the publisher is held", async || {
        if let Some(Explanation::Waits(reasons)) =
            ratchet.jobs().explain(held.id()).await.expect("reads")
        {
            why = reasons;
        }
        why.iter().any(|why| matches!(why, Waiting::PipelineFull { .. }))
    })
    .await;
    let text = why.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    for part in ["`pages`", "backlog of 3", "limit is 3", "`test.index`"] {
        assert!(text.contains(part), "{text}");
    }
    let job = ratchet.jobs().get(held.id()).await.expect("reads").expect("exists");
    assert_eq!((job.attempts, job.state), (0, JobState::Pending), "it uses no attempt");
    assert!(job.deferrals >= 1);
    backlog(&ratchet, 3).await;
    ratchet.queues().resume("index").await.expect("resumes");
    fixture.until(&ratchet, held.id(), JobState::Succeeded).await;
    backlog(&ratchet, 0).await;
    assert_eq!(fixture.stage().notes().len(), 4);
    let record = ratchet.pipeline("pages").acceptor().await.expect("reads").expect("exists");
    let deferred = history(&ratchet, held.id()).await.len() as u64 - 1;
    assert_eq!(record.refusals, deferred, "every deferred run is counted");
    worker.stop().await;
}

pub async fn i_05_full_pipeline_fails_the_hand_off(fixture: EngineFixture) {
    let (ratchet, worker) = site(&fixture).await;
    ratchet.queues().pause("index").await.expect("pauses");
    let first = ratchet.enqueue(Push { urls: urls(&["a", "b"]) }).await.expect("enqueues");
    first.wait().await.expect("succeeds");
    backlog(&ratchet, 2).await;
    let second = ratchet.enqueue(Push { urls: urls(&["c", "d"]) }).await.expect("enqueues");
    let failed = fixture.until(&ratchet, second.id(), JobState::Failed).await;
    let message = failed.envelope.expect("it failed").failure.message;
    assert!(message.contains("pipeline `pages` is full"), "{message}");
    assert!(message.contains("the limit of 3"), "{message}");
    backlog(&ratchet, 2).await;
    let record = ratchet.pipeline("pages").acceptor().await.expect("reads").expect("exists");
    assert_eq!(record.refusals, 1);
    ratchet.queues().resume("index").await.expect("resumes");
    backlog(&ratchet, 0).await;
    ratchet.jobs().retry(second.id()).await.expect("retries");
    fixture.until(&ratchet, second.id(), JobState::Succeeded).await;
    worker.stop().await;
}

pub async fn i_05_failed_hand_off_is_a_dead_letter_that_can_be_retried(fixture: EngineFixture) {
    let (ratchet, worker) = site(&fixture).await;
    let from = ratchet.enqueue(Crawl { urls: urls(&["bad"]) }).await.expect("enqueues");
    from.wait().await.expect("succeeds");
    let mut failed = None;
    eventually("it fails", async || {
        let jobs = admitted(&fixture, &ratchet).await;
        failed = jobs.into_iter().find(|job| job.state == JobState::Failed);
        failed.is_some()
    })
    .await;
    let failed = failed.expect("it failed").id;
    backlog(&ratchet, 0).await;
    let found = ratchet.jobs().admission(failed).await.expect("reads").expect("it has one");
    assert_eq!((found.pipeline.as_str(), found.key.as_str()), ("pages", "bad"));
    ratchet.jobs().retry(failed).await.expect("retries");
    fixture.until(&ratchet, failed, JobState::Succeeded).await;
    assert_eq!(admitted(&fixture, &ratchet).await.len(), 1, "nothing is admitted again");
    worker.stop().await;
}

pub async fn i_05_checkpoint_that_cannot_be_read_is_an_invalid_job(fixture: EngineFixture) {
    let (ratchet, worker) = site(&fixture).await;
    ratchet.enqueue(Garble {}).await.expect("enqueues").wait().await.expect("succeeds");
    let mut failed = None;
    eventually("it fails", async || {
        let jobs = admitted(&fixture, &ratchet).await;
        failed = jobs.into_iter().find(|job| job.state == JobState::Failed);
        failed.is_some()
    })
    .await;
    let failed = failed.expect("it failed");
    let envelope = failed.envelope.expect("it failed");
    assert_eq!(envelope.failure.error_type, "InvalidPayload");
    let found = ratchet.jobs().admission(failed.id).await.expect("reads").expect("it has one");
    assert_eq!(found.key, "garbled");
    worker.stop().await;
}

pub async fn i_05_hand_off_waits_for_its_acceptor(fixture: EngineFixture) {
    let (ratchet, worker) = start(fixture.builder().jobs([Crawl::JOB])).await;
    let first = ratchet.enqueue(Crawl { urls: urls(&["a", "b"]) }).await.expect("enqueues");
    first.wait().await.expect("succeeds");
    worker.stop().await;
    let other = fixture.builder().program("indexer").queue("index", |queue| queue.concurrency(4));
    let (indexer, worker) = start(other.jobs([Index::JOB])).await;
    let pipeline = indexer.pipeline("pages");
    eventually("both are indexed", async || pipeline.stats().await.expect("reads").finished == 2)
        .await;
    assert_eq!(fixture.stage().notes().len(), 2);
    let record = pipeline.acceptor().await.expect("reads").expect("it is accepted");
    assert_eq!(record.program, "indexer");
    worker.stop().await;
}

pub async fn i_05_encrypted_hand_off_is_admitted_encrypted(fixture: EngineFixture) {
    const SECRET: &str = "https://hidden.example";
    let builder = fixture.builder().queue("index", |queue| queue.concurrency(4)).keyring(both());
    let (ratchet, worker) = start(builder.jobs([Whisper::JOB, Index::JOB])).await;
    let from = ratchet.enqueue(Whisper { url: SECRET.to_owned() }).await.expect("enqueues");
    from.wait().await.expect("succeeds");
    let pipeline = ratchet.pipeline("pages");
    eventually("it is indexed", async || pipeline.stats().await.expect("reads").finished == 1)
        .await;
    assert!(fixture.stage().notes()[0].contains(SECRET));
    let stored = everything(&*fixture.store()).await;
    assert!(!stored.contains(SECRET), "{stored}");
    worker.stop().await;
}
