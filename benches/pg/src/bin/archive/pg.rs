//! PostgreSQL: whole ranges of ids are detached and attached, and the rest is moved job by job.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ratchet::Store;
use ratchet::model::{JobId, JobState};
use ratchet_bench_pg::{Server, backlog};
use ratchet_pg::PgStore;
use sqlx::{AssertSqlSafe, PgPool};
use uuid::Uuid;

use crate::DAY;
use crate::paced::Paced;
use crate::sample::{Sampled, find};
use crate::turns::Turns;

/// Of this many jobs of a range, one ended too late to be archived, and one was canceled.
const ONE_OF: usize = 500;

/// The jobs that are added to the queue at once.
const BACKLOG: u64 = 300_000;

/// The fewest jobs that must wait when a turn begins.
const FEW: u64 = 150_000;

/// The stretches in which maintenance archives, and the length of each.
const STRETCHES: usize = 6;
const LENGTH: Duration = Duration::from_secs(15);

/// Days between the last range of old jobs and the present.
const AGO: i64 = 30;

const MICROS_OF_A_DAY: i64 = 86_400_000_000;

pub async fn measure(jobs: usize, turns: usize) -> f64 {
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let store = PgStore::connect(&server.url()).await.expect("opens");
    // The leader of maintenance is another process, with connections of its own.
    sqlx::raw_sql("CREATE ROLE leader SUPERUSER LOGIN").execute(&pool).await.expect("is made");
    let url = server.url().replace("//postgres@", "//leader@");
    let leader = PgStore::connect(&url).await.expect("opens");
    let first = make_ranges(&pool, turns).await;
    for range in 0..turns {
        fill_range(&pool, first, range, jobs / turns).await;
    }
    let sampled = sample(&pool).await;
    sqlx::raw_sql("VACUUM ANALYZE").execute(&pool).await.expect("analyzes");
    let mut paced = Paced::new(LENGTH);
    for _ in 0..=2 * STRETCHES {
        wait_for(&pool, paced.jobs()).await;
        paced.run(crate::builder(store.clone())).await;
    }
    println!(
        "\nPostgreSQL, {jobs} jobs in {turns} ranges of ids, archived by the maintenance of the worker:\n"
    );
    let ratio = paced.report();

    let done = count_moved(&pool).await;
    wait_for(&pool, BACKLOG).await;
    let ratchet = crate::builder(store.clone()).build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    let mut watched = Turns::new(worker);
    let locks = Locks::watch(&pool, Arc::clone(&watched.busy));
    watched.until(20_000).await;

    let mut added = BACKLOG;
    for range in done..turns {
        refill(&pool, &watched, &mut added).await;
        // Exactly one more range is old enough.
        let ends = first + i64::try_from(range + 1).expect("fits") * MICROS_OF_A_DAY;
        let age = age_of(&store, ends).await;
        watched
            .turn(async { leader.archive(JobState::Succeeded, age, 1000).await.expect("archives") })
            .await;
    }
    let ranges = count_moved(&pool).await;
    assert_eq!(ranges, turns, "every range is moved as a whole");
    println!(
        "\nThe other {} ranges were archived without pauses, by a second process:\n",
        turns - done
    );
    watched.report();
    locks.report();
    refill(&pool, &watched, &mut added).await;
    one_by_one(&leader, &watched, jobs / ONE_OF).await;
    watched.stop().await;

    let status = ratchet.archive().status().await.expect("reads");
    let late = jobs / turns / ONE_OF * turns;
    assert_eq!(status.jobs(), (jobs / turns * turns - late) as u64, "{status:?}");
    find(&ratchet, &sampled).await;
    leader.close().await;
    store.close().await;
    ratio
}

/// Returns how many ranges were archived.
async fn count_moved(pool: &PgPool) -> usize {
    let moved: i64 =
        sqlx::query_scalar("SELECT count(*) FROM ratchet_archive.part WHERE at IS NOT NULL")
            .fetch_one(pool)
            .await
            .expect("counts");
    usize::try_from(moved).expect("fits")
}

/// Adds jobs until this many wait.
async fn wait_for(pool: &PgPool, jobs: u64) {
    let waiting: i64 = sqlx::query_scalar("SELECT count(*) FROM ratchet.ready")
        .fetch_one(pool)
        .await
        .expect("counts");
    backlog::add_pending(pool, i64::try_from(jobs).expect("fits") - waiting).await;
}

