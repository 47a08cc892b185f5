//! Measures requests and the command line.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use crate::ROUNDS;
use crate::crawl::kind;

/// How often a page is requested at least, and for how long one is requested more often than that.
const FEWEST: usize = 3;
const LONGEST: Duration = Duration::from_secs(2);

/// The bar of `ratchet status`, in milliseconds.
const STATUS: f64 = 300.0;

pub(crate) async fn get(dashboard: &Router, path: &str) -> (StatusCode, String, Duration) {
    let request = Request::get(path).body(Body::empty()).expect("a request");
    let began = Instant::now();
    let response = dashboard.clone().oneshot(request).await.expect("a router does not fail");
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let took = began.elapsed();
    (status, String::from_utf8_lossy(&body).into_owned(), took)
}

/// Returns a percentile in milliseconds.
fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times[rank - 1].as_secs_f64() * 1e3
}

/// Requests every page several times. Prints a table of the kinds of pages, the slowest first, and returns those above the bar.
/// Names each of these as soon as it is measured, because the table comes last.
pub(crate) async fn pages(dashboard: &Router, paths: &[String], bar: f64) -> Vec<String> {
    let mut kinds = BTreeMap::<String, Vec<(f64, f64, String)>>::new();
    for path in paths {
        let mut times = Vec::new();
        let mut answered = StatusCode::OK;
        let began = Instant::now();
        while times.len() < ROUNDS && (times.len() < FEWEST || began.elapsed() < LONGEST) {
            let (status, _, took) = get(dashboard, path).await;
            answered = status;
            times.push(took);
        }
        let bad = answered.is_client_error() || answered.is_server_error();
        assert!(!bad, "{path}: {answered}");
        let (half, most) = (percentile(&mut times, 50), percentile(&mut times, 95));
        if most > bar {
            eprintln!("{most:.1} ms: {path}");
        }
        kinds.entry(kind(path)).or_default().push((most, half, path.clone()));
    }
    let mut rows: Vec<_> = kinds.into_iter().collect();
    for (_, measured) in &mut rows {
        measured.sort_by(|a, b| b.0.total_cmp(&a.0));
    }
    rows.sort_by(|a, b| b.1[0].0.total_cmp(&a.1[0].0));
    println!(
        "{} pages and lists, at most {ROUNDS} requests each, of {} kinds\n",
        paths.len(),
        rows.len()
    );
    println!("| kind | measured | p50 of the slowest, ms | p95 of the slowest, ms | the slowest |");
    println!("|---|---:|---:|---:|---|");
    for (kind, measured) in &rows {
        let (most, half, path) = &measured[0];
        println!("| `{kind}` | {} | {half:.1} | {most:.1} | `{path}` |", measured.len());
    }
    let all = rows.iter().flat_map(|(_, measured)| measured);
    let slow = all.filter(|(most, ..)| *most > bar);
    slow.map(|(most, _, path)| format!("{path}: {most:.1} ms")).collect()
}

/// Runs `ratchet status` as a process. Returns it if it is above its bar.
pub(crate) fn status(address: &str) -> Option<String> {
    let program = std::env::current_exe().expect("this program").with_file_name("scale_cli");
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let mut command = Command::new(&program);
        command.args(["--store", address, "status"]).stdout(Stdio::null());
        let began = Instant::now();
        assert!(command.status().expect("is built").success(), "`ratchet status` fails");
        times.push(began.elapsed());
    }
    let (half, most) = (percentile(&mut times, 50), percentile(&mut times, 95));
    println!("\n`ratchet status`, as a process: p50 {half:.1} ms, p95 {most:.1} ms");
    (most > STATUS).then(|| format!("`ratchet status`: {most:.1} ms"))
}
