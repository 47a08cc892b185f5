//! The cells of the matrix: who is held where, who runs meanwhile, and what was found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use ratchet_core::pause::Place as Point;
use ratchet_pg::PgStore;

use crate::audit::{audit, drain};
use crate::scene::{Place, Scene};
use crate::support::{Database, meet, start};
use crate::verb::Verb;

/// How many points of a verb are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// One: right before the commit, or in front of the only statement.
    Short,
    Whole,
}

/// What the matrix came to.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) pairs: usize,
    cells: usize,
    /// How often the second verb waited for the first.
    points: BTreeSet<&'static str>,
    /// Pairs and cells by scene.
    scenes: BTreeMap<Place, (usize, usize)>,
    pub(crate) failures: Vec<String>,
}

/// How many databases are worked on at once.
const LANES: usize = 3;

/// Runs the matrix.
pub(crate) async fn run(depth: Depth) -> Table {
    let only = std::env::var("RATCHET_MATRIX_SCENE").ok();
    let fits = |place: &Place| only.as_ref().is_none_or(|only| *only == format!("{place:?}"));
    let mut todo = Vec::new();
    for place in Place::ALL.into_iter().filter(fits) {
        todo.extend(Verb::ALL.iter().map(|first| (place, *first)));
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
            }
        })
    });
    for lane in lanes.collect::<Vec<_>>() {
        lane.await.expect("no cell panics");
    }
    let mut table = table.lock().expect("not poisoned");
    std::mem::take(&mut *table)
}

/// A database and the stores that work on it.
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

    /// One verb in one scene, beside every other one.
    async fn row(&self, place: Place, first: Verb, depth: Depth, table: &Mutex<Table>) {
        if !first.fits(place) {
            return;
        }
        let scene = Scene::set(place, &self.database, &self.first).await;
        let alone =
            start(&self.first, None, Box::pin(first.run(self.first.clone(), scene.clone()))).await;
        while !alone.is_over() {
            tokio::time::sleep(std::time::Duration::from_micros(300)).await;
        }
        let trace = alone.passed();
        let mut wrong = alone
            .finish()
            .await
            .err()
            .map(|error| error.to_string())
            .into_iter()
            .collect::<Vec<_>>();
        wrong.extend(audit(&self.database.pool, &self.auditor).await);
        let alone = format!("{place:?}: {first:?} alone");
        table
            .lock()
            .expect("not poisoned")
            .failures
            .extend(wrong.iter().map(|it| format!("{alone}: {it}")));
        let points: Vec<_> = match depth {
            Depth::Whole => (0..trace.len()).collect(),
            Depth::Short => {
                let last = trace.iter().rposition(|point| *point == "commit.before");
                last.or(Some(0)).filter(|_| !trace.is_empty()).into_iter().collect()
            }
        };
        table.lock().expect("not poisoned").points.extend(trace.iter().copied());
        let seconds = Verb::ALL.iter().copied().filter(|second| second.fits(place));
        let drawn = |second: &Verb| depth == Depth::Whole || is_drawn(place, first, *second);
        for second in seconds.filter(drawn) {
            for point in &points {
                let wrong = Box::pin(self.cell(place, first, *point, second)).await;
                let at =
                    format!("{place:?}: {first:?} held at {} ({point}), {second:?}", trace[*point]);
                let mut table = table.lock().expect("not poisoned");
                table.cells += 1;
                table.scenes.entry(place).or_default().1 += 1;
                table.failures.extend(wrong.into_iter().map(|wrong| format!("{at}: {wrong}")));
            }
            let mut table = table.lock().expect("not poisoned");
            table.pairs += 1;
            table.scenes.entry(place).or_default().0 += 1;
        }
    }

    async fn cell(&self, place: Place, first: Verb, point: usize, second: Verb) -> Vec<String> {
        let scene = Scene::set(place, &self.database, &self.first).await;
        let run = Box::pin(first.run(self.first.clone(), scene.clone()));
        let held = start(&self.first, Some(Point::Index(point)), run).await;
        held.is_held().await;
        let other = Box::pin(second.run(self.second.clone(), scene.clone()));
        let (one, two) = meet(&self.database.pool, held, other).await;
        let failed = [one, two].into_iter().filter_map(Result::err);
        let mut wrong: Vec<_> = failed.map(|error| format!("it failed: {error}")).collect();
        wrong.extend(audit(&self.database.pool, &self.auditor).await);
        wrong.extend(
            drain(&self.database.pool, &self.auditor)
                .await
                .into_iter()
                .map(|it| format!("at the end: {it}")),
        );
        wrong
    }
}

/// Whether the short matrix tries a pair in this scene: each pair in one of those that fit both, spread over them.
fn is_drawn(place: Place, first: Verb, second: Verb) -> bool {
    let fits = |place: &Place| first.fits(*place) && second.fits(*place);
    let places: Vec<_> = Place::ALL.into_iter().filter(fits).collect();
    let drawn = (first as usize * 7 + second as usize * 3) % places.len().max(1);
    places.get(drawn) == Some(&place)
}

impl Table {
    /// The page of the whole matrix.
    pub(crate) fn page(&self) -> String {
        let mut page = String::from(
            "# The interleaving matrix\n\n\
             Written by `scripts/proof interleaving`; do not edit. Of every two verbs that find something to do in a scene, the \
             first is held at each of its points while the second runs to its end or until it waits. Then the first goes on, \
             both end, and the database is audited: each job in one place, keys and slots held by live runs and by nothing \
             else, counts equal to a listing. At last everything that is left is worked off, and nothing may remain.\n\n",
        );
        let (pairs, cells, points) = (self.pairs, self.cells, self.points.len());
        let red = self.failures.len();
        let _ = writeln!(
            page,
            "{pairs} pairs, {cells} cells, {points} different points, {red} findings.\n\n| scene | pairs | cells |\n|---|---:|---:|"
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
