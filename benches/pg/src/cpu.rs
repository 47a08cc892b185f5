//! CPU time of client and server, to report microseconds per job.

use std::fs;
use std::path::Path;

/// The CPU time used so far by this process and by the server, in seconds.
#[derive(Clone, Copy)]
pub struct Cpu {
    pub client: f64,
    pub server: f64,
}

impl Cpu {
    /// Returns the CPU time used since an earlier reading.
    pub fn since(self, before: Self) -> Self {
        Self { client: self.client - before.client, server: self.server - before.server }
    }
}

/// Reads both. The server is the postmaster of this data folder and its children, including ended ones.
pub fn cpu(data: &Path) -> Cpu {
    let pid = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let postmaster: u32 = pid.lines().next().and_then(|pid| pid.parse().ok()).unwrap_or(0);
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let living = processes
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| spent(&format!("/proc/{pid}/stat")))
        .filter(|spent| spent.parent == postmaster)
        .map(|spent| spent.own);
    let ended = spent(&format!("/proc/{postmaster}/stat")).map_or(0.0, |spent| spent.of_ended);
    let server = living.sum::<f64>() + ended;
    let client = spent("/proc/self/stat").map_or(0.0, |spent| spent.own);
    Cpu { client, server }
}

/// The parent of a process, and the CPU time in seconds of the process and of its ended children.
struct Spent {
    parent: u32,
    own: f64,
    of_ended: f64,
}

fn spent(path: &str) -> Option<Spent> {
    const TICKS: f64 = 100.0;
    let text = fs::read_to_string(path).ok()?;
    let fields: Vec<_> = text.rsplit(')').next()?.split_whitespace().collect();
    let seconds = |at: usize| Some(fields.get(at)?.parse::<f64>().ok()? / TICKS);
    Some(Spent {
        parent: fields.get(1)?.parse().ok()?,
        own: seconds(11)? + seconds(12)?,
        of_ended: seconds(13)? + seconds(14)?,
    })
}
