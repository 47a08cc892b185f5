//! Shared by the adapters: settings from the environment, a run counter per job, timing, and one JSON line per phase.
#![allow(dead_code)]

use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

#[derive(Clone, Debug)]
pub struct Args {
    pub cmd: String,
    pub n: usize,
    pub conc: usize,
    pub batch: usize,
    pub url: String,
    pub out: Option<String>,
    pub total: usize,
    pub name: String,
    pub rate: usize,
    pub secs: usize,
}

pub fn args() -> Args {
    let text = |key: &str| std::env::var(key).ok();
    let number = |key: &str, or: usize| text(key).and_then(|n| n.parse().ok()).unwrap_or(or);
    let n = number("N", 10_000);
    Args {
        cmd: std::env::args().nth(1).unwrap_or_default(),
        n,
        conc: number("CONC", 50),
        batch: number("BATCH", 100),
        url: text("DATABASE_URL").expect("DATABASE_URL"),
        out: text("OUT"),
        total: number("TOTAL", n),
        name: text("WNAME").unwrap_or_else(|| "w1".into()),
        rate: number("RATE", 1000),
        secs: number("SECS", 60),
    }
}

pub static COUNTS: OnceLock<Vec<AtomicU8>> = OnceLock::new();
pub static STARTS: OnceLock<Vec<AtomicU64>> = OnceLock::new();
pub static DONE: AtomicUsize = AtomicUsize::new(0);
pub static T0: OnceLock<Instant> = OnceLock::new();

pub fn init(total: usize) {
    COUNTS.set((0..total).map(|_| AtomicU8::new(0)).collect()).ok();
    STARTS.set((0..total).map(|_| AtomicU64::new(0)).collect()).ok();
    T0.set(Instant::now()).ok();
}

pub fn ns() -> u64 {
    T0.get().unwrap().elapsed().as_nanos() as u64
}

/// The body of every handler: counts the run. Numbers wrap around in long runs.
pub fn hit(id: usize) {
    let (counts, starts) = (COUNTS.get().unwrap(), STARTS.get().unwrap());
    let id = id % counts.len();
    if starts[id].load(Ordering::Relaxed) == 0 {
        starts[id].store(ns(), Ordering::Relaxed);
    }
    counts[id].fetch_add(1, Ordering::Relaxed);
    DONE.fetch_add(1, Ordering::Relaxed);
}

/// Returns the text of a payload: one letter, or `PAYLOAD` letters.
pub fn kind() -> String {
    static SIZE: OnceLock<usize> = OnceLock::new();
    let size = *SIZE
        .get_or_init(|| std::env::var("PAYLOAD").ok().and_then(|n| n.parse().ok()).unwrap_or(1));
    "x".repeat(size)
}

pub fn epoch() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

/// Returns the CPU time of this process in seconds: user, system.
pub fn cpu() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let seconds = |at: usize| fields[at].parse::<f64>().unwrap() / 100.0;
    (seconds(11), seconds(12))
}

/// Returns the peak resident memory, in MiB.
pub fn rss() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("");
    let kib = line.split_whitespace().nth(1).and_then(|n| n.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// Waits until `STOP` jobs have run, or until no job has run for 20 ms and the database has no jobs left.
pub async fn wait_drained<F, Fut>(mut remaining: F) -> f64
where
    F: FnMut() -> Fut,
    Fut: Future<Output = bool>,
{
    let stop: usize = std::env::var("STOP").ok().and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
    let mut last = DONE.load(Ordering::Relaxed);
    loop {
        tokio::time::sleep(Duration::from_millis(if stop < usize::MAX { 2 } else { 20 })).await;
        let done = DONE.load(Ordering::Relaxed);
        if done >= stop {
            return epoch();
        }
        let young = T0.get().unwrap().elapsed() < Duration::from_millis(500);
        if stop < usize::MAX || done != last || done == 0 && young {
            last = done;
            continue;
        }
        if !remaining().await {
            return epoch();
        }
    }
}

pub fn report_drain(a: &Args, start: f64, end: f64) {
    let counts = COUNTS.get().unwrap();
    let (mut once, mut dup, mut none) = (0, 0, 0);
    for count in counts {
        match count.load(Ordering::Relaxed) {
            0 => none += 1,
            1 => once += 1,
            _ => dup += 1,
        }
    }
    if let Some(out) = &a.out {
        let bytes: Vec<u8> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        std::fs::write(out, bytes).unwrap();
    }
    let ((user, system), secs) = (cpu(), end - start);
    println!(
        "{{\"phase\":\"drain\",\"start\":{start:.4},\"end\":{end:.4},\"secs\":{secs:.4},\"once\":{once},\"dup\":{dup},\
         \"none\":{none},\"rate\":{:.0},\"cpu\":{:.2},\"rss\":{:.0}}}",
        (once + dup) as f64 / secs,
        user + system,
        rss()
    );
}

pub fn report_rate(phase: &str, n: usize, secs: f64) {
    println!(
        "{{\"phase\":\"{phase}\",\"n\":{n},\"secs\":{secs:.4},\"rate\":{:.0}}}",
        n as f64 / secs
    );
}

pub fn pct(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() as f64 - 1.0) * part).round() as usize]
}

