//! `ratchet keys usage` and `ratchet keys reencrypt`: what keys protect in the store.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use ratchet_core::{KeyUsage, Reencrypt, ReencryptError, Reencrypted};
use serde::Serialize;

use super::{Session, read};
use crate::args::{Keys, KeysAction};
use crate::exit::{ExitStatus, Failure};
use crate::output::text::{count, counted};
use crate::output::{Format, column, number};

/// The most rows that are read for a preview.
const MOST: u64 = 1_000_000;

pub(super) async fn run(session: &Session, command: &Keys) -> Result<(), Failure> {
    if command.file.is_some() {
        return Err(Failure::usage(
            "this command uses the keyring of the program and not `--file`; set `RATCHET_KEYS_FILE`",
        ));
    }
    match &command.action {
        KeysAction::Usage { most } => usage(session, *most).await,
        KeysAction::Reencrypt { .. } if session.dry_run => usage(session, MOST).await,
        KeysAction::Reencrypt { page, pause, plain } => {
            let mut options = Reencrypt::default().page(*page).pause(read::duration(pause)?);
            if *plain {
                options = options.encrypt_plain();
            }
            reencrypt(session, options).await
        }
        _ => Ok(()),
    }
}

/// One line of the usage.
#[derive(Serialize)]
struct Line {
    key: String,
    values: u64,
}

async fn usage(session: &Session, most: u64) -> Result<(), Failure> {
    let usage = session.ratchet.key_usage(most).await?;
    let out = &session.out;
    if matches!(out.format, Format::Json | Format::NdJson) {
        return out.object(&usage, "");
    }
    let KeyUsage { keys, read, complete, unreadable, .. } = &usage;
    let line = |(key, values): (&ratchet_core::KeyId, &u64)| Line {
        key: key.to_string(),
        values: *values,
    };
    let lines: Vec<_> = keys.iter().map(line).collect();
    let columns = [
        column("key", |line: &Line, _: &_| line.key.clone()),
        number("values", |line, _| count(line.values)),
    ];
    out.list(&lines, &columns, "no key protects anything")?;
    if *unreadable > 0 {
        eprintln!(
            "{} cannot be read, so a key that is not listed may still be needed",
            counted(*unreadable, "row")
        );
    } else if !complete {
        eprintln!("only the first {} were read; add `--most`", counted(*read, "row"));
    }
    Ok(())
}

async fn reencrypt(session: &Session, options: Reencrypt) -> Result<(), Failure> {
    let live = io::stderr().is_terminal();
    let progress = |done: &Reencrypted| {
        let (read, written) = (counted(done.read, "row"), count(done.rewritten));
        if live {
            // The progress is only shown, so an error is ignored.
            let _ = write!(io::stderr(), "\r{read} read, {written} written");
        } else {
            eprintln!("{read} read, {written} written");
        }
    };
    let done = session.ratchet.reencrypt(options, progress).await;
    if live {
        eprintln!();
    }
    let done = done.map_err(refused)?;
    let mut text = format!(
        "{} read, {} written with active keys",
        counted(done.read, "row"),
        count(done.rewritten)
    );
    if done.changed > 0 {
        let changed = counted(done.changed, "row");
        let _ = write!(text, "\n{changed} changed meanwhile; run the command again");
    }
    for (why, values) in &done.refused {
        let _ = write!(text, "\n{} not written: {why}", counted(*values, "value"));
    }
    session.out.object(&done, &text)?;
    match done.refused.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(ExitStatus::Refused, "")),
    }
}

#[allow(clippy::needless_pass_by_value)] // an argument of `map_err`
fn refused(error: ReencryptError) -> Failure {
    match error {
        ReencryptError::Store(error) => error.into(),
        error => Failure::new(ExitStatus::Refused, error.to_string()),
    }
}
