//! The span of a run: every log line of a handler has the fields of its job, with the usual subscriber.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use ratchet::MemoryStore;
use ratchet::prelude::*;
use tracing::Instrument as _;
use tracing_subscriber::fmt::MakeWriter;

/// What the subscriber has written.
#[derive(Debug, Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    /// Installs the usual subscriber, once per process.
    fn install() -> Self {
        static WRITTEN: OnceLock<Written> = OnceLock::new();
        let start = || {
            let written = Self::default();
            let subscriber = tracing_subscriber::fmt().with_ansi(false).without_time();
            subscriber.with_writer(written.clone()).init();
            written
        };
        WRITTEN.get_or_init(start).clone()
    }

    /// Returns the lines that contain this text.
    fn containing(&self, text: &str) -> Vec<String> {
        let bytes = self.0.lock().expect("not poisoned").clone();
        let all = String::from_utf8(bytes).expect("text");
        all.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Written {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[job(name = "spans.greet", queue = "greetings")]
async fn greet(marker: String) {
    tracing::info!("{marker} before");
    tokio::task::yield_now().await;
    tracing::warn!("{marker} after");
    tokio::spawn(async move { tracing::info!("{marker} spawned") }.in_current_span())
        .await
        .expect("ends");
}

#[job(name = "spans.block", blocking)]
fn block(marker: String) {
    tracing::info!("{marker} blocks");
}

#[job(name = "spans.fail", backoff = fixed("1ms"), max_retries = 1)]
async fn fail(marker: String) -> Result<(), JobError> {
    Err(JobError::msg(format!("{marker} failed")))
}

#[job(name = "spans.quiet")]
async fn quiet() {}

async fn start() -> (Ratchet, Worker) {
    let ratchet = Ratchet::builder(MemoryStore::new())
        .jobs([Greet::JOB, Block::JOB, Fail::JOB, Quiet::JOB])
        .build()
        .await
        .expect("builds");
    let worker = ratchet.start().await.expect("starts");
    (ratchet, worker)
}

#[tokio::test]
async fn lines_of_a_handler_have_the_fields_of_its_job() {
    let written = Written::install();
    let (ratchet, worker) = start().await;
    let marker = "marker-greet".to_owned();
    let job =
        ratchet.enqueue(Greet { marker: marker.clone() }).tenant("acme").correlation_id("c-7");
    let job = job.await.expect("enqueues");
    job.wait().await.expect("succeeds");
    worker.stop().await;
    let lines = written.containing(&marker);
    assert_eq!(lines.len(), 3, "{lines:?}");
    let fields = format!(
        "process{{job.id={} job.name=spans.greet queue=greetings attempt=1 tenant=\"acme\" correlation_id=\"c-7\"}}",
        job.id()
    );
    for line in lines {
        assert!(line.contains(&fields), "{fields} is missing: {line}");
    }
}

#[tokio::test]
async fn lines_of_a_blocking_handler_have_the_fields_of_its_job() {
    let written = Written::install();
    let (ratchet, worker) = start().await;
    let job = ratchet.enqueue(Block { marker: "marker-block".to_owned() }).await.expect("enqueues");
    job.wait().await.expect("succeeds");
    worker.stop().await;
    let lines = written.containing("marker-block blocks");
    assert_eq!(lines.len(), 1);
    let fields = format!("process{{job.id={} job.name=spans.block", job.id());
    assert!(lines[0].contains(&fields), "{lines:?}");
}

#[tokio::test]
async fn retries_are_warnings_and_dead_letters_are_errors() {
    let written = Written::install();
    let (ratchet, worker) = start().await;
    let job = ratchet.enqueue(Fail { marker: "marker-fail".to_owned() }).await.expect("enqueues");
    job.wait().await.expect_err("fails");
    worker.stop().await;
    let lines = written.containing(&job.id().to_string());
    let levels: Vec<_> = lines.iter().map(|line| line.split_whitespace().next()).collect();
    assert_eq!(levels, [Some("WARN"), Some("ERROR")], "{lines:?}");
    assert!(lines[1].contains("reason=retry_exhausted"), "{lines:?}");
}

#[tokio::test]
async fn a_successful_job_has_no_line_of_its_own() {
    let written = Written::install();
    let (ratchet, worker) = start().await;
    let job = ratchet.enqueue(Quiet {}).await.expect("enqueues");
    job.wait().await.expect("succeeds");
    worker.stop().await;
    assert_eq!(written.containing(&job.id().to_string()), [""; 0]);
}
