//! A thousand submits per second while the server restarts and connections are cut at random.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::model::{
    GroupId, GroupKind, GroupRecord, InsertError, Inserted, JobId, JobSpec, NewGraph, NewJob, Step,
};
use tokio::time::{Instant, MissedTickBehavior};
use uuid::Uuid;

use crate::support::{Cut, Cutter, OwnServer};

/// How long a submit may wait for the server.
const TIMEOUT: Duration = Duration::from_secs(30);
const RESTARTS: u32 = 6;
/// Submits per tick of 10 ms.
const PER_TICK: usize = 10;

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Kind {
    Plain,
    IdempotencyKey,
    BusinessKey,
    Bulk,
    Graph,
}

impl Kind {
    fn of(number: usize) -> Self {
        match number % 20 {
            0 => Self::IdempotencyKey,
            1 => Self::BusinessKey,
            2 => Self::Bulk,
            3 => Self::Graph,
            _ => Self::Plain,
        }
    }
}

#[derive(Default)]
struct Tally {
    /// The acknowledged jobs.
    stored: Vec<JobId>,
    submits: HashMap<Kind, u32>,
    errors: Vec<String>,
    waits: Vec<Duration>,
}

struct Client {
    store: PgStore,
    ids: IdSource,
    tally: Mutex<Tally>,
}

impl Client {
    fn job(&self) -> NewJob {
        let spec = JobSpec::new("test.outage", b"{}".to_vec());
        NewJob::new(self.ids.job(), spec)
    }

    async fn submit(&self, kind: Kind) {
        let began = Instant::now();
        let (ids, answer) = self.send(kind).await;
        let created: Vec<_> = ids.iter().copied().map(Inserted::Created).collect();
        let mut tally = self.tally.lock().expect("a tally");
        tally.waits.push(began.elapsed());
        *tally.submits.entry(kind).or_default() += 1;
        match answer {
            Ok(answers) if answers == created => tally.stored.extend(ids),
            Ok(answers) => tally.errors.push(format!("{kind:?}: {answers:?} for {ids:?}")),
            Err(error) => tally.errors.push(format!("{kind:?}: {error}")),
        }
    }

    async fn send(&self, kind: Kind) -> (Vec<JobId>, Result<Vec<Inserted>, InsertError>) {
        let mut jobs = vec![self.job()];
        match kind {
            Kind::Plain => {}
            Kind::IdempotencyKey => {
                jobs[0].spec.idempotency_key = Some(jobs[0].id.to_string());
            }
            Kind::BusinessKey => jobs[0].spec.business_key = Some(jobs[0].id.to_string()),
            Kind::Bulk => jobs.extend((0..24).map(|_| self.job())),
            Kind::Graph => {
                let group = GroupId::from_uuid(self.ids.job().uuid());
                jobs.push(self.job());
                for job in &mut jobs {
                    let mut step = Step::default();
                    step.group = Some(group);
                    job.spec.step = Some(Box::new(step));
                }
                let mut record = GroupRecord::new(group, GroupKind::Batch, "outage");
                record.counts.total = 2;
                let ids = jobs.iter().map(|job| job.id).collect();
                let graph = NewGraph { jobs, groups: vec![record], ..NewGraph::default() };
                let inserted = self.store.insert_graph(graph).await;
                return (ids, inserted.map(|inserted| inserted.jobs));
            }
        }
        let ids = jobs.iter().map(|job| job.id).collect();
        (ids, self.store.insert(jobs).await)
    }
}

/// `RATCHET_OUTAGE_DOCS` is the path of the page to write, `RATCHET_OUTAGE_SECONDS` overrides the two minutes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes two minutes: `scripts/proof outages`"]
async fn s_13_submits_survive_six_restarts_and_random_cuts() {
    let seconds = std::env::var("RATCHET_OUTAGE_SECONDS").ok();
    let seconds: u32 = seconds.map_or(120, |seconds| seconds.parse().expect("a number"));
    let server = Arc::new(OwnServer::start("max_connections = 100\nshared_buffers = 256MB\n"));
    let cutter = Arc::new(Cutter::to(server.folder().join(".s.PGSQL.5432")).await);
    let options = cutter.options("postgres").acquire_timeout(TIMEOUT);
    let client = Arc::new(Client {
        store: PgStore::open(options).await.expect("opens"),
        ids: IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy)),
        tally: Mutex::default(),
    });
    let restarts = tokio::spawn({
        let server = Arc::clone(&server);
        let pause = Duration::from_secs(u64::from(seconds)) / (RESTARTS + 1);
        async move {
            let mut outages = Vec::new();
            for number in 0..RESTARTS {
                tokio::time::sleep(pause).await;
                let server = Arc::clone(&server);
                let mode = if number % 2 == 0 { "fast" } else { "immediate" };
                let began = Instant::now();
                let restart = move || {
                    server.down(mode);
                    server.up();
                };
                tokio::task::spawn_blocking(restart).await.expect("restarts");
                outages.push((mode, began.elapsed()));
            }
            outages
        }
    });
    let cuts = tokio::spawn({
        let cutter = Arc::clone(&cutter);
        async move {
            let mut cuts = 0_u32;
            loop {
                cutter.arm(
                    fastrand::usize(..30),
                    if fastrand::bool() { Cut::Before } else { Cut::After },
                );
                tokio::time::sleep(Duration::from_millis(fastrand::u64(20..200))).await;
                if cutter.has_cut() {
                    cuts += 1;
                    COUNTED.store(cuts, std::sync::atomic::Ordering::Relaxed);
                }
            }
        }
    });
    let mut ticks = tokio::time::interval(Duration::from_millis(10));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let (began, mut submits, mut number) = (Instant::now(), tokio::task::JoinSet::new(), 0);
    for _ in 0..seconds * 100 {
        ticks.tick().await;
        for _ in 0..PER_TICK {
            let (client, kind) = (Arc::clone(&client), Kind::of(number));
            submits.spawn(async move { client.submit(kind).await });
            number += 1;
        }
        while submits.try_join_next().is_some() {}
    }
    let sent = began.elapsed();
    let outages = restarts.await.expect("restarts");
    submits.join_all().await;
    cuts.abort();
    let cuts = COUNTED.load(std::sync::atomic::Ordering::Relaxed);
    let tally = std::mem::take(&mut *client.tally.lock().expect("a tally"));
    // First of all, because a later step may fail for the same reason.
    eprint!("{}", explain(&tally.errors));
    let page = page(&tally, (sent, cuts), &outages, &stored(&server).await);
    eprintln!("{page}");
    if let Ok(path) = std::env::var("RATCHET_OUTAGE_DOCS") {
        std::fs::write(path, &page).expect("the page can be written");
    }
    assert!(tally.errors.is_empty(), "{} submits failed, see above", tally.errors.len());
    assert_eq!(outages.len(), RESTARTS as usize);
}

