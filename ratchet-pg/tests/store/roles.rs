//! Users of the database with the rights of one role. The other suites run as `work`.

use std::time::Duration;

use ratchet_core::{Filter, Job as _, JobState, PageRequest, Ratchet};
use ratchet_pg::sqlx::{self, Connection as _, PgConnection};
use ratchet_pg::{DatabaseRole, PgOptions, PgStore};
use ratchet_store::model::CommandError;
use ratchet_store::{Store as _, StoreErrorKind};

use crate::jobs::Greet;
use crate::support::Database;

async fn connect(database: &Database, role: DatabaseRole) -> PgConnection {
    let _ = database.options_as(role).await;
    let options: sqlx::postgres::PgConnectOptions = database.url().parse().expect("a URL");
    let user = format!("{}_{role}", database.name());
    PgConnection::connect_with(&options.username(&user)).await.expect("connects")
}

/// Executes a statement, and returns whether the user has the right to.
async fn may(db: &mut PgConnection, sql: &'static str) -> bool {
    match sqlx::query(sql).execute(db).await {
        Ok(_) => true,
        Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("42501") => false,
        Err(error) => panic!("{sql}: {error}"),
    }
}

async fn ratchet(store: PgStore) -> Ratchet {
    Ratchet::builder(store).jobs([Greet::JOB]).build().await.expect("builds")
}

fn greet() -> Greet {
    Greet { name: "Ada".to_owned() }
}

const ENQUEUE: &str = r#"SELECT ratchet.enqueue('test.greet', '{"name": "Ada"}')"#;

