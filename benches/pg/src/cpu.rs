//! Processor time, so that a rate can be told as microseconds per job on either side.

use std::fs;
use std::path::Path;

/// Seconds of processor time spent so far by this process and by the server.
#[derive(Clone, Copy)]
pub struct Cpu {
    pub client: f64,
    pub server: f64,
}

impl Cpu {
    /// What has been spent since an earlier reading.
    pub fn since(self, before: Self) -> Self {
        Self { client: self.client - before.client, server: self.server - before.server }
    }
}

/// Reads both; the server is the postmaster of this data folder and its children.
pub fn cpu(data: &Path) -> Cpu {
    let pid = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let postmaster: u32 = pid.lines().next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let of_server = processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| spent(&format!("/proc/{pid}/stat")))
        .filter(|(parent, _)| *parent == postmaster);
    let server = of_server.map(|(_, seconds)| seconds).sum();
    let client = spent("/proc/self/stat").map_or(0.0, |(_, seconds)| seconds);
    Cpu { client, server }
}

/// The parent of a process and the seconds it has used.
fn spent(path: &str) -> Option<(u32, f64)> {
    const TICKS: f64 = 100.0;
    let text = fs::read_to_string(path).ok()?;
    let fields: Vec<_> = text.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some((fields.get(1)?.parse().ok()?, ticks / TICKS))
}
