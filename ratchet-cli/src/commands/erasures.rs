//! `ratchet erasures …` and `ratchet ledger …`

use std::fmt::Write as _;

use jiff::Timestamp;
use ratchet_core::{ErasurePreview, ErasureSubject, KeyKind};

use super::{Session, operations, read};
use crate::args::{Erasures, Ledger, Subject};
use crate::exit::Failure;
use crate::output::text::{count, counted, duration, printable_lines};

pub(super) async fn run(session: &Session, command: Erasures) -> Result<(), Failure> {
    let mut erasures = session.ratchet.erasures();
    match command {
        Erasures::Preview(of) => {
            let preview = erasures.preview(&subject(of)?).await?;
            session.out.object(&preview, &described(&preview))
        }
        Erasures::Start { subject: of, pace, cutoff, digest } => {
            if let Some(pace) = pace {
                erasures = erasures.pace(operations::pace(&pace)?);
            }
            let subject = subject(of)?;
            let preview = match cutoff.zip(digest) {
                None => erasures.preview(&subject).await?,
                Some((cutoff, digest)) => {
                    let cutoff: Timestamp = cutoff.parse().map_err(|_| {
                        Failure::usage("`--cutoff` must be an instant that `preview` printed")
                    })?;
                    let mut preview = erasures.preview_at(&subject, cutoff).await?;
                    preview.digest = digest;
                    preview
                }
            };
            eprintln!("{}", described(&preview));
            if !session.proceed(&format!("delete everything of `{subject}`"), true)? {
                return Ok(());
            }
            let started = erasures.start(preview).await?;
            let id = started.id;
            session.out.object(
                &started,
                &format!("operation {id} started\nwatch it: ratchet operations watch {id}"),
            )
        }
    }
}

fn subject(of: Subject) -> Result<ErasureSubject, Failure> {
    match (of.tenant, of.correlation) {
        (Some(tenant), None) => Ok(ErasureSubject::Tenant(tenant)),
        (None, Some(id)) => Ok(ErasureSubject::Correlation(id)),
        _ => Err(Failure::usage("write either `--tenant` or `--correlation`")),
    }
}

fn described(preview: &ErasurePreview) -> String {
    let more = if preview.exact { "" } else { "+" };
    let mut text = format!("everything of `{}` would be deleted:", preview.subject);
    for (rows, one, several) in [
        (preview.jobs, "job", "jobs"),
        (preview.archived, "archived job", "archived jobs"),
        (preview.groups, "chain, batch or workflow", "chains, batches and workflows"),
        (preview.keys, "idempotency key", "idempotency keys"),
        (preview.hand_offs, "hand-off", "hand-offs"),
        (preview.deliveries, "waiting message", "waiting messages"),
    ] {
        let noun = if rows == 1 { one } else { several };
        let _ = write!(text, "\n  {:>8}{more} {noun}", count(rows));
    }
    for (state, jobs) in &preview.by_state {
        let _ = write!(text, "\n  {} {}", counted(*jobs, "job"), state.name().to_lowercase());
    }
    for name in preview.schedules.iter().take(10) {
        let _ = write!(text, "\n  schedule {name} would be removed");
    }
    let _ = write!(text, "\ncut-off {}\ndigest  {}", preview.cutoff, preview.digest);
    printable_lines(&text)
}

pub(super) async fn ledger(session: &Session, command: Ledger) -> Result<(), Failure> {
    let Ledger::Purge { prefix, tenant, erased, older_than } = command;
    let age = read::duration(&older_than)?;
    let mut what = "idempotency keys".to_owned();
    let kind = if erased {
        what.insert_str(0, "digests of erased ");
        KeyKind::Erased
    } else {
        match &tenant {
            Some(tenant) => what = format!("{what} of tenant `{tenant}`"),
            None => what.push_str(" without a tenant"),
        }
        if let Some(prefix) = &prefix {
            what = format!("{what} that begin with `{prefix}`");
        }
        KeyKind::Clear { tenant, prefix: prefix.unwrap_or_default() }
    };
    let change = format!("delete {what} that were used at least {} ago", duration(age));
    if !session.proceed(&change, true)? {
        return Ok(());
    }
    let deleted = session.ratchet.ledger().purge(kind, age).await?;
    let text = format!("{} deleted", counted(deleted, "idempotency key"));
    session.out.object(&serde_json::json!({ "deleted": deleted }), &text)
}
