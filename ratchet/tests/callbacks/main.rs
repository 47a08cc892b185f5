//! Tests every user-supplied callback with every kind of misbehavior: it panics, its return value panics when dropped,
//! it never returns, or it returns 100 MB. Another job must still run.
//!
//! A thread that never returns cannot be stopped, so each cell runs in its own process. If `RATCHET_CALLBACKS_DOCS` is
//! set, the results are written to the page it names, `docs/proof/callbacks.md`.

mod cell;
mod hostile;
mod log;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cell::{Callback, Report, Trick};

/// The number of cells that run concurrently.
const LANES: usize = 4;

/// The entry point of the child process: runs the cell named in the environment.
#[test]
#[allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a process that reports and ends"
)]
#[ignore = "started by the test below, with a cell in its environment"]
fn one_cell() {
    let cell = std::env::var("RATCHET_CALLBACK").expect("the name of a cell");
    let (callback, trick) = cell.split_once('/').expect("a callback and a trick");
    let callback = Callback::ALL.into_iter().find(|it| format!("{it:?}") == callback);
    let trick = Trick::ALL.into_iter().find(|it| format!("{it:?}") == trick);
    let report = cell::play(callback.expect("a callback"), trick.expect("a trick"));
    println!("REPORT {}", serde_json::to_string(&report).expect("is JSON"));
    // A normal exit would wait for threads that never return.
    std::process::exit(0);
}

fn run(callback: Callback, trick: Trick) -> Report {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "one_cell", "--nocapture"])
        .env("RATCHET_CALLBACK", format!("{callback:?}/{trick:?}"))
        .output()
        .expect("it starts");
    let printed = String::from_utf8_lossy(&output.stdout);
    let report = printed.lines().find_map(|line| line.split_once("REPORT "));
    let reported = String::from_utf8_lossy(&output.stderr);
    let (_, report) = report.unwrap_or_else(|| panic!("{callback:?}/{trick:?} died: {reported}"));
    serde_json::from_str(report).expect("a report")
}

// spec
#[test]
fn x_09_no_callback_stops_the_others() {
    let cells: Vec<_> = Callback::ALL
        .into_iter()
        .flat_map(|callback| Trick::ALL.map(|trick| (callback, trick)))
        .filter(|(callback, trick)| callback.can(*trick))
        .collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while let Some((callback, trick)) = cells.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let report = run(*callback, *trick);
                    let place = cells.iter().position(|cell| *cell == (*callback, *trick));
                    done.lock().expect("no lane panics").insert(place, report);
                }
            });
        }
    });
    let done = done.into_inner().expect("no lane panics");
    let reports: Vec<_> = cells.into_iter().zip(done.into_values()).collect();
    if let Ok(page) = std::env::var("RATCHET_CALLBACKS_DOCS") {
        std::fs::write(page, table(&reports)).expect("the page can be written");
    }
    for ((callback, trick), report) in &reports {
        let what = format!("{callback:?}/{trick:?}: {report:?}");
        assert!(report.other_ran, "another job runs; {what}");
        assert!(report.alive, "the worker is alive; {what}");
        let (state, attempts) = callback.expected(*trick);
        assert_eq!((report.state.as_str(), report.attempts), (state, attempts), "{what}");
        assert!(report.stored < 1_000_000, "{what}");
        let is_told = !report.logged.is_empty() || !report.error.is_empty();
        assert!(is_told, "nothing reports it; {what}");
    }
}

fn table(reports: &[((Callback, Trick), Report)]) -> String {
    let mut page = String::from(
        "# Callbacks that do what they should not\n\n\
         Written by `RATCHET_CALLBACKS_DOCS=$PWD/docs/proof/callbacks.md cargo test -p ratchet-jobs --test callbacks`; do not edit. Each row is a \
         process with one worker and one job that uses the callback, with one retry, on SQLite. Beside it \
         another job was submitted. It ran, and the worker was alive afterwards, in every row. *Never returns* means a thread that \
         blocks for ever; the timeout is 300 ms there. A dash in *state* means that the submit was \
         refused or did not return.\n\n\
         | callback | what it does | state | attempts | stored error | logged | counted |\n|---|---|---|---:|---|---|---|\n",
    );
    for ((callback, trick), report) in reports {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let state = if report.state.is_empty() { "—" } else { &report.state };
        let _ = writeln!(
            page,
            "| {} | {} | {state} | {} | {} | {} | {} |",
            callback.name(),
            trick.name(),
            report.attempts,
            cell(&report.error),
            cell(&report.logged.join("; ")),
            cell(&report.counted.join(", ")),
        );
    }
    page
}
