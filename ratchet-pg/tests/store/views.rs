//! The views for people say what the library says about the same rows.

use std::sync::Arc;

use ratchet_conformance::views;
use ratchet_pg::{DatabaseRole, PgStore};
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgPool};

use crate::support::Database;

async fn view(pool: &PgPool, name: &str, columns: &[&str]) -> Vec<Value> {
    let select = format!("SELECT to_jsonb(v)::text FROM ratchet.{name} v");
    let rows: Vec<String> =
        sqlx::query_scalar(AssertSqlSafe(select)).fetch_all(pool).await.expect(name);
    let rows = rows.iter().map(|row| serde_json::from_str(row).expect("JSON"));
    views::read(rows.collect(), columns)
}

// spec: O-03
#[tokio::test(flavor = "multi_thread")]
async fn views_say_what_the_library_says() {
    let database = Database::take().await;
    let store = PgStore::open(database.options()).await.expect("opens");
    let ratchet = views::populate(Arc::new(store.clone())).await;
    let _ = database.options_as(DatabaseRole::Read).await;
    let connect: sqlx::postgres::PgConnectOptions = database.url().parse().expect("a URL");
    let reader = connect.username(&format!("{}_read", database.name()));
    let pool = PgPool::connect_with(reader).await.expect("connects");
    let jobs = view(&pool, "v_jobs", &views::JOB_COLUMNS).await;
    assert_eq!(jobs, views::jobs(&ratchet).await);
    let failures = view(&pool, "v_failures", &views::FAILURE_COLUMNS).await;
    assert_eq!(failures, views::failures(&ratchet).await);
    let queues = view(&pool, "v_queues", &views::QUEUE_COLUMNS).await;
    assert_eq!(queues, views::queues(&ratchet, &store).await);
    let nodes = view(&pool, "v_nodes", &views::NODE_COLUMNS).await;
    assert_eq!(nodes, views::nodes(&ratchet).await);
}

/// One damaged row must not make a view unusable.
#[tokio::test(flavor = "multi_thread")]
async fn c_07_views_show_damaged_rows() {
    let database = Database::take().await;
    let store = PgStore::open(database.options()).await.expect("opens");
    let _ratchet = views::populate(Arc::new(store)).await;
    database
        .execute("UPDATE ratchet.job SET payload = '\\xff', queued_at = 9223372036854775807")
        .await;
    database.execute("UPDATE ratchet.outcome SET envelope = '{', output = '{'").await;
    let rows: Vec<(Option<bool>, String)> =
        sqlx::query_as("SELECT queued_at IS NULL, arguments::text FROM ratchet.v_jobs")
            .fetch_all(&database.pool)
            .await
            .expect("reads");
    assert_eq!(rows.len(), 9);
    assert!(rows.iter().all(|row| *row == (Some(true), "\"***\"".to_owned())), "{rows:?}");
    let failed: i64 = sqlx::query_scalar("SELECT sum(jobs)::bigint FROM ratchet.v_failures")
        .fetch_one(&database.pool)
        .await
        .expect("reads");
    assert_eq!(failed, 2);
}

/// The views run with the rights of their owner.
#[tokio::test(flavor = "multi_thread")]
async fn z_09_nothing_is_changed_through_a_view() {
    let database = Database::take().await;
    let updatable: Vec<String> = sqlx::query_scalar(
        "SELECT table_name::text FROM information_schema.tables
         WHERE table_schema = 'ratchet' AND table_type = 'VIEW' AND is_insertable_into = 'YES'
         UNION ALL SELECT table_name::text FROM information_schema.views
         WHERE table_schema = 'ratchet' AND is_updatable = 'YES'",
    )
    .fetch_all(&database.pool)
    .await
    .expect("reads");
    assert!(updatable.is_empty(), "{updatable:?}");
}
