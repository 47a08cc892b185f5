//! A stress test without held operations: a few contended keys, small limits, random operations, nodes that vanish,
//! connections that are cut, and an audit whenever everything is idle.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::{PgOptions, PgStore};
use ratchet_store::InsertInTx as _;
use ratchet_store::model::{
    AttemptOutcome, CancelCause, ClaimRequest, Claimed, Command, ConcurrencyKey, Due, Filter,
    InsertError, JobId, JobSpec, JobState, KnownJobs, NewJob, NodeId, NodeInfo, Placement,
    Priority, QueueDemand, Settled, Settlement, Suspects, Verdict,
};
use ratchet_store::{Store as _, StoreError};
use sqlx::PgPool;
use tokio::sync::RwLock;
use tokio::time::Instant;

use crate::audit::audit;
use crate::support::{Database, OwnServer, fail, lingering, release, retry, succeed};

/// Counts of events.
#[derive(Debug, Default)]
struct Tally {
    submits: AtomicU64,
    refused: AtomicU64,
    claims: AtomicU64,
    settled: AtomicU64,
    stale: AtomicU64,
    blocked: AtomicU64,
    verbs: AtomicU64,
    vanished: AtomicU64,
    cut: AtomicU64,
    failed: AtomicU64,
    /// Jobs that were claimed in one batch with another live job of their key.
    twins: AtomicU64,
    audits: AtomicU64,
}

impl Tally {
    fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// The state shared by all tasks. Each turn of a task holds the read lock, so that an audit waits for all of them.
struct Stress {
    url: String,
    ids: IdSource,
    tally: Tally,
    turns: RwLock<()>,
    over: AtomicBool,
    /// Jobs that probably exist, for random operations.
    some: std::sync::Mutex<Vec<JobId>>,
}

impl Stress {
    fn pick(&self) -> Option<JobId> {
        let some = self.some.lock().expect("not poisoned");
        (!some.is_empty()).then(|| some[fastrand::usize(..some.len())])
    }

    fn job(&self) -> NewJob {
        let mut spec = JobSpec::new("mail", b"{}".to_vec());
        spec.business_key = Some(format!("order-{}", fastrand::u8(..3)));
        if fastrand::bool() {
            let limit = fastrand::u32(1..3);
            spec.concurrency = Some(ConcurrencyKey { key: format!("lane-{limit}"), limit });
        }
        let due =
            if fastrand::u8(..5) == 0 { Due::In(Duration::from_millis(30)) } else { Due::Now };
        NewJob { due, ..NewJob::new(self.ids.job(), spec) }
    }

    async fn open(&self) -> PgStore {
        let options = PgOptions::new(&self.url).expect("a URL").connections(4);
        PgStore::open(options.statement_timeout(Duration::from_secs(10))).await.expect("opens")
    }

    /// Counts a failure of the store, which is expected while connections are cut.
    fn note<T>(&self, answer: Result<T, StoreError>) -> Option<T> {
        answer.inspect_err(|_| Tally::add(&self.tally.failed)).ok()
    }

    async fn submit(self: Arc<Self>) {
        let store = self.open().await;
        let mut own = None;
        while !self.over.load(Ordering::Relaxed) {
            let _turn = self.turns.read().await;
            let job = self.job();
            let id = job.id;
            let answer = if fastrand::u8(..4) == 0 {
                self.submit_in_tx(&store, &mut own, job).await
            } else {
                store.insert(vec![job]).await.map(drop)
            };
            match answer {
                Ok(()) => {
                    Tally::add(&self.tally.submits);
                    let mut some = self.some.lock().expect("not poisoned");
                    some.push(id);
                    if some.len() > 200 {
                        some.swap_remove(fastrand::usize(..200));
                    }
                }
                Err(InsertError::Store(_)) => Tally::add(&self.tally.failed),
                Err(_) => Tally::add(&self.tally.refused),
            }
        }
        store.close().await;
    }

    async fn submit_in_tx(
        &self,
        store: &PgStore,
        own: &mut Option<sqlx::PgConnection>,
        job: NewJob,
    ) -> Result<(), InsertError> {
        use sqlx::Connection as _;
        let lost = |error: sqlx::Error| {
            let kind = ratchet_core::StoreErrorKind::Unavailable;
            InsertError::Store(StoreError::new(kind, error.to_string()))
        };
        let mut db = match own.take() {
            Some(db) => db,
            None => sqlx::PgConnection::connect(&self.url).await.map_err(lost)?,
        };
        let mut tx = db.begin().await.map_err(lost)?;
        let answer = store.insert_in_tx(&mut tx, &[job]).await;
        tokio::time::sleep(Duration::from_millis(fastrand::u64(..3))).await;
        tx.commit().await.map_err(lost)?;
        *own = Some(db);
        answer.map(drop)
    }

