//! Generates the table of results: every scenario with every system, and whether our targets are met.

use std::fmt::Write as _;

use crate::results::Results;
use crate::scenarios::SCENARIOS;
use crate::systems::{Kind, System};

const US: &str = "ratchet";
const US_EMBEDDED: &str = "ratchet-sqlite";
const FLOOR: &str = "raw SQL";

/// Generates the whole page.
pub fn table(results: &Results, systems: &[System]) -> String {
    let (embedded, cluster): (Vec<_>, Vec<_>) =
        systems.iter().copied().partition(|system| system.embedded);
    let mut page = String::from("PostgreSQL:\n\n");
    page.push_str(&scenarios(results, &cluster, US));
    page.push_str(&costs(results, &cluster));
    if !embedded.is_empty() {
        page.push_str("\nSQLite, `synchronous = FULL`:\n\n");
        page.push_str(&scenarios(results, &embedded, US_EMBEDDED));
    }
    page.push_str(&all_bars(results, &cluster, &embedded));
    page
}

fn scenarios(results: &Results, systems: &[System], us: &str) -> String {
    let mut page = String::from("| scenario |");
    for system in systems {
        let _ = write!(page, " {} |", system.name);
    }
    page.push_str(" ours / best peer |\n|---|");
    page.push_str(&"---:|".repeat(systems.len() + 1));
    page.push('\n');
    for scenario in SCENARIOS {
        if results.median(scenario.name, us, scenario.number).is_none() {
            continue;
        }
        let _ = write!(page, "| {} |", scenario.about);
        for system in systems {
            let value = results.median(scenario.name, system.name, scenario.number);
            let _ = write!(page, " {} |", value.map_or_else(|| "–".to_owned(), shown));
        }
        let (name, number) = (scenario.name, scenario.number);
        let ratio = ratio(results, us, systems, name, number, scenario.lower_is_better);
        let _ = writeln!(
            page,
            " {} |",
            ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}×"))
        );
    }
    page
}

fn costs(results: &Results, systems: &[System]) -> String {
    let mut page = String::from(
        "\n| of a drain | WAL B/job (submit to end) | commits/job | dead rows | client µs/job | server µs/job | twice | most memory, MiB |\n|---|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for system in systems {
        let of = |number| results.median("drain", system.name, number);
        if let (Some(wal), Some(commits), Some(dead), Some(client), Some(server), Some(twice)) =
            (of("wal"), of("commits"), of("dead"), of("client_us"), of("server_us"), of("dup"))
        {
            let rss = of("rss").unwrap_or_default();
            let _ = writeln!(
                page,
                "| {} | {wal:.0} | {commits:.4} | {dead:.0} | {client:.1} | {server:.1} | {twice:.0} | {rss:.0} |",
                system.name
            );
        }
    }
    page
}

fn all_bars(results: &Results, cluster: &[System], embedded: &[System]) -> String {
    let mut page = String::from("\n| bar | wanted | measured | |\n|---|---:|---:|---|\n");
    for bar in bars(results, cluster).into_iter().chain(embedded_bars(results, embedded)) {
        let (shown, held) = match bar.measured {
            None => ("–".to_owned(), "not measured"),
            Some(value) if bar.at_most == (value <= bar.wanted) || value == bar.wanted => {
                (number(value), "held")
            }
            Some(value) => (number(value), "**not held**"),
        };
        let sign = if bar.at_most { "≤" } else { "≥" };
        let _ =
            writeln!(page, "| {} | {sign} {} | {shown} | {held} |", bar.about, number(bar.wanted));
    }
    page
}

struct Bar {
    about: &'static str,
    wanted: f64,
    measured: Option<f64>,
    at_most: bool,
}

fn bars(results: &Results, systems: &[System]) -> Vec<Bar> {
    let us = |scenario, number| results.median(scenario, US, number);
    let against = |scenario, of: &dyn Fn(&System) -> bool| {
        let peers: Vec<_> = systems.iter().filter(|system| of(system)).copied().collect();
        ratio(results, US, &peers, scenario, "rate", false)
    };
    let all = |system: &System| system.kind == Kind::Peer;
    let waking = |system: &System| system.kind == Kind::Peer && system.wakes;
    let part = |scenario| Some(us(scenario, "rate")? / us("drain", "rate")?);
    let least = |about, wanted, measured| Bar { about, wanted, measured, at_most: false };
    let most = |about, wanted, measured| Bar { about, wanted, measured, at_most: true };
    let raw = results.median("drain", FLOOR, "rate");
    let of_raw = us("drain", "rate").zip(raw).map(|(us, raw)| us / raw);
    let pick_up = ratio(results, US, systems, "pick-up", "p95", true).map(|ratio| 1.0 / ratio);
    let quarters = (us("sustained", "quarters_3"), us("sustained", "quarters_0"));
    vec![
        least("drain against the fastest peer", 2.0, against("drain", &all)),
        least("the same by two processes", 2.0, against("drain-2", &all)),
        least("bulk submit against the fastest peer", 1.7, against("bulk", &all)),
        least(
            "single submit against the fastest peer that wakes its workers",
            2.5,
            against("single", &waking),
        ),
        least("single submit against any", 1.5, against("single", &all)),
        most("pick-up p95 against the best peer", 1.25, pick_up),
        most("pick-up p99, ms", 5.0, us("pick-up", "p99")),
        least("sustained against the fastest peer", 2.0, against("sustained", &all)),
        least(
            "sustained, last quarter of the first",
            0.85,
            quarters.0.zip(quarters.1).map(|(last, first)| last / first),
        ),
        least("drain beside 1 M finished, of the empty case", 0.85, part("finished")),
        least("drain of 1 M pending, of the empty case", 0.7, part("pending")),
        least("drain with a pinned snapshot, of without", 0.7, part("pinned")),
        least("the same against the fastest peer", 1.0, against("pinned", &all)),
        most("WAL bytes per job, submit to end", 1100.0, us("drain", "wal")),
        most("commits per job in a drain", 0.05, us("drain", "commits")),
        least("drain, of the raw floor", 0.5, of_raw),
    ]
}

fn embedded_bars(results: &Results, systems: &[System]) -> Vec<Bar> {
    let against = |scenario| ratio(results, US_EMBEDDED, systems, scenario, "rate", false);
    let least = |about, wanted, measured| Bar { about, wanted, measured, at_most: false };
    vec![
        least("SQLite: drain against the peer", 40.0, against("drain")),
        least("SQLite: single submit against the peer", 2.0, against("single")),
        least("SQLite: bulk submit against the peer", 4.0, against("bulk")),
        Bar {
            about: "SQLite: pick-up p95, ms",
            wanted: 3.0,
            measured: results.median("pick-up", US_EMBEDDED, "p95"),
            at_most: true,
        },
    ]
}

/// Returns our result relative to the best of these peers. Above 1, ours is better.
fn ratio(
    results: &Results,
    us: &str,
    systems: &[System],
    scenario: &str,
    number: &str,
    lower: bool,
) -> Option<f64> {
    let ours = results.median(scenario, us, number)?;
    let peers = systems.iter().filter(|system| system.kind == Kind::Peer);
    let peers = peers.filter_map(|peer| results.median(scenario, peer.name, number));
    let best = if lower { peers.reduce(f64::min)? } else { peers.reduce(f64::max)? };
    Some(if lower { best / ours } else { ours / best })
}

fn shown(value: f64) -> String {
    if value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}

fn number(value: f64) -> String {
    match value {
        value if value < 0.1 => format!("{value:.4}"),
        value if value < 100.0 => format!("{value:.2}"),
        value => format!("{value:.0}"),
    }
}
