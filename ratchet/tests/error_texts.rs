//! The text of an error does not repeat the text of its source: a report that prints the whole chain says each thing once.

#![allow(clippy::unused_async)] // the job does not await anything

use std::error::Error;
use std::io;

use ratchet::model::{CommandError, InsertError};
use ratchet::schedule::{Cron, ScheduleError};
use ratchet::store::StoreErrorKind;
use ratchet::{
    Job as _, JobState, MemoryStore, Ratchet, SqliteStore, StartError, StoreError, SubmitError,
    WaitError, job,
};
use serde::{Deserialize, Serialize, Serializer};

#[derive(Deserialize)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it cannot be written"))
    }
}

#[job]
async fn post(_letter: Unwritable) {}

fn down() -> StoreError {
    let source = io::Error::other("connection reset");
    StoreError::new(StoreErrorKind::Unavailable, "the database does not answer").with_source(source)
}

/// Returns errors of every type that has a source or is built from another error.
async fn samples() -> Vec<Box<dyn Error>> {
    let ratchet =
        Ratchet::builder(MemoryStore::new()).jobs([Post::JOB]).build().await.expect("builds");
    let encode =
        ratchet.enqueue(Post { _letter: Unwritable }).await.expect_err("cannot be written");
    assert!(encode.to_string().contains("it cannot be written"), "{encode}");
    let folder = std::env::temp_dir();
    let cron = Cron::new("every day", "UTC").expect_err("is not a cron expression");
    let schedule = ScheduleError::Cron { name: "nightly".to_owned(), error: cron };
    vec![
        Box::new(encode),
        Box::new(SubmitError::Store(down())),
        Box::new(WaitError::Store(down())),
        Box::new(StartError::Store(down())),
        Box::new(StartError::Thread(io::Error::other("no more threads"))),
        Box::new(InsertError::Store(down())),
        Box::new(CommandError::Store(down())),
        Box::new(schedule),
        Box::new(SqliteStore::open(folder).await.expect_err("is a folder")),
        Box::new("RESTING".parse::<JobState>().expect_err("is no state")),
        Box::new(down()),
    ]
}

#[tokio::test]
async fn no_error_repeats_its_source() {
    for error in samples().await {
        let mut outer: &dyn Error = error.as_ref();
        assert!(!outer.to_string().is_empty());
        while let Some(inner) = outer.source() {
            let (said, again) = (outer.to_string(), inner.to_string());
            assert!(!said.contains(&again), "`{said}` repeats its source `{again}`");
            outer = inner;
        }
    }
}
