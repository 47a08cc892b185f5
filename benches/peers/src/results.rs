//! Stores measurements, one per line, so that an interrupted run can be continued.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::scenarios::Measured;

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    scenario: String,
    system: String,
    round: usize,
    measured: Measured,
}

#[derive(Debug)]
pub struct Results {
    path: PathBuf,
    lines: BTreeMap<(String, String, usize), Measured>,
}

impl Results {
    pub fn open(file: &str, fresh: bool) -> Self {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target").join(file);
        if fresh {
            let _ = std::fs::remove_file(&path);
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let lines = lines.map(|line| ((line.scenario, line.system, line.round), line.measured));
        Self { path, lines: lines.collect() }
    }

    pub fn of(&self, scenario: &str, system: &str, round: usize) -> Option<&Measured> {
        self.lines.get(&(scenario.to_owned(), system.to_owned(), round))
    }

    pub fn add(&mut self, scenario: &str, system: &str, round: usize, measured: Measured) {
        // A failed measurement is not stored, so the next run repeats it.
        if measured.is_empty() {
            return;
        }
        let line =
            Line { scenario: scenario.to_owned(), system: system.to_owned(), round, measured };
        let mut file =
            std::fs::OpenOptions::new().create(true).append(true).open(&self.path).expect("a file");
        writeln!(file, "{}", serde_json::to_string(&line).expect("JSON")).expect("written");
        self.lines.insert((line.scenario, line.system, round), line.measured);
    }

    /// Returns the median of one number over all rounds.
    pub fn median(&self, scenario: &str, system: &str, number: &str) -> Option<f64> {
        let mut values: Vec<f64> = self
            .lines
            .iter()
            .filter(|((of, by, _), _)| of == scenario && by == system)
            .filter_map(|(_, measured)| measured.get(number).copied())
            .collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len().checked_sub(1)? / 2;
        Some(values[middle])
    }
}
