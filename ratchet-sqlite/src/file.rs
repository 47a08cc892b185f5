//! Watches the file itself: whether the path still names the file that was opened, and how long its log is.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ratchet_core::StoreErrorKind;
use tokio::time::Instant;

use crate::error::Fault;

/// How often the writer looks at the file while it is busy.
const INTERVAL: Duration = Duration::from_secs(1);

/// How often a long log is reported.
const REPORT_EVERY: Duration = Duration::from_mins(1);

/// Device and inode: what tells one file from another.
type Identity = (u64, u64);

/// The database file and its log, as they were when they were opened.
#[derive(Debug)]
pub(crate) struct Files {
    /// As the caller named it.
    path: PathBuf,
    main: Watched,
    log: Watched,
}

#[derive(Debug)]
struct Watched {
    /// Absolute, so that a change of the working directory does not matter.
    path: PathBuf,
    opened: Option<Identity>,
}

/// What there is at a path.
enum Found {
    File(Identity, u64),
    Nothing,
    /// It cannot be told, for lack of rights or because this platform has no inodes.
    Unknown,
}

impl Files {
    /// Remembers which files are open. The connections must have been opened before.
    pub(crate) fn opened(path: &Path) -> Self {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut log = absolute.clone().into_os_string();
        log.push("-wal");
        Self { path: path.to_owned(), main: Watched::new(absolute), log: Watched::new(log.into()) }
    }

    /// Fails if the paths name other files than those that were opened. Answers how long the log is.
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

/// When the writer looks at the files, and what it has said about them.
#[derive(Debug)]
pub(crate) struct Watch {
    /// Above this many bytes the log is reported.
    long_log: u64,
    looked: Instant,
    reported: Option<Instant>,
    moved: bool,
}

impl Watch {
    pub(crate) fn new(long_log: u64) -> Self {
        Self { long_log, looked: Instant::now(), reported: None, moved: false }
    }

    /// Whether it is time to look again. A file that was found moved is looked at before every write.
    pub(crate) fn is_due(&self) -> bool {
        self.moved || self.looked.elapsed() >= INTERVAL
    }

    /// Looks at the files; fails if writing to them would be in vain.
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

    /// Whether something else than the opened file was found.
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

/// Where an open file can be neither moved nor deleted there is nothing to watch.
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
