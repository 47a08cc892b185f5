//! S-17: the SQL function refuses the same values as the library, with the same messages.

use crate::support::Database;
use ratchet_core::JobState;
use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::model::limits::{DEPTH, Field, TAGS, check};
use ratchet_store::model::{Filter, PageRequest};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

/// The text arguments of the function, with their fields.
const TEXTS: [(&str, Field); 8] = [
    ("name", Field::JobName),
    ("queue", Field::Queue),
    ("service", Field::Service),
    ("business_key", Field::BusinessKey),
    ("idempotency_key", Field::IdempotencyKey),
    ("tenant", Field::Tenant),
    ("correlation_id", Field::CorrelationId),
    ("tags", Field::Tag),
];

struct Sql {
    database: Database,
}

impl Sql {
    /// Submits with one more argument besides the name. `value` is an SQL expression over `$1`.
    async fn submit(&self, argument: &str, value: &str, text: &str) -> Result<Uuid, sqlx::Error> {
        let name = if argument == "name" { "" } else { "name => 'mail', " };
        let payload = if argument == "payload" { "" } else { "payload => '{}', " };
        let sql = format!(
            "SELECT ratchet.enqueue({name}{payload}{argument} => {value}) WHERE $1 IS NOT NULL"
        );
        sqlx::query_scalar(AssertSqlSafe(sql)).bind(text).fetch_one(&self.database.pool).await
    }

    async fn refusal(&self, argument: &str, value: &str) -> String {
        let refused =
            self.submit(argument, value, "").await.expect_err(&format!("{argument} => {value}"));
        let refused = refused.into_database_error().expect("an answer of the server");
        assert_eq!(refused.code().as_deref(), Some("22023"), "{argument} => {value}: {refused}");
        refused.message().to_owned()
    }
}

async fn sql() -> Sql {
    let database = Database::take().await;
    PgStore::open(database.options()).await.expect("opens").close().await;
    Sql { database }
}

// spec: S-17
#[tokio::test]
async fn s_17_the_sql_function_has_the_limits_of_the_library() {
    let sql = sql().await;
    for (argument, field) in TEXTS {
        let value = if argument == "tags" { "ARRAY[$1]" } else { "$1" };
        let texts = [
            String::new(),
            "a".to_owned(),
            "a".repeat(field.limit()),
            "a".repeat(field.limit() + 1),
            "ä".repeat(field.limit() / 2),
            "a".repeat(1_000_000),
            "tab\tbell\u{7}".to_owned(),
            "with space".to_owned(),
            "naïve".to_owned(),
            "line\nline".to_owned(),
        ];
        for (number, text) in texts.into_iter().enumerate() {
            // Keys must differ from those of earlier submits.
            let what = format!("{argument}, text {number}");
            let answer = sql.submit(argument, value, &text).await;
            match check(field, &text) {
                Ok(()) => drop(answer.expect(&what)),
                Err(error) => {
                    let refused = answer.expect_err(&what).into_database_error().expect(&what);
                    assert_eq!(refused.code().as_deref(), Some("22023"), "{what}");
                    // The library quotes characters in Rust syntax.
                    let (said, expected) = (refused.message(), error.to_string());
                    let head = expected.split(" contains ").next().expect("a text");
                    assert!(said.starts_with(head), "{what}: {said} instead of {expected}");
                }
            }
        }
    }
}

// spec: S-17
#[tokio::test]
async fn s_17_the_sql_function_checks_every_other_argument() {
    let sql = sql().await;
    for (argument, value, message) in [
        ("name", "NULL", "the job name is null"),
        ("payload", "NULL", "the payload is null: a job without arguments has the payload {}"),
        ("priority", "5", "priority is 0 (lowest) to 4 (critical)"),
        ("priority", "-1", "priority is 0 (lowest) to 4 (critical)"),
        ("version", "-1", "the version is -1 and must not be negative"),
        ("run_at", "'infinity'", "run_at is infinity, which is no time that a job can wait for"),
        ("run_at", "'-infinity'", "run_at is -infinity, which is no time that a job can wait for"),
        (
            "expires_at",
            "'infinity'",
            "expires_at is infinity, which is no time at which a job can expire",
        ),
        ("tags", "ARRAY[NULL]::text[]", "the tag is null"),
        ("tags", "ARRAY[['a'], ['b']]", "tags is an array of arrays; it must be a list of texts"),
        ("tags", "array_fill('a'::text, ARRAY[101])", "the tag is one of 101, the limit is 100"),
    ] {
        assert_eq!(sql.refusal(argument, value).await, message, "{argument} => {value}");
    }
    assert_eq!(TAGS, 100);
    let nested = |levels: usize, inner: &str| {
        format!("'{}{inner}{}'", "[".repeat(levels), "]".repeat(levels))
    };
    let deep = sql.refusal("payload", &nested(DEPTH + 2, "")).await;
    assert_eq!(deep, "the payload is nested deeper than 101 levels");
    for inner in ["", "7"] {
        sql.submit("payload", &nested(DEPTH + 1, inner), "").await.expect("is within the limit");
    }
    let large = sql.refusal("payload", "to_jsonb(repeat('a', 102400))").await;
    assert_eq!(large, "the payload has 102402 bytes, the limit is 102400");
    sql.submit("payload", "to_jsonb(repeat('a', 102398))", "").await.expect("is within the limit");
    for argument in ["queue", "priority", "version", "tags"] {
        sql.submit(argument, "NULL", "").await.expect("null means what the job declares");
    }
    sql.submit("run_at", "'9999-12-01'", "").await.expect("a time");
}

