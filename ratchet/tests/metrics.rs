//! Metrics: the documented table, and what an application sees.

use std::fmt::Write as _;

use ratchet::MemoryStore;
use ratchet::metrics::{Metric, MetricValue};
use ratchet::prelude::*;

/// Returns the table of metrics as the guide shows it.
fn table() -> String {
    let mut table =
        String::from("| metric | kind | unit | labels | meaning |\n|---|---|---|---|---|\n");
    for metric in Metric::all() {
        let Metric { name, unit, help, .. } = metric;
        let labels: Vec<_> = metric.labels.iter().map(|label| format!("`{label}`")).collect();
        let (kind, labels) = (metric.kind.name(), labels.join(", "));
        writeln!(table, "| `{name}` | {kind} | `{unit}` | {labels} | {help} |").expect("writes");
    }
    table
}

#[test]
fn v_03_the_documented_metrics_are_those_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guide/metrics.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (begin, end) = ("<!-- metrics:begin -->\n", "<!-- metrics:end -->");
    let (before, rest) = page.split_once(begin).expect("the marker");
    let (documented, after) = rest.split_once(end).expect("the marker");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, format!("{before}{begin}{}{end}{after}", table())).expect("writes");
        return;
    }
    assert_eq!(documented, table(), "run this test with UPDATE_EXPECT=1");
}

#[job(name = "metrics.add")]
async fn add(one: u32, other: u32) -> u32 {
    one + other
}

#[tokio::test]
async fn v_03_a_process_can_read_what_it_has_measured() {
    let ratchet = Ratchet::builder(MemoryStore::new())
        .jobs([Add::JOB])
        .program("adder")
        .binary_version("1.2.3")
        .build()
        .await
        .expect("builds");
    let before = ratchet.metrics();
    let worker = ratchet.start().await.expect("starts");
    ratchet.enqueue(Add { one: 1, other: 2 }).await.expect("enqueues").wait().await.expect("adds");
    worker.stop().await;
    let metrics = ratchet.metrics().since(&before);
    let labels = ["default", "metrics.add"];
    assert_eq!(metrics.total("ratchet.job.submitted", &labels), 1);
    let succeeded = ["default", "metrics.add", "succeeded", ""];
    assert_eq!(metrics.get("ratchet.job.outcomes", &succeeded), Some(&MetricValue::Counter(1)));
    let Some(MetricValue::Histogram(run)) = metrics.get("ratchet.job.run.duration", &labels) else {
        panic!("a histogram")
    };
    assert!(run.count() == 1 && run.quantile(0.5).is_some());
    let text = metrics.to_prometheus();
    let info = "ratchet_info{program=\"adder\",version=\"1.2.3\",ratchet=\"";
    assert!(text.contains(info), "{text}");
    let json = serde_json::to_value(&metrics).expect("serializes");
    assert_eq!(json["families"][0]["name"], "ratchet.job.submitted");
}

#[tokio::test]
async fn m_04_metering_can_be_turned_off() {
    let ratchet = Ratchet::builder(MemoryStore::new()).jobs([Add::JOB]).metering(false);
    let ratchet = ratchet.build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    ratchet.enqueue(Add { one: 1, other: 2 }).await.expect("enqueues").wait().await.expect("adds");
    worker.stop().await;
    assert!(ratchet.metrics().series("ratchet.job.started").is_empty());
}
