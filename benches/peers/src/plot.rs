//! Draws the results as bar charts, one per scenario.

use std::fmt::Write as _;
use std::path::Path;

use crate::results::Results;
use crate::scenarios::{SCENARIOS, Scenario};
use crate::systems::{Kind, System};

const WIDTH: f64 = 720.0;
const ROW: f64 = 28.0;
const LEFT: f64 = 150.0;

/// Writes one SVG for each scenario with more than one system. Returns these scenarios.
pub fn draw(results: &Results, systems: &[System], folder: &Path) -> Vec<&'static Scenario> {
    let mut drawn = Vec::new();
    for scenario in SCENARIOS {
        let rows: Vec<_> = systems
            .iter()
            .filter_map(|system| {
                Some((system, results.median(scenario.name, system.name, scenario.number)?))
            })
            .collect();
        if rows.len() < 2 {
            continue;
        }
        let most = rows.iter().map(|(_, value)| *value).fold(f64::MIN_POSITIVE, f64::max);
        let height = ROW * rows.len() as f64 + 48.0;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"12\" y=\"24\" font-size=\"15\">{}</text>\n",
            scenario.about
        );
        for (at, (system, value)) in rows.iter().enumerate() {
            let y = 40.0 + ROW * at as f64;
            let long = (WIDTH - LEFT - 110.0) * value / most;
            let color = match system.kind {
                Kind::Ours => "#c2410c",
                Kind::Peer => "#94a3b8",
                Kind::Floor => "#e2e8f0",
            };
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\
                 <rect x=\"{LEFT}\" y=\"{y}\" width=\"{long:.1}\" height=\"18\" fill=\"{color}\"/>\
                 <text x=\"{:.1}\" y=\"{}\">{}</text>",
                LEFT - 8.0,
                y + 14.0,
                system.name,
                LEFT + long + 6.0,
                y + 14.0,
                if *value < 100.0 { format!("{value:.2}") } else { format!("{value:.0}") }
            );
        }
        svg.push_str("</svg>\n");
        std::fs::write(folder.join(format!("peers-{}.svg", scenario.name)), svg).expect("written");
        drawn.push(scenario);
    }
    drawn
}
