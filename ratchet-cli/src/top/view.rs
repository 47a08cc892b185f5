//! Draws the screen.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{
    Block, Cell, Clear, Paragraph, Row, Sparkline, Table, TableState, Tabs, Wrap,
};
use ratchet_core::{JobState, Rate, Severity};

use super::state::{Mode, State, Tab};
use crate::output::text::{count, duration, printable, printable_lines, relative, shortened};

pub(super) fn draw(frame: &mut Frame<'_>, state: &State) {
    let [head, tabs, body, foot] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(heading(state), head);
    let place = Tab::ALL.iter().position(|tab| *tab == state.tab);
    let titles = Tab::ALL.iter().enumerate().map(|(at, tab)| format!("{} {}", at + 1, tab.title()));
    let strip = Tabs::new(titles)
        .select(place)
        .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    frame.render_widget(strip.divider(" "), tabs);
    match state.tab {
        Tab::Overview => overview(frame, body, state),
        Tab::Queues => queues(frame, body, state),
        Tab::Jobs => jobs(frame, body, state),
        Tab::Failures => failures(frame, body, state),
        Tab::Nodes => nodes(frame, body, state),
    }
    frame.render_widget(footer(state), foot);
    if let Mode::Text(text) = &state.mode {
        over(frame, body, text);
    }
}

fn heading(state: &State) -> Paragraph<'static> {
    let live = state.snapshot.overview.as_ref().map_or(0, |overview| overview.live_nodes().count());
    let mut first = vec![Span::from(state.target.clone()).bold()];
    if state.production {
        first.push(Span::from(" production").fg(Color::Red));
    }
    first.push(Span::from(format!("   live workers {live}")));
    let mut second = Vec::new();
    for (job_state, jobs) in state.totals() {
        let text = format!("{} {}   ", job_state.name().to_lowercase(), count(jobs));
        let failed = job_state == JobState::Failed && jobs > 0;
        second.push(if failed { Span::from(text).fg(Color::Red) } else { Span::from(text) });
    }
    if let Some(rate) = state.rates.back() {
        second.push(Span::from(format!("succeeded per second {}", count(*rate))));
    }
    Paragraph::new(vec![Line::from(first), Line::from(second)])
}

fn footer(state: &State) -> Paragraph<'static> {
    match &state.mode {
        Mode::Filter(text) => Paragraph::new(format!("filter: {}▏", printable(text))).bold(),
        Mode::Confirm(action) => {
            Paragraph::new(format!("{}? y: yes, other keys: no", printable(&action.to_string())))
                .fg(Color::Yellow)
        }
        Mode::List | Mode::Text(_) => match &state.message {
            Some((text, true)) => Paragraph::new(printable(text)).fg(Color::Red),
            Some((text, false)) => Paragraph::new(printable(text)).fg(Color::Green),
            None => Paragraph::new(
                "?: help  /: filter  Enter: look closer  R: retry  C: cancel  P: pause  q: quit",
            )
            .dim(),
        },
    }
}

fn overview(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let [rates, findings] =
        Layout::vertical([Constraint::Length(6), Constraint::Fill(1)]).areas(area);
    // The history of the store shows more than this screen has seen, if workers write it.
    let history = &state.snapshot.succeeded;
    let (values, title) = if history.iter().any(|count| *count > 0) {
        (history.clone(), " jobs that succeeded per minute ")
    } else {
        (state.rates.iter().copied().collect(), " jobs that succeeded per second ")
    };
    let width = usize::from(rates.width.saturating_sub(2));
    let values = &values[values.len().saturating_sub(width)..];
    let block = Block::bordered().title(title);
    frame.render_widget(Sparkline::default().block(block).data(values.iter().copied()), rates);
    let rows = state.snapshot.findings.iter().map(|finding| {
        let style = match finding.severity {
            Severity::Error => Style::new().fg(Color::Red),
            Severity::Warning => Style::new().fg(Color::Yellow),
        };
        let severity = format!("{:?}", finding.severity).to_lowercase();
        Row::new([
            Cell::from(severity).style(style),
            Cell::from(finding.id),
            Cell::from(printable(&finding.problem)),
        ])
    });
    let widths = [Constraint::Length(8), Constraint::Length(7), Constraint::Fill(1)];
    let table = Table::new(rows, widths).header(titles(["severity", "id", "problem"]));
    list(frame, findings, state, table, "no findings");
}

