//! Shared by the programs: a scratch server with production durability, jobs, and a claimer.

pub mod backlog;
pub mod cpu;
pub mod raw;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use ratchet::Store;
use ratchet::env::{IdSource, OsEntropy, SystemClock};
use ratchet::model::{
    AttemptOutcome, ClaimRequest, Claimed, JobSpec, KnownJobs, NewJob, NodeId, NodeInfo,
    QueueDemand, Settlement, Suspects, Verdict,
};
use sqlx::PgPool;

/// A PostgreSQL server in a temporary folder. It is stopped and removed on drop.
pub struct Server {
    folder: PathBuf,
}

impl Server {
    /// Starts a server with fsync and synchronous commit on, and 1 GB of shared buffers.
    pub fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("ratchet-bench-{}", std::process::id()));
        let (data, server) = (folder.join("data"), Self { folder: folder.clone() });
        std::fs::create_dir_all(&data).expect("a folder");
        run(Command::new("chown").args(["-R", "postgres"]).arg(&folder));
        let mut initdb = as_postgres("initdb");
        run(initdb.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "-D"]).arg(&data));
        let settings = format!(
            "listen_addresses = ''\nunix_socket_directories = '{}'\nmax_connections = 200\n\
             shared_buffers = 1GB\nmax_wal_size = 4GB\n{}\n",
            folder.display(),
            std::env::var("BENCH_SETTINGS").unwrap_or_default()
        );
        let path = data.join("postgresql.conf");
        let mut all = std::fs::read_to_string(&path).expect("settings");
        all.push_str(&settings);
        std::fs::write(&path, all).expect("settings");
        server.up();
        server
    }

    /// Starts the server again.
    pub fn up(&self) {
        let mut pg_ctl = as_postgres("pg_ctl");
        pg_ctl.args(["start", "-w", "-t", "60", "-s", "-l"]).arg(self.folder.join("log"));
        run(pg_ctl.arg("-D").arg(self.folder.join("data")).stdout(Stdio::null()));
    }

    /// Stops the server. The mode is `fast` or `immediate`.
    pub fn down(&self, mode: &str) {
        let mut pg_ctl = as_postgres("pg_ctl");
        pg_ctl.args(["stop", "-w", "-s", "-m", mode, "-D"]).arg(self.folder.join("data"));
        run(&mut pg_ctl);
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// Creates a database.
    pub fn create(&self, database: &str) {
        let mut createdb = as_postgres("createdb");
        run(createdb.args(["-U", "postgres", "-h"]).arg(&self.folder).arg(database));
    }

    /// Returns the address of one of its databases.
    pub fn url_of(&self, database: &str) -> String {
        let host = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{host}/{database}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.down("immediate");
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn as_postgres(program: &str) -> Command {
    let mut found: Vec<_> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin").join(program))
        .collect();
    found.sort();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--"]);
    command.arg(found.pop().expect("PostgreSQL is installed")).current_dir("/");
    command
}

fn run(command: &mut Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.expect("runs").success(), "{command:?} failed");
}

pub fn ids() -> IdSource {
    IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy))
}

/// Inserts `count` jobs with the given name, 1000 at a time.
pub async fn fill(store: &dyn Store, name: &str, count: usize) {
    let ids = ids();
    for start in (0..count).step_by(1000) {
        let batch = (start..count.min(start + 1000)).map(|n| {
            NewJob::new(ids.job(), JobSpec::new(name, format!("{{\"id\":{n}}}").into_bytes()))
        });
        store.insert(batch.collect()).await.expect("inserted");
    }
}

pub async fn join(store: &dyn Store) -> NodeId {
    let node = ids().node();
    store.join(NodeInfo::new(node), Duration::from_secs(3600)).await.expect("joins");
    node
}

pub fn request(node: NodeId, name: &str, limit: u32) -> ClaimRequest {
    ClaimRequest {
        node,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit }],
        known: Arc::new(KnownJobs([(name.to_owned(), 1)].into())),
        suspects: Suspects::beside_others(5),
        starting: true,
    }
}

pub fn success(run: &Claimed) -> Settlement {
    Settlement::new(
        run.token,
        Verdict::Succeed { output: Some("null".to_owned()) },
        AttemptOutcome::Success,
    )
}

/// Returns the WAL bytes and the number of commits so far.
pub async fn spent(pool: &PgPool) -> (i64, i64) {
    let sql = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint, xact_commit
               FROM pg_stat_database WHERE datname = current_database()";
    sqlx::query("SELECT pg_stat_clear_snapshot()").execute(pool).await.expect("an answer");
    sqlx::query_as(sql).fetch_one(pool).await.expect("an answer")
}

/// Returns a percentile of the numbers; `part` is between 0 and 1.
pub fn percentile(numbers: &mut [f64], part: f64) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().saturating_sub(1);
    numbers[((last as f64) * part).round() as usize]
}
