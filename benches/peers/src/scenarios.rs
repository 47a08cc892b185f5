//! The scenarios. Each gives one main number per system and round, and some give additional numbers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ratchet_bench_pg::Server;
use ratchet_bench_pg::cpu::cpu;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, PgPool};

use crate::phase::{Caller, finish, migrations};
use crate::systems::{Kind, System};

/// The results of one measurement, by name.
pub type Measured = BTreeMap<String, f64>;

#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    pub name: &'static str,
    pub about: &'static str,
    /// Returns whether the scenario applies to a system.
    pub of: fn(&System) -> bool,
    /// The name of the main number.
    pub number: &'static str,
    pub lower_is_better: bool,
    /// The number of measurements per round. Short measurements vary more, so they are repeated.
    pub times: usize,
}

impl Scenario {
    const fn thrice(self) -> Self {
        Self { times: 3, ..self }
    }
}

const fn rate(name: &'static str, about: &'static str, of: fn(&System) -> bool) -> Scenario {
    Scenario { name, about, of, number: "rate", lower_is_better: false, times: 1 }
}

fn not_floor(system: &System) -> bool {
    system.kind != Kind::Floor
}

/// Returns whether the system's adapter can measure the start of jobs. That of `apalis-sqlite` cannot.
fn starts(system: &System) -> bool {
    not_floor(system) && (!system.embedded || system.kind == Kind::Ours)
}

/// Returns whether the system is fast enough for scenarios with 100,000 jobs and more.
fn fast(system: &System) -> bool {
    ours(system) || system.drain >= 50_000 && system.kind == Kind::Peer && !system.embedded
}

fn ours(system: &System) -> bool {
    system.kind == Kind::Ours && !system.embedded
}

pub const SCENARIOS: &[Scenario] = &[
    rate("single", "submit one by one, 8 tasks", not_floor),
    rate("bulk", "submit 100,000 in bulk", |system| system.bulk),
    rate("drain", "drain of no-op jobs, one process", |_| true).thrice(),
    rate("drain-2", "drain of no-op jobs, two processes", |system| {
        not_floor(system) && system.drain >= 10_000 && !system.embedded
    })
    .thrice(),
    Scenario {
        name: "pick-up",
        about: "commit → start on an idle system, p95 ms",
        of: starts,
        number: "p95",
        lower_is_better: true,
        times: 3,
    },
    rate("sustained", "produce and consume at once", fast),
    Scenario {
        name: "half-load",
        about: "commit → start at half of the sustained rate, p99 ms",
        of: fast,
        number: "p99",
        lower_is_better: true,
        times: 1,
    },
    rate("pinned", "drain while a transaction holds an old snapshot", fast),
    rate("finished", "drain beside 1 M finished jobs", ours),
    rate("pending", "the first 100,000 of 1 M pending", ours),
    rate("large", "drain of jobs with 64 KiB of arguments", fast),
    rate("failing", "drain where one in ten fails once", ours),
];

/// The size of a benchmark run.
#[derive(Debug, Clone, Copy)]
pub struct Size {
    /// The number of jobs relative to a full run.
    pub part: f64,
    /// The duration of `sustained`, in seconds.
    pub seconds: usize,
    /// The number of jobs in `pick-up`.
    pub starts: usize,
    /// The number of existing jobs in `finished` and `pending`.
    pub many: usize,
    /// The time limit of a phase, in seconds. If it is exceeded, the cell stays empty.
    pub timeout: u64,
}

impl Size {
    fn of(&self, jobs: usize) -> usize {
        ((jobs as f64 * self.part) as usize).max(500)
    }
}

pub struct Bench {
    pub server: Server,
    pub pool: PgPool,
    pub size: Size,
    /// The rates measured by `sustained`, used by `half-load`.
    pub peaks: BTreeMap<&'static str, f64>,
}

impl Bench {
    /// Runs a scenario for a system, in a new database.
    pub async fn run(&mut self, scenario: &Scenario, system: &System) -> Option<Measured> {
        let name = format!("b_{}", uuid::Uuid::now_v7().simple());
        if system.embedded {
            let folder = std::env::temp_dir().join(name);
            std::fs::create_dir(&folder).expect("a folder");
            let file = folder.join("jobs.db").display().to_string();
            let caller = Caller::new(system, file, self.size.timeout)
                .with("STORE", "sqlite")
                .with("SYNC", "full");
            caller.run("setup", 0).await;
            let measured = self.measure(scenario, &caller).await;
            let _ = std::fs::remove_dir_all(folder);
            return measured;
        }
        self.sql(&format!("CREATE DATABASE {name}")).await;
        let url = self.server.url_of(&name);
        let caller = Caller::new(system, url.clone(), self.size.timeout);
        for file in migrations(system) {
            let mut db = PgConnection::connect(&url).await.expect("connects");
            db.execute(sqlx::raw_sql(AssertSqlSafe(file))).await.expect("migrates");
        }
        caller.run("setup", 0).await;
        let measured = self.measure(scenario, &caller).await;
        self.sql(&format!("DROP DATABASE {name} WITH (FORCE)")).await;
        measured
    }

    async fn sql(&self, sql: &str) {
        self.pool.execute(AssertSqlSafe(sql.to_owned())).await.expect("an answer");
    }

