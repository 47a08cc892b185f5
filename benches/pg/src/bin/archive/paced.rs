//! [`Paced`]: the speed of a worker whose own maintenance archives old jobs, and its speed without.

use std::time::{Duration, Instant};

use ratchet::Worker;
use ratchet::runtime::{ArchiveFor, Builder};
use ratchet_bench_pg::percentile;

use crate::DAY;
use crate::turns::Stretch;

/// More jobs than a worker ends per second.
const FASTEST: u64 = 60_000;

/// Jobs that end before a stretch begins, so that the worker is at its usual speed.
const WARM: u64 = 10_000;

/// Compares stretches in which a worker archives with stretches in which it does not.
pub struct Paced {
    length: Duration,
    /// Without, with and without again, and so on.
    stretches: Vec<Measured>,
}

#[derive(Clone, Copy)]
struct Measured {
    speed: Stretch,
    archived: u64,
    /// The longest time without an ended job, in seconds.
    pause: f64,
}

impl Paced {
    pub fn new(length: Duration) -> Self {
        Self { length, stretches: Vec::new() }
    }

    /// Returns how many jobs must wait when a stretch begins.
    pub fn jobs(&self) -> u64 {
        FASTEST * (self.length.as_secs() + 1)
    }

    /// Runs a worker for one stretch. The worker of every second stretch archives jobs that ended a day ago.
    pub async fn run(&mut self, builder: Builder) {
        let archives = self.stretches.len() % 2 == 1;
        let builder = builder.config(|config| {
            config.keep_succeeded = archives.then_some(DAY);
            config.archive_succeeded = ArchiveFor::Forever;
        });
        let ratchet = builder.build().await.expect("builds");
        let before = ratchet.archive().status().await.expect("reads").jobs();
        let worker = ratchet.start().await.expect("starts");
        while worker.stats().settled < WARM {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let (speed, pause) = watch(&worker, self.length).await;
        assert!(worker.stats().settled < self.jobs(), "the worker had too few jobs");
        worker.stop().await;
        let archived = ratchet.archive().status().await.expect("reads").jobs() - before;
        assert_eq!(archived > 0, archives, "{archived} jobs were archived");
        self.stretches.push(Measured { speed, archived, pause });
    }

    /// Prints the speeds. Returns the part of the speed that remained.
    pub fn report(&self) -> f64 {
        let (mut with, mut without) = (Stretch::default(), Stretch::default());
        let (mut pauses, mut ratios, mut archived) = ([0.0_f64; 2], Vec::new(), 0);
        for (number, measured) in self.stretches.iter().enumerate() {
            let sum = if number % 2 == 1 { &mut with } else { &mut without };
            *sum = sum.and(measured.speed);
            pauses[number % 2] = pauses[number % 2].max(measured.pause);
            archived += measured.archived;
        }
        for three in self.stretches.windows(3).step_by(2) {
            ratios.push(three[1].speed.speed() / three[0].speed.and(three[2].speed).speed());
        }
        let ratio = with.speed() / without.speed();
        println!("| | |\n|---|---:|");
        println!(
            "| stretches with maintenance | {} of {} s |",
            ratios.len(),
            self.length.as_secs()
        );
        println!("| jobs archived | {archived} |");
        println!("| jobs archived per second | {:.0} |", archived as f64 / with.seconds);
        println!("| jobs per second that the worker ended, without | {:.0} |", without.speed());
        println!("| the same with maintenance | {:.0} |", with.speed());
        println!("| **ratio** | **{ratio:.3}** |");
        let least = percentile(&mut ratios, 0.0);
        println!(
            "| median and least ratio of a stretch | {:.3}, {least:.3} |",
            percentile(&mut ratios, 0.5)
        );
        println!("| longest time without an ended job, without | {:.0} ms |", pauses[0] * 1000.0);
        println!("| the same with maintenance | {:.0} ms |", pauses[1] * 1000.0);
        ratio
    }
}

/// Watches a worker for a time. Also returns the longest time without an ended job.
async fn watch(worker: &Worker, length: Duration) -> (Stretch, f64) {
    let (started, first) = (Instant::now(), worker.stats().settled);
    let (mut last, mut since, mut pause) = (first, Instant::now(), Duration::ZERO);
    while started.elapsed() < length {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let settled = worker.stats().settled;
        if settled != last {
            pause = pause.max(since.elapsed());
            (last, since) = (settled, Instant::now());
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    (Stretch { jobs: last - first, seconds }, pause.as_secs_f64())
}
