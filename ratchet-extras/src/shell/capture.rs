//! Captures the beginning and the end of an output, and counts what is between them.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The captured output of a program: its beginning and its end.
///
/// Bytes that are not UTF-8 are replaced by `U+FFFD`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Captured {
    /// The first bytes. If nothing was cut, the whole output.
    pub head: String,
    /// The last bytes, if something was cut.
    pub tail: String,
    /// How many bytes between `head` and `tail` were cut.
    pub cut: u64,
}

impl Captured {
    /// Returns the whole output, or `None` if a part of it was cut.
    pub fn complete(&self) -> Option<&str> {
        (self.cut == 0).then_some(&self.head)
    }
}

/// Writes the output. A cut is marked as `[… 1024 bytes cut …]`.
impl fmt::Display for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cut {
            0 => f.write_str(&self.head),
            cut => write!(f, "{}\n[… {cut} bytes cut …]\n{}", self.head, self.tail),
        }
    }
}

/// Collects an output of any length in bounded memory.
#[derive(Debug)]
#[cfg_attr(not(unix), allow(dead_code))]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// How many bytes each end keeps.
    each: usize,
    total: u64,
}

#[cfg_attr(not(unix), allow(dead_code))]
impl Capture {
    /// Keeps at most `limit` bytes: half at the beginning, half at the end.
    pub(super) fn new(limit: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), each: limit / 2, total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let (first, rest) = bytes.split_at(bytes.len().min(self.each - self.head.len()));
        self.head.extend_from_slice(first);
        let rest = &rest[rest.len().saturating_sub(self.each)..];
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.each);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// How many bytes were pushed.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn finish(self) -> Captured {
        let cut = self.total - (self.head.len() + self.tail.len()) as u64;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let tail: Vec<u8> = self.tail.into();
        if cut == 0 {
            let mut whole = self.head;
            whole.extend(tail);
            return Captured { head: text(&whole), tail: String::new(), cut };
        }
        Captured { head: text(&self.head), tail: text(&tail), cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(limit: usize, pushes: &[&str]) -> Captured {
        let mut capture = Capture::new(limit);
        pushes.iter().for_each(|push| capture.push(push.as_bytes()));
        capture.finish()
    }

    #[test]
    fn output_up_to_the_limit_is_complete() {
        for pushes in [&["abcdefgh"][..], &["abc", "defgh"], &["abcdef", "", "gh"]] {
            assert_eq!(captured(8, pushes).complete(), Some("abcdefgh"), "{pushes:?}");
        }
    }

    #[test]
    fn both_ends_of_a_longer_output_are_kept() {
        for pushes in [&["abcdefghijkl"][..], &["a", "bcdefghi", "jkl"], &["abcdefghijk", "l"]] {
            let captured = captured(8, pushes);
            assert_eq!((captured.head.as_str(), captured.tail.as_str()), ("abcd", "ijkl"));
            assert_eq!((captured.cut, captured.complete()), (4, None), "{pushes:?}");
            assert_eq!(captured.to_string(), "abcd\n[… 4 bytes cut …]\nijkl");
        }
    }

    #[test]
    fn a_cut_inside_a_character_is_no_panic() {
        assert_eq!(captured(4, &["ääää"]).head, "ä");
        assert_eq!(captured(6, &["ääää"]).head, "ä\u{fffd}");
    }

    #[test]
    fn a_limit_of_zero_keeps_nothing() {
        assert_eq!(captured(0, &["abc"]).cut, 3);
    }
}
