//! `ratchet serve` as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

use super::stored::{Stored, ratchet};

/// A running dashboard. It ends with the test.
struct Served {
    process: Child,
    address: String,
}

impl Served {
    fn start(stored: &Stored, args: &[&str]) -> Self {
        let mut command = stored.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.args(args).stderr(Stdio::piped());
        let mut process = command.spawn().expect("starts");
        let mut lines = BufReader::new(process.stderr.take().expect("a pipe")).lines();
        let address = loop {
            let line = lines.next().expect("an address").expect("text");
            if let Some(address) = line.strip_prefix("http://") {
                break address.trim_end_matches('/').to_owned();
            }
        };
        // The pipe is read to its end, so that the process does not block on it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address }
    }

    /// Sends a request and returns the response.
    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        let length = body.len();
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}", self.address).expect("writes");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("reads");
        text
    }

    fn get(&self, path: &str, headers: &str) -> String {
        self.send("GET", path, headers, "")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn o_08_this_host_reads_without_a_token_and_changes_nothing() {
    let stored = Stored::new();
    let served = Served::start(&stored, &[]);
    let page = served.get("/overview", "");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("mail"), "{page}");
    assert!(served.get("/overview", "x-forwarded-for: 10.0.0.1\r\n").starts_with("HTTP/1.1 403"));
    let post =
        served.send("POST", "/act/queues.pause", "sec-fetch-site: same-origin\r\n", "queue=mail");
    assert!(post.starts_with("HTTP/1.1 403"), "{post}");
    assert!(served.get("/health/live", "").starts_with("HTTP/1.1 200"));
}

#[test]
fn o_08_tokens_log_in_and_carry_their_role() {
    let stored = Stored::new();
    let made = ratchet(&["token", "ada", "--role", "operator", "--expires-in", "1d"]);
    let token = String::from_utf8(made.stdout).expect("text").trim().to_owned();
    let entry = String::from_utf8(made.stderr).expect("text");
    let entry = &entry[entry.find("[[token]]").expect("an entry")..];
    assert!(!entry.contains(&token));
    let file = stored.folder().join("tokens.toml");
    std::fs::write(&file, entry).expect("writes");
    let served = Served::start(&stored, &["--tokens", file.to_str().expect("text")]);
    let proxied = "x-forwarded-for: 10.0.0.1\r\n";
    let denied = served.get("/jobs", proxied);
    assert!(denied.starts_with("HTTP/1.1 303") && denied.contains("location: ./login"), "{denied}");
    assert!(served.get("/api/v1/jobs", proxied).starts_with("HTTP/1.1 403"));
    let wrong = served.send("POST", "/login", "", "token=rt_wrong");
    assert!(wrong.starts_with("HTTP/1.1 401"), "{wrong}");
    let entered = served.send("POST", "/login", "", &format!("token={token}"));
    assert!(
        entered.contains("set-cookie: ratchet-token=")
            && entered.contains("HttpOnly; SameSite=Strict"),
        "{entered}"
    );
    let cookie = format!("{proxied}cookie: ratchet-token={token}\r\n");
    assert!(served.get("/jobs", &cookie).starts_with("HTTP/1.1 200"));
    let bearer = format!("{proxied}authorization: Bearer {token}\r\n");
    let paused = served.send("POST", "/api/v1/queues/pause", &bearer, "{\"queue\":\"mail\"}");
    assert!(paused.starts_with("HTTP/1.1 200"), "{paused}");
    let enqueued = served.send("POST", "/api/v1/jobs/enqueue", &bearer, "{\"name\":\"x\"}");
    assert!(enqueued.starts_with("HTTP/1.1 403"), "an operator does not submit: {enqueued}");
    for _ in 0..9 {
        served.send("POST", "/login", "", "token=rt_wrong");
    }
    let slowed = served.send("POST", "/login", "", &format!("token={token}"));
    assert!(slowed.starts_with("HTTP/1.1 429"), "{slowed}");
}

#[test]
fn o_08_an_address_that_other_hosts_reach_needs_tokens() {
    let stored = Stored::new();
    let refused = stored.ratchet(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--tokens FILE"));
}
