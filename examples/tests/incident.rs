//! An incident from the first failure to the last retry, by the commands of the example `shop`, on SQLite and
//! PostgreSQL. The guide shows what they print. `RATCHET_TRANSCRIPT=1` writes it into the guide.

#[path = "../../ratchet-pg/tests/support/database.rs"]
#[allow(dead_code)]
mod database;
#[path = "../../ratchet-pg/tests/support/server.rs"]
#[allow(dead_code)]
mod server;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};

use database::Database;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../ratchet/docs/guide/command_line.md");
const BEGIN: &str = "<!-- transcript:begin -->\n```console\n";
const END: &str = "```\n<!-- transcript:end -->\n";

/// Runs commands and records what an operator would see.
struct Terminal {
    store: String,
    folder: PathBuf,
    gateway: &'static str,
    transcript: String,
    /// What is replaced in the transcript, because it differs between runs.
    replaced: Vec<(String, String)>,
}

impl Terminal {
    fn new(store: String, name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let replaced = vec![(store.clone(), "sqlite:shop.db".to_owned())];
        Self { store, folder, gateway: "up", transcript: String::new(), replaced }
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shop"));
        command.current_dir(&self.folder).env("RATCHET_STORE", &self.store).env("NO_COLOR", "1");
        command.env("RATCHET_ACTOR", "ada");
        command.env("SHOP_GATEWAY", self.gateway).env("RUST_LOG", "off").env("HOME", &self.folder);
        command.env_remove("XDG_CONFIG_HOME").args(args).output().expect("it starts")
    }

    /// Runs a command that must exit with this code, and records it. Returns its standard output.
    fn type_in(&mut self, args: &[&str], code: i32) -> String {
        let output = self.run(args);
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}\n{stdout}\n{stderr}");
        let down = if self.gateway == "down" { "SHOP_GATEWAY=down " } else { "" };
        let line = args.iter().map(|arg| quoted(arg)).collect::<Vec<_>>().join(" ");
        let _ = writeln!(self.transcript, "$ {down}shop {line}\n{stderr}{stdout}");
        stdout
    }

    /// Runs a command whose output is not part of the transcript.
    fn json(&self, args: &[&str]) -> serde_json::Value {
        let output = self.run(&[args, &["--json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"))
    }

    /// Shows this text instead of one that differs between runs.
    fn show(&mut self, text: &str, instead: &str) {
        self.replaced.push((text.to_owned(), instead.to_owned()));
    }

    fn transcript(self) -> String {
        let mut transcript = self.transcript;
        for (text, instead) in &self.replaced {
            transcript = transcript.replace(text, instead);
        }
        // Columns are as wide as their widest cell, so times must not differ between runs.
        let lines = transcript.lines().map(|line| format!("{}\n", timeless(line)));
        lines.collect()
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("text")
}

fn quoted(arg: &str) -> String {
    if arg.contains([' ', '*', '>']) { format!("'{arg}'") } else { arg.to_owned() }
}

/// Replaces instants and durations of this run. Columns keep their width.
fn timeless(line: &str) -> String {
    if line.starts_with('$') {
        return line.to_owned();
    }
    let words: Vec<_> = line.split_inclusive(' ').collect();
    let mut shown = String::new();
    let mut dropped = 0;
    for (at, word) in words.iter().enumerate() {
        let bare = word.trim();
        let next = words.get(at + 1).map_or("", |next| next.trim());
        let is_time = |text: &str| text.ends_with("ms") || text.ends_with('s');
        let number = bare.starts_with(|first: char| first.is_ascii_digit() || first == '<');
        if next == "ago" && number {
            dropped = word.chars().count();
            continue;
        }
        if bare == "ago" || bare == "now" {
            shown.push_str(&word.replace(bare, "now"));
            let width = std::mem::take(&mut dropped);
            shown.push_str(&" ".repeat(if next.is_empty() { width } else { 0 }));
        } else if number && is_time(bare) {
            shown.push_str(&word.replace(bare, "1ms"));
        } else if bare.starts_with("(20") && bare.ends_with("Z)") {
            shown.push_str(&word.replace(bare, "(2026-11-17T09:14:00Z)"));
        } else {
            shown.push_str(word);
        }
    }
    shown.trim_end().to_owned()
}

/// Fails three payments, finds out why, retries one of them, and then the others. The audit trail shows both steps.
fn incident(mut shop: Terminal) -> String {
    let enqueue = |shop: &mut Terminal, order: &str| {
        let order = format!("order={order}");
        let args = ["jobs", "enqueue", "shop.charge", "--arg", &order, "--arg", "cents=4200"];
        let args = [&args[..], &["--arg", "card=\"4000123412341234\""]].concat();
        shop.run(&args);
    };
    assert_eq!(shop.run(&["migrate", "up"]).status.code(), Some(0));
    for order in ["1", "2", "3"] {
        enqueue(&mut shop, order);
    }
    shop.gateway = "down";
    shop.type_in(&["work", "--drain"], 0);
    shop.gateway = "up";
    shop.type_in(&["status"], 0);
    let groups = shop.json(&["failures", "list"]);
    let fingerprint = groups[0]["fingerprint"].as_str().expect("text").to_owned();
    shop.show(&fingerprint, "7c1e09ab51fd7a90");
    shop.type_in(&["failures", "list"], 0);
    let failed = shop.json(&["jobs", "list", "state:failed", "order:oldest"]);
    for (at, job) in failed.as_array().expect("a list").iter().enumerate() {
        let id = job["id"].as_str().expect("an id");
        shop.show(id, &format!("01a1e59f-1126-7000-aa3b-d90d531ee12{at}"));
    }
    let first = failed[0]["id"].as_str().expect("an id").to_owned();
    shop.type_in(&["jobs", "show", &first], 0);
    let group = format!("fingerprint:{fingerprint}");
    let reason = ["--reason", "the gateway is back"];
    shop.type_in(&[&["failures", "redrive", &group, "--limit", "1"], &reason[..]].concat(), 0);
    shop.type_in(&["work", "--drain"], 0);
    shop.type_in(&["jobs", "wait", &first], 0);
    shop.type_in(&[&["failures", "redrive", &group], &reason[..]].concat(), 0);
    shop.type_in(&["work", "--drain"], 0);
    // The PostgreSQL server of the tests does not wait for the disk, and the doctor says so.
    let warned = shop.store.starts_with("postgres");
    let healthy = shop.type_in(&["doctor"], i32::from(warned));
    assert_eq!(healthy.contains("STO-02  commits do not wait"), warned, "{healthy}");
    assert!(healthy.contains(if warned { "0 errors, 1 warning" } else { "" }), "{healthy}");
    shop.type_in(&["audit", "list", "--verb", "failures.redrive"], 0);
    let end = shop.type_in(&["audit", "verify"], 0);
    let (_, hash) = end.trim().rsplit_once(':').expect("an end");
    shop.show(hash, "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
    let left = shop.json(&["jobs", "list"]);
    assert!(
        left.as_array().expect("a list").iter().all(|job| job["state"] == "SUCCEEDED"),
        "{left}"
    );
    shop.transcript()
}

/// Removes what aligns columns, because the width of a column with times differs between runs.
fn unaligned(text: &str) -> String {
    let lines =
        text.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()));
    lines.map(|cells| cells.collect::<Vec<_>>().join("  ")).collect::<Vec<_>>().join("\n")
}

