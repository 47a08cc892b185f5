//! `ratchet doctor` and `ratchet health`

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ratchet_core::{CHECKS, Check, Finding, Severity};

use super::{Session, stored_review};
use crate::args::Doctor;
use crate::exit::{ExitStatus, Failure};
use crate::output::text::{counted, printable};
use crate::output::{Format, column};

/// Prints every finding with its remedy. Fails if there is one. With a lock file, only the stored jobs are compared with it.
pub(super) async fn run(session: &Session, args: &Doctor) -> Result<(), Failure> {
    if args.lock.is_some() {
        return stored_review::run(session, args).await;
    }
    let findings = session.ratchet.diagnose_thoroughly().await?;
    let out = &session.out;
    if out.format == Format::Table {
        out.print(&report(session, &session.ratchet.checks().await?, &findings))?;
    } else {
        let columns = [
            column("id", |finding: &Finding, _: &_| finding.id.to_owned()),
            column("severity", |finding, _| format!("{:?}", finding.severity).to_lowercase()),
            column("problem", |finding, _| finding.problem.clone()),
            column("remedy", |finding, _| finding.remedy.clone()),
        ];
        out.list(&findings, &columns, "")?;
    }
    if findings.is_empty() { Ok(()) } else { Err(Failure::new(ExitStatus::Refused, "")) }
}

fn report(session: &Session, checks: &[Check], findings: &[Finding]) -> String {
    let out = &session.out;
    let mut text = String::new();
    let found: BTreeSet<_> = findings.iter().map(|finding| finding.id).collect();
    for check in checks.iter().filter(|check| !found.contains(check.id)) {
        let _ = writeln!(text, "ok       {}  {}", check.id, check.healthy);
    }
    for finding in findings {
        let severity = match finding.severity {
            Severity::Error => out.error("error  "),
            Severity::Warning => out.warning("warning"),
        };
        let _ = writeln!(text, "{severity}  {}  {}", finding.id, printable(&finding.problem));
        let meaning =
            CHECKS.iter().find(|check| check.id == finding.id).map_or("", |check| check.meaning);
        let _ = writeln!(
            text,
            "                 {meaning}\n                 {}",
            printable(&finding.remedy)
        );
    }
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let warnings = findings.len() - errors;
    let _ = match findings.len() {
        0 => writeln!(text, "no findings"),
        _ => writeln!(
            text,
            "{}, {}",
            counted(errors as u64, "error"),
            counted(warnings as u64, "warning")
        ),
    };
    text
}

/// Fails if the store cannot be read, or if a live worker is required and there is none.
pub(super) async fn health(session: &Session, worker: bool) -> Result<(), Failure> {
    let nodes = session.ratchet.nodes().list().await?;
    let live = nodes.iter().filter(|node| node.alive).count();
    if worker && live == 0 {
        return Err(Failure::refused("no worker is alive"));
    }
    let report = serde_json::json!({ "store": "ok", "live_workers": live });
    session.out.object(&report, &format!("the store can be read; live workers: {live}"))
}
