//! The notes, children and rejects that a run records, and the limits on them.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use serde::Serialize;

use ratchet_store::MAX_LOG_LINES;
use ratchet_store::model::limits::{self, Field, LimitError};
use ratchet_store::model::{
    JobId, LogLine, NewGraph, NewHandOff, NewJob, NewReject, RunNotes, nesting,
};

/// Everything the handler has recorded so far.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) notes: RunNotes,
    pub(super) spawned: Vec<NewJob>,
    pub(super) graphs: Vec<NewGraph>,
    pub(super) items: RunItems,
    /// The run has ended; anything recorded from now on would be lost.
    pub(super) closed: bool,
    /// A warning about something recorded after the end was logged.
    pub(super) warned: bool,
    log: Log,
}

/// The rejects and hand-offs of a run.
#[derive(Debug, Default)]
pub(crate) struct RunItems {
    pub(crate) rejects: Vec<NewReject>,
    /// Position in `rejects` by item index.
    places: HashMap<u64, usize>,
    /// Number of rejects that were counted but not kept.
    dropped: u64,
    pub(crate) hand_offs: Vec<NewHandOff>,
    /// How many hand-offs still fit into the pipelines that refuse more, and their limits.
    pub(super) room: HashMap<String, Room>,
    /// How many hand-offs and runs a full pipeline has refused.
    pub(super) refused: BTreeMap<String, u64>,
    /// The run fails if it rejects more items than this.
    pub(crate) most: Option<u64>,
}

/// How many hand-offs fit into a pipeline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    pub(crate) left: u64,
    pub(crate) limit: u32,
}

/// The log volume of a run, over all reports.
#[derive(Debug, Default)]
struct Log {
    bytes: usize,
    dropped: u64,
}

/// An error returned when a value recorded by a run cannot be stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The value is larger than the limit.
    #[error("the {what} takes more than {limit} bytes; keep a reference to the data instead")]
    TooLarge {
        /// The kind of value: `checkpoint`, `hand-off` or `rejected item`.
        what: &'static str,
        /// The limit in bytes.
        limit: usize,
    },
    /// The value is nested too deep to be read back.
    #[error("the {what} is nested deeper than {limit} levels")]
    TooDeep {
        /// The kind of value, as in [`Self::TooLarge`].
        what: &'static str,
        /// The greatest nesting depth allowed.
        limit: usize,
    },
    /// The value cannot be serialized as JSON.
    #[error("the {what} cannot be written as JSON: {error}")]
    Encode {
        /// The kind of value, as in [`Self::TooLarge`].
        what: &'static str,
        /// The error from `serde_json`.
        error: serde_json::Error,
    },
    /// The pipeline is full, and the job has the option `on_full = fail`.
    #[error(
        "pipeline `{pipeline}` is full: its backlog has reached the limit of {limit}; return the error to try again later"
    )]
    PipelineFull {
        /// The name of the pipeline.
        pipeline: String,
        /// The limit of its backlog.
        limit: u32,
    },
    /// A pipeline name or key exceeds its limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The run has ended. This happens if a context outlives its handler, for example in a spawned task.
    #[error(
        "the {what} is lost: the run of job {job} has ended; await what the handler starts before it returns"
    )]
    RunOver {
        /// The id of the job.
        job: JobId,
        /// The kind of value, as in [`Self::TooLarge`].
        what: &'static str,
    },
}

/// Serializes a value to JSON text, within the limits on size and nesting.
pub(super) fn json<T: Serialize>(what: &'static str, value: &T) -> Result<String, KeepError> {
    let limit = limits::CHECKPOINT;
    let mut out = Capped { json: Vec::new(), full: false };
    let written = nesting::write(&mut out, value);
    let encode = |error| KeepError::Encode { what, error };
    match written {
        _ if out.full => Err(KeepError::TooLarge { what, limit }),
        Err(error) if nesting::is_too_deep(&error) => Err(too_deep(what)),
        Err(error) => Err(encode(error)),
        // The serializer does not look inside a raw value, so its nesting is checked here.
        Ok(()) if nesting::is_deeper(&out.json, limits::DEPTH) => Err(too_deep(what)),
        Ok(()) => {
            String::from_utf8(out.json).map_err(|error| encode(serde::ser::Error::custom(error)))
        }
    }
}

