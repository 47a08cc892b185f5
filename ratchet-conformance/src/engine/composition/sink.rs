//! Rejected items and handed-off checkpoints with real handlers.

use std::time::Duration;

use ratchet_core::JobState;
use ratchet_store::model::RejectFilter;

use super::jobs::Import;
use crate::engine::fixture::EngineFixture;

pub async fn i_01_items_are_set_aside_and_the_run_goes_on(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let rows = vec!["1".to_owned(), "two".to_owned(), "3".to_owned(), "four".to_owned()];
    let job = ratchet.enqueue(Import { rows, most: None }).await.expect("enqueues");
    assert_eq!(job.wait().await.expect("succeeds"), 4);
    let rejects = ratchet.rejects();
    let found = rejects.list(&RejectFilter::any().job(job.id()), None, 10).await.expect("reads");
    assert_eq!(found.iter().map(|it| it.item.index).collect::<Vec<_>>(), [1, 3]);
    assert_eq!(found[0].item.error_type, "ParseIntError");
    assert_eq!(found[0].item.payload, None, "the item is not kept unless asked for");
    assert_eq!(found[1].item.payload.as_deref(), Some("\"four\""));
    let groups = rejects.groups(&RejectFilter::any()).await.expect("reads");
    assert_eq!(groups.iter().map(|it| it.count).collect::<Vec<_>>(), [2]);
    let trends = rejects.trends(&RejectFilter::any(), Duration::from_hours(1)).await;
    let trend = trends.expect("reads").groups.pop().expect("a group");
    assert_eq!((trend.rejected.last(), trend.backlog.last()), (Some(&2), Some(&2)));
    assert_eq!(trend.backlog.iter().sum::<u64>(), 2, "nothing was rejected earlier");
    rejects.forget(&found).await.expect("forgets");
    let trends = rejects.trends(&RejectFilter::any(), Duration::from_hours(1)).await;
    assert_eq!(trends.expect("reads").groups, []);
    assert!(rejects.list(&RejectFilter::any(), None, 10).await.expect("reads").is_empty());
    worker.stop().await;
}

pub async fn i_01_threshold_makes_the_run_a_failure(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    let rows: Vec<_> =
        (0..10).map(|row| if row < 3 { "bad".to_owned() } else { "1".to_owned() }).collect();
    let job = ratchet.enqueue(Import { rows, most: Some(2) }).await.expect("enqueues");
    let failed = fixture.until(&ratchet, job.id(), JobState::Failed).await;
    let message = failed.envelope.expect("it failed").failure.message;
    assert!(message.contains("3 items were rejected"), "{message}");
    let found = ratchet.rejects().list(&RejectFilter::any(), None, 10).await.expect("reads");
    assert_eq!(found.len(), 3, "they are reported all the same");
    let handed = ratchet.pipeline("loaded").take(10, Duration::ZERO).await.expect("takes");
    assert!(handed.is_empty(), "a failed run hands nothing on");
    worker.stop().await;
}

pub async fn i_03_checkpoint_is_handed_on_once(fixture: EngineFixture) {
    let (ratchet, worker) = fixture.start_composed().await;
    for _ in 0..2 {
        let job = ratchet.enqueue(Import { rows: vec!["1".to_owned()], most: None }).await;
        job.expect("enqueues").wait().await.expect("succeeds");
    }
    let pipeline = ratchet.pipeline("loaded");
    let taken = pipeline.take(10, Duration::from_mins(1)).await.expect("takes");
    assert_eq!(taken.len(), 1);
    assert_eq!((taken[0].handed.key.as_str(), taken[0].repeats), ("rows-1", 1));
    assert_eq!(pipeline.stats().await.expect("reads").backlog, 1);
    pipeline.finish(&taken).await.expect("finishes");
    let stats = pipeline.stats().await.expect("reads");
    assert_eq!((stats.backlog, stats.finished, stats.repeats), (0, 1, 1));
    worker.stop().await;
}
