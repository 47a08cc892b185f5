//! Checks the parts of the query language of Prometheus that the dashboards use: brackets, functions, metrics, labels,
//! and ranges of counters.

use std::collections::BTreeSet;

use ratchet::metrics::{Metric, MetricKind};

/// Functions, aggregations and keywords that the dashboards use.
const WORDS: &[&str] = &[
    "absent",
    "and",
    "by",
    "count",
    "delta",
    "deriv",
    "histogram_quantile",
    "increase",
    "max",
    "min",
    "offset",
    "or",
    "rate",
    "sum",
    "topk",
    "unless",
    "vector",
];

/// Labels that Prometheus adds.
const ADDED: &[&str] = &["instance", "job"];

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(String),
    Symbol(String),
}

fn tokens(query: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = query.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_alphabetic() || first == '_' {
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
        } else if first.is_ascii_digit() || first == '$' {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
            rest.find(|c: char| !is_part(c)).unwrap_or(rest.len())
        } else if first == '"' {
            2 + rest[1..].find('"').ok_or("a text does not end")?
        } else {
            let symbols = ["=~", "!~", "==", "!=", ">=", "<="];
            symbols
                .iter()
                .find(|symbol| rest.starts_with(**symbol))
                .map_or(first.len_utf8(), |it| it.len())
        };
        let (token, after) = rest.split_at(length);
        tokens.push(match first {
            '"' => Token::Text(token.trim_matches('"').to_owned()),
            _ if first.is_ascii_alphabetic() || first == '_' => Token::Word(token.to_owned()),
            _ if first.is_ascii_digit() || first == '$' => Token::Number(token.to_owned()),
            _ if "(){}[],+-*/<>=!".contains(first) => Token::Symbol(token.to_owned()),
            _ => return Err(format!("unexpected `{first}`")),
        });
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn check_brackets(tokens: &[Token]) -> Result<(), String> {
    let mut open = Vec::new();
    for token in tokens {
        let Token::Symbol(symbol) = token else { continue };
        match symbol.as_str() {
            "(" => open.push(")"),
            "{" => open.push("}"),
            "[" => open.push("]"),
            ")" | "}" | "]" if open.pop() != Some(symbol.as_str()) => {
                return Err(format!("`{symbol}` closes nothing"));
            }
            _ => {}
        }
    }
    open.pop().map_or(Ok(()), |missing| Err(format!("`{missing}` is missing")))
}

/// Returns the metric of a name in the text format, and the labels that its series have.
fn metric(name: &str) -> Option<(&'static Metric, Vec<&'static str>)> {
    for metric in Metric::all() {
        let (exposed, mut labels) = (metric.prometheus_name(), metric.labels.to_vec());
        labels.extend(ADDED);
        if metric.kind != MetricKind::Histogram {
            if exposed == name {
                return Some((metric, labels));
            }
            continue;
        }
        match name.strip_prefix(&exposed) {
            Some("_bucket") => {
                labels.push("le");
                return Some((metric, labels));
            }
            Some("_sum" | "_count") => return Some((metric, labels)),
            _ => {}
        }
    }
    None
}

fn is(token: Option<&Token>, symbol: &str) -> bool {
    matches!(token, Some(Token::Symbol(it)) if it == symbol)
}

/// Checks the matchers after a metric. Returns the position after them.
fn check_matchers(tokens: &[Token], mut at: usize, labels: &[&str]) -> Result<usize, String> {
    if !is(tokens.get(at), "{") {
        return Ok(at);
    }
    loop {
        let [Token::Word(label), Token::Symbol(operator), Token::Text(_), Token::Symbol(end)] =
            tokens.get(at + 1..at + 5).ok_or("a matcher is incomplete")?
        else {
            return Err("a matcher is malformed".to_owned());
        };
        if !matches!(operator.as_str(), "=" | "!=" | "=~" | "!~") {
            return Err(format!("`{operator}` does not compare labels"));
        }
        if !labels.contains(&label.as_str()) {
            return Err(format!("the metric has no label `{label}`"));
        }
        at += 4;
        match end.as_str() {
            "," => {}
            "}" => return Ok(at + 1),
            _ => return Err(format!("unexpected `{end}`")),
        }
    }
}

/// Returns what is wrong with a query.
pub(crate) fn check(query: &str) -> Result<(), String> {
    let tokens = tokens(query)?;
    check_brackets(&tokens)?;
    let (mut known, mut grouped, mut at) = (BTreeSet::new(), Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        at += 1;
        let Token::Word(word) = token else { continue };
        if word == "by" {
            if !is(tokens.get(at), "(") {
                return Err("`by` needs a list of labels".to_owned());
            }
            at += 1;
            while let Some(Token::Word(label)) = tokens.get(at) {
                grouped.push(label.clone());
                at += 1 + usize::from(is(tokens.get(at + 1), ","));
            }
            if !is(tokens.get(at), ")") {
                return Err("`by` needs a list of labels".to_owned());
            }
        } else if word.starts_with("ratchet_") {
            let (metric, labels) = metric(word).ok_or(format!("there is no metric `{word}`"))?;
            at = check_matchers(&tokens, at, &labels)?;
            let needs_range = metric.kind != MetricKind::Gauge;
            if needs_range && !is(tokens.get(at), "[") {
                return Err(format!("`{word}` grows and needs a range"));
            }
            known.extend(labels);
        } else if !WORDS.contains(&word.as_str()) {
            return Err(format!("`{word}` is not known"));
        }
    }
    if known.is_empty() {
        return Err("there is no metric".to_owned());
    }
    match grouped.iter().find(|label| !known.contains(label.as_str())) {
        Some(label) => Err(format!("no metric of the query has the label `{label}`")),
        None => Ok(()),
    }
}

#[test]
fn m_06_wrong_queries_are_found() {
    for (query, problem) in [
        ("sum(ratchet_queue_depth", "`)` is missing"),
        ("sum(ratchet_queue_depth))", "closes nothing"),
        ("sum(ratchet_queue_depth]", "closes nothing"),
        ("ratchet_queue_depht", "there is no metric"),
        ("ratchet_job_started", "there is no metric"),
        ("ratchet_job_run_duration_seconds[5m]", "there is no metric"),
        ("ratchet_job_started_total", "needs a range"),
        ("rate(ratchet_job_started_total{job_nam=\"a\"}[5m])", "no label `job_nam`"),
        ("ratchet_queue_depth{queue==\"a\"}", "does not compare"),
        ("ratchet_queue_depth{queue=a}", "malformed"),
        ("ratchet_queue_depth{queue=\"a}", "does not end"),
        ("max by (service) (ratchet_queue_depth)", "no metric of the query"),
        ("maximum(ratchet_queue_depth)", "`maximum` is not known"),
        ("vector(0)", "there is no metric"),
        ("ratchet_queue_depth ; 1", "unexpected `;`"),
    ] {
        let found = check(query).expect_err(query);
        assert!(found.contains(problem), "{query}: {found}");
    }
    let right = "histogram_quantile(0.9, sum by (le) (rate(ratchet_job_wait_duration_seconds_bucket{queue=~\"a|b\",instance!=\"c\"}[$__rate_interval]))) > 60";
    assert_eq!(check(right), Ok(()));
}
