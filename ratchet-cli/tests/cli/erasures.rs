//! Erasures and the deletion of idempotency keys, from the command line.

use ratchet_core::Ratchet;
use ratchet_sqlite::SqliteStore;
use ratchet_store::model::{JobSpec, JobState, NewJob};
use serde_json::Value;

use super::stored::Stored;

/// Submits jobs with a tenant, a correlation id and an idempotency key.
fn submit(stored: &Stored, tenant: &str, keys: &[&str]) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let store = SqliteStore::open(stored.path()).await.expect("opens");
        let ratchet = Ratchet::builder(store).jobs([]).build().await.expect("builds");
        let before = ratchet.jobs().counts().await.expect("counts").state(JobState::Pending);
        let jobs = keys.iter().enumerate().map(|(number, key)| {
            let mut spec = JobSpec::new("stored.deliver", br#"{"to":"a@example.com"}"#.to_vec());
            spec.tenant = Some(tenant.to_owned());
            spec.correlation_id = Some("order-17".to_owned());
            spec.idempotency_key = Some((*key).to_owned());
            let id = format!("019f0000-0000-7000-8000-{:012x}", before + number as u64);
            NewJob::new(id.parse().expect("an id"), spec)
        });
        ratchet.store().insert(jobs.collect()).await.expect("inserts");
    });
}

// spec: Z-12
#[test]
fn z_12_an_erasure_is_previewed_and_started_from_the_command_line() {
    let stored = Stored::new();
    submit(&stored, "acme", &["a", "b"]);
    submit(&stored, "other", &["c"]);
    let text = stored.prints(&["erasures", "preview", "--tenant", "acme"]);
    assert!(text.contains("2 jobs") && text.contains("2 idempotency keys"), "{text}");
    let preview = stored.prints(&["erasures", "preview", "--correlation", "order-17", "--json"]);
    let preview: Value = serde_json::from_str(&preview).expect("JSON");
    assert_eq!((&preview["jobs"], &preview["exact"]), (&3.into(), &true.into()), "{preview}");
    assert_eq!(preview["subject"], "correlation:order-17");
    let (cutoff, digest) = (preview["cutoff"].as_str(), preview["digest"].as_str());
    let (cutoff, digest) = (cutoff.expect("text"), digest.expect("text"));

    let start = ["erasures", "start", "--correlation", "order-17"];
    let with = |more: &[&str]| stored.ratchet(&[&start[..], more].concat());
    let refused = with(&[]);
    assert_eq!(refused.status.code(), Some(1), "it needs --yes: {refused:?}");
    let other = with(&["--yes", "--cutoff", cutoff, "--digest", "0000"]);
    assert!(!other.status.success(), "{other:?}");
    assert!(String::from_utf8_lossy(&other.stderr).contains("preview it again"), "{other:?}");
    let both = stored.ratchet(&["erasures", "preview", "--tenant", "a", "--correlation", "b"]);
    assert_eq!(both.status.code(), Some(2), "{both:?}");

    let started = with(&["--yes", "--cutoff", cutoff, "--digest", digest, "--json"]);
    let started: Value = serde_json::from_slice(&started.stdout).expect("JSON");
    let listed = stored.prints(&["operations", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed[0]["id"], started["id"], "{listed}");
    assert_eq!(listed[0]["erasure"]["phase"], "cancel", "{listed}");
    let trail = stored.prints(&["audit", "list", "--json"]);
    assert!(trail.contains("erasures.start"), "{trail}");
}

// spec: S-03
#[test]
fn s_03_keys_are_deleted_from_the_command_line() {
    let stored = Stored::new();
    submit(&stored, "acme", &["order-1", "order-2", "other-3"]);
    let purge = |more: &[&str]| {
        let args = [&["ledger", "purge", "--older-than", "0s", "--yes", "--json"], more].concat();
        let reply: Value = serde_json::from_str(&stored.prints(&args)).expect("JSON");
        reply["deleted"].as_u64().expect("a number")
    };
    assert_eq!(purge(&["--prefix", "order-"]), 0, "these keys have a tenant");
    assert_eq!(purge(&["--prefix", "order-", "--tenant", "acme"]), 2);
    assert_eq!(purge(&["--tenant", "acme"]), 1);
    assert_eq!(purge(&["--erased"]), 0);
    let refused = stored.ratchet(&["ledger", "purge", "--older-than", "0s"]);
    assert_eq!(refused.status.code(), Some(1), "it needs --yes: {refused:?}");
    let wrong = stored.ratchet(&["ledger", "purge", "--older-than", "long", "--yes"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
}
