//! Renders groups as self-contained SVG.

mod layout;
mod plan;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use self::plan::{Plan, Spot, plan};
use super::draw::{color, status, words};
use ratchet_store::model::{Edge, EdgeTrigger, GroupState, GroupView, Member, Resolution};

/// The margin around the drawing.
const MARGIN: u32 = 16;

/// Renders a frame per group and a box per job, in the color of its state and with the state as text.
pub(super) fn svg(view: &GroupView) -> String {
    let plan = plan(view);
    let (width, height) = (plan.width + 2 * MARGIN, plan.height + 2 * MARGIN);
    let name = escaped(&heading(view));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{name}</title>\n\
         <defs><marker id=\"ratchet-arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#555555\"/></marker></defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    write_plan(&mut out, &plan, MARGIN, MARGIN);
    out.push_str("</svg>\n");
    out
}

fn write_plan(out: &mut String, plan: &Plan<'_>, x: u32, y: u32) {
    let view = plan.view;
    let (width, height) = plan.frame;
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"none\" stroke=\"{}\"/>",
        stroke(view.group.state)
    );
    write_text(out, x + 8, y + 16, "start", &heading(view), plan::MOST_IN_HEADING);
    // Edges first, so that boxes are drawn over them.
    for (edge, from, to) in &plan.edges {
        write_edge(out, edge, from, to, (x, y));
    }
    for (member, name, spot) in &plan.jobs {
        write_job(out, member, name, (x + spot.x, y + spot.y), spot);
    }
    for (inner, spot) in &plan.groups {
        write_plan(out, inner, x + spot.x, y + spot.y);
    }
    if let Some((more, spot)) = &plan.more {
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"none\" stroke=\"#999999\" stroke-dasharray=\"4 3\"/>",
            x + spot.x,
            y + spot.y,
            spot.width,
            spot.height
        );
        let text = format!("… and {more} more");
        write_text(out, x + spot.x + spot.width / 2, y + spot.y + 26, "middle", &text, text.len());
    }
}

fn write_job(out: &mut String, member: &Member, name: &str, (x, y): (u32, u32), spot: &Spot) {
    let _ = writeln!(
        out,
        "<g><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" stroke=\"#555555\"/>",
        escaped(&format!("{name}: {} {}", member.job_name, status(member))),
        spot.width,
        spot.height,
        color(member)
    );
    let centre = x + spot.width / 2;
    write_text(out, centre, y + 18, "middle", name, plan::MOST_LETTERS);
    write_text(out, centre, y + 34, "middle", &status(member), plan::MOST_LETTERS);
    out.push_str("</g>\n");
}

fn write_edge(out: &mut String, edge: &Edge, from: &Spot, to: &Spot, (x, y): (u32, u32)) {
    let start = (x + from.x + from.width, y + from.y + from.height / 2);
    let end = (x + to.x, y + to.y + to.height / 2);
    let bend = u32::midpoint(start.0, end.0);
    let style = match edge.resolution {
        Some(Resolution::Fired) => "stroke=\"#2d6a4f\" stroke-width=\"2\"",
        Some(Resolution::Dead { .. }) => "stroke=\"#999999\" stroke-dasharray=\"4 3\"",
        None => "stroke=\"#555555\"",
    };
    let _ = writeln!(
        out,
        "<path d=\"M{} {}C{bend} {} {bend} {} {} {}\" fill=\"none\" {style} marker-end=\"url(#ratchet-arrow)\"/>",
        start.0, start.1, start.1, end.1, end.0, end.1
    );
    if edge.when != EdgeTrigger::Success {
        let middle = u32::midpoint(start.1, end.1).saturating_sub(4);
        write_text(out, bend, middle, "middle", &words(&edge.when), plan::MOST_LETTERS);
    }
}

fn write_text(out: &mut String, x: u32, y: u32, anchor: &str, text: &str, most: usize) {
    let text = escaped(&plan::cut(text, most));
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"#222222\">{text}</text>"
    );
}

fn heading(view: &GroupView) -> String {
    let group = &view.group;
    let step = group.step.as_deref().map(|step| format!("{step}: ")).unwrap_or_default();
    let counts = group.counts;
    let (kind, name, state) = (group.kind, &group.name, group.state);
    format!("{step}{kind} {name} {state} {}/{}", counts.ended(), counts.total)
}

fn stroke(state: GroupState) -> &'static str {
    match state {
        GroupState::Waiting => "#aaaaaa",
        GroupState::Running => "#3a86c8",
        GroupState::Succeeded => "#2d6a4f",
        GroupState::Failed => "#b00020",
        GroupState::Canceled => "#777777",
    }
}

/// Escapes a text for XML. Names come from the user and may contain any character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other if other.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}
