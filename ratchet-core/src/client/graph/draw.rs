//! Renders groups as text and as DOT.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ratchet_store::model::{Edge, EdgeTrigger, GroupView, JobState, Member, Vertex};

/// Renders one line per step: its name, its state, and its parents.
pub(super) fn text(view: &GroupView) -> String {
    let mut out = String::new();
    write_text(&mut out, view, 0, None, &BTreeMap::new());
    out
}

fn write_text(
    out: &mut String,
    view: &GroupView,
    depth: usize,
    after: Option<&str>,
    _outer: &BTreeMap<Vertex, String>,
) {
    let indent = "  ".repeat(depth);
    let group = &view.group;
    let counts = group.counts;
    let step = group.step.as_deref().map(|step| format!("{step}: ")).unwrap_or_default();
    let _ = writeln!(
        out,
        "{indent}{step}{} `{}` {} {}/{}{}",
        group.kind,
        group.name,
        group.state,
        counts.ended(),
        counts.total,
        after.unwrap_or_default()
    );
    let names = names(view);
    for member in &view.members {
        let after = waits_for(view, Vertex::Job(member.id), &names);
        let _ = writeln!(out, "{indent}  {} {}{after}", label(member), status(member));
    }
    for inner in &view.groups {
        let after = waits_for(view, Vertex::Group(inner.group.id), &names);
        write_text(out, inner, depth + 1, Some(&after), &names);
    }
    for follower in &view.followers {
        let edge = view.edges.iter().find(|edge| edge.child == Vertex::Job(follower.id));
        let when = edge.map(|edge| words(&edge.when)).unwrap_or_default();
        let _ = writeln!(out, "{indent}  on {when}: {} {}", follower.job_name, status(follower));
    }
}

fn names(view: &GroupView) -> BTreeMap<Vertex, String> {
    let jobs = view.members.iter().map(|member| (Vertex::Job(member.id), label(member)));
    let groups = view.groups.iter().map(|inner| {
        let group = &inner.group;
        let name = group.step.clone().unwrap_or_else(|| format!("{} `{}`", group.kind, group.name));
        (Vertex::Group(group.id), name)
    });
    jobs.chain(groups).collect()
}

pub(super) fn label(member: &Member) -> String {
    match &member.name {
        Some(name) => name.clone(),
        None => format!("{}. {}", member.number + 1, member.job_name),
    }
}

pub(super) fn status(member: &Member) -> String {
    match (member.state, member.canceled) {
        (JobState::Pending, _) if member.wait.is_some() => "PENDING (waits)".to_owned(),
        (JobState::Canceled, Some(cause)) => {
            let cause = serde_json::to_value(cause).ok();
            let cause = cause.as_ref().and_then(|cause| cause.as_str()).unwrap_or_default();
            format!("CANCELED ({cause})")
        }
        (state, _) => state.to_string(),
    }
}

fn waits_for(view: &GroupView, child: Vertex, names: &BTreeMap<Vertex, String>) -> String {
    let edges = view.edges.iter().filter(|edge| edge.child == child);
    let parents: Vec<_> = edges
        .filter_map(|edge| {
            let name = names.get(&edge.parent)?;
            Some(match &edge.when {
                EdgeTrigger::Success => name.clone(),
                EdgeTrigger::Otherwise => format!("{name} otherwise"),
                when => format!("{name} on {}", words(when)),
            })
        })
        .collect();
    if parents.is_empty() { String::new() } else { format!(" ← {}", parents.join(", ")) }
}

pub(super) fn words(when: &EdgeTrigger) -> String {
    match when {
        EdgeTrigger::Success => "success".to_owned(),
        EdgeTrigger::Failure => "failure".to_owned(),
        EdgeTrigger::Always => "end".to_owned(),
        EdgeTrigger::Condition(name) => format!("`{name}`"),
        EdgeTrigger::Otherwise => "otherwise".to_owned(),
        EdgeTrigger::Rate(rate) => format!("{} % success", f64::from(*rate) / 1e4),
        EdgeTrigger::Turn(_) => "in order".to_owned(),
    }
}

/// Renders a group in the DOT language: a cluster per group, and a box per job in the color of its state.
pub(super) fn dot(view: &GroupView) -> String {
    let mut out = String::from(
        "digraph ratchet {\n  rankdir=LR; compound=true; node [shape=box, style=filled, fontname=\"sans-serif\"];\n",
    );
    write_dot(&mut out, view, 1);
    write_edges(&mut out, view);
    out.push_str("}\n");
    out
}

fn write_dot(out: &mut String, view: &GroupView, depth: usize) {
    let indent = "  ".repeat(depth);
    let group = &view.group;
    let title = format!("{} {} ({})", group.kind, group.name, group.state);
    let _ = writeln!(
        out,
        "{indent}subgraph \"cluster_{}\" {{\n{indent}  label={};",
        group.id,
        quoted(&title)
    );
    // Edges of a whole group begin and end at an invisible point inside it.
    let _ = writeln!(out, "{indent}  \"{}\" [shape=point, style=invis];", group.id);
    for member in &view.members {
        write_node(out, member, &label(member), depth + 1);
    }
    for inner in &view.groups {
        write_dot(out, inner, depth + 1);
    }
    let _ = writeln!(out, "{indent}}}");
    for follower in &view.followers {
        write_node(out, follower, &follower.job_name, depth);
    }
}

fn write_node(out: &mut String, member: &Member, name: &str, depth: usize) {
    let indent = "  ".repeat(depth);
    let text = quoted(&format!("{name}\n{}", status(member)));
    let _ =
        writeln!(out, "{indent}\"{}\" [label={text}, fillcolor=\"{}\"];", member.id, color(member));
}

/// Returns the fill color of a job by its state.
pub(super) fn color(member: &Member) -> &'static str {
    match member.state {
        JobState::Pending if member.wait.is_some() => "#eeeeee",
        JobState::Pending => "#fff3b0",
        JobState::Running => "#a8d8ff",
        JobState::Succeeded => "#b7e4c7",
        JobState::Failed => "#ffb3b3",
        JobState::Paused => "#d7c4f0",
        JobState::Canceled => "#cccccc",
    }
}

fn write_edges(out: &mut String, view: &GroupView) {
    for edge in &view.edges {
        let _ = writeln!(out, "  {} -> {}{};", name(edge.parent), name(edge.child), style(edge));
    }
    view.groups.iter().for_each(|inner| write_edges(out, inner));
}

fn name(point: Vertex) -> String {
    format!("\"{point}\"")
}

fn style(edge: &Edge) -> String {
    let mut style = Vec::new();
    if edge.when != EdgeTrigger::Success {
        style.push(format!("label={}", quoted(&words(&edge.when))));
    }
    if let Vertex::Group(id) = edge.parent {
        style.push(format!("ltail=\"cluster_{id}\""));
    }
    if let Vertex::Group(id) = edge.child {
        style.push(format!("lhead=\"cluster_{id}\""));
    }
    if let Some(ratchet_store::model::Resolution::Dead { .. }) = edge.resolution {
        style.push("style=dashed".to_owned());
    }
    if style.is_empty() { String::new() } else { format!(" [{}]", style.join(", ")) }
}

/// Quotes and escapes a text. Names come from the user and may contain any character.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}
