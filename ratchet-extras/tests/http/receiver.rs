//! The webhook sink against a receiver in Python that fails, hangs and lies. `scripts/proof webhook` runs it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ratchet::model::{Filter, JobState, PageRequest};
use ratchet::prelude::*;
use ratchet::{JobError, SqliteStore};
use ratchet_extras::http::HttpPolicy;
use ratchet_extras::webhook::WebhookSink;

use super::Answers;

const SECRET: &str = "whsec";
const JOBS: u32 = 200;

/// How often each job ends: two failures, each retried by an operator, and a success.
const ENDS: u32 = 3;

/// How many jobs end while the receiver is down.
const DURING_OUTAGE: u32 = 5_000;

/// The most by which the memory of the process may grow in an outage, in KiB.
const GROWTH: u64 = 64 * 1024;

const TIMEOUT: Duration = Duration::from_millis(300);
const LONGEST: Duration = Duration::from_mins(4);

#[job(name = "receiver.work", max_retries = 0)]
async fn work(number: u32, #[inject] ctx: JobContext) -> Result<u32, JobError> {
    if ctx.generation() < ENDS { Err(JobError::msg("not yet")) } else { Ok(number) }
}

#[job(name = "receiver.plain")]
async fn plain(number: u32) -> u32 {
    number
}

struct Receiver {
    process: Child,
    port: u16,
}

impl Receiver {
    fn start() -> Self {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/http/receiver.py");
        let timeout = TIMEOUT.as_secs_f64().to_string();
        let mut process = Command::new("python3")
            .args([program, SECRET, &timeout, "7"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut line = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a port");
        Self { process, port: line.trim().parse().expect("a port") }
    }

    fn say(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        write!(stream, "{request} HTTP/1.0\r\n\r\n").expect("is sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("is received");
        answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }

    fn report(&self) -> serde_json::Value {
        serde_json::from_str(&self.say("GET /report")).expect("a report")
    }

    async fn until_received(&self, distinct: u32) -> serde_json::Value {
        let waiting = async {
            loop {
                let report = self.report();
                if report["distinct"] == distinct {
                    return report;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        let received = tokio::time::timeout(LONGEST, waiting).await;
        received.unwrap_or_else(|_| panic!("{distinct} are not received: {}", self.report()))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The resident memory of this process, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

async fn until_none_waits(ratchet: &Ratchet) {
    let waiting = async {
        loop {
            let counts = ratchet.jobs().counts().await.expect("counts");
            if counts.state(JobState::Pending) + counts.state(JobState::Running) == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONGEST, waiting).await.expect("the jobs end");
}

// spec: D-08
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs Python and takes a minute: scripts/proof webhook"]
#[allow(clippy::print_stdout, reason = "the rows of docs/proof/webhook.md")]
async fn d_08_a_receiver_that_fails_gets_every_outcome_in_order() {
    let receiver = Receiver::start();
    let policy = HttpPolicy::builder()
        .without_system_roots()
        .method("POST")
        .host("api.test")
        .port(receiver.port)
        .allow_http()
        .network("127.0.0.1/32")
        .resolver(Answers::new(&[&["127.0.0.1"]]))
        .timeout(TIMEOUT)
        .build()
        .expect("a policy");
    let url = format!("http://api.test:{}/hook", receiver.port);
    let sink = WebhookSink::new(policy, url, SECRET).expect("a sink");
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path().join("jobs.db")).await.expect("opens");
    let builder = Ratchet::builder(store).jobs([Work::JOB, Plain::JOB]).outcome_sink(sink);
    let builder = builder.config(|config| config.delivery_hold = Duration::from_millis(500));
    let ratchet = builder.build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");

    ratchet.enqueue_many((0..JOBS).map(|number| Work { number })).await.expect("enqueues");
    for _ in 1..ENDS {
        until_none_waits(&ratchet).await;
        let failed = Filter::any().state(JobState::Failed);
        let page = PageRequest { before: None, limit: 1_000 };
        for job in ratchet.jobs().list(&failed, page).await.expect("lists").jobs {
            ratchet.jobs().retry(job.id).await.expect("is retried");
        }
    }
    let report = receiver.until_received(JOBS * ENDS).await;
    println!("every outcome: {report}");
    assert_eq!((&report["invalid"], &report["disordered"]), (&0.into(), &0.into()), "{report}");
    for trick in ["refused", "hung", "broken", "lied", "repeats"] {
        assert_ne!(report[trick], 0, "{report}");
    }

    receiver.say("POST /down");
    let before = memory();
    ratchet
        .enqueue_many((0..DURING_OUTAGE).map(|number| Plain { number }))
        .await
        .expect("enqueues");
    until_none_waits(&ratchet).await;
    let refused = receiver.report()["refused"].as_u64().unwrap_or_default();
    let more = async {
        while receiver.report()["refused"].as_u64().unwrap_or_default() < refused + 1_000 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(LONGEST, more).await.expect("deliveries are repeated");
    let growth = memory().saturating_sub(before);
    println!("outage: {DURING_OUTAGE} outcomes wait, memory grew by {growth} KiB");
    assert!(growth < GROWTH, "the memory grew by {growth} KiB");
    receiver.say("POST /up");
    let report = receiver.until_received(JOBS * ENDS + DURING_OUTAGE).await;
    println!("after the outage: {report}");
    assert_eq!((&report["invalid"], &report["disordered"]), (&0.into(), &0.into()), "{report}");
    worker.stop().await;
}