fn queues(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(overview) = &state.snapshot.overview else { return };
    let rows = overview.queues.iter().map(|queue| {
        let late =
            queue.oldest_due.map_or_else(|| "–".to_owned(), |due| relative(due, overview.now));
        let rules = queue.rules.as_ref().map(|record| &record.rules);
        let mut limits = Vec::new();
        if let Some(rules) = rules {
            limits.extend(rules.paused.then(|| "paused".to_owned()));
            limits.extend(rules.limits.concurrency.map(|jobs| format!("{jobs} at once")));
            let rate = |rate: Rate| format!("{} per {}", rate.jobs, duration(rate.per));
            limits.extend(rules.limits.rate.map(rate));
            let each = rules.limits.rate_per_key;
            limits.extend(each.map(|each| format!("{} for each key", rate(each))));
        }
        Row::new([
            Cell::from(printable(&queue.queue)),
            number(queue.count(JobState::Pending)),
            number(queue.count(JobState::Running)),
            number(queue.count(JobState::Failed)),
            number(queue.workers),
            Cell::from(late),
            Cell::from(limits.join(", ")),
        ])
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(9),
        Constraint::Length(9),
        Constraint::Length(9),
        Constraint::Length(8),
        Constraint::Length(12),
        Constraint::Fill(1),
    ];
    let header = titles([
        "queue",
        "  waiting",
        "  running",
        "   failed",
        " workers",
        "oldest due",
        "limits",
    ]);
    list(frame, area, state, Table::new(rows, widths).header(header), "there is no queue");
}

fn jobs(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let rows = state.snapshot.jobs.iter().map(|job| {
        let name = job.state.name().to_lowercase();
        let name = match job.state {
            JobState::Failed => Span::from(name).fg(Color::Red),
            JobState::Running => Span::from(name).fg(Color::Green),
            _ => Span::from(name),
        };
        let error = job.error.as_ref().map_or("", |error| error.message.as_str());
        Row::new([
            Cell::from(brief_id(&job.id.to_string())),
            Cell::from(printable(&job.spec.name)),
            Cell::from(printable(&job.spec.queue)),
            Cell::from(name),
            number(job.attempts.into()),
            Cell::from(relative(job.queued_at, state.snapshot.now)),
            Cell::from(printable(&shortened(error, 80))),
        ])
    });
    let widths = [
        Constraint::Length(13),
        Constraint::Fill(3),
        Constraint::Fill(1),
        Constraint::Length(9),
        Constraint::Length(8),
        Constraint::Length(12),
        Constraint::Fill(2),
    ];
    let header = titles(["id", "job", "queue", "state", "attempts", "queued", "error"]);
    let filter = state.filter.to_string();
    let title = if filter.is_empty() {
        " newest jobs ".to_owned()
    } else {
        format!(" {} ", printable(&filter))
    };
    let table = Table::new(rows, widths).header(header).block(Block::bordered().title(title));
    list(frame, area, state, table, "no job matches");
}

fn failures(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let rows = state.snapshot.failures.iter().map(|group| {
        Row::new([
            Cell::from(group.fingerprint.clone()),
            Cell::from(printable(&group.job_name)),
            number(group.count),
            Cell::from(relative(group.last, state.snapshot.now)),
            Cell::from(group.reason.to_string()),
            Cell::from(printable(&shortened(
                &format!("{}: {}", group.error_type, group.message),
                120,
            ))),
        ])
    });
    let widths = [
        Constraint::Length(16),
        Constraint::Fill(1),
        Constraint::Length(7),
        Constraint::Length(12),
        Constraint::Length(18),
        Constraint::Fill(2),
    ];
    let header = titles(["fingerprint", "job", "   jobs", "last", "reason", "error"]);
    list(
        frame,
        area,
        state,
        Table::new(rows, widths).header(header),
        "no job has failed permanently",
    );
}

fn nodes(frame: &mut Frame<'_>, area: Rect, state: &State) {
    let Some(overview) = &state.snapshot.overview else { return };
    let rows = overview.nodes.iter().map(|node| {
        let alive =
            if node.alive { Span::from("alive") } else { Span::from("dead").fg(Color::Red) };
        let queues: Vec<_> = node.info.queues.iter().map(String::as_str).collect();
        Row::new([
            Cell::from(printable(&node.info.host)),
            number(node.info.pid.into()),
            Cell::from(printable(&node.info.declarations.program)),
            Cell::from(printable(&node.info.binary_version)),
            Cell::from(alive),
            Cell::from(relative(node.lease_until, overview.now)),
            Cell::from(printable(&queues.join(", "))),
        ])
    });
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(9),
        Constraint::Fill(1),
        Constraint::Length(12),
        Constraint::Length(6),
        Constraint::Length(12),
        Constraint::Fill(2),
    ];
    let header =
        titles(["host", "  process", "program", "version", "state", "lease ends", "queues"]);
    list(frame, area, state, Table::new(rows, widths).header(header), "no worker is alive");
}

/// Returns the beginning and the end of an id. The end differs between jobs of the same moment. Enter shows it whole.
fn brief_id(id: &str) -> String {
    match (id.get(..8), id.len().checked_sub(4).and_then(|end| id.get(end..))) {
        (Some(begin), Some(end)) => format!("{begin}…{end}"),
        _ => id.to_owned(),
    }
}

fn titles<const N: usize>(titles: [&'static str; N]) -> Row<'static> {
    Row::new(titles).style(Style::new().add_modifier(Modifier::BOLD))
}

/// Returns a cell with a number, aligned to the right.
fn number(value: u64) -> Cell<'static> {
    Cell::from(Line::from(count(value)).right_aligned())
}

/// Draws a table with the selected row marked, or says that it is empty.
fn list(frame: &mut Frame<'_>, area: Rect, state: &State, table: Table<'_>, empty: &'static str) {
    if state.rows() == 0 {
        frame.render_widget(Paragraph::new(empty).dim(), area);
        return;
    }
    let table =
        table.column_spacing(2).row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut place = TableState::new().with_selected(state.selected);
    frame.render_stateful_widget(table, area, &mut place);
}

/// Draws a text over the list.
fn over(frame: &mut Frame<'_>, area: Rect, text: &str) {
    let area = area.inner(ratatui::layout::Margin::new(4, 1));
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(" any key closes this ");
    let text = Paragraph::new(printable_lines(text)).wrap(Wrap { trim: false }).block(block);
    frame.render_widget(text, area);
}
