//! `ratchet doctor --lock FILE`: what a new version of a program could not read.

use std::fmt::Write as _;

use ratchet_core::{StoredReview, Stranded, StrandedReason};

use super::{Session, lock_file};
use crate::args::Doctor;
use crate::exit::{ExitStatus, Failure};
use crate::output::text::{count, counted, printable};
use crate::output::{Format, column, number};

/// Prints the stored jobs that a program with this lock file could not read. Fails if there is one.
pub(super) async fn run(session: &Session, args: &Doctor) -> Result<(), Failure> {
    let Some(path) = &args.lock else { return Ok(()) };
    let contract = lock_file::read(path)?;
    let review = session.ratchet.review_stored(&contract, args.program.as_deref()).await?;
    let out = &session.out;
    match out.format {
        Format::Table => out.print(&report(session, &review))?,
        Format::Csv => out.list(
            &review.stranded,
            &[
                column("job", |found: &Stranded, _: &_| found.job.clone()),
                column("kind", |found, _| found.kind.name().to_owned()),
                number("count", |found, _| found.count.to_string()),
                column("problem", |found, _| found.problem.clone()),
                column("example", |found, _| found.example.clone()),
            ],
            "",
        )?,
        Format::Json | Format::NdJson => out.object(&review, "")?,
    }
    if review.stranded.is_empty() { Ok(()) } else { Err(Failure::new(ExitStatus::Refused, "")) }
}

fn report(session: &Session, review: &StoredReview) -> String {
    let out = &session.out;
    let mut text = String::new();
    for found in &review.stranded {
        let (job, problem) = (printable(&found.job), printable(&found.problem));
        let (kind, number) = (found.kind.name(), count(found.count));
        let _ = writeln!(text, "{}  {job}  {number} {kind}: {problem}", out.error("error  "));
        let (example, remedy) = (printable(&found.example), remedy(found));
        let _ = writeln!(text, "         such as {example}; {remedy}");
    }
    for (job, number) in &review.not_checked {
        let (job, number) = (printable(job), count(*number));
        let _ = writeln!(
            text,
            "{}  {job}  {number} not checked: encrypted, and the key is not in the keyring",
            out.warning("warning")
        );
    }
    if review.of_other_programs > 0 {
        let number = count(review.of_other_programs);
        let _ = writeln!(text, "{number} of other programs");
    }
    let _ = writeln!(
        text,
        "{} checked, {} could not be read",
        counted(review.checked, "stored job"),
        count(review.total())
    );
    text
}

fn remedy(found: &Stranded) -> String {
    let job = printable(&found.job);
    match found.reason {
        StrandedReason::UnknownName => format!(
            "write `alias = \"{job}\"` on its new function, or keep the function until no such job is left"
        ),
        StrandedReason::TooNew => "deploy a version that has the newer arguments".to_owned(),
        StrandedReason::TooOld => {
            "add an `upgrade` function for that version, and lower `oldest`".to_owned()
        }
        _ => "read the old form too, or raise `version` and write an `upgrade` function".to_owned(),
    }
}
