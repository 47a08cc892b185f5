//! Writes the documentation page: the table goes between its two markers, the charts next to it.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::plot;
use crate::results::Results;
use crate::systems::System;

const BEGIN: &str = "<!-- measured: written by `benches/peers`, do not edit -->\n";
const END: &str = "<!-- /measured -->";

/// Writes the table and the charts into the page.
pub fn write(table: &str, results: &Results, systems: &[System], how: &str, machine: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/speed");
    let path = folder.join("README.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the first mark");
    let (_, after) = rest.split_once(END).expect("the second mark");
    let mut measured = format!("{how} {machine}\n{table}\n");
    for scenario in plot::draw(results, systems, &folder) {
        let _ = writeln!(measured, "![{}](peers-{}.svg)", scenario.about, scenario.name);
    }
    std::fs::write(path, format!("{before}{BEGIN}\n{measured}\n{END}{after}")).expect("written");
}

/// Describes the machine and the versions of the measurement.
pub fn machine() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (cpus, memory) = (read("/proc/cpuinfo"), read("/proc/meminfo"));
    let value = |text: &str, key: &str| {
        let line = text.lines().find(|line| line.starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let cores = cpus.lines().filter(|line| line.starts_with("processor")).count();
    let model = value(&cpus, "model name").unwrap_or_default();
    let kib =
        value(&memory, "MemTotal").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    format!(
        "Commit `{}`; {cores} cores ({model}), {:.0} GiB of memory, Linux {}; {}, `fsync` and `synchronous_commit` on, \
         1 GB of shared buffers.\n",
        said("git", &["rev-parse", "--short", "HEAD"]),
        kib.unwrap_or_default() / 1024.0 / 1024.0,
        read("/proc/sys/kernel/osrelease").trim(),
        said("postgres", &["--version"])
    )
}

fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default()
}
