//! The diary: an append-only file, outside of the store, in which the processes under test record what they observed.
//!
//! A line is a single write, so an abort never leaves a partial line. The store is checked against this file.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use ratchet::{JobContext, JobId};
use uuid::Uuid;

/// A diary that is open for writing.
#[derive(Debug, Clone)]
pub struct Diary {
    file: Arc<File>,
}

impl Diary {
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file: Arc::new(file) })
    }

    fn write(&self, line: &str) {
        let line = format!("{line}\n");
        (&*self.file).write_all(line.as_bytes()).expect("the diary can be written");
    }

    /// Records that the store has acknowledged a submit.
    pub fn acknowledged(&self, label: &str, id: Uuid) {
        self.write(&format!("ack {label} {id}"));
    }

    /// Records that the store has acknowledged a cancellation.
    pub fn canceled(&self, id: Uuid) {
        self.write(&format!("cancel - {id}"));
    }

    /// Records the delivery of a dead letter.
    pub fn dead(&self, id: Uuid) {
        self.write(&format!("dead - {id}"));
    }

    /// Records the start or end of a handler: `start`, `ok`, `err`.
    pub fn effect(&self, what: &str, ctx: &JobContext) {
        let key = ctx.transition_key();
        let run = key.rsplit(':').next().unwrap_or_default();
        let now = jiff::Timestamp::now().as_microsecond();
        self.write(&format!("{what} {run} {} {now}", ctx.job_id()));
    }
}

/// The contents of a diary.
#[derive(Debug, Default, Clone)]
pub struct Entries {
    /// The label and id of every acknowledged submit.
    pub acknowledged: Vec<(String, Uuid)>,
    pub canceled: BTreeSet<Uuid>,
    pub dead: BTreeMap<Uuid, u32>,
    /// The starts and ends of handlers, in order.
    pub effects: Vec<Effect>,
    /// The indexes into `effects`, by job.
    by_job: HashMap<JobId, Vec<usize>>,
}

/// The start or end of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    pub what: String,
    pub run: u64,
    pub job: JobId,
    /// Microseconds since 1970.
    pub at: i64,
}

impl Entries {
    pub fn read(path: &Path) -> Self {
        let mut entries = Self::default();
        for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
            let mut words = line.split(' ');
            let (Some(what), Some(label), Some(id)) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let id: Uuid = id.parse().expect("an id in the diary");
            let at = words.next().and_then(|at| at.parse().ok()).unwrap_or(0);
            match what {
                "ack" => entries.acknowledged.push((label.to_owned(), id)),
                "cancel" => drop(entries.canceled.insert(id)),
                "dead" => *entries.dead.entry(id).or_default() += 1,
                _ => {
                    let job = JobId::from_uuid(id);
                    entries.by_job.entry(job).or_default().push(entries.effects.len());
                    entries.effects.push(Effect {
                        what: what.to_owned(),
                        run: label.parse().expect("a run in the diary"),
                        job,
                        at,
                    });
                }
            }
        }
        entries
    }

    /// Returns the ids that were acknowledged with a label.
    pub fn ids(&self, label: &str) -> impl Iterator<Item = Uuid> {
        self.acknowledged.iter().filter(move |(said, _)| said == label).map(|(_, id)| *id)
    }

    pub fn has(&self, label: &str) -> bool {
        self.ids(label).next().is_some()
    }

    /// Returns the time of this effect of a run, in microseconds.
    pub fn time(&self, what: &str, job: JobId, run: u64) -> Option<i64> {
        let of_job = self.by_job.get(&job).into_iter().flatten().map(|at| &self.effects[*at]);
        of_job.filter(|effect| effect.what == what).find(|effect| effect.run == run).map(|e| e.at)
    }

    /// Returns the runs of a job with this effect.
    pub fn runs(&self, what: &str, job: JobId) -> Vec<u64> {
        let of_job = self.by_job.get(&job).into_iter().flatten().map(|at| &self.effects[*at]);
        of_job.filter(|effect| effect.what == what).map(|effect| effect.run).collect()
    }
}
