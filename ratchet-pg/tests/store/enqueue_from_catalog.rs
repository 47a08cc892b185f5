//! K-02: a submit by the SQL function gets what a submit from Rust gets.

use std::fmt::Write as _;
use std::time::Duration;

use ratchet_contract::Contract;
use ratchet_core::{Job as _, JobId, Ratchet, Sign};
use ratchet_macros::job;
use ratchet_pg::PgStore;
use ratchet_store::model::{Filter, JobSpec, PageRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::Database;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line {
    sku: String,
    price: Price,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Price {
    Free,
    Cents(u32),
}

#[job(
    name = "sql.mail",
    alias = "sql.letter",
    version = 3,
    queue = "mail",
    priority = high,
    max_retries = 7,
    timeout = "11s",
    delay = "5s",
    expires_in = "2h",
    tags("customer"),
    business_key = "order-{order}",
    idempotency_key = "mail-{to}-{urgent}",
    idempotency_within = "1h",
    concurrency_key = "to-{to}",
    concurrency_limit = 3,
    on_success = Cleanup,
    crate = ::ratchet_core
)]
async fn mail(
    to: String,
    order: u64,
    urgent: bool,
    #[job(default = 3)] copies: u8,
    lines: Vec<Line>,
    remark: Option<String>,
) {
    drop((to, order, urgent, copies, lines, remark));
}

#[job(name = "sql.cleanup", single_instance, crate = ::ratchet_core)]
async fn cleanup() {}

#[job(name = "sql.event", ordered_by = "account-{account}", crate = ::ratchet_core)]
async fn event(account: u64, number: u32) {
    assert!(account == 7 && number < 4);
}

fn message(to: &str) -> Mail {
    let lines = vec![Line { sku: "a".to_owned(), price: Price::Cents(250) }];
    Mail { to: to.to_owned(), order: 7, urgent: true, copies: 3, lines, remark: None }
}

fn arguments(to: &str) -> Value {
    json!({ "to": to, "order": 7, "urgent": true, "lines": [{ "sku": "a", "price": { "Cents": 250 } }] })
}

struct Programs {
    database: Database,
    /// The program with the code, whose worker has recorded its jobs.
    ratchet: Ratchet,
}

async fn programs() -> Programs {
    let database = Database::take().await;
    let store = PgStore::open(database.options()).await.expect("opens");
    let builder =
        Ratchet::builder(store).jobs([Mail::JOB, Cleanup::JOB, Event::JOB]).drain_and_exit();
    let ratchet = builder.build().await.expect("builds");
    ratchet.start().await.expect("starts").stopped().await;
    Programs { database, ratchet }
}

impl Programs {
    /// Submits with the SQL function, which does not allow unknown names.
    async fn sql(&self, arguments: &str) -> Result<JobId, String> {
        let mut tx = self.database.pool.begin().await.expect("begins");
        let strict = sqlx::query("SET LOCAL ratchet.allow_unknown = off");
        strict.execute(&mut *tx).await.expect("sets");
        let sql = sqlx::AssertSqlSafe(format!("SELECT ratchet.enqueue({arguments})"));
        let id: Result<Uuid, _> = sqlx::query_scalar(sql).fetch_one(&mut *tx).await;
        let id = id.map_err(|error| {
            error.into_database_error().expect("an answer").message().to_owned()
        })?;
        tx.commit().await.expect("commits");
        Ok(JobId::from_uuid(id))
    }

    async fn spec(&self, id: JobId) -> (JobSpec, Duration) {
        let job = self.ratchet.jobs().get(id).await.expect("reads").expect("exists");
        let delay = job.due.duration_since(job.queued_at).unsigned_abs();
        let mut spec = (*job.spec).clone();
        let payload: Value = serde_json::from_slice(&spec.payload).expect("JSON");
        spec.payload = payload.to_string().into_bytes();
        (spec, delay)
    }