// spec: S-17
#[tokio::test]
async fn s_17_what_the_sql_function_accepts_can_be_read_back() {
    let sql = sql().await;
    let store = PgStore::open(sql.database.options()).await.expect("opens");
    for (argument, value) in [
        ("tags", "array_fill(repeat('a', 500), ARRAY[100])"),
        ("payload", "'{\"deep\": [[[[1]]]]}'"),
        ("run_at", "'4000-01-01 BC'"),
        ("run_at", "'9999-12-01'"),
        ("version", "2147483647"),
        ("expires_at", "'9999-12-01'"),
        ("expires_at", "'0001-06-01'"),
    ] {
        sql.submit(argument, value, "").await.expect("accepted");
    }
    let page = PageRequest { before: None, limit: 100 };
    let jobs = store.list(&Filter::any(), page).await.expect("lists").jobs;
    assert_eq!(jobs.len(), 7);
    assert_eq!(store.count_unreadable().await.expect("counts"), 0);
    assert_eq!(store.counts().await.expect("counts").state(JobState::Pending), 7);
}

// spec: L-10
#[tokio::test]
async fn l_10_a_job_from_sql_expires() {
    let sql = sql().await;
    let store = PgStore::open(sql.database.options()).await.expect("opens");
    let instant = "2100-02-03T04:05:06.789012Z";
    let id = sql.submit("expires_at", &format!("'{instant}'"), "").await.expect("accepted");
    let past = sql.submit("expires_at", "now() - interval '1 second'", "").await.expect("accepted");
    let id = ratchet_store::model::JobId::from_uuid(id);
    let job = store.get(id).await.expect("reads").expect("exists");
    assert_eq!(job.expires_at(), Some(instant.parse().expect("a time")));
    let filter = Filter::any().expires_by(store.now().await.expect("tells the time"));
    let expired = store.list(&filter, PageRequest::default()).await.expect("lists").jobs;
    assert_eq!(expired.iter().map(|job| job.id.uuid()).collect::<Vec<_>>(), [past]);
}

// spec: S-17
#[tokio::test]
async fn s_17_the_limit_of_a_payload_can_be_set() {
    let sql = sql().await;
    let mut db = sql.database.pool.acquire().await.expect("connects");
    sqlx::query("SET ratchet.payload_limit = 10").execute(&mut *db).await.expect("sets");
    let submit = "SELECT ratchet.enqueue('mail', '{\"a\": \"0123456789\"}')";
    let refused = sqlx::query(submit).execute(&mut *db).await.expect_err("too large");
    assert!(refused.to_string().contains("the limit is 10"), "{refused}");
    sqlx::query("RESET ratchet.payload_limit").execute(&mut *db).await.expect("resets");
    sqlx::query(submit).execute(&mut *db).await.expect("fits");
}

/// A program in another language has only the guide.
#[tokio::test]
async fn the_guide_lists_every_argument_of_the_sql_function() {
    let sql = sql().await;
    let names = "SELECT unnest(proargnames) FROM pg_proc WHERE oid = 'ratchet.enqueue'::regproc";
    let names: Vec<String> =
        sqlx::query_scalar(names).fetch_all(&sql.database.pool).await.expect("reads");
    assert!(names.len() >= 12, "{names:?}");
    let guide = include_str!("../../../ratchet/docs/guide/sql.md");
    let rows: Vec<_> = guide.lines().filter(|line| line.starts_with("| `")).collect();
    for name in names {
        let quoted = format!("`{name}`");
        assert!(rows.iter().any(|row| row.contains(&quoted)), "the guide does not list {quoted}");
    }
}