/// Makes ranges of a day each, as the store would have made them at that time. Returns the beginning of the first one.
async fn make_ranges(pool: &PgPool, ranges: usize) -> i64 {
    let ranges = i64::try_from(ranges).expect("fits");
    let first: i64 = sqlx::query_scalar("SELECT ratchet.now_micros() / $1 * $1 - $2 * $1")
        .bind(MICROS_OF_A_DAY)
        .bind(ranges + AGO)
        .fetch_one(pool)
        .await
        .expect("an answer");
    let sql = format!(
        "DO $body$
        DECLARE base text; low bigint;
        BEGIN
            FOR i IN 0..{ranges} - 1 LOOP
                low := {first} + i * {MICROS_OF_A_DAY};
                FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
                    EXECUTE format('CREATE TABLE ratchet.%1$I (LIKE ratchet.%2$I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', base || '_old' || i, base);
                    EXECUTE format('ALTER TABLE ratchet.%2$I ATTACH PARTITION ratchet.%1$I FOR VALUES FROM (%3$L) TO (%4$L)',
                        base || '_old' || i, base, ratchet.id_at(low), ratchet.id_at(low + {MICROS_OF_A_DAY}));
                END LOOP;
                INSERT INTO ratchet.part (starts, ends, suffix) VALUES (low, low + {MICROS_OF_A_DAY}, 'old' || i);
            END LOOP;
        END
        $body$"
    );
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await.expect("makes ranges");
    first
}

/// The job rows of a range, each submitted a while after the one before, with what a run leaves. One of 20 was retried, and one
/// of 10 wrote a log line.
const FILL: &str = "WITH n AS MATERIALIZED (
    SELECT (lpad(to_hex(($3 + g * ($4 / ($1 + 1))) / 1000), 12, '0') || '70008000' || lpad(to_hex(g), 12, '0'))::uuid AS id,
        $3 + g * ($4 / ($1 + 1)) AS at, g
    FROM generate_series(1, $1) g
), j AS (
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, name, queue, payload, business_key, tenant)
    SELECT id, at, at, 1800000000, 1, 2, 'bench.old', 'default', '{\"id\":1}', 'order-' || $2::bigint || '-' || g, 'tenant-' || g % 50 FROM n
), a AS (
    INSERT INTO ratchet.attempt (job, run, started_at, finished_at, due, duration, node, attempt, generation, result)
    SELECT id, 1, at, at + 1000, at, 1000, id, 1, 1, 1 FROM n WHERE g % 20 = 0
), l AS (
    INSERT INTO ratchet.log (job, run, after, level, message) SELECT id, 1, 500, 2, 'delivered' FROM n WHERE g % 10 = 0
)
INSERT INTO ratchet.outcome (job, at, due, version, run, node, started_at, duration, attempts, crashes, deferrals, generation,
    attempt, state, result, cause, output)
SELECT id, CASE WHEN g % $5 = 0 THEN ratchet.now_micros() ELSE at + 1000 END, at, 4, CASE WHEN g % 20 = 0 THEN 2 ELSE 1 END, id, at, 1000,
    0, 0, 0, 1, CASE WHEN g % 20 = 0 THEN 2 ELSE 1 END,
    CASE WHEN g % $5 = 1 THEN 5 ELSE 2 END, CASE WHEN g % $5 = 1 THEN 9 ELSE 0 END, CASE WHEN g % $5 = 1 THEN 0 END, 'null'
FROM n";

const TALLY: &str = "INSERT INTO ratchet.tally (queue, state, part, change)
    SELECT 'default', state, tableoid, count(*) FROM ratchet.outcome
    WHERE job >= ratchet.id_at($1) AND job < ratchet.id_at($2) GROUP BY state, tableoid";

async fn fill_range(pool: &PgPool, first: i64, range: usize, jobs: usize) {
    let starts = first + i64::try_from(range).expect("fits") * MICROS_OF_A_DAY;
    let filled = sqlx::query(FILL)
        .bind(i64::try_from(jobs).expect("fits"))
        .bind(i64::try_from(range).expect("fits"))
        .bind(starts)
        .bind(MICROS_OF_A_DAY)
        .bind(i64::try_from(ONE_OF).expect("fits"));
    filled.execute(pool).await.expect("fills");
    let counted = sqlx::query(TALLY).bind(starts).bind(starts + MICROS_OF_A_DAY);
    counted.execute(pool).await.expect("counts");
}