    async fn count(&self) -> usize {
        let page = PageRequest { before: None, limit: 100 };
        self.ratchet.jobs().list(&Filter::any(), page).await.expect("lists").jobs.len()
    }
}

// spec: K-02
#[tokio::test(flavor = "multi_thread")]
async fn k_02_a_submit_by_sql_gets_what_a_rust_submit_gets() {
    let programs = programs().await;
    let ours = programs.ratchet.enqueue(message("ada")).await.expect("enqueues").id();
    let mut given = arguments("ada");
    let theirs = programs.sql(&format!("'sql.mail', '{given}'")).await.expect("fits");
    assert_eq!(theirs, ours, "the key and the digest are the same; the default does not count");
    given["copies"] = json!(3);
    let theirs = programs.sql(&format!("'sql.letter', '{given}'")).await.expect("fits");
    assert_eq!(theirs, ours, "also under the alias, and with the default");
    given["copies"] = json!(4);
    let other = programs.sql(&format!("'sql.mail', '{given}'")).await.expect_err("is a mismatch");
    assert!(other.contains("was used before"), "{other}");

    // The same options, except what differs on purpose: SQL first, in another tenant.
    let given = arguments("ada");
    let sql = format!("'sql.mail', '{given}', tenant => 'acme', tags => '{{extra}}'");
    let theirs = programs.sql(&sql).await.expect("fits");
    let (mut theirs, delay) = programs.spec(theirs).await;
    let (mut ours, our_delay) = programs.spec(ours).await;
    assert_eq!(delay, our_delay);
    assert_eq!(theirs.tags, ["customer", "extra"]);
    (theirs.tenant, theirs.tags) = (None, ours.tags.clone());
    let mut payload: Value = serde_json::from_slice(&ours.payload).expect("JSON");
    payload.as_object_mut().expect("an object").remove("copies");
    ours.payload = payload.to_string().into_bytes();
    assert_eq!(theirs, ours);
    assert_eq!(ours.business_key.as_deref(), Some("order-7"));
    assert_eq!(ours.concurrency.as_ref().expect("a key").limit, 3);
    let moving: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM ratchet.scheduled s JOIN ratchet.expiry e ON e.job = s.job \
         WHERE keyed AND ckey = 'to-ada' AND climit = 3 AND e.at > s.due",
    )
    .fetch_one(&programs.database.pool)
    .await
    .expect("counts");
    assert_eq!(moving, 2, "both can be claimed and expire");
    let lifetimes: Vec<Option<i64>> =
        sqlx::query_scalar("SELECT expires / 600000000 FROM ratchet.idempotency")
            .fetch_all(&programs.database.pool)
            .await
            .expect("reads");
    assert!(lifetimes[0].is_some() && lifetimes.len() == 2, "{lifetimes:?}");

    let ours = programs.ratchet.enqueue(Cleanup {}).await.expect("enqueues").id();
    let theirs = programs.sql("'sql.cleanup', '{}'").await.expect("fits");
    assert_eq!(programs.spec(theirs).await, programs.spec(ours).await);
    let from_catalog = programs.ratchet.enqueue_from_catalog("sql.cleanup", &json!({})).await;
    let from_catalog = from_catalog.expect("fits").await.expect("enqueues").id();
    assert_eq!(programs.spec(from_catalog).await, programs.spec(ours).await);

    // What the caller passes takes precedence.
    let sql = format!(
        "'sql.mail', '{}', queue => 'slow', priority => 0, idempotency_key => 'own', business_key => 'own', \
         run_at => '2030-01-01', service => 'smtp'",
        arguments("eve"),
    );
    let (spec, delay) = programs.spec(programs.sql(&sql).await.expect("fits")).await;
    assert_eq!((spec.queue.as_str(), spec.priority.level()), ("slow", 0));
    assert_eq!(spec.idempotency_key.as_deref(), Some("own"));
    assert_eq!(spec.business_key.as_deref(), Some("own"));
    assert!(delay > Duration::from_hours(24) && spec.service.as_deref() == Some("smtp"));
}

