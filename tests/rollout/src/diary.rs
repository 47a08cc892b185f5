//! What processes have submitted and run, one line each.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::Arc;

/// A file to which all processes append.
#[derive(Debug, Clone)]
pub struct Diary(Arc<File>);

impl Diary {
    pub fn open(path: &str) -> std::io::Result<Self> {
        Ok(Self(Arc::new(OpenOptions::new().create(true).append(true).open(path)?)))
    }

    /// Appends a line with one write, so that lines of different processes are not mixed.
    pub fn write(&self, what: &str, number: u64) -> std::io::Result<()> {
        (&*self.0).write_all(format!("{what} {number}\n").as_bytes())
    }
}
