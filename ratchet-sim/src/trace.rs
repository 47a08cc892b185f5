//! The trace of a schedule: a hash over all steps, and optionally the events as text.

use std::time::Duration;

use crate::exec::Owner;
use crate::op::Op;

/// The trace of one schedule.
#[derive(Debug)]
pub(crate) struct Trace {
    hash: u64,
    steps: u64,
    lines: Option<Vec<String>>,
    now: Duration,
}

impl Trace {
    pub(crate) fn new(keep: bool) -> Self {
        Self { hash: 0, steps: 0, lines: keep.then(Vec::new), now: Duration::ZERO }
    }

    /// Counts a step and adds it to the hash.
    pub(crate) fn step(&mut self, now: Duration, owner: Owner, op: Op, digest: u64) {
        self.steps += 1;
        self.now = now;
        let micros = u64::try_from(now.as_micros()).unwrap_or(u64::MAX);
        for word in [micros, u64::from(owner), op as u64, digest] {
            self.hash = mix(self.hash ^ word);
        }
        self.tell(|| format!("{} {op:?}", name(owner)));
    }

    /// Adds a line if text is enabled.
    pub(crate) fn tell(&mut self, line: impl FnOnce() -> String) {
        let now = self.now;
        if let Some(lines) = &mut self.lines {
            let line = line();
            if !line.is_empty() {
                lines.push(format!("{:>10.4} {line}", now.as_secs_f64()));
            }
        }
    }

    pub(crate) fn at(&mut self, now: Duration) {
        self.now = now;
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        self.lines.take().unwrap_or_default()
    }
}

/// Returns the name of an owner in the trace.
pub(crate) fn name(owner: Owner) -> String {
    if owner == crate::exec::CLIENTS { "client".to_owned() } else { format!("node{owner}") }
}

/// Mixes the bits of a number (the last steps of `SplitMix64`).
pub(crate) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (word ^ (word >> 31)).wrapping_add(0x9E37_79B9_7F4A_7C15)
}
