//! The matrix: every point that a feature comes by, on every store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use ratchet_core::crash::CrashPoint;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::Problem;
use crate::address::Kind;
use crate::args::Args;
use crate::cell::{self, Death, Fate, Outcome};
use crate::feature::Feature;
use crate::server::Server;
use crate::table::{Cell, Sheet, write};

/// What is to be run.
#[derive(Debug)]
struct Plan {
    kinds: Vec<Kind>,
    /// `point/feature`; either may be left out.
    point: Option<String>,
    feature: Option<String>,
    fates: Vec<Fate>,
    /// How many passings of a point are tried at most.
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

/// Points that no feature passes on any store: they prove nothing.
fn never_passed(sheets: &[Sheet]) -> Vec<&'static str> {
    let passed = |point: &CrashPoint| sheets.iter().any(|sheet| sheet.passes(*point));
    CrashPoint::ALL.iter().filter(|point| !passed(point)).map(|point| point.name()).collect()
}

/// Records what each feature comes by, then has it die there.
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

/// How often a cell is tried whose process ends without having come by its point.
const TRIES: u32 = 8;

/// Starts every cell of a store and a fate; so many run at once.
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
            // A frozen process takes seconds, and one time tells as much as two.
            let most = if fate == Fate::Dies { plan.passings } else { plan.passings / 2 };
            let deaths = chosen(point, times, most);
            let (server, at_once) = (server.cloned(), Arc::clone(at_once));
            cells.spawn(async move {
                let mut cell = Cell::new(point, feature);
                for passing in deaths {
                    let _turn = at_once.acquire().await?;
                    let death = Death { fate, point, passing };
                    let mut outcome = cell::run(kind, server.as_ref(), feature, death).await?;
                    // By some points a feature comes only when things meet in time: so it is let run until it does.
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

/// Where a process can be frozen without holding locks that everybody else waits for: between its conversations with the
/// store, and only where others can do what it was about to do.
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

/// Whether somebody gives orders about what others do: two of them at once would not be the same.
fn by_hand(feature: Feature) -> bool {
    matches!(feature, Feature::Cancel | Feature::Purge | Feature::Again)
}

/// Which passings of a point are tried: the first, and others spread over the run. A commit is the same point for
/// everything that commits, so more of them are worth a try.
fn chosen(point: CrashPoint, times: u64, most: u64) -> Vec<u64> {
    let general = [
        CrashPoint::CommitBefore,
        CrashPoint::CommitAfter,
        CrashPoint::ExchangeBefore,
        CrashPoint::ExchangeAfter,
    ];
    let most = if general.contains(&point) { 2 * most } else { most }.max(1);
    // Counts of a run vary: what lies at its very end may not come again.
    let last = (times * 4).div_ceil(5).max(1);
    let mut chosen: Vec<_> = (0..most).map(|n| 1 + n * (last - 1) / most.max(2)).collect();
    chosen.dedup();
    chosen
}
