//! [`Turns`]: the speed of a worker while jobs are archived, and otherwise.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ratchet::Worker;
use ratchet_bench_pg::percentile;

/// A stretch of time with the jobs that ended in it.
#[derive(Clone, Copy, Default)]
pub struct Stretch {
    pub jobs: u64,
    pub seconds: f64,
}

impl Stretch {
    pub fn speed(self) -> f64 {
        self.jobs as f64 / self.seconds
    }

    pub fn and(self, other: Self) -> Self {
        Self { jobs: self.jobs + other.jobs, seconds: self.seconds + other.seconds }
    }
}

/// Watches a worker.
pub struct Turns {
    worker: Arc<Worker>,
    /// Whether jobs are archived at this moment.
    pub busy: Arc<AtomicBool>,
    /// The longest time without an ended job, in microseconds, while jobs were archived and otherwise.
    pauses: Arc<[AtomicU64; 2]>,
    quiet: Stretch,
    archiving: Stretch,
    ratios: Vec<f64>,
    moved: u64,
}

/// The shortest stretch that is compared.
const SHORTEST: Duration = Duration::from_millis(500);

impl Turns {
    pub fn new(worker: Worker) -> Self {
        let turns = Self {
            worker: Arc::new(worker),
            busy: Arc::default(),
            pauses: Arc::default(),
            quiet: Stretch::default(),
            archiving: Stretch::default(),
            ratios: Vec::new(),
            moved: 0,
        };
        tokio::spawn(watch(
            Arc::clone(&turns.worker),
            Arc::clone(&turns.busy),
            Arc::clone(&turns.pauses),
        ));
        turns
    }

    /// Returns how many jobs have ended.
    pub fn settled(&self) -> u64 {
        self.worker.stats().settled
    }

    /// Waits until this many jobs have ended.
    pub async fn until(&self, jobs: u64) {
        while self.settled() < jobs {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn during<T>(&self, work: impl Future<Output = T>) -> (Stretch, T) {
        let (before, started) = (self.settled(), Instant::now());
        let result = work.await;
        let seconds = started.elapsed().as_secs_f64();
        (Stretch { jobs: self.settled() - before, seconds }, result)
    }

    /// Archives some jobs, between two stretches of the same length without.
    pub async fn turn(&mut self, archive: impl Future<Output = u64>) {
        let turns = self.ratios.len().max(1) as f64;
        let length = Duration::from_secs_f64(self.archiving.seconds / turns).max(SHORTEST);
        let (before, ()) = self.during(tokio::time::sleep(length)).await;
        self.busy.store(true, Ordering::Relaxed);
        let (busy, moved) = self.during(archive).await;
        self.busy.store(false, Ordering::Relaxed);
        let (after, ()) = self.during(tokio::time::sleep(length)).await;
        let quiet = before.and(after);
        self.ratios.push(busy.speed() / quiet.speed());
        self.quiet = self.quiet.and(quiet);
        self.archiving = self.archiving.and(busy);
        self.moved += moved;
    }

    /// Prints the speeds. Returns the part of the speed that remained.
    pub fn report(&mut self) -> f64 {
        let ratio = self.archiving.speed() / self.quiet.speed();
        let part = |numbers: &mut Vec<f64>, part| percentile(numbers, part);
        let ratios = &mut self.ratios;
        println!("| | |\n|---|---:|");
        println!("| jobs archived | {} |", self.moved);
        println!("| turns | {} |", ratios.len());
        println!("| time to archive all | {:.2} s |", self.archiving.seconds);
        println!(
            "| jobs archived per second | {:.0} |",
            self.moved as f64 / self.archiving.seconds
        );
        println!(
            "| jobs per second that the worker ended, otherwise | {:.0} |",
            self.quiet.speed()
        );
        println!("| the same while jobs were archived | {:.0} |", self.archiving.speed());
        println!("| **ratio** | **{ratio:.3}** |");
        let (low, middle, high) = (part(ratios, 0.25), part(ratios, 0.5), part(ratios, 0.75));
        println!(
            "| median and middle half of the ratios of the turns | {middle:.3} ({low:.2} to {high:.2}) |"
        );
        let pause = |at: usize| self.pauses[at].load(Ordering::Relaxed) as f64 / 1000.0;
        println!("| longest time without an ended job, otherwise | {:.0} ms |", pause(0));
        println!("| the same while jobs were archived | {:.0} ms |", pause(1));
        ratio
    }

    pub async fn stop(&self) {
        self.worker.stop().await;
    }
}

/// Records the longest times without an ended job.
async fn watch(worker: Arc<Worker>, busy: Arc<AtomicBool>, pauses: Arc<[AtomicU64; 2]>) {
    let (mut last, mut since, mut archived) = (worker.stats().settled, Instant::now(), false);
    loop {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let settled = worker.stats().settled;
        archived |= busy.load(Ordering::Relaxed);
        if settled != last {
            // The time before the first job is no pause.
            if last > 0 {
                let paused = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
                pauses[usize::from(archived)].fetch_max(paused, Ordering::Relaxed);
            }
            (last, since, archived) = (settled, Instant::now(), false);
        }
    }
}
