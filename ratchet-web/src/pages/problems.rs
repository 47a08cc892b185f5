//! What is wrong now: the findings of the doctor, with a link to the page that shows more.

use maud::{Markup, html};
use ratchet_core::{Finding, Severity};

use crate::request::Request;
use crate::views::prose;

/// Returns the page that shows more about a finding.
fn page_of(id: &str) -> &'static str {
    match id.split('-').next().unwrap_or_default() {
        "BRK" => "breakers",
        "FLW" => "flows",
        "JOB" => match id {
            "JOB-02" => "unreadable",
            "JOB-03" => "failures",
            _ => "jobs",
        },
        "NOD" | "CLK" => "nodes",
        "QUE" => "queues",
        "SCH" => "schedules",
        _ => "doctor",
    }
}

/// Returns findings as a list, the serious ones first.
pub(super) fn list(request: &Request, findings: &[Finding]) -> Markup {
    let mut findings: Vec<_> = findings.iter().collect();
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.id));
    html! {
        ul.problems { @for finding in findings {
            li {
                @match finding.severity {
                    Severity::Error => span.sev.bad title="error" { "!" span.hidden { " Error: " } },
                    Severity::Warning => span.sev.warn title="warning" { "?" span.hidden { " Warning: " } },
                }
                div { p.problem { (prose(&finding.problem, request.now)) } p.remedy { (prose(&finding.remedy, request.now)) } }
                a.btn href=(request.root.to(page_of(finding.id))) { "Show" span.hidden { " " (finding.id) } }
            }
        } }
    }
}