/// Reports the latency from the submit call, and from its commit, to the start of the handler.
pub fn report_latency(phase: &str, submitted: &[(u64, u64)]) {
    let starts = STARTS.get().unwrap();
    let (mut commit, mut call, mut missing) = (vec![], vec![], 0);
    for (id, (called, committed)) in submitted.iter().enumerate() {
        let start = starts[id].load(Ordering::Relaxed);
        if start == 0 {
            missing += 1;
            continue;
        }
        commit.push((start as f64 - *committed as f64) / 1e6);
        call.push((start as f64 - *called as f64) / 1e6);
    }
    let [c50, c95, c99] = [0.5, 0.95, 0.99].map(|part| pct(&mut commit, part));
    let [a50, a95, a99] = [0.5, 0.95, 0.99].map(|part| pct(&mut call, part));
    println!(
        "{{\"phase\":\"{phase}\",\"missing\":{missing},\"p50\":{c50:.3},\"p95\":{c95:.3},\"p99\":{c99:.3},\
         \"call_p50\":{a50:.3},\"call_p95\":{a95:.3},\"call_p99\":{a99:.3}}}"
    );
}

/// Submits `n` jobs one by one, from `conc` concurrent tasks.
pub async fn enqueue_conc<F, Fut>(n: usize, conc: usize, f: F)
where
    F: Fn(usize) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = ()> + Send,
{
    let next = std::sync::Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let mut tasks = vec![];
    for _ in 0..conc {
        let (f, next) = (f.clone(), next.clone());
        tasks.push(tokio::spawn(async move {
            loop {
                let id = next.fetch_add(1, Ordering::Relaxed);
                if id >= n {
                    break;
                }
                f(id).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    report_rate("enqueue", n, started.elapsed().as_secs_f64());
}

/// Submits 50 jobs per second, one by one.
pub async fn latency_loop<F, Fut>(n: usize, mut f: F) -> Vec<(u64, u64)>
where
    F: FnMut(usize) -> Fut,
    Fut: Future<Output = ()>,
{
    let mut submitted = vec![];
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    for id in 0..n {
        ticks.tick().await;
        let called = ns();
        f(id).await;
        submitted.push((called, ns()));
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    submitted
}

/// Submits chunks for `SECS` while a worker runs, as long as fewer than 20,000 jobs wait. Reports the jobs done in each
/// quarter.
pub async fn sustained<F, Fut>(a: &Args, mut bulk: F)
where
    F: FnMut(std::ops::Range<usize>) -> Fut,
    Fut: Future<Output = ()>,
{
    let (started, mut made, mut quarters) = (Instant::now(), 0, vec![]);
    let quarter = Duration::from_secs_f64(a.secs as f64 / 4.0);
    while quarters.len() < 4 {
        let done = DONE.load(Ordering::Relaxed);
        if started.elapsed() >= quarter * (quarters.len() as u32 + 1) {
            quarters.push(done);
            continue;
        }
        if made < done + 20_000 {
            bulk(made..made + 1000).await;
            made += 1000;
        } else {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    let rates: Vec<_> = (0..4)
        .map(|at| quarters[at] - if at == 0 { 0 } else { quarters[at - 1] })
        .map(|done| done as f64 / quarter.as_secs_f64())
        .collect();
    println!(
        "{{\"phase\":\"sustained\",\"rate\":{:.0},\"quarters\":[{:.0},{:.0},{:.0},{:.0}],\"rss\":{:.0}}}",
        quarters[3] as f64 / started.elapsed().as_secs_f64(),
        rates[0],
        rates[1],
        rates[2],
        rates[3],
        rss()
    );
}

/// Submits `RATE` jobs per second for `SECS`, in 50 chunks per second, while a worker runs. Reports the latency to the
/// start of each.
pub async fn paced<F, Fut>(a: &Args, mut bulk: F)
where
    F: FnMut(std::ops::Range<usize>) -> Fut,
    Fut: Future<Output = ()>,
{
    let mut submitted = vec![];
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    let chunk = (a.rate / 50).max(1);
    while submitted.len() + chunk <= a.total.min(a.rate * a.secs) {
        ticks.tick().await;
        let called = ns();
        bulk(submitted.len()..submitted.len() + chunk).await;
        let committed = ns();
        submitted.extend((0..chunk).map(|_| (called, committed)));
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    report_latency("paced", &submitted);
}

pub const EXIT: fn() -> ! = || {
    use std::io::Write;
    std::io::stdout().flush().ok();
    std::process::exit(0)
};
