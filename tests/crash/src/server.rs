//! A scratch PostgreSQL server with its own folder and socket. It is removed on drop.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::Problem;
use crate::address::Opened;

/// The template database. It contains only the schema.
const TEMPLATE: &str = "proof_template";

pub struct Server {
    folder: PathBuf,
    /// The mount point of a small file system, if one was mounted.
    small: Option<PathBuf>,
    /// The port; `None` means the default port.
    port: Option<u16>,
}

impl Server {
    /// Starts a server with additional settings.
    pub fn start(settings: &str, port: Option<u16>) -> Result<Self, Problem> {
        let name = format!("ratchet-crash-tests-{}-{:04x}", std::process::id(), fastrand::u16(..));
        let server = Self { folder: std::env::temp_dir().join(name), small: None, port };
        std::fs::create_dir_all(server.data())?;
        server.own(&server.folder)?;
        run(Command::new("chmod").arg("700").arg(server.data()))?;
        let mut initdb = unprivileged("initdb")?;
        initdb.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "-D"]);
        run(initdb.arg(server.data()).env("LC_ALL", "C.UTF-8"))?;
        let mut file =
            OpenOptions::new().append(true).open(server.data().join("postgresql.conf"))?;
        write!(
            file,
            "unix_socket_directories = '{}'\nmax_connections = 300\nshared_buffers = 64MB\n{settings}\n",
            server.folder.display()
        )?;
        server.up()?;
        Ok(server)
    }

    pub fn up(&self) -> Result<(), Problem> {
        let mut pg_ctl = unprivileged("pg_ctl")?;
        pg_ctl.args(["start", "-w", "-t", "60", "-s", "-l"]).arg(self.folder.join("log"));
        run(pg_ctl.arg("-D").arg(self.data()))
    }

    /// Stops the server. The mode is `fast` or `immediate`.
    pub fn down(&self, mode: &str) -> Result<(), Problem> {
        let mut pg_ctl = unprivileged("pg_ctl")?;
        run(pg_ctl.args(["stop", "-w", "-s", "-m", mode, "-D"]).arg(self.data()))
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub fn url(&self, database: &str) -> String {
        let host = self.folder.display().to_string().replace('/', "%2F");
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("postgres://postgres@{host}{port}/{database}")
    }

    pub async fn say(&self, sql: &str) -> Result<(), Problem> {
        let mut db = PgConnection::connect(&self.url("postgres")).await?;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut db).await?;
        Ok(db.close().await?)
    }

    /// Creates the template database.
    pub async fn prepare(&self) -> Result<(), Problem> {
        self.say(&format!("CREATE DATABASE {TEMPLATE}")).await?;
        Opened::open(&self.url(TEMPLATE)).await?.close().await;
        Ok(())
    }

    /// Creates a database with an empty store, or an empty database. Returns its address.
    pub async fn fresh(&self, name: &str, nothing: bool) -> Result<String, Problem> {
        let template = if nothing { "template0" } else { TEMPLATE };
        self.say(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await?;
        Ok(self.url(name))
    }

    pub async fn forget(&self, name: &str) -> Result<(), Problem> {
        self.say(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await
    }

    /// Mounts a file system of this many megabytes. Returns `None` if this user cannot mount one.
    pub fn small_disk(&mut self, megabytes: u32) -> Result<Option<PathBuf>, Problem> {
        let place = self.folder.join("small");
        std::fs::create_dir_all(&place)?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"]).arg(&place);
        if !mount.stderr(Stdio::null()).status()?.success() {
            return Ok(None);
        }
        self.small = Some(place.clone());
        let space = place.join("space");
        std::fs::create_dir_all(&space)?;
        self.own(&place)?;
        Ok(Some(space))
    }

    /// Changes the owner of a folder to the user that the server runs as.
    fn own(&self, folder: &Path) -> Result<(), Problem> {
        if is_root()? {
            run(Command::new("chown").args(["-R", user()]).arg(folder))
        } else {
            Ok(())
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.down("immediate");
        if let Some(place) = &self.small {
            let _ = Command::new("umount").arg(place).status();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Returns a command for a PostgreSQL program, run as an unprivileged user.
fn unprivileged(program: &str) -> Result<Command, Problem> {
    let mut versions: Vec<_> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin").join(program))
        .filter(|path| path.exists())
        .collect();
    versions.sort();
    let program = versions.pop().unwrap_or_else(|| PathBuf::from(program));
    let mut command = if is_root()? {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user(), "--regid", user(), "--clear-groups", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir("/");
    Ok(command)
}

fn is_root() -> Result<bool, Problem> {
    Ok(Command::new("id").arg("-u").output()?.stdout.trim_ascii() == b"0")
}

fn user() -> &'static str {
    let known = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    if known.lines().any(|line| line.starts_with("postgres:")) { "postgres" } else { "nobody" }
}

fn run(command: &mut Command) -> Result<(), Problem> {
    // The server must not inherit a pipe: its reader would wait until the server stops.
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed").into()) }
}
