//! Compares Ratchet with other libraries: the same scenarios in one interleaved run, and a table of medians, ratios and
//! targets.
//!
//! ```text
//! cargo run --release -- --quick        # under five minutes
//! cargo run --release                   # under an hour; continues an interrupted run
//! cargo run --release -- --only drain,bulk --fresh
//! ```
//!
//! Measurements are stored in `target/measured.jsonl`. The table is written to `target/peers.md` and printed; with
//! `--docs`, it is also written to `docs/speed`.

mod bars;
mod page;
mod phase;
mod plot;
mod results;
mod scenarios;
mod systems;

use std::collections::BTreeMap;
use std::time::Instant;

use ratchet_bench_pg::Server;
use sqlx::PgPool;

use crate::results::Results;
use crate::scenarios::{Bench, SCENARIOS, Scenario, Size};
use crate::systems::{EMBEDDED, Kind, POSTGRES, System};

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let flag = |name: &str| args.iter().any(|arg| arg == name);
    let value = |name: &str| {
        args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).cloned()
    };
    let quick = flag("--quick");
    let size = match quick {
        true => Size { part: 0.3, seconds: 5, starts: 80, many: 100_000, timeout: 25 },
        false => Size { part: 1.0, seconds: 60, starts: 500, many: 1_000_000, timeout: 240 },
    };
    let only = value("--only").map(|list| list.split(',').map(str::to_owned).collect::<Vec<_>>());
    let of = value("--systems").map(|list| list.split(',').map(str::to_owned).collect::<Vec<_>>());
    let wanted = |list: &Option<Vec<String>>, name: &str| {
        list.as_ref().is_none_or(|list| list.iter().any(|other| other == name))
    };
    let systems: Vec<System> = POSTGRES
        .iter()
        .chain(EMBEDDED)
        .filter(|system| wanted(&of, system.name))
        .copied()
        .collect();
    let rounds =
        value("--rounds").and_then(|n| n.parse().ok()).unwrap_or(if quick { 1 } else { 3 });
    phase::build(&systems);
    // Read the commit now, because it may change while the benchmark runs.
    let machine = page::machine();
    let file = if quick { "measured-quick.jsonl" } else { "measured.jsonl" };
    let mut results = Results::open(file, flag("--fresh"));
    let server = Server::start();
    let pool = PgPool::connect(&server.url()).await.expect("connects");
    let mut bench = Bench { server, pool, size, peaks: BTreeMap::new() };
    let started = Instant::now();
    for (round, scenario) in turns(rounds, quick, |scenario| wanted(&only, scenario.name)) {
        for system in systems.iter().filter(|system| (scenario.of)(system)) {
            if round > 0 && !in_all_rounds(&results, scenario, system) {
                continue;
            }
            if let Some(measured) = results.of(scenario.name, system.name, round) {
                if scenario.name == "sustained" {
                    bench.peaks.insert(system.name, measured["rate"]);
                }
                continue;
            }
            let measured = bench.run(scenario, system).await.unwrap_or_default();
            let number = measured.get(scenario.number);
            let shown = number.map_or_else(|| "failed".to_owned(), |number| format!("{number:.1}"));
            let at = started.elapsed().as_secs();
            let (turn, name) = (round + 1, scenario.name);
            eprintln!("{at:>5} s  round {turn} {name:<10} {:<16} {shown}", system.name);
            results.add(scenario.name, system.name, round, measured);
        }
    }
    let text = bars::table(&results, &systems);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target");
    std::fs::write(folder.join("peers.md"), &text).expect("written");
    plot::draw(&results, &systems, &folder);
    if flag("--docs") {
        let how =
            if quick { "`--quick`: a third of the jobs, one round." } else { "The whole run." };
        page::write(&text, &results, &systems, how, &machine);
    }
    println!("{text}");
}

/// Returns the scenarios in the order of measurement, each with the number of its repetition.
fn turns(
    rounds: usize,
    quick: bool,
    wanted: impl Fn(&Scenario) -> bool,
) -> Vec<(usize, &'static Scenario)> {
    let times = |scenario: &Scenario| if quick { 1 } else { scenario.times };
    let of_round = |round: usize| {
        let scenarios = SCENARIOS.iter().filter(|scenario| wanted(scenario));
        scenarios.flat_map(move |scenario| {
            (0..times(scenario)).map(move |time| (round * times(scenario) + time, scenario))
        })
    };
    (0..rounds).flat_map(of_round).collect()
}

/// Returns whether a system is measured in all rounds: ours, the baseline and the two best peers of a scenario. The
/// other peers are measured once.
fn in_all_rounds(results: &Results, scenario: &Scenario, system: &System) -> bool {
    if system.kind != Kind::Peer {
        return true;
    }
    let mut peers: Vec<_> = POSTGRES
        .iter()
        .chain(EMBEDDED)
        .filter(|peer| peer.kind == Kind::Peer && peer.embedded == system.embedded)
        .filter_map(|peer| {
            Some((results.median(scenario.name, peer.name, scenario.number)?, peer.name))
        })
        .collect();
    peers.sort_by(|a, b| a.0.total_cmp(&b.0));
    if !scenario.lower_is_better {
        peers.reverse();
    }
    peers.iter().take(2).any(|(_, name)| *name == system.name)
}