/// Removes the answer of the doctor, which differs between servers.
fn without_doctor(text: &str) -> String {
    let (before, doctor) = text.split_once("$ shop doctor\n").expect("the doctor is called");
    let (_, after) = doctor.split_once("\n\n$").expect("another command follows");
    format!("{before}$ {after}")
}

fn compare(transcript: &str) {
    let page = std::fs::read_to_string(PAGE).expect("the page of the guide");
    let begin = page.find(BEGIN).expect("the beginning of the transcript") + BEGIN.len();
    let end = page[begin..].find(END).expect("the end of the transcript") + begin;
    if std::env::var_os("RATCHET_TRANSCRIPT").is_some() {
        let page = format!("{}{transcript}{}", &page[..begin], &page[end..]);
        std::fs::write(PAGE, page).expect("writes");
    } else {
        let expected = unaligned(&page[begin..end]);
        assert_eq!(unaligned(transcript), expected, "RATCHET_TRANSCRIPT=1 writes the page");
    }
}

#[test]
fn o_12_an_incident_is_resolved_by_commands_on_sqlite() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("incident.db");
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", file.display()));
    }
    let store = format!("sqlite:{}", file.display());
    compare(&incident(Terminal::new(store, "incident_sqlite")));
}

#[test]
fn o_12_an_incident_is_resolved_by_commands_on_postgres() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let database = Database::take().await;
        let mut terminal = Terminal::new(database.url(), "incident_postgres");
        terminal.show(&database.url(), "sqlite:shop.db");
        terminal.show("? STO-02 commits do not wait for the disk: fsync = off\n", "");
        let transcript = incident(terminal);
        let page = std::fs::read_to_string(PAGE).expect("the page of the guide");
        let page = without_doctor(&unaligned(&page));
        let transcript = without_doctor(&unaligned(&transcript));
        assert!(page.contains(&transcript), "{transcript}\n{page}");
    });
}
