//! `ratchet status`

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ratchet_core::{JobState, Overview, Severity};

use super::{Session, queues};
use crate::exit::Failure;
use crate::output::Format;
use crate::output::text::{count, counted, printable};

/// How many findings are shown; `doctor` shows all.
const SHOWN: usize = 8;

pub(super) async fn run(session: &Session) -> Result<(), Failure> {
    let overview = session.ratchet.overview().await?;
    let out = &session.out;
    match out.format {
        Format::Table => {}
        Format::Csv => return out.list(&overview.queues, &queues::columns(), ""),
        _ => return out.object(&overview, ""),
    }
    out.print(&format!("{}\n", head(session, &overview)))?;
    out.list(&overview.queues, &queues::columns(), "there is no queue yet")?;
    let findings = session.ratchet.diagnose().await?;
    if findings.is_empty() {
        return Ok(());
    }
    let mut text = "\n".to_owned();
    for finding in findings.iter().take(SHOWN) {
        let mark = match finding.severity {
            Severity::Error => out.error("!"),
            Severity::Warning => out.warning("?"),
        };
        let _ = writeln!(text, "{mark} {} {}", finding.id, printable(&finding.problem));
    }
    if findings.len() > SHOWN {
        let more = counted((findings.len() - SHOWN) as u64, "finding");
        let _ = writeln!(text, "  and {more}");
    }
    out.print(&format!("{text}  what to do: ratchet doctor\n"))
}

fn head(session: &Session, overview: &Overview) -> String {
    let live = overview.live_nodes().count() as u64;
    let versions: BTreeSet<_> =
        overview.live_nodes().map(|node| &node.info.binary_version).collect();
    let versions = match versions.len() {
        0 | 1 => String::new(),
        several => format!(", {several} versions"),
    };
    format!(
        "store     {}   {}{versions}\nwaiting   {}   running {}   failed {}   paused {}\n",
        session.selected.target,
        counted(live, "worker"),
        count(overview.count(JobState::Pending)),
        count(overview.count(JobState::Running)),
        count(overview.count(JobState::Failed)),
        count(overview.count(JobState::Paused)),
    )
}
