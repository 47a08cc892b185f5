//! K-03: the SQL function compares arguments by value, like the library.

use crate::support::Database;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ratchet_pg::PgStore;
use ratchet_store::Store as _;
use ratchet_store::model::{InsertError, Inserted, JobId, JobSpec, NewJob, RepeatCheck};
use ratchet_store::rules::canonical::canonical;
use uuid::Uuid;

/// How many random values are compared.
const VALUES: usize = 2_000;

/// JSON texts, with numbers and strings in several notations.
fn json() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        (-1e300_f64..1e300).prop_map(|number| serde_json::to_string(&number).expect("is finite")),
        ("-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?", -30_i32..30)
            .prop_map(|(digits, exponent)| format!("{digits}e{exponent}")),
        "-?(0|[1-9][0-9]{0,5})\\.[0-9]{0,3}0{1,3}",
    ];
    let text = prop_oneof![
        "[ -~äöü€😀]{0,8}".prop_map(|text| serde_json::to_string(&text).expect("is text")),
        "(\\\\u00[1-9a-fA-F][0-9a-fA-F]|\\\\n|\\\\/|\\\\\"|a){0,4}"
            .prop_map(|text| format!("\"{text}\"")),
    ];
    let keys = "[a-zA-Zäé_0-9 ]{0,6}";
    let leaf = prop_oneof![number, text, Just("null".to_owned()), Just("true".to_owned())];
    leaf.prop_recursive(4, 24, 6, move |inner| {
        let field = (keys, inner.clone())
            .prop_map(|(key, value)| format!("{} : {value}", serde_json::json!(key)));
        prop_oneof![
            prop::collection::vec(inner, 0..5)
                .prop_map(|items| format!("[ {} ]", items.join(" , "))),
            prop::collection::vec(field, 0..5)
                .prop_map(|fields| format!("{{{}}}", fields.join(","))),
        ]
    })
}

#[tokio::test]
async fn k_03_sql_and_the_library_have_the_same_canonical_json() {
    let database = Database::take().await;
    PgStore::open(database.options()).await.expect("opens").close().await;
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let strategy = json();
    let values: Vec<String> =
        (0..VALUES).map(|_| strategy.new_tree(&mut runner).expect("a value").current()).collect();
    let found: Vec<String> = sqlx::query_scalar(
        "SELECT ratchet.canonical(v::jsonb) FROM unnest($1::text[]) WITH ORDINALITY AS t(v, n) ORDER BY n",
    )
    .bind(&values)
    .fetch_all(&database.pool)
    .await
    .expect("is JSON");
    for (value, found) in values.iter().zip(found) {
        assert_eq!(found, canonical(value.as_bytes(), &[]).expect("is JSON"), "{value}");
    }
}

fn job(payload: &str) -> NewJob {
    let mut spec = JobSpec::new("mail", payload.as_bytes().to_vec());
    spec.idempotency_key = Some("once".to_owned());
    NewJob::new(JobId::from_uuid(Uuid::now_v7()), spec)
}

#[tokio::test]
async fn k_03_a_repeat_from_sql_or_rust_is_recognized() {
    for sql_first in [true, false] {
        let database = Database::take().await;
        let store = PgStore::open(database.options()).await.expect("opens");
        let sql = async |payload: &str| {
            sqlx::query_scalar::<_, Uuid>(
                "SELECT ratchet.enqueue('mail', $1::jsonb, idempotency_key => 'once')",
            )
            .bind(payload)
            .fetch_one(&database.pool)
            .await
        };
        let mut with_default = job(r#"{"to":"a","count":1.0,"currency":"CHF"}"#);
        with_default.repeat_check = RepeatCheck::WithoutDefaults(vec!["currency".to_owned()]);
        let text = r#"{"count": 1, "to": "a"}"#;
        let ids = if sql_first {
            let first = sql(text).await.expect("is inserted");
            let again = store.insert(vec![with_default]).await.expect("is a repeat");
            (first, again[0])
        } else {
            let first = store.insert(vec![with_default]).await.expect("is inserted");
            (sql(text).await.expect("is a repeat"), Inserted::Duplicate(first[0].id()))
        };
        assert_eq!(ids.1, Inserted::Duplicate(JobId::from_uuid(ids.0)));
        let other = store.insert(vec![job(r#"{"to":"b","count":1}"#)]).await;
        assert!(matches!(other, Err(InsertError::IdempotencyMismatch { .. })), "{other:?}");
        let other = sql(r#"{"to":"b","count":1}"#).await.expect_err("is a mismatch");
        assert!(other.to_string().contains("was used before"), "{other}");
        store.close().await;
    }
}

#[tokio::test]
async fn s_15_a_digest_of_the_first_format_is_compared_by_its_rule() {
    let database = Database::take().await;
    let store = PgStore::open(database.options()).await.expect("opens");
    let first = job(r#"{"a": 1}"#);
    store.insert(vec![first.clone()]).await.expect("is inserted");
    sqlx::query("UPDATE ratchet.idempotency SET digest = sha256(convert_to('{\"a\": 1}', 'UTF8'))")
        .execute(&database.pool)
        .await
        .expect("is changed");
    let again = store.insert(vec![job(r#"{"a": 1}"#)]).await.expect("is a repeat");
    assert_eq!(again, [Inserted::Duplicate(first.id)]);
    let from_sql: Uuid = sqlx::query_scalar(
        "SELECT ratchet.enqueue('mail', '{\"a\": 1}', idempotency_key => 'once')",
    )
    .fetch_one(&database.pool)
    .await
    .expect("is a repeat");
    assert_eq!(from_sql, first.id.uuid());
    store.close().await;
}

#[tokio::test]
async fn s_15_a_key_from_sql_expires() {
    let database = Database::take().await;
    let store = PgStore::open(database.options()).await.expect("opens");
    let sql = async |arguments: &str| {
        let sql = format!("SELECT ratchet.enqueue('mail', '{{}}', {arguments})");
        sqlx::query_scalar::<_, Uuid>(sqlx::AssertSqlSafe(sql)).fetch_one(&database.pool).await
    };
    let hourly = "idempotency_key => 'once', idempotency_within => '1 hour'";
    let first = sql(hourly).await.expect("is inserted");
    assert_eq!(sql(hourly).await.expect("is a repeat"), first);
    let again = store.insert(vec![job("{}")]).await.expect("is a repeat");
    assert_eq!(again, [Inserted::Duplicate(JobId::from_uuid(first))]);
    let age = sqlx::query("UPDATE ratchet.idempotency SET expires = expires - 3600000000");
    age.execute(&database.pool).await.expect("is changed");
    let second = sql(hourly).await.expect("is inserted");
    assert_ne!(second, first, "the key has expired");
    assert_eq!(sql(hourly).await.expect("is a repeat"), second);
    for (arguments, why) in [
        ("idempotency_within => '1 hour'", "needs an idempotency_key"),
        ("idempotency_key => 'k', idempotency_within => '0'", "must be longer than zero"),
        ("idempotency_key => 'k', idempotency_within => '-1 day'", "must be longer than zero"),
    ] {
        let refused = sql(arguments).await.expect_err(arguments);
        assert!(refused.to_string().contains(why), "{arguments}: {refused}");
    }
    sql("idempotency_key => 'late', idempotency_within => '100000 years'")
        .await
        .expect("is capped");
    store.close().await;
}
