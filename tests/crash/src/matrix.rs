//! Runs the crash matrix: every point that each feature passes, on every store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use ratchet_store::env::crash::CrashPoint;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::Problem;
use crate::address::Kind;
use crate::args::Args;
use crate::cell::{self, Death, Fate, Outcome};
use crate::feature::Feature;
use crate::server::Server;
use crate::table::{Cell, Sheet, write};

/// The part of the matrix to run.
#[derive(Debug)]
struct Plan {
    kinds: Vec<Kind>,
    /// The point of `--cell point/feature`. Both parts are optional.
    point: Option<String>,
    feature: Option<String>,
    fates: Vec<Fate>,
    /// The maximum number of passings of a point that are tried.
    passings: u64,
}

impl Plan {
    fn of(args: &Args) -> Self {
        let store = args.get("store");
        let kinds = Kind::ALL.into_iter().filter(|kind| store.is_none_or(|s| s == kind.name()));
        let (point, feature) =
            args.get("cell").map_or(("", ""), |cell| cell.split_once('/').unwrap_or((cell, "")));
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Self {
            kinds: kinds.collect(),
            point: some(point),
            feature: some(feature),
            fates: match args.get("fate") {
                Some("dies") => vec![Fate::Dies],
                Some("freezes") => vec![Fate::Freezes, Fate::FreezesLonger],
                _ => vec![Fate::Dies, Fate::Freezes, Fate::FreezesLonger],
            },
            passings: args.or("passings", 2),
        }
    }

    fn has_feature(&self, feature: Feature) -> bool {
        self.feature.as_ref().is_none_or(|name| name == feature.name())
    }

    fn has_point(&self, point: CrashPoint) -> bool {
        self.point.as_ref().is_none_or(|name| point.name().starts_with(name.as_str()))
    }
}

pub async fn run(args: &Args) -> Result<(), Problem> {
    let plan = Plan::of(args);
    let began = Instant::now();
    let mut sheets = Vec::new();
    for kind in &plan.kinds {
        let at_once = Arc::new(Semaphore::new(args.or("at-once", 8)));
        sheets.extend(fill(*kind, &plan, at_once).await?);
    }
    for sheet in &sheets {
        println!("{}", sheet.summary());
    }
    println!("{:.0} s", began.elapsed().as_secs_f64());
    if let Some(path) = args.get("docs") {
        write(path, &sheets)?;
    }
    let broken: Vec<_> = sheets.iter().flat_map(Sheet::broken).collect();
    let whole = plan.point.is_none() && plan.feature.is_none();
    let never = if whole { never_passed(&sheets) } else { Vec::new() };
    if !never.is_empty() {
        return Err(format!("no feature comes by {}", never.join(", ")).into());
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("RED: {}", broken.join("; ")).into()) }
}

/// Returns the points that no feature passes on any store. They are never tested.
fn never_passed(sheets: &[Sheet]) -> Vec<&'static str> {
    let passed = |point: &CrashPoint| sheets.iter().any(|sheet| sheet.passes(*point));
    CrashPoint::ALL.iter().filter(|point| !passed(point)).map(|point| point.name()).collect()
}

/// Records the points that each feature passes, then runs the cells.
async fn fill(kind: Kind, plan: &Plan, at_once: Arc<Semaphore>) -> Result<Vec<Sheet>, Problem> {
    let server = match kind {
        Kind::Sqlite => None,
        Kind::Pg => {
            let server = Server::start("listen_addresses = ''\nfsync = off", None)?;
            server.prepare().await?;
            Some(Arc::new(server))
        }
    };
    let mut recording = JoinSet::new();
    for feature in Feature::ALL.into_iter().filter(|feature| plan.has_feature(*feature)) {
        let (server, at_once) = (server.clone(), Arc::clone(&at_once));
        recording.spawn(async move {
            let _turn = at_once.acquire().await?;
            Ok::<_, Problem>((feature, cell::record(kind, server.as_ref(), feature).await?))
        });
    }
    let mut passings = BTreeMap::new();
    while let Some(recorded) = recording.join_next().await {
        let (feature, passed) = recorded??;
        passings.insert(feature, passed);
    }
    let mut sheets = Vec::new();
    for fate in plan.fates.iter().copied() {
        let mut sheet = Sheet::new(kind, fate, &passings);
        let mut cells = start(kind, fate, plan, &passings, server.as_ref(), &at_once);
        while let Some(cell) = cells.join_next().await {
            sheet.add(cell??);
        }
        sheets.push(sheet);
    }
    Ok(sheets)
}

