//! The lock file: what it refuses, what it accepts, and when it is written.

use std::fs;
use std::path::PathBuf;

use ratchet::contract::{Contract, LockFailure, LockMode, LockReport, check_lock, describe};
use ratchet::definition::Registration;
use ratchet::prelude::*;

mod old {
    use super::*;

    #[job(name = "shop.mail", queue = "mail")]
    pub(crate) async fn mail(to: String, cc: Option<String>) {
        let _ = (to, cc);
    }
}

/// The argument has another name.
mod renamed {
    use super::*;

    #[job(name = "shop.mail", queue = "mail")]
    pub(crate) async fn mail(recipient: String, cc: Option<String>) {
        let _ = (recipient, cc);
    }
}

/// A new argument that older rows may lack.
mod extended {
    use super::*;

    #[job(name = "shop.mail", queue = "mail")]
    pub(crate) async fn mail(to: String, cc: Option<String>, #[job(default)] copies: u32) {
        let _ = (to, cc, copies);
    }
}

/// The shape is the same, and the type refuses what it accepted before.
mod stricter {
    use super::*;

    pub(super) mod only_b {
        use serde::{Deserialize, Deserializer, Serializer, de::Error};

        pub(crate) fn serialize<S: Serializer>(text: &str, to: S) -> Result<S::Ok, S::Error> {
            to.serialize_str(text)
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
            let text = String::deserialize(from)?;
            if text == "a" { Ok(text) } else { Err(D::Error::custom("must be `a`")) }
        }
    }

    #[job(name = "shop.mail", queue = "mail")]
    pub(crate) async fn mail(#[serde(with = "only_b")] to: String, cc: Option<String>) {
        let _ = (to, cc);
    }
}

struct Lock {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Lock {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ratchet.lock");
        Self { _folder: folder, path }
    }

    fn of(job: &Registration) -> Self {
        let lock = Self::new();
        assert!(lock.check(job, LockMode::Update).expect("writes").written);
        lock
    }

    fn check(&self, job: &Registration, mode: LockMode) -> Result<LockReport, LockFailure> {
        check_lock(&self.path, &[*job], mode)
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.path).expect("reads")
    }
}

#[test]
fn u_03_a_missing_file_says_how_to_write_it() {
    let failure = Lock::new().check(&old::Mail::JOB, LockMode::Compatible).expect_err("no file");
    assert!(failure.to_string().contains("RATCHET_LOCK=update cargo test"), "{failure}");
    let failure = check_lock(&Lock::new().path, &[], LockMode::Update).expect_err("no jobs");
    assert!(failure.to_string().contains("lock_test!(my_app)"), "{failure}");
}

#[test]
fn u_03_what_has_not_changed_passes_in_every_mode() {
    let lock = Lock::of(&old::Mail::JOB);
    let text = lock.text();
    for mode in [LockMode::Compatible, LockMode::Check, LockMode::Update, LockMode::Accept] {
        let report = lock.check(&old::Mail::JOB, mode).expect("passes");
        assert!(!report.written && !report.outdated, "{mode:?}: {report:?}");
    }
    assert_eq!(lock.text(), text);
    assert_eq!(text.parse::<Contract>().expect("reads").to_string(), text, "the text is read back");
}

#[test]
fn u_03_a_renamed_argument_is_refused_with_the_smallest_difference_and_the_remedy() {
    let lock = Lock::of(&old::Mail::JOB);
    let text = lock.text();
    for mode in [LockMode::Compatible, LockMode::Check, LockMode::Update] {
        let failure = lock.check(&renamed::Mail::JOB, mode).expect_err("strands");
        assert_eq!(lock.text(), text, "{mode:?} writes nothing");
        let expected = "\
1 change of the code would strand queued jobs:

job `shop.mail`
  - arg to: string
  + arg recipient: string
  queued jobs do not have it, and would fail as `invalid`
  remedy: if `to` was renamed, write `#[job(alias = \"to\")]` on `recipient`

`RATCHET_LOCK=accept cargo test` accepts this, if no such job is queued anywhere";
        assert_eq!(failure.to_string(), expected);
    }
    assert!(lock.check(&renamed::Mail::JOB, LockMode::Accept).expect("is accepted").written);
    lock.check(&renamed::Mail::JOB, LockMode::Check).expect("is the present code");
}

#[test]
fn u_03_a_compatible_change_passes_and_offers_the_update() {
    let lock = Lock::of(&old::Mail::JOB);
    let golden = lock.text();
    let golden = golden.lines().find(|line| line.contains("payload 1")).expect("an example");
    let report = lock.check(&extended::Mail::JOB, LockMode::Compatible).expect("passes");
    assert!(report.outdated && !report.written, "{report:?}");
    let failure = lock.check(&extended::Mail::JOB, LockMode::Check).expect_err("out of date");
    assert!(matches!(failure, LockFailure::Outdated(_)), "{failure}");
    assert!(lock.check(&extended::Mail::JOB, LockMode::Update).expect("updates").written);
    assert!(lock.text().contains("  arg copies?: u32\n    default 0\n"), "{}", lock.text());
    assert!(lock.text().contains(golden), "what is queued stays an example: {}", lock.text());
    lock.check(&extended::Mail::JOB, LockMode::Check).expect("is the present code");
}

#[test]
fn u_03_the_examples_are_decoded_by_the_present_code() {
    let lock = Lock::of(&old::Mail::JOB);
    let failure = lock.check(&stricter::Mail::JOB, LockMode::Compatible).expect_err("strands");
    let text = failure.to_string();
    assert!(text.contains(r#"- payload 1 {"cc":"","to":""}"#), "{text}");
    assert!(text.contains("must be `a`"), "{text}");
}

#[test]
fn u_03_a_broken_file_names_its_line() {
    let lock = Lock::of(&old::Mail::JOB);
    let broken = lock.text().replace("arg to: string", "arg to: strin");
    fs::write(&lock.path, &broken).expect("writes");
    let failure = lock.check(&old::Mail::JOB, LockMode::Compatible).expect_err("is broken");
    let line = 1 + broken.lines().position(|line| line.ends_with("strin")).expect("a line");
    assert!(failure.to_string().contains(&format!("line {line} of the lock file")), "{failure}");
    assert!(failure.to_string().contains("expected a shape in `to: strin`"), "{failure}");
    lock.check(&old::Mail::JOB, LockMode::Accept).expect("writes it again");
    lock.check(&old::Mail::JOB, LockMode::Check).expect("is the present code");
}

#[test]
fn u_03_the_description_of_all_jobs_has_no_warnings() {
    let described = describe([old::Mail::JOB]);
    assert!(described.warnings.is_empty(), "{:?}", described.warnings);
}
