//! Prepares text from user code for storage and logs: limits its length and removes terminal control sequences.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::iter::Peekable;
use std::str::Chars;

use super::{PanicReport, catch_panic};

/// Collects text up to a limit, then returns an error to the writer. Otherwise a `Display` that never ends would block
/// its thread forever.
pub(super) struct Bounded {
    text: String,
    room: usize,
    full: bool,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let fits = part.floor_char_boundary(self.room);
        self.text.push_str(&part[..fits]);
        self.room -= fits;
        if fits < part.len() {
            self.room = 0;
            self.full = true;
        }
        if self.full { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Returns the text that user code writes, truncated to `limit` bytes.
pub(super) fn bounded(
    limit: usize,
    write: impl FnOnce(&mut Bounded) -> fmt::Result,
) -> Result<String, PanicReport> {
    let mut out = Bounded { text: String::new(), room: limit, full: false };
    match catch_panic(|| write(&mut out)) {
        // After an error of the value itself, the text written so far is kept.
        Ok(_) => Ok(out.text),
        // Some implementations unwrap the result of the formatter.
        Err(_) if out.full => Ok(out.text),
        Err(panic) => Err(panic),
    }
}

/// Formats a user's value with `Display`, truncated to 4 KiB.
pub(crate) fn display(value: &dyn fmt::Display) -> String {
    const LONGEST: usize = 4 * 1024;
    bounded(LONGEST, |out| write!(out, "{value}"))
        .unwrap_or_else(|_| "[its Display panicked]".to_owned())
}

/// Formats a user's value with `Debug`, truncated to 256 bytes.
pub(crate) fn debug(value: &dyn fmt::Debug) -> String {
    const LONGEST: usize = 256;
    bounded(LONGEST, |out| write!(out, "{value:?}"))
        .unwrap_or_else(|_| "[its Debug panicked]".to_owned())
}

/// Removes control characters except line breaks and tabs. Terminal escape sequences are removed completely.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unwanted) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.next_if_eq(&'[').is_some() => skip_sequence(&mut chars),
            '\u{9b}' => skip_sequence(&mut chars),
            c if is_unwanted(c) => {}
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_unwanted(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Skips the rest of a control sequence: parameters, then one final character.
fn skip_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
    let _ = chars.next_if(|c| ('@'..='~').contains(c));
}

/// Truncates the text to `limit` bytes and marks the cut with an ellipsis.
pub(crate) fn clip(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit.saturating_sub('…'.len_utf8())));
        text.push('…');
        text.shrink_to_fit();
    }
    text
}

/// Removes the module path of every name in a type name.
pub(crate) fn shorten(path: &str) -> String {
    let mut short = String::with_capacity(path.len());
    let mut word_at = 0;
    for c in path.chars() {
        short.push(c);
        if short.ends_with("::") {
            short.truncate(word_at);
        } else if !(c.is_alphanumeric() || c == '_' || c == ':') {
            word_at = short.len();
        }
    }
    short
}
