//! Findings about the store itself, from its [`Vitals`].

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use ratchet_store::model::{FileSizes, Vitals};

use super::{Findings, seconds};
use crate::ops::Overview;

/// A transaction that is open for longer is reported.
const LONG_TRANSACTION: Duration = Duration::from_mins(10);

/// A table with more deleted rows than this, and ten times as many as rows, is reported.
const DEAD_ROWS: u64 = 50_000;

/// The percentage of the connections of a server from which on they are reported.
const CROWDED: u64 = 85;

/// A log of a file with more bytes is reported.
const LONG_LOG: u64 = 256 << 20;

/// A file with more unused bytes than this, which are more than half of it, is reported.
const FREE_SPACE: u64 = 256 << 20;

/// How long the cluster may be without a leader.
const LEADERLESS: SignedDuration = SignedDuration::from_mins(2);

/// How many names a finding lists.
const NAMED: usize = 5;

pub(super) fn condition(findings: &mut Findings, vitals: &Vitals, overview: &Overview) {
    maintenance(findings, vitals, overview);
    schema(findings, vitals);
    server(findings, vitals, overview.now);
    if let Some(file) = vitals.file {
        file_size(findings, file);
    }
    for damage in vitals.damage.iter().take(1) {
        let found = vitals.damage.len();
        findings.add(
            "SQL-01",
            format!("the file is damaged (places: {found}, the first: {damage})"),
            "stop all processes, restore the last backup, and compare: sqlite3 jobs.db .recover",
        );
    }
}

fn maintenance(findings: &mut Findings, vitals: &Vitals, overview: &Overview) {
    let since = |at: Timestamp| overview.now.duration_since(at);
    // A node tries to lead with each of its sweeps, and one that has just started may not have swept yet.
    let settled = overview.live_nodes().any(|node| since(node.joined_at) > LEADERLESS);
    let absent = match vitals.leader_until {
        Some(until) => since(until) > LEADERLESS,
        None => true,
    };
    if settled && absent {
        let last = vitals.leader_until.map_or_else(String::new, |at| format!(" since {at}"));
        findings.add(
            "STO-03",
            format!("workers are alive, and none of them leads maintenance{last}"),
            "look for `a sweep failed` in the logs of the workers, and restart one of them",
        );
    }
}

fn schema(findings: &mut Findings, vitals: &Vitals) {
    if !vitals.missing.is_empty() {
        let mut names: Vec<_> = vitals.missing.iter().take(NAMED).map(String::as_str).collect();
        if vitals.missing.len() > NAMED {
            names.push("…");
        }
        findings.add(
            "STO-01",
            format!(
                "tables or indexes are missing or not valid ({}: {})",
                vitals.missing.len(),
                names.join(", ")
            ),
            "create them as the migrations of this version do; `REINDEX INDEX` repairs an index that is not valid",
        );
    }
    if let Some(setting) = &vitals.unsafe_commits {
        findings.add(
            "STO-02",
            format!("commits do not wait for the disk: {setting}"),
            "remove the setting, unless jobs may be lost or run again after a crash of the machine",
        );
    }
}

fn server(findings: &mut Findings, vitals: &Vitals, now: Timestamp) {
    if let Some(open) = vitals.oldest_transaction.as_ref().filter(|it| it.age > LONG_TRANSACTION) {
        let age = SignedDuration::try_from(open.age).unwrap_or(SignedDuration::MAX);
        findings.add(
            "PGS-01",
            format!("a transaction is open for {}: {}", seconds(age), open.session),
            "end it in its program, or with pg_terminate_backend; set idle_in_transaction_session_timeout",
        );
    }
    for table in &vitals.tables {
        if table.dead > DEAD_ROWS && table.dead > table.live.saturating_mul(10) {
            findings.add(
                "PGS-02",
                format!(
                    "table `{}` has {} deleted rows that are not removed, and {} rows",
                    table.table, table.dead, table.live
                ),
                format!("end long transactions (PGS-01), then: VACUUM ratchet.{}", table.table),
            );
        }
    }
    if let Some(why) = &vitals.no_autovacuum {
        findings.add(
            "PGS-03",
            format!("the server does not vacuum: {why}"),
            "enable autovacuum: ALTER SYSTEM SET autovacuum = on, or ALTER TABLE … RESET (autovacuum_enabled)",
        );
    }
    if let Some(it) = vitals.connections.filter(|it| it.open * 100 >= it.limit * CROWDED) {
        findings.add(
            "PGS-04",
            format!("{} of {} connections of the server are in use", it.open, it.limit),
            "lower the number of connections of the programs, use a pooler, or raise max_connections",
        );
    }
    if let Some(host) = &vitals.unencrypted {
        findings.add(
            "PGS-05",
            format!("the connection to the server {host} is not encrypted"),
            "add sslmode=verify-full to the URL, and let pg_hba.conf accept only hostssl",
        );
    }
    if let Some(until) = vitals.partitions_until.filter(|until| *until < now) {
        findings.add(
            "PGS-06",
            format!("no partition covers the present; the last one ended at {until}"),
            "start a worker whose user has the role work; it makes partitions when it leads maintenance",
        );
    }
}

