//! No planted secret is printed by the command line. A program of its own, because the other tests register all jobs that
//! they link.

use std::process::Command;
use std::sync::Arc;

use ratchet::{Filter, PageRequest, SqliteStore};
use ratchet_conformance::planted_secrets;

#[test]
fn z_05_no_planted_secret_is_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let (secrets, jobs) = runtime.block_on(async {
        let store = SqliteStore::open(&path).await.expect("opens");
        // Without a keyring, the program could read everything.
        let ratchet = planted_secrets::runtime(Arc::new(store), None).await;
        let secrets = planted_secrets::play(&ratchet).await;
        let page = PageRequest { before: None, limit: 1000 };
        let jobs = ratchet.jobs().list(&Filter::any(), page).await.expect("lists").jobs;
        (secrets, jobs)
    });
    let store = format!("sqlite:{}", path.display());
    let mut printed = String::new();
    let mut print = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ratchet"))
            .env_remove("RATCHET_STORE")
            .env("NO_COLOR", "1")
            .args(["--store", &store])
            .args(args)
            .output()
            .expect("runs");
        printed.push_str(&String::from_utf8_lossy(&output.stdout));
        printed.push_str(&String::from_utf8_lossy(&output.stderr));
    };
    for format in [&[][..], &["--json"], &["--ndjson"], &["--csv"]] {
        let lists: [&[&str]; 12] = [
            &["jobs", "list", "--limit", "1000"],
            &["jobs", "export"],
            &["failures", "list"],
            &["queues", "list"],
            &["schedules", "list"],
            &["flows", "list"],
            &["nodes", "list"],
            &["alerts", "list"],
            &["rejects", "list"],
            &["catalog", "list"],
            &["audit", "list"],
            &["pipelines", "list"],
        ];
        lists.iter().for_each(|list| print(&[*list, format].concat()));
    }
    // Of each way in which a job ends, one job.
    let ends = jobs.iter().filter(|job| job.spec.idempotency_key.is_some()).take(8);
    let after = jobs.iter().filter(|job| job.spec.name == "planted.after").take(1);
    for id in ends.chain(after).map(|job| job.id.to_string()) {
        for verb in ["show", "explain", "runs", "log", "wait"] {
            print(&["jobs", verb, &id]);
            print(&["jobs", verb, &id, "--json"]);
        }
    }
    let found: Vec<_> = secrets.iter().filter(|secret| printed.contains(secret.as_str())).collect();
    assert!(found.is_empty(), "{found:?} in {printed}");
    for expected in ["logs in with ***", "the password is ***", "got ***"] {
        assert!(printed.contains(expected), "`{expected}` is not in {printed}");
    }
}