/// Returns some of the jobs that will be archived.
async fn sample(pool: &PgPool) -> Vec<Sampled> {
    let sql = "SELECT j.id, j.business_key, j.tenant FROM ratchet.job j JOIN ratchet.outcome o ON o.job = j.id
        WHERE j.name = 'bench.old' AND o.at < ratchet.now_micros() - $1 ORDER BY random() LIMIT 1000";
    let rows: Vec<(Uuid, String, String)> =
        sqlx::query_as(sql).bind(MICROS_OF_A_DAY).fetch_all(pool).await.expect("samples");
    let sampled =
        |(id, business_key, tenant)| Sampled { id: JobId::from_uuid(id), business_key, tenant };
    rows.into_iter().map(sampled).collect()
}

/// Returns how old the store's clock calls an instant.
async fn age_of(store: &PgStore, instant: i64) -> Duration {
    let now = store.now().await.expect("reads").as_microsecond();
    Duration::from_micros(u64::try_from(now - instant).expect("in the past"))
}

/// Adds jobs to the queue if few wait.
async fn refill(pool: &PgPool, watched: &Turns, added: &mut u64) {
    if *added - watched.settled() > FEW {
        return;
    }
    backlog::add_pending(pool, i64::try_from(BACKLOG).expect("fits")).await;
    *added += BACKLOG;
    // The worker is at its usual speed again.
    watched.until(watched.settled() + 20_000).await;
}

/// Archives the canceled jobs, which stayed outside of the archived ranges, in batches as maintenance does.
async fn one_by_one(leader: &PgStore, watched: &Turns, jobs: usize) {
    let (mut moved, before, started) = (0, watched.settled(), Instant::now());
    loop {
        let some = leader.archive(JobState::Canceled, DAY, 1000).await.expect("archives");
        moved += some;
        if some < 1000 {
            break;
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let ended = watched.settled() - before;
    assert_eq!(moved, jobs as u64, "canceled jobs");
    println!(
        "\n{moved} canceled jobs were then moved one by one in {seconds:.2} s ({:.0} per second), while the worker ended {:.0} jobs per second.",
        moved as f64 / seconds,
        ended as f64 / seconds
    );
}

/// The locks of the leader, and what waits for a lock.
struct Locks {
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    samples: u64,
    /// Samples in which a statement of the worker waited for a lock.
    waits: u64,
    /// The longest of these waits, in milliseconds.
    longest: f64,
    /// The longest wait of the leader.
    leader: f64,
    /// The longest time for which the leader was seen with its exclusive lock, in milliseconds.
    held: f64,
}

const LOCKS: &str = "SELECT
    COALESCE(max(extract(epoch FROM clock_timestamp() - l.waitstart)) FILTER (
        WHERE NOT l.granted AND a.usename <> 'leader'), 0)::float8 * 1000,
    COALESCE(max(extract(epoch FROM clock_timestamp() - l.waitstart)) FILTER (
        WHERE NOT l.granted AND a.usename = 'leader'), 0)::float8 * 1000,
    COALESCE(bool_or(l.granted AND l.mode = 'AccessExclusiveLock' AND l.relation = 'ratchet.outcome'::regclass
        AND a.usename = 'leader'), false)
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()";

impl Locks {
    /// Samples the locks of the server every few milliseconds, and remembers those of the time in which jobs are archived.
    fn watch(pool: &PgPool, busy: Arc<AtomicBool>) -> Self {
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (pool, kept) = (pool.clone(), Arc::clone(&seen));
        tokio::spawn(async move {
            let mut since: Option<Instant> = None;
            loop {
                tokio::time::sleep(Duration::from_millis(2)).await;
                let row: Result<(f64, f64, bool), _> = sqlx::query_as(LOCKS).fetch_one(&pool).await;
                let Ok((waited, leader, held)) = row else { return };
                let mut seen = kept.lock().expect("no panic");
                match (held, since) {
                    (true, None) => since = Some(Instant::now()),
                    (true, Some(at)) => {
                        seen.held = seen.held.max(at.elapsed().as_secs_f64() * 1000.0)
                    }
                    (false, _) => since = None,
                }
                if busy.load(Ordering::Relaxed) {
                    seen.samples += 1;
                    seen.waits += u64::from(waited > 0.0);
                    seen.longest = seen.longest.max(waited);
                    seen.leader = seen.leader.max(leader);
                }
            }
        });
        Self { seen }
    }

    fn report(&self) {
        let seen = self.seen.lock().expect("no panic");
        println!("| samples of the locks while jobs were archived | {} |", seen.samples);
        println!(
            "| samples in which a statement of the worker waited for a lock | {} |",
            seen.waits
        );
        println!("| longest of these waits | {:.1} ms |", seen.longest);
        println!("| longest wait of the leader for its locks | {:.1} ms |", seen.leader);
        println!(
            "| longest time for which the leader held its exclusive locks | {:.1} ms |",
            seen.held
        );
    }
}
