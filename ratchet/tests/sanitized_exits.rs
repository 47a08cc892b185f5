//! Every text that leaves a handler passes the sanitizer. spec: Z-01

mod logs;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use logs::Logs;
use ratchet::failure::{ErrorSanitizer, RawError};
use ratchet::hooks::{AlertSink, DeadLetterSink, Middleware, OutcomeSink, RunReport, SinkError};
use ratchet::model::{Alert, Envelope, JobOutcome, RejectFilter};
use ratchet::prelude::*;
use ratchet::{JobId, MemoryStore, Ratchet, async_trait};
use serde::{Serialize, Serializer};

/// What handlers say, and what the sanitizer makes of it.
const RAW: &str = "the raw text of a handler";
const CLEAN: &str = "[a clean text]";

#[derive(Debug)]
struct Cleaner;

impl ErrorSanitizer for Cleaner {
    fn sanitize(&self, error: &RawError<'_>) -> String {
        error.message.replace(RAW, CLEAN)
    }

    fn sanitize_text(&self, text: &str) -> String {
        text.replace(RAW, CLEAN)
    }
}

/// What the sinks of the application have received.
#[derive(Debug, Clone, Default)]
struct Received(Arc<Mutex<Vec<String>>>);

impl Received {
    fn push(&self, sink: &str, text: &str) {
        self.0.lock().expect("not poisoned").push(format!("{sink} {text}"));
    }

    async fn until(&self, sink: &str) -> String {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        loop {
            let found = {
                let all = self.0.lock().expect("not poisoned");
                all.iter().find(|text| text.starts_with(sink)).cloned()
            };
            if let Some(found) = found {
                return found;
            }
            assert!(tokio::time::Instant::now() < deadline, "the {sink} sink gets nothing");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[async_trait]
impl AlertSink for Received {
    async fn alert(&self, alert: &Alert) -> Result<(), SinkError> {
        self.push("alert", &format!("{alert:?}"));
        Ok(())
    }
}

#[async_trait]
impl DeadLetterSink for Received {
    async fn publish(&self, envelope: &Envelope) -> Result<(), SinkError> {
        self.push("dead letter", &format!("{envelope:?}"));
        Ok(())
    }
}

#[async_trait]
impl OutcomeSink for Received {
    async fn publish(&self, outcome: &JobOutcome) -> Result<(), SinkError> {
        self.push("outcome", &format!("{outcome:?}"));
        Ok(())
    }
}

/// Fails after every run of a job that says so.
#[derive(Debug)]
struct FailsAfter;

#[async_trait]
impl Middleware for FailsAfter {
    async fn after(&self, ctx: &JobContext, _: &RunReport) -> Result<(), JobError> {
        match ctx.tags() {
            [tag] if tag == "error after" => Err(JobError::msg(RAW)),
            [tag] if tag == "panic after" => panic!("{RAW}"),
            _ => Ok(()),
        }
    }
}

/// A value that says something when it is written.
struct Unserializable;

impl Serialize for Unserializable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom(RAW))
    }
}

impl<'de> serde::Deserialize<'de> for Unserializable {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self)
    }
}

/// Notified when a handler waits to be dropped.
static BEGAN: tokio::sync::Notify = tokio::sync::Notify::const_new();

struct PanicsWhenDropped;

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "{RAW}");
    }
}

#[job(name = "exits.speak", max_retries = 0, timeout = "60s")]
async fn speak(how: String, #[inject] ctx: JobContext) -> Result<(), JobError> {
    match how.as_str() {
        "log" => ctx.info(RAW),
        "progress" => ctx.set_progress(50.0, RAW),
        "rejected item" => ctx.reject_item(1, JobError::msg(RAW)),
        "error" => return Err(JobError::msg(RAW)),
        "source" => return Err(std::io::Error::other(std::io::Error::other(RAW)).into()),
        "code" => return Err(JobError::msg("no").with_code(RAW)),
        "invalid" => return Err(invalid(RAW).into()),
        "reject" => return Err(reject(RAW).into()),
        "panic" => panic!("{RAW}"),
        "drop" => {
            let _guard = PanicsWhenDropped;
            BEGAN.notify_one();
            std::future::pending::<()>().await;
        }
        _ => {}
    }
    Ok(())
}

#[job(name = "exits.unserializable", max_retries = 0)]
#[allow(clippy::unused_async)] // it awaits nothing
async fn render() -> Unserializable {
    Unserializable
}

#[job(name = "exits.validated", max_retries = 0, validate = refuse)]
#[allow(clippy::unused_async)] // it awaits nothing
async fn validated(ok: bool) {
    let _ = ok;
}

fn refuse(job: &Validated) -> Result<(), &'static str> {
    if job.ok { Ok(()) } else { Err(RAW) }
}

