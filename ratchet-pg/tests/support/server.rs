//! The shared server: started by the first test process, and stopped when no process has used it for some time.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};

/// The shared lock and the URL, kept for as long as this process may use the server.
static USING: OnceLock<(File, String)> = OnceLock::new();

/// Returns the URL of the server, without a database. `DATABASE_URL` overrides it.
pub(super) fn url() -> String {
    if let Ok(url) = std::env::var("DATABASE_URL") {
        return url.trim_end_matches('/').to_owned();
    }
    USING.get_or_init(start).1.clone()
}

/// Returns the folder of the programs of another version of PostgreSQL (`scripts/test --postgres 18`).
fn other_version() -> Option<String> {
    std::env::var("RATCHET_POSTGRES_BIN").ok()
}

/// Returns the directory for locks and data: one per checkout and version of PostgreSQL, with a path short enough for a
/// socket.
pub(super) fn folder() -> PathBuf {
    let place = format!("{}{}", env!("CARGO_TARGET_TMPDIR"), other_version().unwrap_or_default());
    let hash = place.bytes().fold(5381_u32, |hash, b| hash.wrapping_mul(33) ^ u32::from(b));
    let folder = std::env::temp_dir().join(format!("ratchet-pg-{hash:08x}"));
    fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

pub(super) fn open(path: &Path) -> File {
    let mut options = OpenOptions::new();
    options.create(true).write(true).read(true).truncate(false);
    options.open(path).expect("a lock file")
}

fn start() -> (File, String) {
    let folder = folder();
    // All test processes hold this lock shared. The watchdog stops the server when it gets the exclusive lock.
    let users = open(&folder.join("users"));
    users.lock_shared().expect("a shared lock");
    let starting = open(&folder.join("starting"));
    starting.lock().expect("a lock");
    let url = format!("postgres://postgres@{}", encode(&folder.join("socket")));
    if !is_up(&folder) {
        launch(&folder);
        watch(&folder);
    }
    (users, url)
}

fn encode(path: &Path) -> String {
    path.display().to_string().replace('/', "%2F")
}

fn is_up(folder: &Path) -> bool {
    // `pg_ctl start` returns when the server accepts connections, and it runs under a lock. Starting `pg_isready` in each
    // test process would cost more.
    UnixStream::connect(folder.join("socket/.s.PGSQL.5432")).is_ok()
}

/// Returns a PostgreSQL program from the `PATH` or the directory of the distribution.
pub(super) fn binary(name: &str) -> PathBuf {
    if let Some(folder) = other_version() {
        return Path::new(&folder).join(name);
    }
    let on_path = std::env::var_os("PATH").into_iter().flat_map(|path| {
        std::env::split_paths(&path).map(|folder| folder.join(name)).collect::<Vec<_>>()
    });
    let mut versions: Vec<_> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin").join(name))
        .collect();
    versions.sort();
    let found = versions.into_iter().rev().chain(on_path).find(|path| path.exists());
    found.unwrap_or_else(|| panic!("`{name}` not found: install PostgreSQL or set DATABASE_URL"))
}

/// Creates a command that runs as a user accepted by the server, which refuses to run as root.
pub(super) fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let user = user();
    command.args(["--reuid", user, "--regid", user, "--clear-groups", "--"]).arg(program);
    command
}

pub(super) fn is_root() -> bool {
    static IS_ROOT: LazyLock<bool> = LazyLock::new(|| {
        let id = Command::new("id").arg("-u").output().expect("`id` runs");
        id.stdout.trim_ascii() == b"0"
    });
    *IS_ROOT
}

pub(super) fn user() -> &'static str {
    let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
    if known.lines().any(|line| line.starts_with("postgres:")) { "postgres" } else { "nobody" }
}

pub(super) fn run(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().expect("the command runs");
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {reported}");
}

fn launch(folder: &Path) {
    let (data, socket) = (folder.join("data"), folder.join("socket"));
    let _ = fs::remove_dir_all(&data);
    let _ = fs::remove_dir_all(&socket);
    for path in [&data, &socket] {
        fs::create_dir_all(path).expect("a folder");
    }
    if is_root() {
        run(Command::new("chown").args(["-R", user()]).args([&data, &socket]));
    }
    run(unprivileged(&binary("initdb"))
        .args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "-D"])
        .arg(&data)
        .env("LC_ALL", "C.UTF-8"));
    let mut settings = OpenOptions::new().append(true).open(data.join("postgresql.conf"));
    let settings = settings.as_mut().expect("settings");
    write!(
        settings,
        "listen_addresses = ''\nunix_socket_directories = '{}'\nmax_connections = 400\n\
         fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nshared_buffers = 256MB\n\
         max_wal_size = 4GB\nautovacuum_naptime = 5s\njit = off\n",
        socket.display()
    )
    .expect("settings can be written");
    run(unprivileged(&binary("pg_ctl"))
        .args(["start", "-w", "-t", "60", "-s", "-l"])
        .arg(socket.join("log"))
        .arg("-D")
        .arg(&data)
        .stdout(Stdio::null()));
}

/// Stops the server once no test process has held the lock for some seconds.
#[allow(clippy::zombie_processes, reason = "it outlives this process and ends by itself")]
fn watch(folder: &Path) {
    let script = r#"
        idle=0
        while [ -e "$1/data/postmaster.pid" ]; do
            sleep 2
            if flock -n -x "$1/users" true; then idle=$((idle + 1)); else idle=0; fi
            if [ $idle -ge 10 ]; then
                flock -n -x "$1/users" sh -c '"$0" stop -m immediate -s -D "$1/data"; rm -rf "$1/data"' "$2" "$1" && exit
                idle=0
            fi
        done
    "#;
    let pg_ctl = binary("pg_ctl");
    let mut watchdog = unprivileged(Path::new("setsid"));
    watchdog.args(["sh", "-c", script, "sh"]).arg(folder).arg(pg_ctl);
    watchdog.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The watchdog ends by itself.
    let _ = watchdog.current_dir("/").spawn().expect("the watchdog starts");
    if is_root() {
        run(Command::new("chmod").arg("666").arg(folder.join("users")));
        run(Command::new("chmod").arg("777").arg(folder));
    }
}
