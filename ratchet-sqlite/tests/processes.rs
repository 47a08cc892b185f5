//! Several processes on one file. The test program starts itself again in the role set by `RATCHET_ROLE`.

mod bulk;
mod jobs;

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use jobs::Greet;
use ratchet_core::{Job as _, JobId, JobState, Ratchet};
use ratchet_sqlite::SqliteStore;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Row as _};

const DEADLINE: Duration = Duration::from_mins(1);

/// Starts this program again in a role.
fn start(role: &str, path: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "role", "--nocapture"])
        .env("RATCHET_ROLE", role)
        .env("RATCHET_FILE", path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process starts")
}

async fn ratchet(path: &Path) -> Ratchet {
    let store = SqliteStore::open(path).await.expect("opens");
    let quick = |config: &mut ratchet_core::Config| {
        config.lease = Duration::from_millis(400);
        config.heartbeat = Duration::from_millis(130);
        config.maintenance_interval = Duration::from_millis(100);
        // Long enough that only a wake-up explains a quick start.
        config.poll_interval = (Duration::from_secs(20), Duration::from_secs(20));
    };
    Ratchet::builder(store).jobs([Greet::JOB]).config(quick).build().await.expect("builds")
}

fn greet() -> Greet {
    Greet { name: "Ada".to_owned() }
}

/// Not a test, but the entry point of the child processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn role() {
    let (Ok(role), Ok(path)) = (std::env::var("RATCHET_ROLE"), std::env::var("RATCHET_FILE"))
    else {
        return;
    };
    let path = Path::new(&path);
    let say = |what: String| {
        let _ = std::io::stdout().lock().write_all(format!("@{what}\n").as_bytes());
    };
    match role.as_str() {
        "open" => drop(SqliteStore::open(path).await.expect("opens")),
        "work" => {
            let worker = ratchet(path).await.start().await.expect("starts");
            say("ready".to_owned());
            worker.stopped().await;
        }
        "load" => {
            let ratchet = ratchet(path).await;
            let _worker = ratchet.start().await.expect("starts");
            loop {
                let handle = ratchet.enqueue(greet()).await.expect("enqueues");
                say(handle.id().to_string());
            }
        }
        other => panic!("no role {other}"),
    }
}

fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let pipe = BufReader::new(child.stdout.take().expect("a pipe"));
    // The test harness prints lines of its own.
    pipe.lines()
        .map_while(Result::ok)
        .filter_map(|line| line.split_once('@').map(|(_, said)| said.to_owned()))
}

#[tokio::test]
async fn u_04_many_processes_migrate_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 0..3 {
        let path = folder.path().join(format!("{round}.db"));
        let children: Vec<_> = (0..6).map(|_| start("open", &path)).collect();
        for child in children {
            let output = child.wait_with_output().expect("ends");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        let mut conn =
            SqliteConnectOptions::new().filename(&path).connect().await.expect("connects");
        let row = sqlx::query("SELECT count(*) FROM ratchet_schema")
            .fetch_one(&mut conn)
            .await
            .expect("reads");
        assert_eq!(row.get::<i64, _>(0), 28, "each migration was applied once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_09_another_process_hears_of_new_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let ratchet = ratchet(&path).await;
    let mut worker = start("work", &path);
    let mut said = lines(&mut worker);
    assert_eq!(said.next().as_deref(), Some("ready"));
    let mut waits = Vec::new();
    for _ in 0..20 {
        let handle = ratchet.enqueue(greet()).await.expect("enqueues");
        assert_eq!(handle.wait_for(DEADLINE).await.expect("runs elsewhere"), "hello Ada");
        let job = handle.record().await.expect("reads").expect("is there");
        waits.push(job.queue_wait.expect("it ran"));
    }
    worker.kill().expect("can be killed");
    worker.wait().expect("is gone");
    waits.sort_unstable();
    // A poll would take seconds. The median allows for a busy machine.
    assert!(waits[10] < Duration::from_millis(500), "{waits:?}");
}

// spec: S-09
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_processes_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let mut committed = HashSet::new();
    for _ in 0..5 {
        let mut child = start("load", &path);
        // Kill it after some submits, while other jobs are running.
        committed.extend(lines(&mut child).take(100));
        child.kill().expect("can be killed");
        child.wait().expect("is gone");
    }
    assert!(committed.len() >= 500);
    let ratchet = ratchet(&path).await;
    let worker = ratchet.start().await.expect("starts");
    let store = ratchet.store();
    let until = tokio::time::Instant::now() + DEADLINE;
    loop {
        let counts = store.counts().await.expect("counts");
        if counts.state(JobState::Pending) + counts.state(JobState::Running) == 0 {
            break;
        }
        assert!(tokio::time::Instant::now() < until, "stuck: {counts:?}");
        tokio::task::yield_now().await;
    }
    worker.stop().await;
    for id in committed {
        let id: JobId = id.parse().expect("an id");
        let job = store.get(id).await.expect("reads").expect("no committed job is lost");
        assert_eq!(job.state, JobState::Succeeded);
    }
    let mut conn = SqliteConnectOptions::new().filename(&path).connect().await.expect("connects");
    let row = sqlx::query("PRAGMA integrity_check").fetch_one(&mut conn).await.expect("checks");
    assert_eq!(row.get::<String, _>(0), "ok");
}