// spec: K-02
#[tokio::test(flavor = "multi_thread")]
async fn k_02_sql_refuses_what_a_rust_submit_refuses() {
    let programs = programs().await;
    for (pointer, value, mistake) in [
        ("/to", json!(7), "$.to must be a string, not a number"),
        (
            "/lines/0/price",
            json!({ "Cents": -1 }),
            "$.lines[0].price.Cents must be a whole number from 0 to 4294967295",
        ),
        ("/lines/0/price", json!("Gratis"), "$.lines[0].price must be one of Free, Cents"),
        (
            "/order",
            json!(1.5),
            "$.order must be a whole number from 0 to 18446744073709551615, not a number with a fraction",
        ),
    ] {
        let mut given = arguments("ada");
        *given.pointer_mut(pointer).expect("is there") = value;
        let refused =
            programs.sql(&format!("'sql.mail', '{given}'")).await.expect_err("is refused");
        assert_eq!(refused, format!("cannot enqueue `sql.mail`: {mistake}"));
        let ours =
            programs.ratchet.catalog().get("sql.mail").await.expect("reads").expect("is there");
        let contract: Contract = ours
            .record
            .entry
            .shape
            .expect("a contract")
            .as_str()
            .expect("text")
            .parse()
            .expect("parses");
        let found = contract.jobs["sql.mail"].check(&given).expect_err("is refused");
        assert_eq!(found.to_string(), mistake);
    }
    let mut more = arguments("ada");
    more["cc"] = json!("bob");
    let refused = programs.sql(&format!("'sql.mail', '{more}'")).await.expect_err("is refused");
    assert!(
        refused.contains(
            "$.cc is not known; the fields are: to, order, urgent, copies, lines, remark"
        ),
        "{refused}"
    );
    let refused = programs.sql("'sql.mail', '[]'").await.expect_err("is refused");
    assert!(refused.contains("$ must be an object, not an array"), "{refused}");
    let large = "a".repeat(102_400);
    let refused = programs.sql(&format!("'sql.mail', '{}'", arguments(&large))).await;
    assert!(refused.expect_err("is refused").contains("the limit is"));
    let refused = programs.sql("'sql.unknown', '{}'").await.expect_err("is refused");
    assert!(
        refused.contains("no program of the cluster has recorded a job with that name"),
        "{refused}"
    );
    assert_eq!(programs.count().await, 0, "nothing is inserted");

    // Another version of the arguments cannot be checked, and derives no keys.
    let old = programs.sql("'sql.mail', '{\"from\": 1}', version => 2").await.expect("is inserted");
    assert_eq!(programs.spec(old).await.0.version, 2);
    // The caller can allow an unknown name.
    let mut tx = programs.database.pool.begin().await.expect("begins");
    sqlx::query("SET LOCAL ratchet.allow_unknown = on").execute(&mut *tx).await.expect("sets");
    let id: Uuid = sqlx::query_scalar("SELECT ratchet.enqueue('sql.unknown', '{\"a\": 1}')")
        .fetch_one(&mut *tx)
        .await
        .expect("is inserted");
    tx.commit().await.expect("commits");
    let spec = programs.spec(JobId::from_uuid(id)).await.0;
    assert_eq!(spec, JobSpec::new("sql.unknown", br#"{"a":1}"#.to_vec()), "with default options");
}

// spec: Z-02
#[tokio::test(flavor = "multi_thread")]
async fn z_02_sql_refuses_a_job_that_must_be_signed() {
    let database = Database::take().await;
    for (sign, accepted) in [(Sign::Required, false), (Sign::AcceptUnsigned, true)] {
        let store = PgStore::open(database.options()).await.expect("opens");
        let builder = Ratchet::builder(store).jobs([Cleanup::JOB]).drain_and_exit();
        let builder = builder.keyring(ratchet_conformance::planted_secrets::keyring()).sign(sign);
        let ratchet = builder.build().await.expect("builds");
        database.advance(Duration::from_secs(1)).await;
        ratchet.start().await.expect("starts").stopped().await;
        let submit = sqlx::query("SELECT ratchet.enqueue('sql.cleanup', '{}')");
        match submit.execute(&database.pool).await {
            Ok(_) => assert!(accepted),
            Err(refused) => {
                let refused = refused.into_database_error().expect("an answer");
                assert!(!accepted && refused.message().contains("SQL cannot sign"), "{refused}");
                assert_eq!(refused.code().as_deref(), Some("0A000"));
            }
        }
    }
}

/// A generator of numbers, so that a case can be repeated.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most as u64).expect("is small")
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// Names of fields, types and variants. Some need quotes.
const NAMES: [&str; 8] = ["a", "b", "to", "Kind", "content-type", "9", "naïve \"x\"", "line\nline"];

/// Writes a random shape in the notation of the lock file.
fn shape(random: &mut Random, depth: usize) -> String {
    let plain = [
        "any",
        "null",
        "bool",
        "u8",
        "i16",
        "u32",
        "i64",
        "u64",
        "i128",
        "u128",
        "f64",
        "char",
        "string",
        "string(uuid)",
        "string(date)",
    ];
    if depth == 0 {
        return random.one(&plain).to_owned();
    }
    match random.below(11) {
        0 => format!("{}?", shape(random, depth - 1)),
        1 | 2 => format!("[{}]", shape(random, depth - 1)),
        3 => {
            let items: Vec<_> = (0..=random.below(3)).map(|_| shape(random, depth - 1)).collect();
            format!("({},)", items.join(", "))
        }
        4 => format!(
            "{{{}: {}}}",
            random.one(&["string", "u8", "i64", "i128"]),
            shape(random, depth - 1)
        ),
        5 => format!("<{} | {}>", shape(random, depth - 1), shape(random, depth - 1)),
        6..=8 => format!(
            "${}",
            random.one(&[
                "Struct", "Closed", "External", "Open", "Internal", "Adjacent", "Tree", "Missing"
            ])
        ),
        _ => random.one(&plain).to_owned(),
    }
}

fn field(random: &mut Random, depth: usize, name: &str) -> String {
    let alias = if random.chance(20) { "|alias" } else { "" };
    let optional = if random.chance(30) { "?" } else { "" };
    format!("{}{alias}{optional}: {}", json!(name), shape(random, depth))
}

/// Returns a lock file with one job, and its types.
fn lock(random: &mut Random) -> String {
    let mut text = String::from("# ratchet.lock 1\n\njob random\n  version 1\n  queue default\n");
    for (number, name) in NAMES.iter().enumerate() {
        if random.chance(35) {
            let optional = if random.chance(30) { "?" } else { "" };
            let _ = writeln!(text, "  arg {}{optional}: {}", json!(name), shape(random, 3));
            if number % 3 == 0 && random.chance(50) {
                let _ = writeln!(text, "    alias former{number}");
            }
        }
    }
    for (name, closed) in [("Struct", ""), ("Closed", " closed")] {
        let _ = writeln!(text, "  type {name} struct{closed}");
        for field_name in ["a", "content-type"] {
            let _ = writeln!(text, "    {}", field(random, 1, field_name));
        }
    }
    for (name, kind) in [
        ("External", "enum"),
        ("Open", "enum open"),
        ("Internal", "enum tag \"kind of\""),
        ("Adjacent", "enum tag t content c"),
    ] {
        let _ = writeln!(text, "  type {name} {kind}");
        let _ = writeln!(text, "    Unit");
        let _ = writeln!(
            text,
            "    Value({})",
            if random.chance(30) { "$Struct".to_owned() } else { shape(random, 1) }
        );
        let _ = writeln!(text, "    Pair({}, {})", shape(random, 0), shape(random, 1));
        let closed = if random.chance(50) { " closed" } else { "" };
        let _ = writeln!(
            text,
            "    Named{closed} {{ {}, {} }}",
            field(random, 1, "a"),
            field(random, 0, "b c")
        );
    }
    text.push_str("  type Tree struct\n    value: u8\n    children: [$Tree]\n");
    text
}

/// Returns a value that may fit: built along the names of the lock file, with mistakes.
fn value(random: &mut Random, depth: usize) -> Value {
    let texts = [
        "",
        "ä",
        "text",
        "Unit",
        "Value",
        "Named",
        "Pair",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "urn:uuid:67e5504410b1426f9247bb680e5fe0c8",
        "{67e55044-10b1-426f-9247-bb680e5fe0c8}",
        "{",
        "67e55044",
    ];
    match random.below(if depth == 0 { 9 } else { 16 }) {
        0 => Value::Null,
        1 => json!(random.chance(50)),
        2 => json!(random.next() % 300),
        3 => json!(i64::MIN),
        4 => json!(u64::MAX),
        5 => json!(-i64::try_from(random.next() % 40_000).expect("is small")),
        6 => json!([0.5, -1.25, 1.0, 1e30, 3.5e-7][random.below(5)]),
        7 | 8 => json!(random.one(&texts)),
        9 | 10 => (0..random.below(3)).map(|_| value(random, depth - 1)).collect(),
        11 => {
            json!({ random.one(&["Unit", "Value", "Pair", "Named", "Other"]): value(random, depth - 1) })
        }
        12 => json!({ "t": random.one(&texts), "c": value(random, depth - 1) }),
        13 => {
            json!({ "kind of": random.one(&texts), "a": value(random, depth - 1), "b c": value(random, 0) })
        }
        14 => json!({ "value": random.below(300), "children": [value(random, depth - 1)] }),
        _ => {
            let keys =
                ["a", "b c", "content-type", "alias", "7", "-7", "+7", "007", "300", "x y", "é"];
            (0..random.below(4))
                .map(|_| (random.one(&keys).to_owned(), value(random, depth - 1)))
                .collect()
        }
    }
}

/// Returns arguments for a random job.
fn random_arguments(random: &mut Random, contract: &Contract) -> Value {
    if random.chance(2) {
        return value(random, 1);
    }
    let mut given = serde_json::Map::new();
    for argument in &contract.jobs["random"].arguments {
        if argument.required || random.chance(60) {
            let name =
                argument.aliases.first().filter(|_| random.chance(30)).unwrap_or(&argument.name);
            let mut alone = contract.jobs["random"].clone();
            alone.arguments = vec![argument.clone()];
            // Several tries, so that more than the first argument fits.
            let mut found = value(random, 3);
            for _ in 0..12 {
                if alone.check(&json!({ &argument.name: found })).is_ok() {
                    break;
                }
                if random.chance(3) {
                    break;
                }
                found = value(random, 3);
            }
            given.insert(name.clone(), found);
        }
    }
    if random.chance(5) {
        given.insert("not an argument".to_owned(), Value::Null);
    }
    Value::Object(given)
}

// spec: K-02
#[tokio::test]
async fn k_02_sql_and_rust_find_the_same_mistakes() {
    let database = Database::take().await;
    let seed = std::env::var("RATCHET_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut random = Random(seed);
    let (mut contracts, mut values, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    let mut texts = Vec::new();
    for _ in 0..150 {
        let text = lock(&mut random);
        let contract: Contract = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
        let job = &contract.jobs["random"];
        for _ in 0..12 {
            let given = random_arguments(&mut random, &contract);
            expected.push(job.check(&given).err().map(|mistake| (mistake.path, mistake.problem)));
            contracts.push(job.compiled().to_string());
            values.push(given.to_string());
            texts.push(text.clone());
        }
    }
    let found: Vec<Option<Vec<String>>> = sqlx::query_scalar(
        "SELECT ratchet.check_fields(n.contract -> 'types', n.contract -> 'arguments', n.value, '$', NULL) \
         FROM unnest($1::jsonb[], $2::jsonb[]) WITH ORDINALITY AS n(contract, value, at) ORDER BY n.at",
    )
    .bind(&contracts)
    .bind(&values)
    .fetch_all(&database.pool)
    .await
    .expect("checks");
    let accepted = expected.iter().filter(|mistake| mistake.is_none()).count();
    assert!((100..expected.len() - 100).contains(&accepted), "{accepted} of {}", expected.len());
    for (at, (found, expected)) in found.into_iter().zip(expected).enumerate() {
        let found = found.map(|found| (found[0].clone(), found[1].clone()));
        let case = || format!("seed {seed}, case {at}: {} for {}", values[at], texts[at]);
        let paths =
            |mistake: &Option<(String, String)>| mistake.as_ref().map(|mistake| mistake.0.clone());
        assert_eq!(
            paths(&found),
            paths(&expected),
            "{found:?} instead of {expected:?}; {}",
            case()
        );
        // A number beyond 64 bits is a number with a fraction for Rust.
        if let (Some(found), Some(expected)) = (found, expected)
            && !expected.1.ends_with("with a fraction")
        {
            assert_eq!(found, expected, "{}", case());
        }
    }
}

// spec: K-02
#[tokio::test]
async fn k_02_deep_arguments_are_checked() {
    let database = Database::take().await;
    let lock = "# ratchet.lock 1\n\njob deep\n  version 1\n  queue default\n  arg tree: $Tree\n  type Tree struct\n    value: u8\n    child?: $Tree?\n";
    let contract: Contract = lock.parse().expect("parses");
    let mut tree = json!({ "value": 256 });
    for _ in 0..98 {
        tree = json!({ "value": 1, "child": tree });
    }
    let given = json!({ "tree": tree });
    let mistake = contract.jobs["deep"].check(&given).expect_err("is refused");
    let found: Vec<String> = sqlx::query_scalar(
        "SELECT ratchet.check_fields($1::jsonb -> 'types', $1::jsonb -> 'arguments', $2::jsonb, '$', NULL)",
    )
    .bind(contract.jobs["deep"].compiled().to_string())
    .bind(given.to_string())
    .fetch_one(&database.pool)
    .await
    .expect("checks");
    assert_eq!(found[0], mistake.path);
}

// spec: Q-07
#[tokio::test(flavor = "multi_thread")]
async fn q_07_submits_by_sql_and_from_rust_have_one_order() {
    let programs = programs().await;
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(if number % 2 == 0 {
            let arguments = json!({ "account": 7, "number": number });
            programs.sql(&format!("'sql.event', '{arguments}'")).await.expect("enqueues")
        } else {
            let event = Event { account: 7, number };
            programs.ratchet.enqueue(event).await.expect("enqueues").id()
        });
    }
    for pair in ids.windows(2) {
        let job = programs.ratchet.jobs().get(pair[1]).await.expect("reads").expect("exists");
        assert_eq!(job.wait.and_then(|wait| wait.follows), Some(pair[0]));
    }
    let (by_sql, by_rust) = (programs.spec(ids[2]).await.0, programs.spec(ids[3]).await.0);
    assert_eq!((by_sql.step, by_sql.concurrency), (by_rust.step, by_rust.concurrency));
    programs.ratchet.start().await.expect("starts").stopped().await;
    let mut starts = Vec::new();
    for id in &ids {
        let job = programs.ratchet.jobs().get(*id).await.expect("reads").expect("exists");
        starts.push((job.started_at.expect("it has run"), *id));
    }
    starts.sort_unstable();
    assert_eq!(starts.into_iter().map(|(_, id)| id).collect::<Vec<_>>(), ids);
}
