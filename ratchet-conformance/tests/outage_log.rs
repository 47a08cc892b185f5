//! What a worker logs about an outage of its store.

#[path = "../../ratchet/tests/logs/mod.rs"]
mod logs;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use logs::Logs;
use ratchet_conformance::engine::Flaky;
use ratchet_core::{Job, Ratchet};
use ratchet_macros::job;
use ratchet_memory::MemoryStore;

#[job(crate = ::ratchet_core)]
async fn nothing() {}

async fn until(logs: &Logs, text: &str) -> String {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(line) = logs.containing(text).pop() {
            return line;
        }
        assert!(tokio::time::Instant::now() < deadline, "no line contains `{text}`");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn x_08_the_end_of_an_outage_is_logged_once_with_its_duration() {
    let logs = Logs::install();
    let store = Arc::new(Flaky::new(Arc::new(MemoryStore::new())));
    let builder =
        Ratchet::builder_shared(Arc::clone(&store) as _).jobs([Nothing::JOB]).config(|config| {
            config.poll_interval = (Duration::from_millis(1), Duration::from_millis(2));
        });
    let worker = builder.build().await.expect("builds").start().await.expect("starts");
    store.switches().down.store(true, Ordering::SeqCst);
    until(&logs, "the store is unavailable").await;
    assert_eq!(logs.containing("the store is back"), [""; 0]);
    store.switches().down.store(false, Ordering::SeqCst);
    let line = until(&logs, "the store is back").await;
    assert!(line.starts_with("INFO") && line.contains("outage="), "{line}");
    worker.stop().await;
    assert_eq!(logs.containing("the store is back").len(), 1);
}