    async fn work(self: Arc<Self>) {
        let store = self.open().await;
        let mut node = self.join(&store).await;
        let mut runs: Vec<Claimed> = Vec::new();
        while !self.over.load(Ordering::Relaxed) {
            let _turn = self.turns.read().await;
            if self.note(store.heartbeat(node, Duration::from_secs(2)).await).is_none() {
                continue;
            }
            let request = request(node, fastrand::u32(1..8));
            let batch: Vec<_> = runs.drain(..).map(|run| self.end(&run)).collect();
            let answer = match batch.is_empty() {
                true => store.claim(request).await.map(|reply| (Vec::new(), reply)),
                false => store.settle_and_claim(batch.clone(), request).await,
            };
            let Some((settled, reply)) = self.note(answer) else { continue };
            let mut late = Vec::new();
            for (sent, settled) in batch.iter().zip(&settled) {
                Tally::add(match settled {
                    Settled::Applied(_) => &self.tally.settled,
                    Settled::Stale { .. } => &self.tally.stale,
                    Settled::Blocked { .. } => &self.tally.blocked,
                });
                if sent.lingering && matches!(settled, Settled::Applied(_)) {
                    late.push(sent.token);
                }
            }
            if !late.is_empty() {
                self.note(store.release_holds(late).await);
            }
            self.look_for_twins(&reply.jobs);
            runs = reply.jobs;
            if fastrand::u8(..60) == 0 {
                // The node vanishes with everything it holds.
                Tally::add(&self.tally.vanished);
                runs.clear();
                node = self.join(&store).await;
            }
        }
        store.close().await;
    }

    fn look_for_twins(&self, jobs: &[Claimed]) {
        let mut keys = HashMap::new();
        for job in jobs {
            Tally::add(&self.tally.claims);
            if let Some(key) = &job.spec.business_key
                && keys.insert(key.clone(), job.id()).is_some()
            {
                Tally::add(&self.tally.twins);
            }
        }
    }

    fn end(&self, run: &Claimed) -> Settlement {
        match fastrand::u8(..12) {
            0 => fail(run),
            1 => retry(run),
            2 => lingering(retry(run)),
            3 => lingering(fail(run)),
            4 => release(run),
            5 => {
                let mut settlement = succeed(run);
                settlement.spawned.push(self.job());
                settlement
            }
            _ => succeed(run),
        }
    }

    async fn join(&self, store: &PgStore) -> NodeId {
        loop {
            let mut info = NodeInfo::new(self.ids.node());
            (info.known, info.queues) = (known(), ["default".to_owned()].into());
            let id = info.id;
            if self.note(store.join(info, Duration::from_secs(2)).await).is_some() {
                return id;
            }
        }
    }

    /// Runs random commands, sweeps and rescues.
    async fn operate(self: Arc<Self>) {
        let store = self.open().await;
        while !self.over.load(Ordering::Relaxed) {
            let _turn = self.turns.read().await;
            Tally::add(&self.tally.verbs);
            let Some(id) = self.pick() else { continue };
            let command = match fastrand::u8(..17) {
                16 => {
                    let level = Priority::ALL[fastrand::usize(..Priority::ALL.len())];
                    Command::Move(id, Placement::default().priority(level))
                }
                0..=2 => Command::Cancel(id, CancelCause::Requested),
                3 => Command::Pause(id),
                4..=8 => Command::Resume(id),
                9 | 10 => Command::Retry(id),
                11 => Command::Reschedule(id, Due::In(Duration::from_millis(20))),
                12 => Command::Redrive { filter: Filter::default(), limit: 5 },
                13 => {
                    for state in [JobState::Failed, JobState::Canceled, JobState::Succeeded] {
                        self.note(store.purge(state, Duration::from_millis(300), 50).await);
                    }
                    continue;
                }
                14 => {
                    self.rescue(&store).await;
                    continue;
                }
                _ => {
                    let node = self.join(&store).await;
                    self.note(store.try_lead(node, Duration::from_millis(1)).await);
                    continue;
                }
            };
            let _ = store.command(command).await;
        }
        store.close().await;
    }

    async fn rescue(&self, store: &PgStore) {
        let Some(orphans) = self.note(store.orphans(50).await) else { return };
        let rescue = |run: &Claimed| {
            let verdict = Verdict::Rescue { delay: Duration::ZERO, crashes: 0 };
            Settlement::new(run.token, verdict, AttemptOutcome::Crashed)
        };
        let settlements: Vec<_> = orphans.iter().map(|orphan| rescue(&orphan.claimed)).collect();
        self.note(store.settle(settlements).await);
    }

