//! Runs a range of schedules (`--seeds A..B`), or a single schedule with its trace (`--seed N --trace`).

#![allow(clippy::print_stdout)] // a command-line program

use std::ops::Range;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ratchet_core::{Clock as _, SystemClock};
use ratchet_sim::{Bug, Options, Report, quiet_panics, run};

const USAGE: &str =
    "usage: ratchet-sim (--seeds A..B | --seed N) [--trace] [--threads N] [--bug NAME]
bugs: unfenced-settle, hasty-rescue";

struct Args {
    seeds: Range<u64>,
    threads: usize,
    options: Options,
}

fn main() -> ExitCode {
    quiet_panics();
    let args = match read(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(problem) => {
            println!("{problem}\n{USAGE}");
            return ExitCode::FAILURE;
        }
    };
    let total = run_all(&args);
    println!("{}", total.summary(&args.seeds));
    match total.failed {
        None => ExitCode::SUCCESS,
        Some(report) => {
            report.lines.iter().for_each(|line| println!("{line}"));
            println!("seed {}: {}", report.seed, report.violation.unwrap_or_default());
            println!("again: ratchet-sim --seed {} --trace", report.seed);
            ExitCode::FAILURE
        }
    }
}

/// The totals over all schedules.
#[derive(Default)]
struct Total {
    schedules: u64,
    steps: u64,
    fewest: Option<u64>,
    nodes: u64,
    handlers: u64,
    virtual_time: Duration,
    took: Duration,
    /// The failure with the lowest seed.
    failed: Option<Report>,
}

impl Total {
    fn add(&mut self, report: Report) {
        self.schedules += 1;
        self.steps += report.steps;
        self.fewest = Some(self.fewest.map_or(report.steps, |fewest| fewest.min(report.steps)));
        self.nodes += u64::from(report.nodes);
        self.handlers += report.handlers;
        self.virtual_time += report.virtual_time;
        if report.violation.is_some()
            && self.failed.as_ref().is_none_or(|failed| report.seed < failed.seed)
        {
            self.failed = Some(report);
        }
    }

    #[allow(clippy::cast_precision_loss)] // only for display
    fn summary(&self, seeds: &Range<u64>) -> String {
        let count = self.schedules.max(1) as f64;
        format!(
            "seeds {}..{}: {} schedules in {:.1} s ({:.0} per second); steps: mean {:.0}, fewest {}; \
             nodes {:.1}, handlers {:.1}, virtual time {:.1} s per schedule",
            seeds.start,
            seeds.end,
            self.schedules,
            self.took.as_secs_f64(),
            count / self.took.as_secs_f64().max(0.001),
            self.steps as f64 / count,
            self.fewest.unwrap_or(0),
            self.nodes as f64 / count,
            self.handlers as f64 / count,
            self.virtual_time.as_secs_f64() / count,
        )
    }
}

fn run_all(args: &Args) -> Total {
    let clock = SystemClock::default();
    let (next, stop) = (AtomicU64::new(args.seeds.start), AtomicBool::new(false));
    let total = Mutex::new(Total::default());
    std::thread::scope(|scope| {
        for _ in 0..args.threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= args.seeds.end {
                        return;
                    }
                    let report = run(seed, args.options);
                    stop.fetch_or(report.violation.is_some(), Ordering::Relaxed);
                    let mut total = total.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    total.add(report);
                    if total.schedules.is_multiple_of(50_000) {
                        println!("{} schedules so far", total.schedules);
                    }
                }
            });
        }
    });
    let mut total = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    total.took = clock.monotonic();
    total
}

fn read(mut args: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut read = Args { seeds: 0..0, threads: 1, options: Options::default() };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("`{arg}` needs a value"));
        match arg.as_str() {
            "--seeds" => {
                let range = value()?;
                let (from, to) = range.split_once("..").ok_or("`--seeds` is like 0..1000")?;
                read.seeds = number(from)?..number(to)?;
            }
            "--seed" => {
                let seed = number(&value()?)?;
                read.seeds = seed..seed + 1;
            }
            "--threads" => read.threads = usize::try_from(number(&value()?)?).unwrap_or(1).max(1),
            "--trace" => read.options.trace = true,
            "--bug" => {
                let name = value()?;
                let bug = Bug::ALL.into_iter().find(|(known, _)| *known == name);
                read.options.bug = Some(bug.ok_or_else(|| format!("there is no bug `{name}`"))?.1);
            }
            other => return Err(format!("`{other}` is not known")),
        }
    }
    if read.seeds.is_empty() { Err("no seeds".to_owned()) } else { Ok(read) }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}
