//! The cells of the matrix: an operation held at a point, another one that runs in the meantime, and the result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Not as _;
use std::sync::{Arc, Mutex};

use ratchet_pg::PgStore;
use ratchet_store::StoreError;
use ratchet_store::env::pause::Place as Vertex;

use crate::audit::{audit, drain};
use crate::scene::{Place, Scene};
use crate::support::{Database, Held, meet_and_notice, start};
use crate::verb::Verb;

/// How many points of an operation are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// One point: right before the commit, or before the only statement.
    Short,
    Whole,
}

/// The results of the matrix.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) pairs: usize,
    cells: usize,
    /// The number of cells in which the second operation had to wait for the first.
    waited: usize,
    points: BTreeSet<&'static str>,
    /// The number of pairs and cells per scene.
    scenes: BTreeMap<Place, (usize, usize)>,
    pub(crate) failures: Vec<String>,
}

/// The number of databases used concurrently.
const LANES: usize = 3;

/// Runs the matrix for these scenes.
pub(crate) async fn run(depth: Depth, places: &[Place]) -> Table {
    let mut todo = Vec::new();
    for place in places.iter().copied().filter(|place| is_wanted("SCENE", place)) {
        let firsts = Verb::ALL.iter().filter(|first| is_wanted("FIRST", first));
        todo.extend(firsts.map(|first| (place, *first)));
    }
    todo.reverse();
    let (todo, table) = (Arc::new(Mutex::new(todo)), Arc::new(Mutex::new(Table::default())));
    let lanes = (0..LANES).map(|_| {
        let (todo, table) = (Arc::clone(&todo), Arc::clone(&table));
        tokio::spawn(async move {
            let lane = Lane::open().await;
            loop {
                let Some((place, first)) = todo.lock().expect("not poisoned").pop() else { break };
                Box::pin(lane.row(place, first, depth, &table)).await;
                let table = table.lock().expect("not poisoned");
                let (cells, red) = (table.cells, table.failures.len());
                eprintln!("{place:?} {first:?}: {cells} cells so far, {red} findings");
            }
        })
    });
    for lane in lanes.collect::<Vec<_>>() {
        lane.await.expect("no cell panics");
    }
    let mut table = table.lock().expect("not poisoned");
    std::mem::take(&mut *table)
}

/// Returns whether `RATCHET_MATRIX_SCENE`, `_FIRST` or `_SECOND` selects this one, or is not set.
fn is_wanted(what: &str, it: impl std::fmt::Debug) -> bool {
    std::env::var(format!("RATCHET_MATRIX_{what}"))
        .is_ok_and(|only| only != format!("{it:?}"))
        .not()
}

/// A database and the stores that use it.
struct Lane {
    database: Database,
    first: PgStore,
    second: PgStore,
    auditor: PgStore,
}

impl Lane {
    async fn open() -> Self {
        let database = Database::take().await;
        let open = || async { PgStore::open(database.options()).await.expect("opens") };
        let (first, second, auditor) = (open().await, open().await, open().await);
        Self { database, first, second, auditor }
    }

    /// Runs one operation in one scene against every other one.
    async fn row(&self, place: Place, first: Verb, depth: Depth, table: &Mutex<Table>) {
        if !first.fits(place) {
            return;
        }
        let seconds = Verb::ALL.iter().copied().filter(|second| second.fits(place));
        let seconds = seconds.filter(|second| is_wanted("SECOND", second));
        let drawn = |second: &Verb| depth == Depth::Whole || is_drawn(place, first, *second);
        let seconds: Vec<_> = seconds.filter(drawn).collect();
        let (trace, wrong) = self.alone(place, first, !seconds.is_empty()).await;
        table
            .lock()
            .expect("not poisoned")
            .failures
            .extend(wrong.iter().map(|it| format!("{place:?}: {first:?} alone: {it}")));
        let points: Vec<_> = match depth {
            Depth::Whole => (0..trace.len()).collect(),
            Depth::Short => {
                let last = trace.iter().rposition(|point| *point == "commit.before");
                last.or(Some(0)).filter(|_| !trace.is_empty()).into_iter().collect()
            }
        };
        table.lock().expect("not poisoned").points.extend(trace.iter().copied());
        for second in seconds {
            for point in &points {
                let (wrong, waited) =
                    Box::pin(self.cell(place, first, &trace[..=*point], second)).await;
                let at =
                    format!("{place:?}: {first:?} held at {} ({point}), {second:?}", trace[*point]);
                let mut table = table.lock().expect("not poisoned");
                table.cells += 1;
                table.waited += usize::from(waited);
                table.scenes.entry(place).or_default().1 += 1;
                for wrong in wrong {
                    eprintln!("{at}: {wrong}");
                    table.failures.push(format!("{at}: {wrong}"));
                }
            }
            let mut table = table.lock().expect("not poisoned");
            table.pairs += 1;
            table.scenes.entry(place).or_default().0 += 1;
        }
    }

