//! Watches the database file: whether the path still names the file that was opened, and how long its log is.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ratchet_store::StoreErrorKind;
use tokio::time::Instant;

use crate::error::Fault;

/// How often the writer checks the file while it is busy.
const INTERVAL: Duration = Duration::from_secs(1);

/// The minimum time between two warnings about a long log.
const REPORT_EVERY: Duration = Duration::from_mins(1);

/// Device and inode, which identify a file.
type Identity = (u64, u64);

/// The database file and its log, as they were when the store was opened.
#[derive(Debug)]
pub(crate) struct Files {
    /// The path as given by the caller.
    path: PathBuf,
    main: Watched,
    log: Watched,
}

#[derive(Debug)]
struct Watched {
    /// The absolute path, which does not depend on the working directory.
    path: PathBuf,
    opened: Option<Identity>,
}

/// The result of looking up a path.
enum Found {
    File(Identity, u64),
    Nothing,
    /// The lookup failed, for example for lack of permissions, or the platform has no inodes.
    Unknown,
}

impl Files {
    /// Records which files are open. The connections must have been opened before.
    pub(crate) fn opened(path: &Path) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut log = absolute.clone().into_os_string();
        log.push("-wal");
        Self { path: path.to_owned(), main: Watched::new(absolute), log: Watched::new(log.into()) }
    }

    /// Returns the length of the log in bytes, or an error if a path no longer names the file that was opened.
    pub(crate) fn check(&self) -> Result<u64, Fault> {
        if self.main.is_other(&identify(&self.main.path)) {
            return Err(moved(&self.path, &self.main.path));
        }
        let log = identify(&self.log.path);
        if self.log.is_other(&log) {
            return Err(moved(&self.path, &self.log.path));
        }
        Ok(if let Found::File(_, bytes) = log { bytes } else { 0 })
    }
}

/// When the writer last checked the files, and what it has reported.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The log is reported if it has more bytes than this.
    long_log: u64,
    looked: Instant,
    reported: Option<Instant>,
    moved: bool,
}

impl Watch {
    pub(crate) fn new(long_log: u64) -> Self {
        Self { long_log, looked: Instant::now(), reported: None, moved: false }
    }

    /// Returns whether a check is due. While the file is missing or replaced, it is checked before every write.
    pub(crate) fn is_due(&self) -> bool {
        self.moved || self.looked.elapsed() >= INTERVAL
    }

    /// Checks the files. Returns an error if writes would be lost.
    pub(crate) fn look(&mut self, files: &Files) -> Result<(), Fault> {
        self.looked = Instant::now();
        let found = files.check();
        let was_moved = std::mem::replace(&mut self.moved, found.is_err());
        match &found {
            Err(fault) if !was_moved => {
                tracing::error!(
                    error = fault.message(),
                    "the job database is not written to any more"
                );
            }
            Ok(_) if was_moved => {
                tracing::info!(file = %files.path.display(), "the job database is back where it was opened");
            }
            _ => {}
        }
        self.report_long_log(files, found?);
        Ok(())
    }

    fn report_long_log(&mut self, files: &Files, bytes: u64) {
        let lately = self.reported.is_some_and(|reported| reported.elapsed() < REPORT_EVERY);
        if bytes <= self.long_log || lately {
            return;
        }
        self.reported = Some(Instant::now());
        tracing::warn!(
            file = %files.log.path.display(),
            bytes,
            "the write-ahead log of the job database is long: a reader holds an old snapshot, so the log cannot be \
             reused; look for a long read transaction on this file"
        );
    }
}

impl Watched {
    fn new(path: PathBuf) -> Self {
        let opened = match identify(&path) {
            Found::File(identity, _) => Some(identity),
            Found::Nothing | Found::Unknown => None,
        };
        Self { path, opened }
    }

    /// Returns whether the lookup found something other than the opened file.
    fn is_other(&self, found: &Found) -> bool {
        match (self.opened, found) {
            (Some(opened), Found::File(identity, _)) => opened != *identity,
            (Some(_), Found::Nothing) => true,
            (Some(_), Found::Unknown) | (None, _) => false,
        }
    }
}

#[cfg(unix)]
fn identify(path: &Path) -> Found {
    use std::os::unix::fs::MetadataExt as _;
    match std::fs::metadata(path) {
        Ok(file) => Found::File((file.dev(), file.ino()), file.len()),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Found::Nothing,
            _ => Found::Unknown,
        },
    }
}

/// Platforms on which an open file can be neither moved nor deleted need no check.
#[cfg(not(unix))]
fn identify(_path: &Path) -> Found {
    Found::Unknown
}

fn moved(database: &Path, gone: &Path) -> Fault {
    let message = format!(
        "the file was moved or deleted: {} is not the file that the job database {} was opened on, so what is written \
         would be lost; move the same file back, or restart every process that uses it to go on with what is there now",
        gone.display(),
        database.display()
    );
    Fault::recoverable(StoreErrorKind::Config, message)
}
