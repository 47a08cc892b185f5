//! The files in `dashboards` use only metrics, labels, settings and paths that exist.

mod promql;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use promql::check;
use ratchet::metrics::Metric;
use ratchet::runtime::Config;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../dashboards")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = folder().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let nested = entries.flat_map(|entry| {
        if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] }
    });
    nested.collect()
}

/// Returns the values of a key in a YAML file: on the same line, or a block on the following lines.
fn yaml_values(text: &str, key: &str) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<_> = text.lines().collect();
    let mut values = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(value) = line.trim_start().strip_prefix(&format!("{key}: ")) else { continue };
        if value.trim() == "|" {
            let block = lines[number + 1..].iter().take_while(|next| indent(next) > indent(line));
            values.push(block.map(|line| line.trim()).collect::<Vec<_>>().join(" "));
        } else {
            values.push(value.trim().to_owned());
        }
    }
    values
}

/// Returns all expressions and variables in a Grafana dashboard.
fn grafana_queries(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(text) if key == "expr" => found.push(text.to_owned()),
                    Some(text) if key == "definition" => {
                        // A variable: `label_values(metric, label)`.
                        let inner = text.strip_prefix("label_values(").expect("a variable");
                        let (metric, label) =
                            inner.trim_end_matches(')').split_once(", ").expect("a metric");
                        // Counters need a range.
                        let range = if metric.ends_with("_total") { "[5m]" } else { "" };
                        found.push(format!("sum by ({label}) (rate({metric}{range}))"));
                    }
                    _ => grafana_queries(value, found),
                }
            }
        }
        serde_json::Value::Array(values) => {
            values.iter().for_each(|value| grafana_queries(value, found));
        }
        _ => {}
    }
}

/// Returns every query in the folder, with the file it is from.
fn queries() -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    grafana_queries(
        &serde_json::from_str(&read("grafana/ratchet.json")).expect("JSON"),
        &mut found,
    );
    let mut queries: Vec<_> =
        found.into_iter().map(|query| ("grafana/ratchet.json", query)).collect();
    for (file, key) in [("prometheus/alerts.yml", "expr"), ("keda/scaled-object.yaml", "query")] {
        queries.extend(yaml_values(&read(file), key).into_iter().map(|query| (file, query)));
    }
    queries
}

#[test]
fn m_06_queries_use_only_metrics_and_labels_that_exist() {
    let queries = queries();
    assert!(queries.len() > 60, "the files are read: {}", queries.len());
    let mut problems = Vec::new();
    for (file, query) in &queries {
        if let Err(problem) = check(query) {
            problems.push(format!("{file}: {problem} in `{query}`"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Metrics that neither the dashboard nor an alert shows, because others show the same.
const NOT_SHOWN: &[&str] = &[
    "ratchet.job.soft_timeouts",
    "ratchet.job.attempts",
    "ratchet.job.canceled",
    "ratchet.job.unsigned",
    "ratchet.queue.paused",
    "ratchet.queue.full_keys",
    "ratchet.breaker.transitions",
    "ratchet.node.vanished",
    "ratchet.node.unreadable_jobs",
    "ratchet.handoff.sent",
    "ratchet.handoff.backlog",
    "ratchet.handoff.finished",
    "ratchet.handoff.repeats",
    "ratchet.handoff.latency",
    "ratchet.handoff.admitted",
    "ratchet.handoff.refusals",
    "ratchet.panics",
    "ratchet.events.lagged",
];

#[test]
fn m_06_every_metric_is_shown_or_listed_as_not_shown() {
    let all: String = queries().into_iter().map(|(_, query)| query + "\n").collect();
    let words: BTreeSet<_> =
        all.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    for metric in Metric::all() {
        let name = metric.prometheus_name();
        let is_shown = ["", "_bucket", "_sum", "_count"]
            .iter()
            .any(|part| words.contains(&*format!("{name}{part}")));
        let is_listed = NOT_SHOWN.contains(&metric.name);
        assert!(is_shown != is_listed, "{}: shown {is_shown}, listed {is_listed}", metric.name);
    }
}

#[test]
fn m_06_other_names_of_metrics_in_the_files_exist() {
    let names: BTreeSet<_> = Metric::all().iter().map(|metric| metric.prometheus_name()).collect();
    for file in files(&folder()) {
        let text = std::fs::read_to_string(&file).expect("text");
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        for word in words.filter(|word| word.starts_with("ratchet_")) {
            let is_known = names.contains(word)
                || ["_bucket", "_sum", "_count"]
                    .iter()
                    .any(|part| word.strip_suffix(part).is_some_and(|name| names.contains(name)));
            assert!(is_known, "{}: {word}", file.display());
        }
    }
}

#[test]
fn m_06_every_alert_has_a_section_in_the_runbook() {
    let alerts = read("prometheus/alerts.yml");
    let runbook = read("../docs/site/operations/runbook/alerts.md");
    let names: Vec<_> =
        alerts.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(names.len() > 15, "the file is read");
    let links = yaml_values(&alerts, "runbook_url");
    assert_eq!(names.len(), links.len());
    for (name, link) in names.iter().zip(links) {
        let anchor = link.split_once("runbook/alerts.md#").expect("a link").1;
        assert_eq!(anchor, name.to_lowercase());
        assert!(runbook.contains(&format!("\n### {name}\n")), "{name} has no section");
    }
    let sections: Vec<_> = runbook.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert_eq!(sections, names, "in the order of the alerts");
}

#[test]
fn m_06_variables_and_paths_in_the_files_exist() {
    let settings: BTreeSet<_> = Config::settings().iter().map(|setting| setting.env).collect();
    let mut probes = 0;
    for file in files(&folder()) {
        let text = std::fs::read_to_string(&file).expect("text");
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        for word in words.filter(|word| word.starts_with("RATCHET_")) {
            // The store is a variable of the command line and not a setting of the library.
            let is_known = matches!(word, "RATCHET_" | "RATCHET_STORE") || settings.contains(word);
            assert!(is_known, "{}: {word}", file.display());
        }
        for probe in yaml_values(&text, "httpGet") {
            probes += 1;
            let path = probe.split("path: ").nth(1).and_then(|rest| rest.split(',').next());
            assert!(matches!(path, Some("/health/live" | "/health/ready")), "{probe}");
        }
    }
    assert_eq!(probes, 3, "startup, liveness and readiness");
}
