//! Batches with real handlers.

use std::sync::atomic::Ordering;

use ratchet_core::{Event, GroupHandle, JobState, SubmitError};
use ratchet_store::model::{GroupCounts, GroupState};

use super::ended;
use super::jobs::{self, Mark, Tell};
use crate::engine::fixture::{EngineFixture, event, eventually};

fn tell(word: &str) -> Tell {
    Tell { word: word.to_owned() }
}

pub async fn w_03_progress_and_completion_are_told(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let mut events = ratchet.events();
    let children = (0..20).map(|number| Mark::ok(&format!("{number}")));
    let batch = ratchet.batch("import").jobs(children).await.expect("submits");
    let record = ended(&batch).await;
    assert_eq!((record.state, record.counts.succeeded), (GroupState::Succeeded, 20));
    let mut last = 0;
    loop {
        let reported = event(&mut events, |event| {
            matches!(event, Event::BatchProgress { .. } | Event::BatchCompleted { .. })
        });
        match reported.await {
            Event::BatchProgress { counts, .. } => {
                assert!(counts.ended() > last && counts.ended() < 20, "{counts:?} after {last}");
                last = counts.ended();
            }
            Event::BatchCompleted { group, counts } => {
                assert_eq!((group.id, counts), (batch.id(), record.counts));
                break;
            }
            other => unreachable!("matched {other:?}"),
        }
    }
    worker.stop().await;
}

pub async fn w_03_callbacks_are_told_of_the_batch(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let batch = ratchet
        .batch("mixed")
        .jobs([Mark::ok("a"), Mark::ok("b"), Mark::failing("c"), Mark::ok("d")])
        .on_success(tell("success"))
        .on_failure(tell("failure"))
        .on_rate(0.75, tell("most"))
        .on_rate(0.8, tell("nearly all"))
        .on_complete(tell("complete"))
        .await
        .expect("submits");
    assert_eq!(ended(&batch).await.state, GroupState::Failed);
    let mut expected: Vec<_> = ["failure", "most", "complete"]
        .map(|word| format!("{word}: batch mixed FAILED 3+1/4"))
        .into();
    expected.sort();
    eventually("the callbacks ran", async || {
        let mut notes = fixture.stage().notes();
        notes.retain(|note| note.contains(':'));
        notes.sort();
        notes == expected
    })
    .await;
    worker.stop().await;
}

pub async fn w_03_waiting_for_a_large_batch_reads_it_seldom(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let children = (0..2000).map(|number| Mark::ok(&format!("{number}")));
    let batch = ratchet.batch("large").jobs(children).await.expect("submits");
    assert_eq!(batch.wait().await.expect("ends").counts.succeeded, 2000);
    let reads = fixture.switches().group_reads.load(Ordering::SeqCst);
    assert!(reads < 400, "read {reads} times");
    worker.stop().await;
}

pub async fn w_03_children_come_as_a_stream(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let batch =
        ratchet.batch("stream").open().on_complete(tell("complete")).await.expect("submits");
    for chunk in 0..5 {
        let children = (0..10).map(|number| Mark::ok(&format!("{chunk}-{number}")));
        assert_eq!(batch.add(children).await.expect("adds").len(), 10);
    }
    eventually("what is there has run", async || {
        batch.record().await.ok().flatten().is_some_and(|group| group.counts.succeeded == 50)
    })
    .await;
    let record = batch.record().await.expect("reads").expect("is there");
    assert_eq!(record.state, GroupState::Running, "more may come");
    batch.seal().await.expect("seals");
    assert_eq!(ended(&batch).await.counts.total, 50);
    let refused = batch.add([Mark::ok("late")]).await.expect_err("it is sealed");
    assert!(matches!(refused, SubmitError::GroupSealed(id) if id == batch.id()), "{refused}");
    eventually("the callback ran", async || {
        fixture.stage().notes().contains(&"complete: batch stream SUCCEEDED 50+0/50".to_owned())
    })
    .await;
    worker.stop().await;
}