    async fn measure(&mut self, scenario: &Scenario, caller: &Caller<'_>) -> Option<Measured> {
        let (system, size) = (caller.system, self.size);
        let jobs = size.of(system.drain);
        match scenario.name {
            "single" => numbers(&caller.run("enqueue", size.of(system.single)).await?),
            "bulk" => numbers(&caller.run("bulk", size.of(100_000)).await?),
            "drain" if system.embedded => {
                caller.fill(jobs).await?;
                numbers(&caller.run("work", jobs).await?)
            }
            "drain" => self.drain(caller, jobs).await,
            "drain-2" => self.drain_by_two(caller, jobs).await,
            "pick-up" => numbers(&caller.run("latency", size.starts).await?),
            "sustained" => {
                let caller = caller.with("SECS", size.seconds);
                let measured = numbers(&caller.run("sustained", 10_000_000).await?)?;
                self.peaks.insert(system.name, measured["rate"]);
                Some(measured)
            }
            "half-load" => {
                let rate = self.peaks.get(system.name).copied()? / 2.0;
                let seconds = size.seconds.min(10);
                let caller = caller.with("RATE", rate as usize).with("SECS", seconds);
                numbers(&caller.run("paced", rate as usize * seconds).await?)
            }
            "pinned" => {
                let mut other = PgConnection::connect(&caller.url).await.expect("connects");
                other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await.expect("begins");
                other.execute("SELECT txid_current()").await.expect("an answer");
                let measured = self.drain(caller, jobs).await;
                other.execute("ROLLBACK").await.expect("ends");
                measured
            }
            "finished" => {
                caller.fill(size.many).await?;
                caller.run("work", size.many).await?;
                self.drain(caller, jobs).await
            }
            "pending" => {
                caller.fill(size.many).await?;
                let jobs = size.of(100_000).min(size.many);
                numbers(&caller.with("STOP", jobs).run("work", size.many).await?)
            }
            "large" => self.drain(&caller.with("PAYLOAD", 65_536), jobs / 20).await,
            "failing" => self.drain(&caller.with("FAILING", 10), jobs).await,
            other => panic!("no scenario {other}"),
        }
    }

    /// Fills and drains a queue. Measures the rate and the cost per job: WAL, commits and CPU time.
    async fn drain(&self, caller: &Caller<'_>, jobs: usize) -> Option<Measured> {
        let mut db = PgConnection::connect(&caller.url).await.expect("connects");
        let begun = spent(&mut db).await;
        caller.fill(jobs).await?;
        let (filled, server) = (spent(&mut db).await, cpu(&self.server.data()).server);
        let value = caller.run("work", jobs).await?;
        let (done, server) = (spent(&mut db).await, cpu(&self.server.data()).server - server);
        let mut measured = numbers(&value)?;
        let per_job = |total: f64| total / jobs as f64;
        measured.insert("wal".into(), per_job(done.wal - begun.wal));
        measured.insert("commits".into(), per_job(done.commits - filled.commits));
        measured.insert("dead".into(), done.dead);
        measured.insert("server_us".into(), per_job(server) * 1e6);
        let client = measured.get("cpu").copied().unwrap_or(0.0);
        measured.insert("client_us".into(), per_job(client) * 1e6);
        Some(measured)
    }

    async fn drain_by_two(&self, caller: &Caller<'_>, jobs: usize) -> Option<Measured> {
        caller.fill(jobs).await?;
        let out = |name| {
            std::env::temp_dir().join(format!("ratchet-peers-{name}-{}", std::process::id()))
        };
        let children = ["a", "b"].map(|name| {
            caller.with("WNAME", name).with("OUT", out(name).display()).start("work", jobs)
        });
        let (mut first, mut last) = (f64::MAX, 0.0_f64);
        for child in children {
            let measured = numbers(&finish(child, self.size.timeout).await?)?;
            first = first.min(measured["start"]);
            last = last.max(measured["end"]);
        }
        let [a, b] = ["a", "b"].map(|name| std::fs::read(out(name)).expect("counts"));
        let runs: Vec<_> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        let measured = [
            ("rate", jobs as f64 / (last - first)),
            ("once", runs.iter().filter(|runs| **runs == 1).count() as f64),
            ("dup", runs.iter().filter(|runs| **runs > 1).count() as f64),
            ("none", runs.iter().filter(|runs| **runs == 0).count() as f64),
        ];
        Some(measured.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

struct Spent {
    wal: f64,
    commits: f64,
    dead: f64,
}

/// Returns the statistics of the database. They are updated with a delay, so this polls until they are stable.
async fn spent(db: &mut PgConnection) -> Spent {
    let started = Instant::now();
    let mut last = None;
    loop {
        db.execute("SELECT pg_stat_clear_snapshot()").await.expect("an answer");
        let sql = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8, xact_commit::float8,
            (SELECT COALESCE(sum(n_dead_tup), 0)::float8 FROM pg_stat_user_tables)
            FROM pg_stat_database WHERE datname = current_database()";
        let (wal, commits, dead): (f64, f64, f64) =
            sqlx::query_as(sql).fetch_one(&mut *db).await.expect("an answer");
        // Reading the statistics also commits.
        let still = last.is_some_and(|last: f64| commits - last <= 3.0);
        if still || started.elapsed() > Duration::from_secs(3) {
            return Spent { wal, commits, dead };
        }
        last = Some(commits);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
}

fn numbers(measured: &Value) -> Option<Measured> {
    let mut numbers = Measured::new();
    for (name, value) in measured.as_object()? {
        if let Some(number) = value.as_f64() {
            numbers.insert(name.clone(), number);
        }
        for (at, value) in value.as_array().into_iter().flatten().enumerate() {
            numbers.insert(format!("{name}_{at}"), value.as_f64()?);
        }
    }
    Some(numbers)
}
