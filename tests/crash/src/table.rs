//! Generates the documentation page of the matrix. It contains no times, so the same results give the same page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ratchet_store::env::crash::CrashPoint;

use crate::Problem;
use crate::address::Kind;
use crate::cell::{Fate, Outcome};
use crate::feature::Feature;

/// A cell and its results.
#[derive(Debug)]
pub struct Cell {
    point: CrashPoint,
    feature: Feature,
    kept: u64,
    repeated: bool,
    broken: Vec<u64>,
    not_passed: u64,
}

impl Cell {
    pub fn new(point: CrashPoint, feature: Feature) -> Self {
        Self { point, feature, kept: 0, repeated: false, broken: Vec::new(), not_passed: 0 }
    }

    pub fn add(&mut self, passing: u64, outcome: Outcome) {
        match outcome {
            Outcome::Kept { repeats } => {
                self.kept += 1;
                self.repeated |= repeats > 0;
            }
            Outcome::NotPassed => self.not_passed += 1,
            Outcome::Broken(_) => self.broken.push(passing),
        }
    }

    fn mark(&self) -> &'static str {
        match (self.broken.is_empty(), self.kept > 0) {
            (false, _) => "**red**",
            (true, true) => "✓",
            (true, false) => "?",
        }
    }
}

/// The results for one store and one fate.
#[derive(Debug)]
pub struct Sheet {
    kind: Kind,
    fate: Fate,
    passed: BTreeSet<CrashPoint>,
    features: Vec<Feature>,
    cells: BTreeMap<(CrashPoint, Feature), Cell>,
}

impl Sheet {
    pub fn new(
        kind: Kind,
        fate: Fate,
        passings: &BTreeMap<Feature, BTreeMap<CrashPoint, u64>>,
    ) -> Self {
        let passed = passings.values().flat_map(BTreeMap::keys).copied().collect();
        let features = passings.keys().copied().collect();
        Self { kind, fate, passed, features, cells: BTreeMap::new() }
    }

    pub fn add(&mut self, cell: Cell) {
        self.cells.insert((cell.point, cell.feature), cell);
    }

    pub fn passes(&self, point: CrashPoint) -> bool {
        self.passed.contains(&point)
    }

    pub fn broken(&self) -> Vec<String> {
        let red = self.cells.values().filter(|cell| !cell.broken.is_empty());
        red.map(|cell| {
            let (point, feature) = (cell.point.name(), cell.feature.name());
            format!("{} {} {point}/{feature} at {:?}", self.kind.name(), self.fate(), cell.broken)
        })
        .collect()
    }

    fn numbers(&self) -> (usize, usize, usize) {
        let green = self.cells.values().filter(|cell| cell.mark() == "✓").count();
        let red = self.cells.values().filter(|cell| !cell.broken.is_empty()).count();
        (green, red, self.cells.len())
    }

    pub fn summary(&self) -> String {
        let (green, red, all) = self.numbers();
        let deaths: u64 =
            self.cells.values().map(|cell| cell.kept + cell.broken.len() as u64).sum();
        let repeated = self.cells.values().filter(|cell| cell.repeated).count();
        let missed: u64 = self.cells.values().map(|cell| cell.not_passed).sum();
        format!(
            "{}, a process {}: {all} cells, {green} green, {red} red; {deaths} times, {missed} not come by; effects again in {repeated} cells",
            self.kind.title(),
            self.fate()
        )
    }

    fn fate(&self) -> &'static str {
        match self.fate {
            Fate::Dies => "dies",
            Fate::Freezes => "freezes and goes on while others do its work",
            Fate::FreezesLonger => "freezes and goes on when others have done its work",
        }
    }

    fn table(&self) -> String {
        let mut text = String::from("| point |");
        for feature in &self.features {
            let _ = write!(text, " {} |", feature.name());
        }
        text.push_str("\n|---|");
        text.push_str(&"---|".repeat(self.features.len()));
        text.push('\n');
        let tried = |point: &&CrashPoint| self.cells.keys().any(|(tried, _)| tried == *point);
        for point in CrashPoint::ALL.iter().filter(tried) {
            let _ = write!(text, "| `{}` |", point.name());
            for feature in &self.features {
                let mark = self.cells.get(&(*point, *feature)).map_or("–", Cell::mark);
                let _ = write!(text, " {mark} |");
            }
            text.push('\n');
        }
        text
    }
}

/// Writes the page to a file.
pub fn write(path: &str, sheets: &[Sheet]) -> Result<(), Problem> {
    let mut text = String::from(
        "# The crash matrix\n\n\
         Written by `scripts/proof matrix`; do not edit. [README.md](README.md) says how to read it.\n\n\
         A cell is a point of the code and a use of the product. A process is aborted when it passes the point (for its first\n\
         time and, in other runs, later ones), a second process finishes the work, and the store is held against a diary that\n\
         handlers and clients have kept beside it. ✓ means that everything was as promised, – that the feature does not come by\n\
         the point on this store.\n\n## Points\n\n| point | the process dies when |\n|---|---|\n",
    );
    for point in CrashPoint::ALL {
        let _ = writeln!(text, "| `{}` | {} |", point.name(), point.meaning());
    }
    text.push_str("\n## Features\n\n| feature | what the process does |\n|---|---|\n");
    for feature in Feature::ALL {
        let _ = writeln!(text, "| {} | {} |", feature.name(), feature.meaning());
    }
    for sheet in sheets {
        let (green, _, all) = sheet.numbers();
        let (title, fate) = (sheet.kind.title(), sheet.fate());
        let _ =
            write!(text, "\n## {title}, a process {fate}\n\n{green} of {all} cells are green.\n\n");
        text.push_str(&sheet.table());
    }
    Ok(std::fs::write(path, text)?)
}