/// Lists the errors with their numbers, most frequent first. Ids are left out, so that equal errors are counted together.
fn explain(errors: &[String]) -> String {
    let without_ids = |error: &String| {
        let words = error.split(' ').map(|word| {
            let id = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
            if Uuid::try_parse(id).is_ok() { word.replace(id, "…") } else { word.to_owned() }
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let mut counts: HashMap<String, usize> = HashMap::new();
    for error in errors {
        *counts.entry(without_ids(error)).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut lines = String::new();
    for (error, times) in counts {
        let _ = writeln!(lines, "error, {times} times: {error}");
    }
    lines
}

static COUNTED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

/// Returns the stored jobs and how often each waits.
async fn stored(server: &OwnServer) -> HashMap<JobId, i64> {
    let pool = sqlx::PgPool::connect(&server.url("postgres")).await.expect("connects");
    let sql = "SELECT j.id, coalesce(r.n, 0) FROM ratchet.job j
               LEFT JOIN (SELECT job, count(*) AS n FROM ratchet.ready GROUP BY job) r ON r.job = j.id";
    let rows: Vec<(Uuid, i64)> = sqlx::query_as(sql).fetch_all(&pool).await.expect("reads");
    rows.into_iter().map(|(id, waits)| (JobId::from_uuid(id), waits)).collect()
}

fn page(
    tally: &Tally,
    (sent, cuts): (Duration, u32),
    outages: &[(&str, Duration)],
    stored: &HashMap<JobId, i64>,
) -> String {
    let missing = tally.stored.iter().filter(|id| !stored.contains_key(id)).count();
    let acknowledged: HashSet<_> = tally.stored.iter().collect();
    let extra = stored.keys().filter(|id| !acknowledged.contains(id)).count();
    let not_once = stored.values().filter(|waits| **waits != 1).count();
    let mut waits = tally.waits.clone();
    waits.sort_unstable();
    let quantile = |per_mille: usize| waits[(waits.len() - 1) * per_mille / 1000];
    let mut kinds: Vec<_> = tally.submits.iter().collect();
    kinds.sort();
    let mut page = String::from(
        "# Submits while the server restarts\n\nWritten by `scripts/proof outages`. A store submits at a fixed rate. \
         Meanwhile the server restarts\n(`fast` and `immediate` in turn), and connections are cut at random requests, \
         before the server receives\nthem or after it has executed them. The `acquire_timeout` of the store \
         is 30 s.\n\n| | |\n|---|---|\n",
    );
    let mut row = |name: &str, value: String| {
        let _ = writeln!(page, "| {name} | {value} |");
    };
    let rate = tally.waits.len() * 1000 / usize::try_from(sent.as_millis()).expect("minutes");
    row("submits", format!("{} in {:.0} s ({rate} per second)", waits.len(), sent.as_secs_f64()));
    for (kind, submits) in kinds {
        row(&format!("of these, {kind:?}"), submits.to_string());
    }
    for (mode, outage) in outages {
        row(&format!("restart (`{mode}`)"), format!("{:.1} s", outage.as_secs_f64()));
    }
    row("connections cut", cuts.to_string());
    row("errors", tally.errors.len().to_string());
    row("acknowledged jobs", tally.stored.len().to_string());
    row("acknowledged jobs that are missing", missing.to_string());
    row("stored jobs that were not acknowledged", extra.to_string());
    row("stored jobs that do not wait exactly once", not_once.to_string());
    for (name, per_mille) in [("median", 500), ("99th percentile", 990), ("longest", 1000)] {
        row(
            &format!("time of a submit, {name}"),
            format!("{:.1} ms", quantile(per_mille).as_secs_f64() * 1e3),
        );
    }
    assert_eq!((missing, extra, not_once), (0, 0, 0), "{page}");
    page
}
