//! Compares the compile time of 200 jobs with 3 arguments each with that of the same functions without `#[job]`.
//!
//! `cargo run --release` prints the medians of 5 builds (dev profile, dependencies already built) and their ratio. It
//! fails if the ratio is above 3. `cargo run -- check` compares `cargo check` instead, without a limit.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, fs, io};

const JOBS: usize = 200;
const RUNS: usize = 5;
const LIMIT: f64 = 3.0;

fn main() -> io::Result<ExitCode> {
    let check = env::args().any(|arg| arg == "check");
    let verb = if check { "check" } else { "build" };
    let root = env::temp_dir().join(format!("ratchet-compile-time-{}", std::process::id()));
    let plain = generate(&root, "plain", "")?;
    let jobs = generate(&root, "jobs", "#[ratchet::job]\n")?;

    // The first builds compile the dependencies; both crates share one target folder.
    build(&root, &plain, verb)?;
    build(&root, &jobs, verb)?;
    let mut times = (Vec::new(), Vec::new());
    // Alternate the builds, so that other load on the machine affects both.
    for _ in 0..RUNS {
        times.0.push(build(&root, &plain, verb)?);
        times.1.push(build(&root, &jobs, verb)?);
    }
    fs::remove_dir_all(&root)?;

    let (plain, jobs) = (median(times.0), median(times.1));
    let ratio = jobs.as_secs_f64() / plain.as_secs_f64();
    println!("{JOBS} functions of 3 arguments, cargo {verb}, median of {RUNS}");
    println!("plain async fns  {:>6.2} s", plain.as_secs_f64());
    println!("#[job]           {:>6.2} s", jobs.as_secs_f64());
    println!("ratio            {ratio:>6.2}");
    let each = jobs.saturating_sub(plain) / u32::try_from(JOBS).unwrap_or(u32::MAX);
    println!("per job          {:>6.2} ms", each.as_secs_f64() * 1000.0);
    if !check && ratio > LIMIT {
        println!("above the limit of {LIMIT}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Generates a crate of 200 functions, each with `attribute`.
fn generate(root: &Path, name: &str, attribute: &str) -> io::Result<PathBuf> {
    let crate_dir = root.join(name);
    fs::create_dir_all(crate_dir.join("src"))?;
    let ratchet = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ratchet");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nratchet = {{ path = {ratchet:?}, package = \"ratchet-jobs\" }}\n\n[workspace]\n"
    );
    fs::write(crate_dir.join("Cargo.toml"), manifest)?;
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    fs::copy(lock, crate_dir.join("Cargo.lock"))?;
    // A small but realistic job: it formats, awaits and can fail.
    let mut source = String::from(
        "async fn store(text: &str) -> Result<usize, std::io::Error> {\n    Ok(text.len())\n}\n\n",
    );
    for i in 0..JOBS {
        let _ = write!(
            source,
            "/// Job number {i}.\n{attribute}pub async fn job_{i}(id: u64, name: String, tags: Vec<String>) \
             -> Result<usize, std::io::Error> {{\n    \
                 if tags.is_empty() {{\n        return Err(std::io::Error::other(\"no tags\"));\n    }}\n    \
                 let mut stored = store(&format!(\"{{id}}: {{name}}\")).await?;\n    \
                 for tag in &tags {{\n        stored += store(tag).await?;\n    }}\n    \
                 Ok(stored)\n}}\n\n"
        );
    }
    // The body of an async fn that is never polled is not compiled, so both crates collect all futures in a list.
    source.push_str(
        "use std::future::Future;\nuse std::pin::Pin;\n\n\
         type Work = Pin<Box<dyn Future<Output = Result<usize, std::io::Error>> + Send>>;\n\n\
         fn main() {\n    let mut all: Vec<Work> = Vec::new();\n",
    );
    for i in 0..JOBS {
        let _ = writeln!(source, "    all.push(Box::pin(job_{i}({i}, String::new(), Vec::new())));");
    }
    source.push_str("}\n");
    fs::write(crate_dir.join("src/main.rs"), source)?;
    Ok(crate_dir)
}

/// Rebuilds only the crate itself, without its dependencies.
fn build(root: &Path, crate_dir: &Path, verb: &str) -> io::Result<Duration> {
    let main = crate_dir.join("src/main.rs");
    let source = fs::read(&main)?;
    fs::write(&main, source)?;
    let start = Instant::now();
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args([verb, "--quiet"])
        .current_dir(crate_dir)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .env("CARGO_INCREMENTAL", "0")
        .output()?;
    let took = start.elapsed();
    match output.status.success() {
        true => Ok(took),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