    /// Cuts a random connection from time to time.
    async fn cut(self: Arc<Self>, pool: PgPool) {
        while !self.over.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(700)).await;
            // Not during an audit.
            let _turn = self.turns.read().await;
            let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND application_name = 'ratchet' ORDER BY random() LIMIT 1";
            if sqlx::query(cut).execute(&pool).await.is_ok() {
                Tally::add(&self.tally.cut);
            }
        }
    }
}

fn known() -> Arc<KnownJobs> {
    Arc::new(KnownJobs([("mail".to_owned(), 1)].into()))
}

fn request(node: NodeId, limit: u32) -> ClaimRequest {
    ClaimRequest {
        node,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit }],
        known: known(),
        suspects: Suspects::beside_others(100),
        starting: true,
    }
}

/// Runs the stress test on a database for this time. Returns the violations.
async fn torment(url: String, time: Duration, cuts: bool) -> (Tally, Vec<String>) {
    let pool = PgPool::connect(&url).await.expect("connects");
    let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
    let stress = Arc::new(Stress {
        url,
        ids,
        tally: Tally::default(),
        turns: RwLock::new(()),
        over: AtomicBool::new(false),
        some: std::sync::Mutex::default(),
    });
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    let before: i64 = sqlx::query_scalar(deadlocks).fetch_one(&pool).await.expect("reads");
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..3 {
        tasks.spawn(Arc::clone(&stress).submit());
    }
    for _ in 0..2 {
        tasks.spawn(Arc::clone(&stress).work());
        tasks.spawn(Arc::clone(&stress).operate());
    }
    if cuts {
        tasks.spawn(Arc::clone(&stress).cut(pool.clone()));
    }
    let (until, mut wrong) = (Instant::now() + time, Vec::new());
    while Instant::now() < until && wrong.is_empty() {
        let pause = Duration::from_secs(2).min(until.saturating_duration_since(Instant::now()));
        tokio::time::sleep(pause).await;
        let _quiet = stress.turns.write().await;
        quiet(&pool).await;
        Tally::add(&stress.tally.audits);
        // Opened for each audit, because an idle connection could be cut.
        let auditor = stress.open().await;
        wrong.extend(audit(&pool, &auditor).await);
        auditor.close().await;
    }
    stress.over.store(true, Ordering::Relaxed);
    while let Some(task) = tasks.join_next().await {
        task.expect("no task panics");
    }
    let auditor = stress.open().await;
    auditor.orphans(1000).await.expect("sweeps");
    if auditor.repairs() != ratchet_pg::Repairs::default() {
        wrong.push(format!("a sweep had to free something: {:?}", auditor.repairs()));
    }
    auditor.close().await;
    quiet(&pool).await;
    let after: i64 = sqlx::query_scalar(deadlocks).fetch_one(&pool).await.expect("reads");
    if after > before {
        wrong.push(format!("{} deadlocks", after - before));
    }
    let twins = stress.tally.twins.load(Ordering::Relaxed);
    if twins > 0 {
        wrong.push(format!("{twins} jobs were claimed beside another live job of their key"));
    }
    let stress = Arc::into_inner(stress).expect("every task has ended");
    (stress.tally, wrong)
}

/// Waits until no transaction of the stores is active. A transaction whose client was cut off may still be.
async fn quiet(pool: &PgPool) {
    let busy = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
        AND application_name = 'ratchet' AND (state <> 'idle' OR backend_xid IS NOT NULL)";
    let deadline = Instant::now() + Duration::from_mins(1);
    while sqlx::query_scalar::<_, i64>(busy).fetch_one(pool).await.expect("an answer") > 0 {
        assert!(Instant::now() < deadline, "something never ends");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_04_q_02_a_few_seconds_of_random_verbs_leave_nothing_wrong() {
    let database = Database::take().await;
    let (tally, wrong) = torment(database.url(), Duration::from_secs(8), false).await;
    assert!(wrong.is_empty(), "{wrong:#?}\n{tally:?}");
    assert!(tally.settled.load(Ordering::Relaxed) > 0, "{tally:?}");
}

/// `RATCHET_STRESS_MINUTES`, `RATCHET_STRESS_FSYNC=on|off`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes: `scripts/proof stress`"]
async fn minutes_of_random_verbs_leave_nothing_wrong() {
    let set = |name: &str, or: &str| std::env::var(name).unwrap_or_else(|_| or.to_owned());
    let minutes: f64 = set("RATCHET_STRESS_MINUTES", "10").parse().expect("a number");
    let fsync = set("RATCHET_STRESS_FSYNC", "on");
    let server = OwnServer::start(&format!("fsync = {fsync}\nmax_connections = 100"));
    let time = Duration::from_secs_f64(minutes * 60.0);
    let (tally, wrong) = torment(server.url("postgres"), time, true).await;
    #[allow(clippy::print_stdout, reason = "a program run by hand tells what it has done")]
    {
        println!("{minutes} minutes, fsync {fsync}: {tally:?}; wrong: {wrong:?}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
