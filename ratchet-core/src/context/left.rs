//! What a run leaves behind, within its limits.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::failure::{clip, plain};
use crate::model::limits::{self, Field, LimitError};
use crate::model::{LogLine, NewGraph, NewHandOff, NewJob, NewReject, RunNotes, nesting};

/// What the handler has left behind so far.
#[derive(Default)]
pub(super) struct Left {
    pub(super) notes: RunNotes,
    pub(super) spawned: Vec<NewJob>,
    pub(super) graphs: Vec<NewGraph>,
    pub(super) items: RunItems,
    /// The run is over: what comes now would be lost.
    pub(super) closed: bool,
    log: Log,
}

/// What a run says of the items it works through.
#[derive(Debug, Default)]
pub(crate) struct RunItems {
    pub(crate) rejects: Vec<NewReject>,
    /// Where the reject of an index stands.
    places: HashMap<u64, usize>,
    /// How many rejects were not kept.
    dropped: u64,
    pub(crate) hand_offs: Vec<NewHandOff>,
    /// More rejects than this fail the run.
    pub(crate) most: Option<u64>,
}

/// How much a run has logged, over all reports.
#[derive(Debug, Default)]
struct Log {
    bytes: usize,
    dropped: u64,
}

/// What a run wanted to leave behind cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// It is larger than the limit.
    #[error("the {what} takes more than {limit} bytes; keep a reference to the data instead")]
    TooLarge {
        /// What: `checkpoint`, `hand-off` or `rejected item`.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// It is nested deeper than it could be read back.
    #[error("the {what} is nested deeper than {limit} levels")]
    TooDeep {
        /// What.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// It cannot be written as JSON.
    #[error("the {what} cannot be written as JSON: {source}")]
    Encode {
        /// What.
        what: &'static str,
        /// Why serde refused.
        source: serde_json::Error,
    },
    /// A name or key is beyond its limit.
    #[error(transparent)]
    Limit(#[from] LimitError),
}

/// A value as JSON text, within the limits of what a run may leave behind.
pub(super) fn json<T: Serialize>(what: &'static str, value: &T) -> Result<String, KeepError> {
    let limit = limits::CHECKPOINT;
    let mut out = Capped { json: Vec::new(), full: false };
    let written = nesting::write(&mut out, value);
    let encode = |source| KeepError::Encode { what, source };
    match written {
        _ if out.full => Err(KeepError::TooLarge { what, limit }),
        Err(error) if nesting::is_too_deep(&error) => Err(too_deep(what)),
        Err(error) => Err(encode(error)),
        // A raw value inside is written without being looked at.
        Ok(()) if nesting::is_deeper(&out.json, limits::DEPTH) => Err(too_deep(what)),
        Ok(()) => {
            String::from_utf8(out.json).map_err(|error| encode(serde::ser::Error::custom(error)))
        }
    }
}

/// Like [`json`], as a value.
pub(super) fn value<T: Serialize>(
    what: &'static str,
    value: &T,
) -> Result<serde_json::Value, KeepError> {
    // Within the limits from here on. Not read from the text: a number that fits no type of JSON is refused, not rounded.
    json(what, value)?;
    let value = serde_json::to_value(value).map_err(|source| KeepError::Encode { what, source })?;
    if nesting::is_too_deep_value(&value) { Err(too_deep(what)) } else { Ok(value) }
}

fn too_deep(what: &'static str) -> KeepError {
    KeepError::TooDeep { what, limit: limits::DEPTH }
}

/// Takes JSON up to [`limits::CHECKPOINT`].
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

/// A text of the handler as it is stored: cut to the length of a log line, without control characters.
pub(super) fn line(mut text: String) -> String {
    // Cut first: a line of a gigabyte is not looked at.
    if text.len() > limits::LOG_LINE {
        let length = text.len();
        text.truncate(text.floor_char_boundary(limits::LOG_LINE - 64));
        let text = clip(plain(&text).into_owned(), limits::LOG_LINE - 64);
        return format!("{text}… (cut, it had {length} bytes)");
    }
    plain(&text).into_owned()
}

impl Left {
    /// How many lines a run may log between two reports; what is more is counted in one last line.
    const MAX_LOG_LINES: usize = 1000;

    /// Logs a line, unless the run has logged too much.
    pub(super) fn log(&mut self, line: LogLine) {
        let log = &mut self.log;
        if log.dropped > 0 || log.bytes + line.message.len() > limits::LOG {
            log.dropped += 1;
            return;
        }
        log.bytes += line.message.len();
        let logs = &mut self.notes.logs;
        if logs.len() < Self::MAX_LOG_LINES {
            logs.push(line);
        } else if let Some(last) = logs.last_mut() {
            *last = LogLine { message: "… more lines were dropped".to_owned(), ..line };
        }
    }

    /// Takes everything; what comes from now on would be lost.
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
    /// Sets an item aside, in the place of what was said of it before.
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

    /// How many items were set aside, those that were not kept included.
    pub(super) fn rejected(&self) -> u64 {
        u64::try_from(self.rejects.len()).unwrap_or(u64::MAX).saturating_add(self.dropped)
    }

    /// Adds a hand-off, unless its pipeline or key is beyond its limit.
    pub(super) fn hand_off(&mut self, hand_off: NewHandOff) -> Result<(), KeepError> {
        limits::check(Field::Pipeline, &hand_off.pipeline)?;
        limits::check(Field::HandOffKey, &hand_off.key)?;
        self.hand_offs.push(hand_off);
        Ok(())
    }
}