/// The places where a text of a job was stored or published, each as `place: text`.
async fn texts(ratchet: &Ratchet, id: JobId) -> Vec<String> {
    let job = ratchet.jobs().get(id).await.expect("reads").expect("exists");
    let mut texts = vec![
        format!("error: {:?}", job.error),
        format!("progress: {:?}", job.progress),
        format!("envelope: {:?}", job.envelope),
        format!("warnings: {:?}", job.warnings),
        format!("explanation: {:?}", ratchet.jobs().explain(id).await.expect("reads")),
        format!("history: {:?}", ratchet.jobs().attempts(id).await.expect("reads")),
        format!("logs: {:?}", ratchet.jobs().logs(id).await.expect("reads")),
    ];
    let filter = RejectFilter::any().job(id);
    texts.push(format!("rejects: {:?}", ratchet.rejects().list(&filter, None, 10).await));
    texts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn z_01_every_text_of_a_handler_passes_the_sanitizer() {
    let logs = Logs::install();
    let received = Received::default();
    let builder = Ratchet::builder(MemoryStore::new()).sanitizer(Cleaner).middleware(FailsAfter);
    let builder = builder.alert_sink(received.clone()).dead_letter_sink(received.clone());
    let ratchet = builder
        .outcome_sink(received.clone())
        .config(|config| config.cancel_grace = Duration::from_millis(10))
        .jobs([Speak::JOB, Render::JOB, Validated::JOB])
        .build()
        .await
        .expect("builds");
    let mut events = ratchet.events();
    let worker = ratchet.start().await.expect("starts");
    let speak = |how: &str| Speak { how: how.to_owned() };
    let mut jobs = Vec::new();
    // Each way, and the places where its text must be.
    let ways: [(&str, &[&str]); 8] = [
        ("log", &["logs"]),
        ("progress", &["progress"]),
        ("rejected item", &["rejects"]),
        ("error", &["error", "envelope", "history"]),
        ("source", &["error", "envelope", "history"]),
        ("code", &["error", "envelope", "history"]),
        ("invalid", &["error", "envelope", "history"]),
        ("panic", &["error", "envelope", "history"]),
    ];
    for (how, places) in ways {
        let job = ratchet.enqueue(speak(how)).await.expect("enqueues");
        jobs.push((job.id(), how, places));
    }
    let unserializable = ratchet.enqueue(Render {}).await.expect("enqueues");
    jobs.push((unserializable.id(), "unserializable", &["warnings"]));
    let mut row = ratchet.enqueue(Validated { ok: true }).into_new_job().expect("is checked");
    row.spec.payload = br#"{"ok":false}"#.to_vec();
    jobs.push((row.id, "validated", &["error", "envelope", "history"]));
    ratchet.store().insert(vec![row]).await.expect("inserts");
    for tag in ["error after", "panic after"] {
        let job = ratchet.enqueue(speak("nothing")).tag(tag).await.expect("enqueues");
        jobs.push((job.id(), tag, &[]));
    }
    let dropped = ratchet.enqueue(speak("drop")).await.expect("enqueues").id();
    BEGAN.notified().await;
    assert!(ratchet.jobs().cancel(dropped).await.expect("cancels"));
    jobs.push((dropped, "drop", &[]));
    let dropped = "a handler panicked while it was dropped";
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    while logs.containing(dropped).is_empty() {
        assert!(tokio::time::Instant::now() < deadline, "no line contains `{dropped}`");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for (id, ..) in &jobs {
        until_over(&ratchet, *id).await;
    }
    // A rejection holds up its queue, so it is the last.
    let rejected = ratchet.enqueue(speak("reject")).await.expect("enqueues").id();
    jobs.push((rejected, "reject", &["history"]));
    until_over(&ratchet, rejected).await;
    for (id, how, places) in &jobs {
        for text in texts(&ratchet, *id).await {
            assert!(!text.contains(RAW), "{how}: {text}");
            let place = text.split(':').next().expect("a place");
            assert_eq!(text.contains(CLEAN), places.contains(&place), "{how}: {text}");
        }
    }
    for sink in ["alert", "dead letter", "outcome"] {
        received.until(sink).await;
    }
    worker.stop().await;
    let all = received.0.lock().expect("not poisoned").join("\n");
    assert!(all.contains(CLEAN) && !all.contains(RAW), "{all}");
    let next = || events.try_next().map(|event| format!("{event:?}\n"));
    let published: String = std::iter::from_fn(next).collect();
    for event in ["Failed", "DeadLettered", "Rejected", "Warning"] {
        let clean = |line: &str| line.starts_with(event) && line.contains(CLEAN);
        assert!(published.lines().any(clean), "no clean `{event}` in {published}");
    }
    assert!(!published.contains(RAW), "{published}");
    let logged = logs.containing(CLEAN).join("\n");
    for line in [
        "a job has failed permanently",
        "an `after` hook failed",
        "a middleware panicked",
        "a handler panicked while it was dropped",
        "the result was not kept",
        "INFO",
    ] {
        assert!(logged.contains(line), "no `{line}` in {logged}");
    }
    assert_eq!(logs.containing(RAW), [""; 0]);
}

/// Waits until a job has ended, or was rejected.
async fn until_over(ratchet: &Ratchet, id: JobId) {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    loop {
        let job = ratchet.jobs().get(id).await.expect("reads").expect("exists");
        if job.state.is_terminal() || job.deferrals > 0 {
            return;
        }
        assert!(tokio::time::Instant::now() < deadline, "job {id} is {:?}", job.state);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