/// The maximum number of tries of a cell whose process ends without reaching its point.
const TRIES: u32 = 8;

/// Starts all cells of a store and a fate. `at_once` limits their concurrency.
fn start(
    kind: Kind,
    fate: Fate,
    plan: &Plan,
    passings: &BTreeMap<Feature, BTreeMap<CrashPoint, u64>>,
    server: Option<&Arc<Server>>,
    at_once: &Arc<Semaphore>,
) -> JoinSet<Result<Cell, Problem>> {
    let mut cells = JoinSet::new();
    for (feature, passed) in passings {
        let wanted = |point: CrashPoint| plan.has_point(point) && suits(fate, point, *feature);
        for (point, times) in passed.iter().filter(|(point, _)| wanted(**point)) {
            let (feature, point, times) = (*feature, *point, *times);
            // A cell with a frozen process takes seconds, so fewer passings are tried.
            let most = if fate == Fate::Dies { plan.passings } else { plan.passings / 2 };
            let deaths = chosen(point, times, most);
            let (server, at_once) = (server.cloned(), Arc::clone(at_once));
            cells.spawn(async move {
                let mut cell = Cell::new(point, feature);
                for passing in deaths {
                    let _turn = at_once.acquire().await?;
                    let death = Death { fate, point, passing };
                    let mut outcome = cell::run(kind, server.as_ref(), feature, death).await?;
                    // Some points are only reached with a certain timing, so the cell is repeated.
                    for _ in 1..TRIES {
                        if !matches!(outcome, Outcome::NotPassed) {
                            break;
                        }
                        outcome = cell::run(kind, server.as_ref(), feature, death).await?;
                    }
                    if let Outcome::Broken(problems) = &outcome {
                        let what = problems.join("\n    ");
                        println!(
                            "RED {} {}/{}:{passing}\n    {what}",
                            kind.name(),
                            point.name(),
                            { feature.name() }
                        );
                    }
                    cell.add(passing, outcome);
                }
                Ok::<_, Problem>(cell)
            });
        }
    }
    cells
}

/// Returns whether the fate can be tested at a point. A process can only be frozen between its calls to the store,
/// where it holds no locks, and only if another process can do its work.
fn suits(fate: Fate, point: CrashPoint, feature: Feature) -> bool {
    use CrashPoint::{
        ClaimAnswered, FireDecided, HandlerAfter, HandlerBefore, RescueDecided, RescueFound,
        SettleBefore, SettleDecided,
    };
    let between = [
        ClaimAnswered,
        HandlerBefore,
        HandlerAfter,
        SettleDecided,
        SettleBefore,
        RescueFound,
        RescueDecided,
        FireDecided,
    ];
    fate == Fate::Dies || (between.contains(&point) && !by_hand(feature))
}

/// Returns whether the process of a feature also commands jobs. Two such processes would interfere with each other.
fn by_hand(feature: Feature) -> bool {
    matches!(feature, Feature::Cancel | Feature::Purge | Feature::Again | Feature::Archive)
}

/// Returns the passings of a point to try: the first, and others spread over the run. Every kind of commit passes the
/// commit points, so more passings of them are tried.
fn chosen(point: CrashPoint, times: u64, most: u64) -> Vec<u64> {
    let general = [
        CrashPoint::CommitBefore,
        CrashPoint::CommitAfter,
        CrashPoint::ExchangeBefore,
        CrashPoint::ExchangeAfter,
    ];
    let most = if general.contains(&point) { 2 * most } else { most }.max(1);
    // The number of passings varies between runs, so the last ones may not be reached again.
    let last = (times * 4).div_ceil(5).max(1);
    let mut chosen: Vec<_> = (0..most).map(|n| 1 + n * (last - 1) / most.max(2)).collect();
    chosen.dedup();
    chosen
}
