//! Jobs whose code has changed since their rows were stored.

mod logs;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use logs::Logs;
use ratchet::definition::Registration;
use ratchet::manage::{Explanation, Waiting};
use ratchet::prelude::*;
use ratchet::{JobState, MemoryStore, State, SubmitError};
use tokio::sync::Notify;

type Seen = Arc<Mutex<Vec<String>>>;

/// Holds a run until the test ends it.
#[derive(Default)]
struct Release {
    started: Notify,
    end: Notify,
}

/// The version that stored the rows.
mod old {
    use super::*;

    #[job(name = "shop.mail")]
    pub(crate) async fn mail(to: String, cc: Option<String>) {
        let _ = (to, cc);
    }

    #[job(name = "shop.reindex", single_instance)]
    pub(crate) async fn reindex(#[inject] release: State<Release>) {
        release.started.notify_one();
        release.end.notified().await;
    }

    #[job(name = "shop.measure")]
    pub(crate) async fn measure(value: Option<f64>) {
        let _ = value;
    }
}

/// The version that runs them.
mod new {
    use super::*;

    #[job(name = "shop.mail", max_retries = 0)]
    pub(crate) async fn mail(to: String, #[inject] seen: State<Seen>) {
        seen.lock().expect("not poisoned").push(to);
    }

    #[job(name = "shop.reindex_all", alias = "shop.reindex", alias = "shop.index", single_instance)]
    pub(crate) async fn reindex_all() {}

    #[job(name = "shop.mailing")]
    pub(crate) async fn mailing(to: String) {
        let _ = to;
    }
}

#[allow(clippy::large_types_passed_by_value)] // a constant of the job
async fn runtime(store: &Arc<MemoryStore>, job: Registration, seen: &Seen) -> Ratchet {
    let store: Arc<dyn ratchet::store::Store> = Arc::clone(store) as _;
    Ratchet::builder_shared(store)
        .jobs([job])
        .state(Arc::clone(seen))
        .config(|config| config.maintenance_interval = Duration::from_millis(5))
        .build()
        .await
        .expect("builds")
}

#[tokio::test]
async fn u_02_a_stored_field_that_no_argument_takes_is_reported_once() {
    let logs = Logs::install();
    let (store, seen) = (Arc::new(MemoryStore::new()), Seen::default());
    let old = runtime(&store, old::Mail::JOB, &seen).await;
    let mut jobs = Vec::new();
    for to in ["a", "b", "c"] {
        let mail = old::Mail { to: to.into(), cc: Some("boss".into()) };
        jobs.push(old.enqueue(mail).await.expect("enqueues"));
    }
    let worker = runtime(&store, new::Mail::JOB, &seen).await.start().await.expect("starts");
    for job in jobs {
        job.wait().await.expect("succeeds");
    }
    worker.stop().await;
    assert_eq!(seen.lock().expect("not poisoned").len(), 3);
    let reports = logs.containing("no argument of the job takes a stored field");
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].contains("cc") && reports[0].contains("shop.mail"), "{reports:?}");
}

#[tokio::test]
async fn u_02_a_strict_job_refuses_stored_fields_that_no_argument_takes() {
    let (store, seen) = (Arc::new(MemoryStore::new()), Seen::default());
    let old = runtime(&store, old::Mail::JOB, &seen).await;
    let mail = |cc| old::Mail { to: "a".into(), cc };
    let refused = old.enqueue(mail(Some("boss".into()))).await.expect("enqueues");
    let mut strict = new::Mail::JOB;
    strict.def.strict = true;
    let worker = runtime(&store, strict, &seen).await.start().await.expect("starts");
    let error = refused.wait().await.expect_err("is refused");
    let record = old.jobs().get(refused.id()).await.expect("reads").expect("is there");
    assert_eq!((record.state, record.attempts), (JobState::Failed, 1), "{error}");
    let why = record.envelope.expect("a dead letter").failure.message;
    assert!(why.contains("no argument takes the stored field `cc`"), "{why}");
    assert_eq!(seen.lock().expect("not poisoned").len(), 0, "it did not run");
    worker.stop().await;
}

#[tokio::test]
async fn e_10_waiting_jobs_that_no_worker_knows_are_logged() {
    let logs = Logs::install();
    let (store, seen) = (Arc::new(MemoryStore::new()), Seen::default());
    let old = runtime(&store, old::Mail::JOB, &seen).await;
    old.enqueue(old::Mail { to: "a".into(), cc: None }).await.expect("enqueues");
    let worker = runtime(&store, new::Mailing::JOB, &seen).await.start().await.expect("starts");
    while logs.containing("no live worker knows").is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    while worker.readiness().details.is_empty() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let readiness = worker.readiness();
    assert!(readiness.ok, "other jobs can run: {readiness:?}");
    let detail = "no live worker knows `shop.mail`: 1 waiting, the oldest for ";
    assert!(readiness.details[0].starts_with(detail), "{readiness:?}");
    worker.stop().await;
    let warnings = logs.containing("no live worker knows");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    for part in ["job=shop.mail", "waiting=1", "oldest=", "alias"] {
        assert!(warnings[0].contains(part), "{part}: {warnings:?}");
    }
}

