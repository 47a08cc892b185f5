//! What an erasure leaves in the tables.

use ratchet_conformance::{Harness, planted_secrets};

use ratchet_pg::sqlx;

use crate::protected::{dump, hexadecimal};
use crate::support::PgHarness;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn z_12_no_erased_text_is_in_any_table() {
    let pg = PgHarness::fresh().await;
    let ratchet = planted_secrets::runtime(pg.store(), None).await;
    let secrets = planted_secrets::play_for(&ratchet, Some("acme")).await;
    let stored = dump(&pg).await;
    let is_there = |stored: &str, secret: &str| {
        stored.contains(secret) || stored.contains(&hexadecimal(secret))
    };
    let unstored: Vec<_> = secrets.iter().filter(|secret| !is_there(&stored, secret)).collect();
    assert!(unstored.is_empty(), "the search finds what is stored: {unstored:?}");
    let done = planted_secrets::erase(&ratchet, "acme").await;
    let erased = done.erasure.expect("an erasure").erased;
    assert!(erased.jobs > 0 && erased.archived > 0 && erased.keys >= 30, "{erased:?}");
    let stored = dump(&pg).await;
    for secret in secrets.iter().map(String::as_str).chain(["key-1", "logs in with", "got "]) {
        assert!(!is_there(&stored, secret), "{secret}");
    }
}

/// A submit by SQL finds a key of which only the digest is kept.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn z_12_a_digest_is_found_by_sql() {
    use ratchet_core::{ErasureSubject, OperationState};
    let pg = PgHarness::fresh().await;
    let submit = async |payload: &str| {
        let sql = "SELECT ratchet.enqueue('planted.sql', $1::jsonb, idempotency_key => 'once', tenant => 'acme')";
        let id: uuid::Uuid = sqlx::query_scalar(sql)
            .bind(payload)
            .fetch_one(&pg.database.pool)
            .await
            .expect("submits");
        id
    };
    let first = submit("{}").await;
    let ratchet = planted_secrets::runtime(pg.store(), None).await;
    let subject = ErasureSubject::Tenant("acme".to_owned());
    let preview = ratchet.erasures().preview(&subject).await.expect("counts");
    assert_eq!((preview.jobs, preview.keys), (1, 1));
    let started = ratchet.erasures().start(preview).await.expect("starts");
    let worker = ratchet.start().await.expect("starts");
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_mins(1);
    loop {
        let found = ratchet.operations().get(started.id).await.expect("reads").expect("exists");
        if found.state == OperationState::Finished {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{found:?}");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    worker.stop().await;
    assert_eq!(submit("{}").await, first);
    assert_eq!(submit("{\"other\": 1}").await, first, "only the key is compared");
    let rows: i64 = sqlx::query_scalar(
        "SELECT (SELECT count(*) FROM ratchet.idempotency) + (SELECT count(*) FROM ratchet.job)",
    )
    .fetch_one(&pg.database.pool)
    .await
    .expect("counts");
    assert_eq!(rows, 0, "a repeat inserts nothing");
    // The library computes the same digest as the database.
    let digest: Vec<u8> = sqlx::query_scalar("SELECT digest FROM ratchet.erased_key")
        .fetch_one(&pg.database.pool)
        .await
        .expect("reads");
    assert_eq!(digest, ratchet_store::rules::erasure::key_digest(Some("acme"), "once"));
}
