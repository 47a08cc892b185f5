//! Compares the compile time of 200 jobs with 3 arguments each with that of the same functions without `#[job]`.
//!
//! `cargo run --release` prints the CPU seconds of `cargo build` and `cargo check`, full and after an edit of one
//! function (dev profile, dependencies already built), for plain functions, for `#[job]` and for `#[job]` with five
//! options. Each number is the median of 5 runs. It fails if a ratio is above its limit. CPU time is measured because it
//! depends less on other load than time by the clock. `RUNS=3` changes the number of runs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

const JOBS: usize = 200;
const OPTIONS: &str = "#[ratchet::job(queue = \"mail\", max_retries = 5, timeout = \"30s\", priority = high, tags(\"a\", \"b\"))]\n";

/// The measured combinations, with the greatest ratio of jobs with five options to plain functions that is allowed.
const CASES: [(&str, &str, Edit, f64); 4] = [
    ("build, full", "build", Edit::All, 3.0),
    ("build, one edit", "build", Edit::One, 3.0),
    ("check, full", "check", Edit::All, 2.5),
    ("check, one edit", "check", Edit::One, 2.5),
];

#[derive(Clone, Copy, PartialEq)]
enum Edit {
    /// The crate is compiled from nothing.
    All,
    /// The body of one function changes, with incremental compilation.
    One,
}

fn main() -> io::Result<ExitCode> {
    let runs = env::var("RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(5);
    let root = env::temp_dir().join(format!("ratchet-compile-time-{}", std::process::id()));
    let crates = [
        Crate::new(&root, "plain", "")?,
        Crate::new(&root, "jobs", "#[ratchet::job]\n")?,
        Crate::new(&root, "options", OPTIONS)?,
    ];
    println!("{JOBS} functions of 3 arguments, CPU seconds, median of {runs}\n");
    println!("|  | plain | `#[job]` | `#[job(5 options)]` |\n|---|---|---|---|");
    let mut kept = true;
    for (title, verb, edit, limit) in CASES {
        let mut times = [const { Vec::new() }; 3];
        // The first builds compile the dependencies and fill the incremental cache.
        for each in &crates {
            each.compile(verb, edit, 0)?;
        }
        // Alternate the builds, so that other load on the machine affects all.
        for run in 1..=runs {
            for (each, times) in crates.iter().zip(&mut times) {
                times.push(each.compile(verb, edit, run)?);
            }
        }
        let [plain, jobs, options] = times.map(median);
        let (each, all) = (jobs / plain, options / plain);
        println!(
            "| {title} | {plain:.2} s | {jobs:.2} s (×{each:.2}) | {options:.2} s (×{all:.2}) |"
        );
        if all > limit {
            println!("above the limit of {limit}");
            kept = false;
        }
    }
    fs::remove_dir_all(&root)?;
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A generated crate of 200 functions.
struct Crate {
    folder: PathBuf,
    target: PathBuf,
    attribute: &'static str,
}

impl Crate {
    fn new(root: &Path, name: &str, attribute: &'static str) -> io::Result<Self> {
        let folder = root.join(name);
        fs::create_dir_all(folder.join("src"))?;
        let ratchet = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ratchet");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\nratchet = {{ path = {ratchet:?}, package = \"ratchet-jobs\" }}\n\n[workspace]\n"
        );
        fs::write(folder.join("Cargo.toml"), manifest)?;
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        fs::copy(lock, folder.join("Cargo.lock"))?;
        Ok(Self { folder, target: root.join("target"), attribute })
    }

    /// Compiles only the crate itself, without its dependencies. Returns the CPU seconds.
    fn compile(&self, verb: &str, edit: Edit, run: usize) -> io::Result<f64> {
        fs::write(self.folder.join("src/main.rs"), source(self.attribute, run)?)?;
        let incremental = if edit == Edit::One { "1" } else { "0" };
        let before = cpu_of_children()?;
        let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args([verb, "--quiet"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", incremental)
            .output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(cpu_of_children()? - before)
    }
}

/// Generates the functions, each with `attribute`. The body of one contains `run`.
fn source(attribute: &str, run: usize) -> io::Result<String> {
    // A small but realistic job: it formats, awaits and can fail.
    let mut source = String::from(
        "async fn store(text: &str) -> Result<usize, std::io::Error> {\n    Ok(text.len())\n}\n\n",
    );
    for i in 0..JOBS {
        let least = if i == JOBS / 2 { run } else { 0 };
        write!(
            source,
            "/// Job number {i}.\n{attribute}pub async fn job_{i}(id: u64, name: String, tags: Vec<String>) \
             -> Result<usize, std::io::Error> {{\n    \
                 if tags.len() < {least} {{\n        return Err(std::io::Error::other(\"no tags\"));\n    }}\n    \
                 let mut stored = store(&format!(\"{{id}}: {{name}}\")).await?;\n    \
                 for tag in &tags {{\n        stored += store(tag).await?;\n    }}\n    \
                 Ok(stored)\n}}\n\n"
        )
        .map_err(io::Error::other)?;
    }
    // The body of an async fn that is never polled is not compiled, so all crates collect their futures in a list.
    source.push_str(
        "use std::future::Future;\nuse std::pin::Pin;\n\n\
         type Work = Pin<Box<dyn Future<Output = Result<usize, std::io::Error>> + Send>>;\n\n\
         fn main() {\n    let mut all: Vec<Work> = Vec::new();\n",
    );
    for i in 0..JOBS {
        writeln!(source, "    all.push(Box::pin(job_{i}({i}, String::new(), Vec::new())));")
            .map_err(io::Error::other)?;
    }
    source.push_str("}\n");
    Ok(source)
}

/// The CPU time of all child processes that have ended, from `/proc`.
fn cpu_of_children() -> io::Result<f64> {
    /// Linux reports ticks of 10 ms, independent of its own clock.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The name of the program may contain spaces; the fields follow its closing parenthesis.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 =
        fields.split_whitespace().skip(13).take(2).filter_map(|it| it.parse::<f64>().ok()).sum();
    Ok(ticks / TICKS)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
