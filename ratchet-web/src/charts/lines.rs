//! Charts over time, with deploys marked.

use jiff::Timestamp;
use maud::{Markup, html};

use crate::text::exact;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 24.0;

/// A value at an instant; `None` if nothing was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) at: Timestamp,
    pub(crate) value: Option<f64>,
}

/// A line of a chart.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    /// A class of the style sheet: `c1` to `c4`.
    pub(crate) class: &'static str,
    pub(crate) points: Vec<Point>,
}

impl Line {
    fn is_measured(&self) -> bool {
        self.points.iter().any(|point| point.value.is_some())
    }
}

/// An instant that is marked, such as a deploy.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) at: Timestamp,
    pub(crate) label: String,
}

/// A chart.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<Line>,
    pub(crate) marks: Vec<Mark>,
    /// Returns the text of a value.
    pub(crate) unit: fn(f64) -> String,
}

impl Chart {
    /// Draws the chart, with its values as a table for those who do not see it. `None` if it has no values.
    pub(crate) fn html(&self) -> Option<Markup> {
        self.figure(&self.table())
    }

    /// Draws the chart, with a link to the page that has its values. The page is then a third as long.
    pub(crate) fn linked(&self, link: &str) -> Option<Markup> {
        self.figure(
            &html! { p.values { a href=(link) { "Values" span.hidden { " of " (self.title) } } } },
        )
    }

    fn figure(&self, values: &Markup) -> Option<Markup> {
        let lines: Vec<_> = self.lines.iter().filter(|line| line.is_measured()).collect();
        let points = || lines.iter().flat_map(|line| &line.points);
        let (from, to) = (points().map(|it| it.at).min()?, points().map(|it| it.at).max()?);
        let most = points().filter_map(|point| point.value).fold(0.0, f64::max);
        let most = rounded(most);
        let length = to.duration_since(from).as_secs_f64().max(1.0);
        let x = |at: Timestamp| {
            LEFT + (WIDTH - LEFT - 8.0) * at.duration_since(from).as_secs_f64() / length
        };
        let y = |value: f64| TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - value / most);
        Some(html! {
            figure.chart {
                figcaption {
                    strong { (self.title) }
                    ul.legend { @for line in &lines { li class=(line.class) { (line.name) } } }
                }
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(self.title) {
                    @for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
                        line.grid x1=(LEFT) x2=(WIDTH - 8.0) y1=(number(y(most * part))) y2=(number(y(most * part))) {}
                        text.axis x=(LEFT - 6.0) y=(number(y(most * part) + 4.0)) text-anchor="end" { ((self.unit)(most * part)) }
                    }
                    @for (at, anchor) in [(from, "start"), (middle(from, to), "middle"), (to, "end")] {
                        text.axis x=(number(x(at))) y=(HEIGHT - 6.0) text-anchor=(anchor) { (at.strftime("%H:%M").to_string()) }
                    }
                    @for mark in self.marks.iter().filter(|mark| (from..=to).contains(&mark.at)) {
                        line.deploy x1=(number(x(mark.at))) x2=(number(x(mark.at))) y1=(TOP) y2=(HEIGHT - BOTTOM) {}
                        text.axis x=(number(x(mark.at) + 4.0)) y=(TOP + 8.0) { (crate::text::brief(&mark.label, 16)) }
                    }
                    @for line in &lines {
                        @for part in parts(&line.points) {
                            @let path = part.iter().map(|(at, value)| format!("{},{}", number(x(*at)), number(y(*value)))).collect::<Vec<_>>().join(" ");
                            polyline class=(format!("line {}", line.class)) points=(path) { title { (line.name) } }
                        }
                    }
                }
                (values)
            }
        })
    }

    fn table(&self) -> Markup {
        html! {
            details {
                summary { "Values" span.hidden { " of " (self.title) } }
                div.scroll { table {
                    caption.hidden { (self.title) }
                    thead { tr { th scope="col" { "time" } @for line in &self.lines { th.num scope="col" { (line.name) } } } }
                    tbody { @for (row, point) in self.lines.first().map(|line| &line.points).into_iter().flatten().enumerate() {
                        tr {
                            td data-label="time" { (exact(point.at)) }
                            @for line in &self.lines {
                                td.num data-label=(line.name) { (line.points.get(row).and_then(|point| point.value).map_or_else(|| "–".to_owned(), self.unit)) }
                            }
                        }
                    } }
                } }
            }
        }
    }
}

fn number(value: f64) -> String {
    format!("{value:.1}")
}

fn middle(from: Timestamp, to: Timestamp) -> Timestamp {
    from.checked_add(to.duration_since(from) / 2).unwrap_or(from)
}

/// Splits a line where nothing was measured.
fn parts(points: &[Point]) -> Vec<Vec<(Timestamp, f64)>> {
    let mut parts = vec![Vec::new()];
    for point in points {
        match (point.value, parts.last_mut()) {
            (Some(value), Some(part)) => part.push((point.at, value)),
            _ => parts.push(Vec::new()),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn rounded(most: f64) -> f64 {
    if most <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(most.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= most);
    step.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(second: i64, value: Option<f64>) -> Point {
        Point { at: Timestamp::from_second(second).expect("in range"), value }
    }

    #[test]
    fn a_line_has_a_gap_where_nothing_was_measured() {
        let points =
            [point(0, Some(1.0)), point(1, None), point(2, Some(2.0)), point(3, Some(1.5))];
        let lengths: Vec<_> = parts(&points).iter().map(Vec::len).collect();
        assert_eq!(lengths, [1, 2]);
        let line = Line { name: "p50", class: "c1", points: points.to_vec() };
        let marks = vec![Mark { at: points[1].at, label: "v2".to_owned() }];
        let chart =
            Chart { title: "Wait", lines: vec![line], marks, unit: |value| format!("{value} s") };
        let html = chart.html().expect("has values").into_string();
        assert_eq!(html.matches("<polyline").count(), 2);
        assert!(html.contains("v2"), "{html}");
        assert!(!html.contains("style="), "{html}");
    }

    #[test]
    fn a_chart_without_values_is_not_drawn() {
        let chart =
            Chart { title: "Wait", lines: Vec::new(), marks: Vec::new(), unit: |_| String::new() };
        assert!(chart.html().is_none());
        assert!((rounded(0.0) - 1.0).abs() < f64::EPSILON);
        assert!((rounded(37.0) - 50.0).abs() < f64::EPSILON);
    }
}