    /// Runs an operation by itself. Returns the points that it passes, and the violations afterwards. If it is going to be
    /// held, runs it until it passes the same points twice in a row.
    async fn alone(
        &self,
        place: Place,
        first: Verb,
        is_held_next: bool,
    ) -> (Vec<&'static str>, Vec<String>) {
        let mut last = None;
        loop {
            let scene = Scene::set(place, &self.database, &self.first).await;
            let run = Box::pin(first.run(self.first.clone(), scene.clone()));
            let alone = start(&self.first, None, run).await;
            while !alone.is_over() {
                tokio::time::sleep(std::time::Duration::from_micros(300)).await;
            }
            let trace = alone.passed();
            let failed = alone.finish().await.err().map(|error| error.to_string());
            let mut wrong: Vec<_> = failed.into_iter().collect();
            wrong.extend(audit(&self.database.pool, &self.auditor).await);
            // The store also runs background tasks on this thread. Points that were passed twice in a row belong to the
            // operation.
            if !wrong.is_empty() || !is_held_next || last.as_ref() == Some(&trace) {
                return (trace, wrong);
            }
            last = Some(trace);
        }
    }

    /// Sets the scene and holds an operation at the end of this trace.
    async fn held(
        &self,
        place: Place,
        first: Verb,
        trace: &[&'static str],
    ) -> Result<(Scene, Held<Result<(), StoreError>>), String> {
        let mut passed = Vec::new();
        for _ in 0..20 {
            let scene = Scene::set(place, &self.database, &self.first).await;
            let run = Box::pin(first.run(self.first.clone(), scene.clone()));
            let held = start(&self.first, Some(Vertex::Index(trace.len() - 1)), run).await;
            if held.is_held().await && is_same_way(&held.passed(), trace) {
                return Ok((scene, held));
            }
            passed = held.passed();
            let _ = held.finish().await;
        }
        Err(format!("the first verb takes another way now: {passed:?} instead of {trace:?}"))
    }

    /// Returns the violations, and whether the second operation had to wait.
    async fn cell(
        &self,
        place: Place,
        first: Verb,
        trace: &[&'static str],
        second: Verb,
    ) -> (Vec<String>, bool) {
        let (scene, held) = match self.held(place, first, trace).await {
            Ok(held) => held,
            Err(wrong) => return (vec![wrong], false),
        };
        let other = Box::pin(second.run(self.second.clone(), scene.clone()));
        let (one, two, waited) = meet_and_notice(&self.database.pool, held, other).await;
        let failed = [one, two].into_iter().filter_map(Result::err);
        let mut wrong: Vec<_> = failed.map(|error| format!("it failed: {error}")).collect();
        wrong.extend(audit(&self.database.pool, &self.auditor).await);
        wrong.extend(
            drain(&self.database.pool, &self.auditor)
                .await
                .into_iter()
                .map(|it| format!("at the end: {it}")),
        );
        (wrong, waited)
    }
}

/// Returns whether two traces took the same path. A store chooses between two forms of a claim by its recent claims.
fn is_same_way(one: &[&str], other: &[&str]) -> bool {
    let form = |point: &str| match point {
        "claim_only" => "claim_plain".to_owned(),
        "exchange" => "exchange_plain".to_owned(),
        point => point.to_owned(),
    };
    one.iter().map(|point| form(point)).eq(other.iter().map(|point| form(point)))
}

/// Returns whether the short matrix tries a pair in this scene. Each pair is tried in one of the scenes that fit both
/// operations. The pairs of a first operation share a few scenes, because it runs alone once more where it is held.
fn is_drawn(place: Place, first: Verb, second: Verb) -> bool {
    let drawn = (first as usize * 7 + second as usize / SHARED * 5) % Place::ALL.len();
    let mut places = Place::ALL[drawn..].iter().chain(&Place::ALL[..drawn]);
    places.find(|place| first.fits(**place) && second.fits(**place)) == Some(&place)
}

/// How many pairs of a first operation are tried in the same scene, if the scene fits all of them.
const SHARED: usize = 8;

impl Table {
    /// Renders the documentation page of the matrix.
    pub(crate) fn page(&self) -> String {
        let mut page = String::from(
            "# The interleaving matrix\n\n\
             Written by `scripts/proof interleaving`; do not edit. Of every two verbs that find something to do in a scene, the \
             first is held at each of its points while the second runs to its end or until it waits. Then the first goes on, \
             both end, and the database is audited: each job in one place, keys and slots held by live runs and by nothing \
             else, counts equal to a listing. At last everything that is left is worked off, and nothing may remain.\n\n",
        );
        let (pairs, cells, points) = (self.pairs, self.cells, self.points.len());
        let (waited, red) = (self.waited, self.failures.len());
        let _ = writeln!(
            page,
            "{pairs} pairs, {cells} cells, {points} different points, {red} findings. In {waited} cells the second verb waited \
             for a lock of the first; in the others it ran to its end.\n\n| scene | pairs | cells |\n|---|---:|---:|"
        );
        for (place, (pairs, cells)) in &self.scenes {
            let _ = writeln!(page, "| {place:?} | {pairs} | {cells} |");
        }
        let verbs: Vec<_> = Verb::ALL.iter().map(|verb| format!("`{verb:?}`")).collect();
        let points: Vec<_> = self.points.iter().map(|point| format!("`{point}`")).collect();
        let _ = writeln!(page, "\nVerbs: {}.\n\nPoints: {}.", verbs.join(", "), points.join(", "));
        for failure in &self.failures {
            let _ = writeln!(page, "- {failure}");
        }
        page
    }
}
