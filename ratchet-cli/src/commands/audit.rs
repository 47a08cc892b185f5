//! `ratchet audit …`

use ratchet_core::{AuditError, AuditReport};
use ratchet_store::model::{AuditFilter, AuditHash, AuditHead, AuditRecord};

use super::Session;
use crate::args::Audit;
use crate::exit::Failure;
use crate::output::text::{count, counted};
use crate::output::{column, number};

pub(super) async fn run(session: &Session, command: Audit) -> Result<(), Failure> {
    match command {
        Audit::List { actor, verb, target, limit, before } => {
            let filter = AuditFilter { actor, verb, target };
            let entries = session.ratchet.audit().list(&filter, before, limit).await?;
            let columns = [
                number("entry", |entry: &AuditRecord, _: &_| entry.number.to_string()),
                column("at", |entry, out| out.time(entry.at)),
                column("who", |entry, _| entry.actor.to_string()),
                column("what", |entry, _| entry.verb.clone()),
                column("target", |entry, _| entry.target.clone()),
                column("reason", |entry, out| {
                    out.short(entry.actor.reason.as_deref().unwrap_or_default(), 60)
                }),
                column("before", |entry, out| state(entry.before.as_deref(), out)),
                column("after", |entry, out| state(entry.after.as_deref(), out)),
            ];
            session.out.list(&entries, &columns, "no change matches")
        }
        Audit::Verify { since } => verify(session, since.as_deref()).await,
    }
}

/// Returns the state in a view of a target, which is the most telling field of it, or the beginning of the view.
fn state(view: Option<&str>, out: &crate::output::Output) -> String {
    let Some(view) = view else { return out.none() };
    let value: serde_json::Value = serde_json::from_str(view).unwrap_or_default();
    match (&value["state"], &value["paused"]) {
        (serde_json::Value::String(state), _) => state.to_lowercase(),
        (_, serde_json::Value::Bool(true)) => "paused".to_owned(),
        _ => match value["retried"].as_array() {
            Some(jobs) => format!("{} retried", counted(jobs.len() as u64, "job")),
            None => out.short(view, 40),
        },
    }
}

async fn verify(session: &Session, since: Option<&str>) -> Result<(), Failure> {
    let saved = since.map(read_head).transpose()?.unwrap_or_default();
    match session.ratchet.audit().verify_since(saved).await {
        Ok(report) => {
            let AuditHead { number, hash } = report.head;
            let noun = if number == 1 { "entry" } else { "entries" };
            let mut text = format!("{} {noun} verified\nend {number}:{hash}", count(number));
            for line in signatures(&report) {
                text.push('\n');
                text.push_str(&line);
            }
            session.out.object(&report, &text)
        }
        Err(AuditError::Store(error)) => Err(error.into()),
        Err(error) => Err(Failure::refused(error.to_string())),
    }
}

/// Returns what a verification found out about signatures. Empty if no entry is signed.
fn signatures(report: &AuditReport) -> Vec<String> {
    let mut lines = Vec::new();
    if report.signed > 0 {
        lines.push(format!("{} signed", count(report.signed)));
    }
    if report.unchecked > 0 {
        let unchecked = count(report.unchecked);
        lines.push(format!(
            "{unchecked} signatures were not checked: the key is not in the keyring"
        ));
    }
    if let Some(first) = report.first_unsigned {
        let unsigned = count(report.unsigned);
        lines.push(format!(
            "{unsigned} without a signature after a signed one, the first is entry {first}"
        ));
    }
    lines
}

/// Reads the end of a trail as `verify` prints it.
fn read_head(text: &str) -> Result<AuditHead, Failure> {
    let wrong =
        || Failure::usage("`--since` must be an end as `audit verify` prints it: `12:9f3c…`");
    let (number, hash) = text.split_once(':').ok_or_else(wrong)?;
    let number = number.parse().map_err(|_| wrong())?;
    if hash.len() != 64 || !hash.is_ascii() {
        return Err(wrong());
    }
    let mut bytes = [0; 32];
    for (byte, at) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&hash[at..at + 2], 16).map_err(|_| wrong())?;
    }
    Ok(AuditHead { number, hash: AuditHash(bytes) })
}