fn file_size(findings: &mut Findings, file: FileSizes) {
    let mebibytes = |bytes: u64| bytes >> 20;
    if file.log > LONG_LOG {
        findings.add(
            "SQL-02",
            format!("the write-ahead log has {} MiB", mebibytes(file.log)),
            "end the process that keeps a read transaction open; the log is then moved to the file",
        );
    }
    if file.free > FREE_SPACE && file.free > file.total / 2 {
        findings.add(
            "SQL-03",
            format!(
                "{} of {} MiB of the file are not used",
                mebibytes(file.free),
                mebibytes(file.total)
            ),
            "stop the workers, and run VACUUM once; the space is used again otherwise",
        );
    }
}

#[cfg(test)]
mod tests {
    use ratchet_store::model::{Connections, OpenTransaction, TableRows};

    use super::*;

    fn found(change: impl FnOnce(&mut Vitals)) -> Vec<&'static str> {
        let mut vitals = Vitals::default();
        change(&mut vitals);
        let mut findings = Findings::default();
        condition(&mut findings, &vitals, &Overview::empty(Timestamp::UNIX_EPOCH));
        findings.0.iter().map(|finding| finding.id).collect()
    }

    fn open(age: Duration) -> OpenTransaction {
        OpenTransaction { age, session: "process 7".to_owned() }
    }

    fn rows(live: u64, dead: u64) -> Vec<TableRows> {
        vec![TableRows { table: "ready".to_owned(), live, dead }]
    }

    fn file(total: u64, free: u64, log: u64) -> FileSizes {
        FileSizes { total: total << 20, free: free << 20, log: log << 20 }
    }

    #[test]
    fn o_11_a_store_in_trouble_is_found() {
        let none: [&str; 0] = [];
        assert_eq!(found(|_| {}), none);
        assert_eq!(found(|it| it.missing = vec!["ready_order".to_owned()]), ["STO-01"]);
        assert_eq!(found(|it| it.unsafe_commits = Some("fsync = off".to_owned())), ["STO-02"]);
        assert_eq!(found(|it| it.oldest_transaction = Some(open(LONG_TRANSACTION))), none);
        assert_eq!(
            found(|it| it.oldest_transaction = Some(open(2 * LONG_TRANSACTION))),
            ["PGS-01"]
        );
        assert_eq!(found(|it| it.tables = rows(0, DEAD_ROWS)), none);
        assert_eq!(found(|it| it.tables = rows(DEAD_ROWS, 2 * DEAD_ROWS)), none);
        assert_eq!(found(|it| it.tables = rows(5, 2 * DEAD_ROWS)), ["PGS-02"]);
        assert_eq!(found(|it| it.no_autovacuum = Some("autovacuum = off".to_owned())), ["PGS-03"]);
        let connections = |open| Some(Connections { open, limit: 100 });
        assert_eq!(found(|it| it.connections = connections(84)), none);
        assert_eq!(found(|it| it.connections = connections(85)), ["PGS-04"]);
        assert_eq!(found(|it| it.unencrypted = Some("10.0.0.7".to_owned())), ["PGS-05"]);
        assert_eq!(found(|it| it.partitions_until = Some(Timestamp::UNIX_EPOCH)), none);
        assert_eq!(found(|it| it.partitions_until = Some(Timestamp::MIN)), ["PGS-06"]);
        assert_eq!(found(|it| it.damage = vec!["row 3 missing".to_owned()]), ["SQL-01"]);
        assert_eq!(found(|it| it.file = Some(file(1000, 500, 256))), none);
        assert_eq!(found(|it| it.file = Some(file(1000, 0, 257))), ["SQL-02"]);
        assert_eq!(found(|it| it.file = Some(file(1000, 501, 0))), ["SQL-03"]);
    }
}