pub async fn w_03_bad_rates_and_names_are_refused(fixture: EngineFixture) {
    let ratchet = fixture.ratchet().await;
    let refused = ratchet.batch("b").on_rate(1.5, Mark::ok("x")).await.expect_err("over 100 %");
    assert!(matches!(refused, SubmitError::BadOption { .. }), "{refused}");
    let refused = ratchet.batch("").job(Mark::ok("x")).await.expect_err("no name");
    assert!(matches!(refused, SubmitError::BadOption { .. }), "{refused}");
    assert!(ratchet.jobs().counts().await.expect("counts").queues.is_empty());
}

pub async fn d_06_callback_of_an_empty_batch_runs(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let batch = ratchet
        .batch("empty")
        .jobs(Vec::<Mark>::new())
        .on_success(tell("done"))
        .await
        .expect("submits");
    let record = ended(&batch).await;
    assert_eq!((record.state, record.counts), (GroupState::Succeeded, GroupCounts::of(0)));
    eventually("the callback ran", async || {
        fixture.stage().notes() == ["done: batch empty SUCCEEDED 0+0/0"]
    })
    .await;
    worker.stop().await;
}

pub async fn h_03_a_deep_queue_refuses_a_batch(fixture: EngineFixture) {
    let builder = fixture.builder().jobs(jobs::all()).queue("default", |queue| queue.max_depth(4));
    let ratchet = builder.build().await.expect("builds");
    let marks = |count| (0..count).map(|number: u32| Mark::ok(&number.to_string()));
    let batch = ratchet.batch("some").open().jobs(marks(3)).await.expect("there is room");
    let refused = ratchet.batch("more").jobs(marks(2)).await;
    let Err(SubmitError::QueueFull { depth: 3, limit: 4, .. }) = refused else {
        panic!("it would be too deep: {refused:?}");
    };
    let refused = batch.add(marks(2)).await;
    assert!(matches!(refused, Err(SubmitError::QueueFull { .. })), "{refused:?}");
    assert_eq!(batch.add(marks(1)).await.expect("there is room").len(), 1);
    let chain = ratchet.chain(Mark::ok("a")).then(Mark::ok("b")).await;
    assert!(matches!(chain, Err(SubmitError::QueueFull { .. })), "{chain:?}");
    let counts = ratchet.jobs().counts().await.expect("counts");
    assert_eq!(counts.on("default", JobState::Pending), 4, "nothing half-inserted");
}

pub async fn h_03_a_batch_warns_of_its_queues(fixture: EngineFixture) {
    let builder = fixture.builder().jobs(jobs::all()).queue("default", |queue| queue.warn_above(2));
    let ratchet = builder.build().await.expect("builds");
    let marks = || (0..3).map(|number: u32| Mark::ok(&number.to_string()));
    let batch = ratchet.batch("deep").jobs(marks()).await.expect("submits");
    let warns = |batch: &GroupHandle, of: &str| {
        batch.warnings().iter().filter(|warning| warning.contains(of)).count()
    };
    assert_eq!(warns(&batch, "more than 2"), 1, "{:?}", batch.warnings());
    assert_eq!(warns(&batch, "no live worker serves queue `default`"), 1);
    let (served, worker) = fixture.start_composed().await;
    ended(&batch).await;
    let batch = served.batch("served").jobs(marks().take(2)).await.expect("submits");
    assert_eq!(batch.warnings(), &[] as &[String]);
    worker.stop().await;
}

pub async fn s_14_children_that_are_added_later_inherit(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let batch = ratchet.batch("stream").open().tenant("acme").correlation_id("request 1");
    let batch = batch.await.expect("submits");
    let others = [batch.clone(), ratchet.group(batch.id())];
    for (number, handle) in others.iter().enumerate() {
        let added = handle.add([Mark::ok(&format!("{number}"))]).await.expect("adds").remove(0);
        let spec = added.record().await.expect("reads").expect("is there").spec;
        assert_eq!(spec.tenant.as_deref(), Some("acme"));
        assert_eq!(spec.correlation_id.as_deref(), Some("request 1"));
    }
    batch.add([Mark::ok("last")]).and_seal().await.expect("adds");
    assert_eq!(ended(&batch).await.counts.total, 3);
    worker.stop().await;
}
