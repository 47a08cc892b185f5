//! The command `work` of the example `shop`: probes, signals, and migrations as a separate step.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

fn shop(name: &str, args: &[&str]) -> Command {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_shop"));
    command.env("RATCHET_STORE", format!("sqlite:{}", folder.join("shop.db").display()));
    command.env("HOME", &folder).env_remove("XDG_CONFIG_HOME").env_remove("RUST_LOG").args(args);
    command
}

fn empty(name: &str) {
    let _ = std::fs::remove_dir_all(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
}

/// Ends the process if the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn get(address: &str, path: &str) -> String {
    let mut connection = TcpStream::connect(address).expect("connects");
    write!(connection, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .expect("sends");
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn c_08_a_worker_serves_probes_and_stops_at_sigterm() {
    empty("work-health");
    let mut command = shop("work-health", &["work", "--health", "127.0.0.1:0"]);
    command.env("RATCHET_CONCURENCY", "8").stderr(Stdio::piped()).stdout(Stdio::null());
    let mut worker = Running(command.spawn().expect("starts"));
    let mut lines = BufReader::new(worker.0.stderr.take().expect("a pipe")).lines();
    let mut printed = String::new();
    let address = loop {
        let line = lines.next().expect("a line with the address").expect("text");
        printed += &line;
        if let Some(address) = line.strip_prefix("health and metrics at http://") {
            break address.trim_end_matches('/').to_owned();
        }
    };
    assert!(
        printed.contains("did you mean `RATCHET_CONCURRENCY`?"),
        "warnings are logged: {printed}"
    );
    assert!(!printed.contains("`RATCHET_STORE`"), "the command line reads it: {printed}");
    let rest =
        std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>().join("\n"));
    assert!(get(&address, "/health/live").starts_with("HTTP/1.1 200"));
    assert!(get(&address, "/metrics").contains("ratchet_"));
    let pid = worker.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("runs").success());
    let status = worker.0.wait().expect("ends");
    let rest = rest.join().expect("reads");
    assert!(status.success(), "{status}: {rest}");
    assert!(rest.contains("claimed 0"), "{rest}");
}

#[test]
fn c_08_a_worker_without_migrations_needs_current_tables() {
    empty("work-no-migrate");
    let refused =
        shop("work-no-migrate", &["work", "--drain", "--no-migrate"]).output().expect("starts");
    assert_eq!(refused.status.code(), Some(5), "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(shop("work-no-migrate", &["migrate", "up"]).status().expect("starts").success());
    let worked =
        shop("work-no-migrate", &["work", "--drain", "--no-migrate"]).output().expect("starts");
    assert!(worked.status.success(), "{}", String::from_utf8_lossy(&worked.stderr));
}