#[tokio::test(flavor = "multi_thread")]
async fn z_09_submit_may_only_call_the_function() {
    let database = Database::take().await;
    let mut db = connect(&database, DatabaseRole::Submit).await;
    assert!(may(&mut db, ENQUEUE).await);
    for denied in [
        "SELECT FROM ratchet.job",
        "INSERT INTO ratchet.queue DEFAULT VALUES",
        "DELETE FROM ratchet.ready",
        "SELECT ratchet.make_parts(604800000000, 0)",
        "SELECT ratchet.drop_part(0, 0)",
        "CREATE TABLE ratchet.mine ()",
    ] {
        assert!(!may(&mut db, denied).await, "{denied}");
    }
    let store = PgStore::open(database.options()).await.expect("opens");
    assert_eq!(store.counts().await.expect("reads").state(JobState::Pending), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn z_09_read_changes_nothing() {
    let database = Database::take().await;
    let owner = ratchet(PgStore::open(database.options()).await.expect("opens")).await;
    let id = owner.enqueue(greet()).await.expect("submits").id();
    let options = database.options_as(DatabaseRole::Read).await;
    let reader = ratchet(PgStore::open(options).await.expect("opens")).await;
    let jobs = reader.jobs().list(&Filter::any(), PageRequest::default()).await.expect("lists");
    assert_eq!(jobs.jobs.len(), 1);
    reader.jobs().explain(id).await.expect("explains");
    reader.diagnose().await.expect("diagnoses");
    let Err(CommandError::Store(denied)) = reader.jobs().cancel(id).await else {
        panic!("it is denied")
    };
    assert_eq!(denied.kind(), StoreErrorKind::Denied, "{denied}");
    assert!(reader.enqueue(greet()).await.is_err());
    assert_eq!(
        owner.jobs().get(id).await.expect("reads").expect("exists").state,
        JobState::Pending
    );
    let mut db = connect(&database, DatabaseRole::Read).await;
    assert!(!may(&mut db, ENQUEUE).await);
    assert!(!may(&mut db, "DELETE FROM ratchet.audit").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn z_09_operate_acts_on_jobs_and_is_no_worker() {
    let database = Database::take().await;
    let store =
        PgStore::open(database.options_as(DatabaseRole::Operate).await).await.expect("opens");
    let operator = ratchet(store.clone()).await;
    let operator = operator.acting_as(ratchet_core::Actor::new("ada").reason("a test"));
    let id = operator.enqueue(greet()).await.expect("submits").id();
    operator.jobs().pause(id).await.expect("pauses");
    operator.jobs().resume(id).await.expect("resumes");
    operator.queues().pause("default").await.expect("pauses");
    operator.queues().resume("default").await.expect("resumes");
    operator.jobs().cancel(id).await.expect("cancels");
    assert!(operator.recorded().is_some(), "changes are recorded");
    let joined = operator.start().await;
    assert!(joined.is_err(), "it cannot start a worker");
    let mut db = connect(&database, DatabaseRole::Operate).await;
    for denied in [
        "DELETE FROM ratchet.audit",
        "UPDATE ratchet.audit SET actor = 'eve'",
        "DELETE FROM ratchet.migration",
        "SELECT ratchet.make_parts(604800000000, 0)",
        "DELETE FROM ratchet.stat",
    ] {
        assert!(!may(&mut db, denied).await, "{denied}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn z_09_work_runs_jobs_and_owns_nothing() {
    let database = Database::take().await;
    // Without partitions, so that the worker makes them. They belong to the owner.
    let store = PgStore::open(database.options_as(DatabaseRole::Work).await).await.expect("opens");
    let runtime = ratchet(store).await;
    let worker = runtime.start().await.expect("starts");
    let said =
        runtime.enqueue(greet()).await.expect("submits").wait_for(Duration::from_secs(30)).await;
    assert_eq!(said.expect("succeeds"), "hello Ada");
    worker.stop().await;
    let mut db = connect(&database, DatabaseRole::Work).await;
    assert!(may(&mut db, "SELECT ratchet.make_parts(3600000000, 7200000000)").await);
    let foreign: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'ratchet' AND tableowner <> 'postgres'",
    )
    .fetch_one(&database.pool)
    .await
    .expect("counts");
    assert_eq!(foreign, 0, "partitions belong to the owner");
    for denied in [
        "DROP TABLE ratchet.job",
        "TRUNCATE ratchet.ready",
        "DELETE FROM ratchet.audit",
        "UPDATE ratchet.audit SET actor = 'eve'",
        "INSERT INTO ratchet.migration (version) VALUES (1000)",
        "CREATE TABLE ratchet.mine ()",
    ] {
        assert!(!may(&mut db, denied).await, "{denied}");
    }
    // The partitions of an hour are not those of the other tests.
    database.execute("DROP SCHEMA ratchet CASCADE").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn z_09_another_role_replaces_the_one_before() {
    let database = Database::take().await;
    let mut db = connect(&database, DatabaseRole::Work).await;
    assert!(may(&mut db, "DELETE FROM ratchet.ready").await);
    let user = format!("{}_work", database.name());
    database.options().grant(DatabaseRole::Submit, &user).await.expect("grants");
    assert!(may(&mut db, ENQUEUE).await);
    for denied in [
        "SELECT FROM ratchet.job",
        "DELETE FROM ratchet.ready",
        "SELECT ratchet.make_parts(604800000000, 0)",
    ] {
        assert!(!may(&mut db, denied).await, "{denied}");
    }
    // Other tests expect that this user has the role in its name.
    database.options().grant(DatabaseRole::Work, &user).await.expect("grants");
}

#[tokio::test(flavor = "multi_thread")]
async fn z_09_migrate_owns_the_schema() {
    let database = Database::take().await;
    let user = format!("{}_migrate", database.name());
    let _ = database.options_as(DatabaseRole::Migrate).await;
    let owned: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_tables WHERE schemaname = 'ratchet' AND tableowner <> $1",
    )
    .bind(&user)
    .fetch_one(&database.pool)
    .await
    .expect("counts");
    assert_eq!(owned, 0, "every table belongs to it");
    let options: sqlx::postgres::PgConnectOptions = database.url().parse().expect("a URL");
    PgOptions::with(options.username(&user)).migrate().await.expect("migrates");
    database.execute("DROP SCHEMA ratchet CASCADE").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn z_09_a_user_that_does_not_exist_is_an_error() {
    let database = Database::take().await;
    for user in ["", "no\"such user"] {
        let error = database.options().grant(DatabaseRole::Read, user).await.expect_err(user);
        assert!(!error.to_string().is_empty());
        assert_ne!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    }
}
