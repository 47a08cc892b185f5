//! The audit: compares the store with the diary once all work is done, regardless of which process died when.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use ratchet::graph::GroupFilter;
use ratchet::model::{
    ArchivedJobs, AttemptOutcome, AttemptRecord, Filter, GroupRecord, JobRecord, PageRequest,
};
use ratchet::{JobId, JobState, Store};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, Row as _};
use uuid::Uuid;

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::args::Args;
use crate::diary::Entries;
use crate::submit::sqlite;

/// The contents of a store in which all work is done, and the problems found.
pub struct Findings {
    pub jobs: Vec<JobRecord>,
    pub groups: Vec<GroupRecord>,
    pub history: HashMap<JobId, Vec<AttemptRecord>>,
    pub entries: Entries,
    /// Jobs that were claimed and not settled when a process died. Only these may have run twice.
    pub held: HashSet<JobId>,
    pub problems: Vec<String>,
}

impl Findings {
    pub async fn gather(store: &dyn Store, entries: Entries) -> Result<Self, Problem> {
        let mut jobs = Vec::new();
        let mut before = None;
        loop {
            let page = PageRequest { before, limit: 1000 };
            let all = Filter::any().archived(ArchivedJobs::Include);
            let page = store.list(&all, page).await?;
            jobs.extend(page.jobs);
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        let groups = store.groups(&GroupFilter::any(), None, 10_000).await?;
        let mut history = HashMap::new();
        for job in &jobs {
            history.insert(job.id, store.attempts(job.id).await?);
        }
        let (held, problems) = (HashSet::new(), Vec::new());
        Ok(Self { jobs, groups, history, entries, held, problems })
    }

    pub fn check(&mut self, so: bool, problem: impl FnOnce() -> String) {
        if !so {
            self.problems.push(problem());
        }
    }

    /// Returns the number of repeated effects: all successes beyond the first of each job.
    pub fn repeats(&self) -> usize {
        let mut ok = BTreeMap::<JobId, usize>::new();
        for effect in self.entries.effects.iter().filter(|effect| effect.what == "ok") {
            *ok.entry(effect.job).or_default() += 1;
        }
        ok.values().map(|times| times - 1).sum()
    }

    /// Accepts that purged jobs are missing if their handler succeeded once, or again after a process died.
    pub fn release_holds(&mut self) {
        let there: HashSet<_> = self.jobs.iter().map(|job| job.id.uuid()).collect();
        for (label, id) in std::mem::take(&mut self.entries.acknowledged) {
            let done = self.entries.runs("ok", JobId::from_uuid(id)).len();
            let job = JobId::from_uuid(id);
            let allowed = done == 1 || (done > 1 && self.held.contains(&job));
            self.check(allowed, || format!("{id} ({label}) was done {done} times"));
            if there.contains(&id) {
                self.entries.acknowledged.push((label, id));
            }
        }
        self.entries.effects.retain(|effect| there.contains(&effect.job.uuid()));
    }

    /// Checks that every acknowledged job exists, and that all jobs and groups have ended.
    pub fn nothing_lost(&mut self) {
        let jobs: HashSet<_> = self.jobs.iter().map(|job| job.id.uuid()).collect();
        let groups: HashSet<_> = self.groups.iter().map(|group| group.id.uuid()).collect();
        for (label, id) in self.entries.acknowledged.clone() {
            let there = jobs.contains(&id) || groups.contains(&id);
            self.check(there, || format!("submit {label} was acknowledged and {id} is not there"));
        }
        for job in self.jobs.clone() {
            self.check(job.state.is_terminal(), || format!("{} is {}", describe(&job), job.state));
        }
        for group in self.groups.clone() {
            let exact = group.state.is_ended() && group.counts.ended() == group.counts.total;
            self.check(exact, || format!("group {}: {:?}", group.id, group));
        }
        for id in self.entries.canceled.clone() {
            let state = self.jobs.iter().find(|job| job.id.uuid() == id).map(|job| job.state);
            let canceled = state == Some(JobState::Canceled);
            self.check(canceled, || format!("{id} was called off and is {state:?}"));
        }
    }

    /// Checks that the history has one line per run, and one success if and only if the job succeeded.
    pub fn one_end_each(&mut self) {
        for job in self.jobs.clone() {
            let lines = self.history.get(&job.id).cloned().unwrap_or_default();
            let runs: Vec<_> = lines.iter().map(|line| line.run).collect();
            let each: Vec<_> = (1..=job.run).collect();
            self.check(runs == each, || {
                format!("{}: runs {runs:?} of {}", describe(&job), job.run)
            });
            let ends = lines.iter().filter(|line| line.outcome == AttemptOutcome::Success).count();
            let wanted = usize::from(job.state == JobState::Succeeded);
            self.check(ends == wanted, || format!("{} has {ends} successes", describe(&job)));
            let last = lines.last().map(|line| line.outcome);
            let fits = job.state != JobState::Succeeded || last == Some(AttemptOutcome::Success);
            self.check(fits, || format!("{} ends with {last:?}", describe(&job)));
        }
    }

    /// Checks that a run starts once, that a stored success or failure matches its handler, and that only jobs held by
    /// a dead process ran again.
    pub fn effects_fit(&mut self) {
        let jobs: HashMap<_, _> = self.jobs.iter().map(|job| (job.id, job.clone())).collect();
        let mut starts = HashMap::<(JobId, u64), u32>::new();
        for effect in self.entries.effects.clone() {
            let known = jobs.contains_key(&effect.job);
            self.check(known, || format!("{} ran and is not in the store", effect.job));
            if effect.what == "start" {
                *starts.entry((effect.job, effect.run)).or_default() += 1;
            }
        }
        for ((job, run), times) in starts {
            self.check(times == 1, || format!("run {run} of {job} began {times} times"));
        }
        for (id, job) in jobs {
            let (ok, err) = (self.entries.runs("ok", id), self.entries.runs("err", id));
            let started = self.entries.runs("start", id);
            for line in self.history.get(&id).cloned().unwrap_or_default() {
                let said = match line.outcome {
                    AttemptOutcome::Success => Some("ok"),
                    AttemptOutcome::Failure => Some("err"),
                    _ => None,
                };
                // A run settled before its handler ended was settled by another run.
                let fits = said.is_none_or(|said| {
                    let ended = self.entries.time(said, id, line.run);
                    ended.is_some_and(|ended| ended <= line.finished_at.as_microsecond())
                });
                self.check(fits, || {
                    format!(
                        "{}: run {} ended as {:?} before its handler did",
                        describe(&job),
                        line.run,
                        { line.outcome }
                    )
                });
            }
            let again = ok.len() > 1 || started.len() > 1 + err.len();
            let allowed = !again || self.held.contains(&id);
            self.check(allowed, || format!("{} ran again: {started:?}, ok {ok:?}", describe(&job)));
        }
    }

    /// Checks that the counters of the store match its rows.
    pub async fn counts_fit(&mut self, store: &dyn Store) -> Result<(), Problem> {
        let counts = store.counts().await?;
        for state in JobState::ALL {
            let live = self.jobs.iter().filter(|job| job.archived_at.is_none());
            let listed = live.filter(|job| job.state == state).count() as u64;
            let counted = counts.state(state);
            self.check(listed == counted, || format!("{counted} {state} counted, {listed} listed"));
        }
        Ok(())
    }
}

/// Describes a job in a problem report.
pub fn describe(job: &JobRecord) -> String {
    format!("{} {} (attempts {}, crashes {})", job.spec.name, job.id, job.attempts, job.crashes)
}

/// Returns the jobs that are claimed and not settled.
pub async fn held(store: &dyn Store) -> Result<HashSet<JobId>, Problem> {
    let page = PageRequest { before: None, limit: 10_000 };
    let running = store.list(&Filter::any().state(JobState::Running), page).await?;
    Ok(running.jobs.into_iter().map(|job| job.id).collect())
}

/// Returns the rows that must not exist when all work is done: leases, slots, keys, ready rows, waiting
/// hand-offs.
pub async fn leftovers(address: &str) -> Result<Vec<String>, Problem> {
    let mut found = Vec::new();
    match Kind::of(address) {
        Kind::Sqlite => {
            let mut db = sqlite(address).await?;
            let sound: String =
                sqlx::query("PRAGMA integrity_check").fetch_one(&mut db).await?.try_get(0)?;
            if sound != "ok" {
                found.push(format!("the file is damaged: {sound}"));
            }
            for table in
                ["ratchet_lingering", "ratchet_business", "ratchet_hand_off WHERE NOT finished"]
            {
                let sql = AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
                let rows: i64 = sqlx::query(sql).fetch_one(&mut db).await?.try_get(0)?;
                if rows > 0 {
                    found.push(format!("{rows} rows in {table}"));
                }
            }
        }
        Kind::Pg => {
            let mut db = PgConnection::connect(address).await?;
            let tables = [
                "lease WHERE remaining > 0",
                "slot",
                "lingering",
                "business",
                "ready",
                "scheduled",
                "blocked",
                "hand_off WHERE NOT finished",
            ];
            for table in tables {
                let sql = AssertSqlSafe(format!("SELECT count(*) FROM ratchet.{table}"));
                let rows: i64 = sqlx::query_scalar(sql).fetch_one(&mut db).await?;
                if rows > 0 {
                    found.push(format!("{rows} rows in {table}"));
                }
            }
            // A job must not have two outcome rows.
            let sql = "SELECT count(*)::bigint FROM (SELECT job FROM ratchet.outcome GROUP BY job HAVING count(*) > 1) x";
            let twice: i64 = sqlx::query_scalar(sql).fetch_one(&mut db).await?;
            if twice > 0 {
                found.push(format!("{twice} jobs ended twice"));
            }
            db.close().await?;
        }
    }
    Ok(found)
}

/// Returns whether an open transaction blocks others.
pub async fn in_transaction(address: &str) -> Result<bool, Problem> {
    match Kind::of(address) {
        Kind::Sqlite => {
            let options = SqliteConnectOptions::new().filename(address);
            let mut db = options.busy_timeout(Duration::from_millis(100)).connect().await?;
            Ok(sqlx::query("BEGIN IMMEDIATE").execute(&mut db).await.is_err())
        }
        Kind::Pg => {
            let mut db = PgConnection::connect(address).await?;
            let sql = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND state LIKE 'idle in transaction%'";
            let open: i64 = sqlx::query_scalar(sql).fetch_one(&mut db).await?;
            Ok(open > 0)
        }
    }
}

/// Returns the jobs of the application's rows that were inserted in its own transactions.
pub async fn orders(address: &str) -> Result<Vec<Uuid>, Problem> {
    const SQL: &str = "SELECT job FROM proof_order";
    let jobs: Vec<String> = match Kind::of(address) {
        Kind::Sqlite => sqlx::query_scalar(SQL).fetch_all(&mut sqlite(address).await?).await,
        Kind::Pg => {
            sqlx::query_scalar(SQL).fetch_all(&mut PgConnection::connect(address).await?).await
        }
    }
    // The table does not exist if no transaction created it.
    .unwrap_or_default();
    Ok(jobs.iter().map(|job| job.parse()).collect::<Result<_, _>>()?)
}

/// Audits a store in which all work is done against the diary of its processes.
pub async fn run(args: &Args) -> Result<(), Problem> {
    let address = args.must("address")?;
    let store = Opened::open(address).await?;
    let entries = Entries::read(Path::new(args.must("diary")?));
    let audited = summary(&store, address, entries).await;
    store.close().await;
    audited
}

/// Audits a store and prints the result.
pub async fn summary(store: &Opened, address: &str, entries: Entries) -> Result<(), Problem> {
    let mut found = Findings::gather(&*store.shared(), entries).await?;
    // The holders are no longer known, so jobs with a lost run in their history may have run again.
    let lost_run = |line: &AttemptRecord| {
        matches!(line.outcome, AttemptOutcome::Crashed | AttemptOutcome::Released)
    };
    let lost: HashSet<_> = found
        .history
        .iter()
        .filter(|(_, lines)| lines.iter().any(lost_run))
        .map(|(id, _)| *id)
        .collect();
    let lost_runs = found.history.values().flatten().filter(|line| lost_run(line)).count();
    found.held = lost;
    found.nothing_lost();
    let lost = found.problems.len();
    found.one_end_each();
    found.effects_fit();
    let stale = found.problems.len() - lost;
    found.counts_fit(&*store.shared()).await?;
    found.problems.extend(leftovers(address).await?);
    let ended = found.jobs.iter().filter(|job| job.state.is_terminal()).count();
    println!(
        "{} submits acknowledged; {} jobs in {} groups and beside them, {ended} ended; {lost} lost or not exact, {stale} stale \
         writes or ends that do not fit; {lost_runs} runs lost by their worker, {} effects again",
        found.entries.acknowledged.len(),
        found.jobs.len(),
        found.groups.len(),
        found.repeats()
    );
    if found.problems.is_empty() { Ok(()) } else { Err(found.problems.join("\n").into()) }
}