/// Like [`json`], but returns a [`serde_json::Value`].
pub(super) fn value<T: Serialize>(
    what: &'static str,
    value: &T,
) -> Result<serde_json::Value, KeepError> {
    // Checks the limits only. The value is not parsed from the text, so that a number that JSON cannot represent is an
    // error instead of being rounded.
    json(what, value)?;
    let value = serde_json::to_value(value).map_err(|error| KeepError::Encode { what, error })?;
    if nesting::is_too_deep_value(&value) { Err(too_deep(what)) } else { Ok(value) }
}

fn too_deep(what: &'static str) -> KeepError {
    KeepError::TooDeep { what, limit: limits::DEPTH }
}

/// A writer that accepts at most [`limits::CHECKPOINT`] bytes.
struct Capped {
    json: Vec<u8>,
    full: bool,
}

impl Write for Capped {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.json.len() + part.len() > limits::CHECKPOINT {
            self.full = true;
            return Err(io::Error::other("too large"));
        }
        self.json.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// At most this much of a log line or a progress message is scanned.
pub(super) const SCANNED: usize = 4 * limits::LOG_LINE;

/// Truncates a sanitized text of the handler to [`limits::LOG_LINE`]. Before it was sanitized, it had `length` bytes.
pub(super) fn line(mut text: String, length: usize) -> String {
    if text.len() <= limits::LOG_LINE && length <= SCANNED {
        return text;
    }
    text.truncate(text.floor_char_boundary(limits::LOG_LINE - 64));
    format!("{text}… (cut, it had {length} bytes)")
}

impl Recorded {
    /// Logs a line, unless the run has reached [`limits::LOG`]. Between two reports, lines beyond those that a job keeps
    /// are replaced by one final line that says so.
    pub(super) fn log(&mut self, line: LogLine) {
        let log = &mut self.log;
        if log.dropped > 0 || log.bytes + line.message.len() > limits::LOG {
            log.dropped += 1;
            return;
        }
        log.bytes += line.message.len();
        let logs = &mut self.notes.logs;
        if logs.len() < MAX_LOG_LINES {
            logs.push(line);
        } else if let Some(last) = logs.last_mut() {
            *last = LogLine { message: "… more lines were dropped".to_owned(), ..line };
        }
    }

    /// Takes everything recorded, and marks the run as ended.
    pub(super) fn close(&mut self) -> Self {
        let mut left = std::mem::replace(self, Self { closed: true, ..Self::default() });
        let warnings = &mut left.notes.warnings;
        let lines = left.log.dropped;
        if lines > 0 {
            let limit = limits::LOG;
            warnings.push(format!(
                "{lines} log lines were dropped: the run has logged more than {limit} bytes"
            ));
        }
        let items = left.items.dropped;
        if items > 0 {
            let limit = limits::REJECTS;
            warnings
                .push(format!("{items} rejected items were not kept: a run keeps at most {limit}"));
        }
        left
    }
}

impl RunItems {
    /// Records a reject. It replaces an earlier reject of the same index.
    pub(super) fn reject(&mut self, reject: NewReject) {
        if let Some(place) = self.places.get(&reject.index) {
            self.rejects[*place] = reject;
        } else if self.rejects.len() < limits::REJECTS {
            self.places.insert(reject.index, self.rejects.len());
            self.rejects.push(reject);
        } else {
            self.dropped += 1;
        }
    }

    /// Takes one place in a pipeline that has a limit. Returns the limit if there is none left, and counts the refusal.
    pub(super) fn take_room(&mut self, pipeline: &str) -> Result<(), u32> {
        let Some(room) = self.room.get_mut(pipeline) else { return Ok(()) };
        if room.left == 0 {
            let limit = room.limit;
            self.refuse(pipeline);
            return Err(limit);
        }
        room.left -= 1;
        Ok(())
    }

    /// Counts a refusal of a full pipeline.
    pub(super) fn refuse(&mut self, pipeline: &str) {
        *self.refused.entry(pipeline.to_owned()).or_default() += 1;
    }

    /// Takes what full pipelines have refused.
    pub(crate) fn take_refused(&mut self) -> Vec<(String, u64)> {
        std::mem::take(&mut self.refused).into_iter().collect()
    }

    /// Returns how many items were rejected, including those that were not kept.
    pub(super) fn rejected(&self) -> u64 {
        u64::try_from(self.rejects.len()).unwrap_or(u64::MAX).saturating_add(self.dropped)
    }
}

/// Checks the limits of a hand-off's pipeline name and key.
pub(super) fn check_hand_off(hand_off: &NewHandOff) -> Result<(), KeepError> {
    limits::check(Field::Pipeline, &hand_off.pipeline)?;
    limits::check(Field::HandOffKey, &hand_off.key)?;
    Ok(())
}
