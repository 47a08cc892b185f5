//! Charts from the history that the store keeps. This is the only place that reads it.

use std::time::Duration;

use ratchet_core::{StatsPoint, StatsSeries};

use crate::charts::lines::{Chart, Line, Mark, Point};
use crate::problem::Problem;
use crate::request::Request;
use crate::text::{brief, count, duration, read_duration};

/// The spans that a page offers.
pub(crate) const SPANS: [(&str, &str); 5] =
    [("1h", "1 hour"), ("6h", "6 hours"), ("24h", "1 day"), ("7d", "1 week"), ("90d", "90 days")];

/// The time that a page covers if its address names none.
pub(crate) const DEFAULT_SPAN: Duration = Duration::from_hours(24);

/// What is read: a span, and perhaps one queue or job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    pub(crate) last: Option<Duration>,
    pub(crate) queue: Option<String>,
    pub(crate) name: Option<String>,
}

impl Wanted {
    /// Reads what the address of a page or query wants.
    pub(crate) fn of(request: &Request) -> Result<Self, Problem> {
        let field = |name| Some(request.query.get(name)).filter(|text| !text.is_empty());
        Ok(Self {
            last: span(request)?,
            queue: field("queue").map(str::to_owned),
            name: field("name").map(str::to_owned),
        })
    }
}

/// Reads the time that the address of a page or query covers; `None` if it names none.
pub(crate) fn span(request: &Request) -> Result<Option<Duration>, Problem> {
    let text = request.query.get("last");
    if text.is_empty() {
        return Ok(None);
    }
    // Days are not a unit of other durations, because a day can have 23 hours.
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    match days {
        Some(days) => Ok(Some(Duration::from_hours(24 * u64::from(days.min(3660))))),
        None => read_duration(text).map(Some).map_err(Problem::bad),
    }
}

/// Reads a part of the history. The scope of the request must allow it.
pub(crate) async fn read(request: &Request, wanted: &Wanted) -> Result<StatsSeries, Problem> {
    match &wanted.queue {
        Some(queue) => {
            request.scoped_queue(queue)?;
        }
        None => request.sees_everything("the history of all queues")?,
    }
    let mut stats = request.ratchet().stats();
    if let Some(last) = wanted.last {
        stats = stats.last(last);
    }
    if let Some(queue) = &wanted.queue {
        stats = stats.queue(queue);
    }
    if let Some(name) = &wanted.name {
        stats = stats.name(name);
    }
    Ok(stats.points().await?)
}

/// Returns the charts of the whole cluster over a day. Empty if there is no history, or if the request sees a part of
/// the cluster.
pub(crate) async fn charts(request: &Request) -> Result<Vec<Chart>, Problem> {
    if !request.access.scope().is_everything() {
        return Ok(Vec::new());
    }
    Ok(draw(&read(request, &Wanted::default()).await?))
}

/// Returns the charts of a queue over a day. Empty if there is no history.
pub(crate) async fn queue_charts(request: &Request, queue: &str) -> Result<Vec<Chart>, Problem> {
    let wanted = Wanted { queue: Some(queue.to_owned()), ..Wanted::default() };
    Ok(draw(&read(request, &wanted).await?))
}

/// Returns the charts of a series. Empty if nothing was recorded.
pub(crate) fn draw(series: &StatsSeries) -> Vec<Chart> {
    let is_empty = |point: &StatsPoint| {
        point.gauges.is_none() && point.counts.values().iter().all(|count| *count == 0)
    };
    if series.points.iter().all(is_empty) {
        return Vec::new();
    }
    let marks: Vec<_> = series
        .deploys
        .iter()
        .map(|deploy| Mark {
            at: deploy.at,
            label: format!("{} {}", brief(&deploy.program, 40), brief(&deploy.binary_version, 40)),
        })
        .collect();
    let line = |name, class, value: &dyn Fn(&StatsPoint) -> Option<f64>| Line {
        name,
        class,
        points: series
            .points
            .iter()
            .map(|point| Point { at: point.at, value: value(point) })
            .collect(),
    };
    let minutes = series.tier.slot_length().as_secs_f64() / 60.0;
    #[allow(clippy::cast_precision_loss, reason = "a chart needs three digits")]
    let rate = |count: u64| Some(count as f64 / minutes);
    let seconds = |length: Option<Duration>| length.map(|length| length.as_secs_f64());
    #[allow(clippy::cast_precision_loss, reason = "a chart needs three digits")]
    let depth = |point: &StatsPoint| point.gauges.as_ref().map(|gauges| gauges.depth as f64);
    let oldest =
        |point: &StatsPoint| point.gauges.as_ref().map(|gauges| gauges.oldest_age.as_secs_f64());
    vec![
        Chart {
            title: "Runs per minute",
            lines: vec![
                line("succeeded", "c1", &|point| rate(point.counts.succeeded)),
                line("retried", "c2", &|point| rate(point.counts.retried)),
                line("failed", "c3", &|point| rate(point.counts.failed)),
            ],
            marks: marks.clone(),
            unit: short,
        },
        Chart {
            title: "Wait, and the age of the oldest job",
            lines: vec![
                line("wait p50", "c1", &|point| seconds(point.wait.p50)),
                line("wait p95", "c2", &|point| seconds(point.wait.p95)),
                line("oldest", "c3", &oldest),
            ],
            marks: marks.clone(),
            unit: length,
        },
        Chart {
            title: "Run time",
            lines: vec![
                line("p50", "c1", &|point| seconds(point.run.p50)),
                line("p95", "c2", &|point| seconds(point.run.p95)),
                line("p99", "c3", &|point| seconds(point.run.p99)),
            ],
            marks: marks.clone(),
            unit: length,
        },
        Chart {
            title: "Waiting jobs",
            lines: vec![line("depth", "c1", &depth)],
            marks,
            unit: short,
        },
    ]
}

/// Writes a number with three digits, such as 0.025, 1.25 or 1,250.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
pub(crate) fn short(value: f64) -> String {
    if value >= 100.0 || value <= 0.0 {
        return count(value.round() as u64);
    }
    let decimals = (2.0 - value.log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn length(value: f64) -> String {
    duration(Duration::try_from_secs_f64(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_an_axis_are_short_and_distinct() {
        let numbers = [0.0, 0.025, 0.05, 0.25, 1.0, 1.25, 10.0, 37.5, 99.99, 100.0, 1250.0];
        let texts = numbers.map(short);
        let expected =
            ["0", "0.025", "0.05", "0.25", "1", "1.25", "10", "37.5", "100", "100", "1,250"];
        assert_eq!(texts, expected);
    }
}
