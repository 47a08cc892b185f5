//! A server for a single test, which may be stopped, filled up, copied, or put behind a pooler.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::server::{binary, is_root, run, unprivileged, user};

/// A server in its own directory. Dropping it stops the server and removes the directory.
pub(crate) struct OwnServer {
    folder: PathBuf,
    /// A small file system that was mounted for the server.
    small: Option<PathBuf>,
}

impl OwnServer {
    /// Starts a server with the given settings.
    pub(crate) fn start(settings: &str) -> Self {
        let server = Self::empty();
        let data = server.data();
        let mut initdb = unprivileged(&binary("initdb"));
        initdb.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "-D"]);
        run(initdb.arg(&data).env("LC_ALL", "C.UTF-8"));
        server.configure(settings);
        server.up();
        server
    }

    /// Starts a standby with the current data of this server.
    pub(crate) fn standby(&self) -> Self {
        let standby = Self::empty();
        let _ = fs::remove_dir_all(standby.data());
        let mut copy = unprivileged(&binary("pg_basebackup"));
        copy.args(["-U", "postgres", "-R", "-X", "stream", "-c", "fast", "-h"]).arg(&self.folder);
        run(copy.arg("-D").arg(standby.data()));
        standby.configure("hot_standby = on");
        standby.up();
        standby
    }

    fn empty() -> Self {
        let folder = std::env::temp_dir().join(format!("ratchet-own-{:08x}", fastrand::u32(..)));
        let server = Self { folder, small: None };
        fs::create_dir_all(server.data()).expect("a folder");
        own(&server.folder);
        let mode = Command::new("chmod").arg("700").arg(server.data()).status();
        assert!(mode.is_ok_and(|mode| mode.success()));
        server
    }

    fn configure(&self, settings: &str) {
        let file = self.data().join("postgresql.conf");
        let mut file = OpenOptions::new().append(true).open(file).expect("settings");
        let folder = self.folder.display();
        write!(
            file,
            "listen_addresses = ''\nunix_socket_directories = '{folder}'\nfsync = off\n{settings}\n"
        )
        .expect("settings can be written");
    }

    /// Writes a file to the data directory that only the server may read.
    pub(crate) fn write_secret(&self, name: &str, text: &str) {
        let path = self.data().join(name);
        fs::write(&path, text).expect("a file");
        run(Command::new("chmod").arg("600").arg(&path));
        own(&path);
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Starts the server again.
    pub(crate) fn up(&self) {
        let mut pg_ctl = unprivileged(&binary("pg_ctl"));
        pg_ctl.args(["start", "-w", "-t", "60", "-s", "-l"]).arg(self.folder.join("log"));
        run(pg_ctl.arg("-D").arg(self.data()).stdout(Stdio::null()));
    }

    /// Stops the server. The mode is `fast` or `immediate`.
    pub(crate) fn down(&self, mode: &str) {
        let mut pg_ctl = unprivileged(&binary("pg_ctl"));
        run(pg_ctl.args(["stop", "-w", "-s", "-m", mode, "-D"]).arg(self.data()));
    }

    /// Returns the directory of its socket.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the URL of a database by its socket.
    pub(crate) fn url(&self, database: &str) -> String {
        let host = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{host}/{database}")
    }

    /// Mounts a file system of this many megabytes and returns its path, or `None` if this user may not mount.
    pub(crate) fn small_disk(&mut self, megabytes: u32) -> Option<PathBuf> {
        let place = self.folder.join("small");
        fs::create_dir_all(&place).expect("a folder");
        let size = format!("size={megabytes}m");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&place)
            .stderr(Stdio::null())
            .status();
        if !mounted.is_ok_and(|status| status.success()) {
            return None;
        }
        self.small = Some(place.clone());
        let space = place.join("space");
        fs::create_dir_all(&space).expect("a folder");
        own(&place);
        Some(space)
    }
}

impl Drop for OwnServer {
    fn drop(&mut self) {
        let mut pg_ctl = unprivileged(&binary("pg_ctl"));
        let _ =
            pg_ctl.args(["stop", "-w", "-s", "-m", "immediate", "-D"]).arg(self.data()).status();
        if let Some(place) = &self.small {
            let _ = Command::new("umount").arg(place).status();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Changes the owner of a directory to the user of the server.
pub(super) fn own(folder: &Path) {
    if is_root() {
        run(Command::new("chown").args(["-R", user()]).arg(folder));
    }
}