#[tokio::test]
async fn values_that_would_be_read_back_as_others_are_refused() {
    let (store, seen) = (Arc::new(MemoryStore::new()), Seen::default());
    let ratchet = runtime(&store, old::Measure::JOB, &seen).await;
    let refused = ratchet.enqueue(old::Measure { value: Some(f64::NAN) }).await;
    let error = refused.expect_err("NaN would be read back as `None`");
    let text = format!("{error}: {:?}", std::error::Error::source(&error));
    assert!(text.contains("value") && text.contains("NaN"), "{text}");
    ratchet.enqueue(old::Measure { value: None }).await.expect("enqueues");
    ratchet.enqueue(old::Measure { value: Some(1.5) }).await.expect("enqueues");
}

/// The job with which customers were charged first.
mod charge_old {
    use super::*;

    #[job(name = "shop.charge", idempotency_key = "order-{order}")]
    pub(crate) async fn charge(order: u32, cents: u64) {
        let _ = (order, cents);
    }
}

/// A later version with two more arguments.
mod charge_new {
    use super::*;

    #[job(name = "shop.charge", idempotency_key = "order-{order}", derive(Clone))]
    pub(crate) async fn charge(
        #[job(default = "CHF")] currency: String,
        order: u32,
        cents: u64,
        #[job(default)] note: Option<String>,
    ) {
        let _ = (currency, order, cents, note);
    }
}

#[tokio::test]
async fn s_15_a_repeat_after_an_argument_was_added_is_recognized() {
    let (store, seen) = (Arc::new(MemoryStore::new()), Seen::default());
    let old = runtime(&store, charge_old::Charge::JOB, &seen).await;
    let new = runtime(&store, charge_new::Charge::JOB, &seen).await;
    let first = old.enqueue(charge_old::Charge { order: 1, cents: 990 }).await.expect("enqueues");
    let charge = |currency: &str, cents| charge_new::Charge {
        currency: currency.to_owned(),
        order: 1,
        cents,
        note: None,
    };
    let again = new.enqueue(charge("CHF", 990)).await.expect("is a repeat");
    assert_eq!(again.id(), first.id());
    for other in [charge("EUR", 990), charge("CHF", 1)] {
        let refused = new.enqueue(other.clone()).await;
        assert!(matches!(refused, Err(SubmitError::IdempotencyMismatch { .. })), "{refused:?}");
        let alone = new.enqueue(other).by_key_alone().await.expect("only the key is compared");
        assert_eq!(alone.id(), first.id());
    }

    let chain = old.chain(charge_old::Charge { order: 2, cents: 5 }).idempotency_key("checkout-2");
    let chain = chain.await.expect("enqueues");
    let steps = charge_new::Charge { order: 2, ..charge("CHF", 5) };
    let repeat = new.chain(steps).idempotency_key("checkout-2").await.expect("is a repeat");
    assert_eq!(repeat.id(), chain.id());
    let other = charge_new::Charge { order: 2, ..charge("EUR", 5) };
    let other = new.chain(other).idempotency_key("checkout-2").by_key_alone().await;
    assert_eq!(other.expect("only the key is compared").id(), chain.id());
}

/// A version that renamed the function and its argument.
mod renamed {
    use super::*;

    #[job]
    pub(crate) async fn greet(name: String) {
        let _ = name;
    }

    pub(crate) mod later {
        use super::*;

        #[job(alias = "greet")]
        pub(crate) async fn welcome(
            #[job(alias = "name")] guest: String,
            #[inject] seen: State<Seen>,
        ) {
            seen.lock().expect("not poisoned").push(guest);
        }
    }
}

// spec: U-02
#[tokio::test]
async fn u_02_aliases_reach_the_renamed_function_and_its_renamed_argument() {
    let (store, seen) = (Arc::new(MemoryStore::new()), Seen::default());
    let old = runtime(&store, renamed::Greet::JOB, &seen).await;
    let job = old.enqueue(renamed::Greet { name: "ada".into() }).await.expect("enqueues");
    let new = runtime(&store, renamed::later::Welcome::JOB, &seen).await;
    let worker = new.start().await.expect("starts");
    job.wait().await.expect("succeeds");
    assert_eq!(*seen.lock().expect("not poisoned"), ["ada"]);
    assert_eq!(renamed::later::Welcome::DEF.aliases, ["ratchet-jobs.greet", "greet"]);
    worker.stop().await;
}

/// The key of a single instance is its first name: a renamed job must not run beside an instance of the old version.
#[tokio::test]
async fn a_renamed_single_instance_excludes_the_old_one() {
    let store: Arc<dyn ratchet::store::Store> = Arc::new(MemoryStore::new());
    let old = Ratchet::builder_shared(Arc::clone(&store)).jobs([old::Reindex::JOB]);
    let old = old.state(Release::default()).build().await.expect("builds");
    let release = old.state::<Release>().expect("is registered");
    let old_worker = old.start().await.expect("starts");
    let first = old.enqueue(old::Reindex {}).await.expect("enqueues");
    release.started.notified().await;

    let new = Ratchet::builder_shared(store).jobs([new::ReindexAll::JOB]).build().await;
    let new = new.expect("builds");
    let second = new.enqueue(new::ReindexAll {}).await.expect("enqueues");
    let new_worker = new.start().await.expect("starts");
    let why = new.jobs().explain(second.id()).await.expect("reads").expect("is there");
    let Explanation::Waits(reasons) = &why else { panic!("it waits: {why}") };
    let held =
        |reason: &Waiting| matches!(reason, Waiting::KeyHeld { key, .. } if key == "shop.reindex");
    assert!(reasons.iter().any(held), "{why}");

    release.end.notify_one();
    first.wait().await.expect("the old one ends");
    second.wait().await.expect("the new one runs");
    old_worker.stop().await;
    new_worker.stop().await;
}
