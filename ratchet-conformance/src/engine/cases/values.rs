//! Every text and number of a submit, with values at and beyond its limits. All stores must give the answers of
//! `docs/proof/values.md`.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;
use ratchet_core::{Backoff, Enqueue, Missed, Ratchet};
use ratchet_store::model::limits::{self, Field};
use ratchet_store::model::{QueueLimits, Rate};

use crate::engine::fixture::EngineFixture;
use crate::engine::hostile::{self, Nested, deep};
use crate::engine::script::{Script, Step};

/// The page with the answers. `RATCHET_VALUES_DOCS` writes it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/proof/values.md");

type Set<T> = fn(Enqueue<'_, Script>, T) -> Enqueue<'_, Script>;

const TEXTS: [(Field, Set<String>); 7] = [
    (Field::Queue, |job, text| job.queue(text)),
    (Field::BusinessKey, |job, text| job.business_key(text)),
    (Field::IdempotencyKey, |job, text| job.idempotency_key(text)),
    (Field::ConcurrencyKey, |job, text| job.concurrency_key(text, 1)),
    (Field::Tenant, |job, text| job.tenant(text)),
    (Field::CorrelationId, |job, text| job.correlation_id(text)),
    (Field::Tag, |job, text| job.tag(text)),
];

/// Values of a text, with their names in the table.
fn texts(limit: usize) -> [(&'static str, String); 8] {
    [
        ("empty", String::new()),
        ("limit", "a".repeat(limit)),
        ("limit + 1", "a".repeat(limit + 1)),
        ("limit, two bytes each", "ä".repeat(limit / 2)),
        ("1 MB", "a".repeat(1_000_000)),
        ("NUL", "a\0b".to_owned()),
        ("control characters", "a\n\t\u{1b}[31m\u{7f}b".to_owned()),
        ("quotes and spaces", "a 'b' \"c\" % \\ 🦀".to_owned()),
    ]
}

const COUNTS: [(&str, Set<u32>); 2] = [
    ("max_retries", |job, number| job.max_retries(number)),
    ("concurrency limit", |job, number| job.concurrency_key("key", number)),
];

const DURATIONS: [(&str, Set<Duration>); 3] = [
    ("timeout", |job, time| job.timeout(time)),
    ("delay", |job, time| job.delay(time)),
    ("fixed backoff", |job, time| job.backoff(Backoff::fixed(time))),
];

const LENGTHS: [(&str, Duration); 4] = [
    ("0", Duration::ZERO),
    ("1 ns", Duration::from_nanos(1)),
    ("1,000,000 years", Duration::from_hours(24 * 365 * 1_000_000)),
    ("largest", Duration::MAX),
];

/// The rows of the table.
#[derive(Default)]
struct Table(String);

impl Table {
    fn add<E: std::fmt::Display>(&mut self, field: &str, value: &str, answer: Result<(), E>) {
        let answer = answer.map_or_else(|error| error.to_string(), |()| "accepted".to_owned());
        // A message may name characters, which must not break the table.
        let answer = answer.replace('|', "\\|").replace('\n', " ");
        assert!(answer.len() < 1000, "an error does not repeat a megabyte");
        writeln!(self.0, "| {field} | {value} | {answer} |").expect("writes");
    }
}

async fn submits(ratchet: &Ratchet, table: &mut Table) {
    let script = || ratchet.enqueue(Script::of([Step::Ok]));
    for (field, set) in TEXTS {
        for (value, text) in texts(field.limit()) {
            table.add(field.name(), value, set(script(), text).await.map(drop));
        }
    }
    let tags = |count| vec!["tag"; count];
    table.add("tags", "limit", script().tags(tags(limits::TAGS)).await.map(drop));
    table.add("tags", "limit + 1", script().tags(tags(limits::TAGS + 1)).await.map(drop));
    for (number, set) in COUNTS {
        for (value, count) in [("0", 0), ("1", 1), ("largest", u32::MAX)] {
            table.add(number, value, set(script(), count).await.map(drop));
        }
    }
    for (number, set) in DURATIONS {
        for (value, time) in LENGTHS {
            table.add(number, value, set(script(), time).await.map(drop));
        }
    }
    for (value, time) in [("earliest", Timestamp::MIN), ("latest", Timestamp::MAX)] {
        table.add("run_at", value, script().run_at(time).await.map(drop));
    }
    for (value, levels) in [("limit", limits::DEPTH), ("limit + 1", limits::DEPTH + 1)] {
        let nested = Nested { value: deep(levels), levels: 1 };
        table.add("depth of an argument", value, ratchet.enqueue(nested).await.map(drop));
    }
}

async fn groups_and_schedules(ratchet: &Ratchet, table: &mut Table) {
    let job = || Script::of([Step::Ok]);
    for (value, text) in texts(limits::NAME) {
        table.add("group name", value, ratchet.batch(text).job(job()).await.map(drop));
    }
    for (value, text) in texts(limits::NAME) {
        let mut flow = ratchet.workflow("flow");
        flow.step(text, job(), |step| step);
        table.add("step name", value, flow.await.map(drop));
    }
    let schedules = ratchet.schedules();
    for (value, text) in texts(limits::NAME) {
        let declared = schedules.declare(text, "0 3 * * *", job()).await;
        table.add("schedule name", value, declared.map(drop));
    }
    for (value, most) in [("limit", limits::CATCH_UP), ("limit + 1", limits::CATCH_UP + 1)] {
        let declared = schedules.declare("s", "0 3 * * *", job()).missed(Missed::CatchUp(most));
        table.add("missed occurrences", value, declared.await.map(drop));
    }
}

async fn queue_rules(ratchet: &Ratchet, table: &mut Table) {
    let queues = ratchet.queues();
    for (value, text) in texts(limits::NAME) {
        table.add("queue name of `pause`", value, queues.pause(&text).await.map(drop));
    }
    for (value, count) in [("0", 0), ("1", 1), ("largest", u32::MAX)] {
        let mut limits = QueueLimits::default();
        limits.concurrency = Some(count);
        table.add("concurrency of a queue", value, queues.limit("q", limits).await.map(drop));
    }
    for (value, jobs, per) in [
        ("0 per second", 0, Duration::from_secs(1)),
        ("1 per 0 s", 1, Duration::ZERO),
        ("1 per 1 ns", 1, Duration::from_nanos(1)),
        ("largest per longest", u32::MAX, Duration::MAX),
    ] {
        let mut limits = QueueLimits::default();
        limits.rate = Some(Rate { jobs, per });
        table.add("rate of a queue", value, queues.limit("q", limits).await.map(drop));
        let mut limits = QueueLimits::default();
        limits.rate_per_key = Some(Rate { jobs, per });
        table.add("rate per key of a queue", value, queues.limit("q", limits).await.map(drop));
    }
}

const HEAD: &str = "# Texts and numbers at their limits

Each text and number of a submit, a group, a schedule and a queue, with the answer of the library. A value is accepted, or refused with an error that names the field. Memory, SQLite and PostgreSQL must give these answers: the engine
suite compares them with this page (`s_17_values_have_the_documented_answers`). `ratchet-pg/tests/store/sql_limits.rs` compares
the SQL function with the library. Written by
`RATCHET_VALUES_DOCS=1 cargo nextest run -p ratchet-conformance values_have_the_documented`; do not edit.

| field | value | answer |
|---|---|---|
";

pub async fn s_17_values_have_the_documented_answers(fixture: EngineFixture) {
    let ratchet = fixture.builder().jobs(hostile::jobs()).build().await.expect("builds");
    let mut table = Table::default();
    submits(&ratchet, &mut table).await;
    groups_and_schedules(&ratchet, &mut table).await;
    queue_rules(&ratchet, &mut table).await;
    let page = format!("{HEAD}{}", table.0);
    if std::env::var_os("RATCHET_VALUES_DOCS").is_some() {
        std::fs::write(PAGE, page).expect("writes");
        return;
    }
    let documented = std::fs::read_to_string(PAGE).expect("the page is there");
    for (line, expected) in page.lines().zip(documented.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(page.lines().count(), documented.lines().count());
}
