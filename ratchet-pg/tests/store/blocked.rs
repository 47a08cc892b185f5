//! Jobs that cannot run now are set aside, so that claims need not skip them, and come back when their cause has ended.

use crate::support::QueueDriver;
use ratchet_store::Store;
use ratchet_store::model::{CancelCause, Claimed, Command, JobId, JobState};

fn ids(runs: &[Claimed]) -> Vec<JobId> {
    runs.iter().map(Claimed::id).collect()
}

#[tokio::test]
async fn c_03_names_that_nobody_knows_leave_the_head_of_the_queue() {
    let lane = QueueDriver::fresh().await;
    let strange = lane.submit("strange", None, 6000).await;
    let mail = lane.submit("mail", None, 3).await;
    let node = lane.node(&["mail"]).await;
    lane.sweep().await;
    assert_eq!(lane.ready().await, 3);
    assert_eq!(lane.pending().await, 6003, "they wait all the same");
    assert_eq!(ids(&lane.claim(node, &["mail"], 2).await), mail[..2]);
    let unknown = lane.pg.store.unknown_jobs().await.expect("reads");
    assert_eq!(unknown.len(), 1);
    assert_eq!((unknown[0].name.as_str(), unknown[0].waiting), ("strange", 6000));
    let state = lane.pg.store.get(strange[0]).await.expect("reads").map(|job| job.state);
    assert_eq!(state, Some(JobState::Pending));
    // A node that knows their name joins. It claims them in order, before later jobs.
    let other = lane.node(&["mail", "strange"]).await;
    assert_eq!(ids(&lane.claim(other, &["mail", "strange"], 4).await), strange[..4]);
    lane.sweep().await;
    assert_eq!(lane.count("SELECT count(*) FROM ratchet.blocked").await, 0);
}

#[tokio::test]
async fn q_03_jobs_of_a_full_key_leave_the_head_of_the_queue() {
    let lane = QueueDriver::fresh().await;
    let node = lane.node(&["mail"]).await;
    let first = lane.submit("mail", Some("k"), 1).await;
    let run = lane.claim(node, &["mail"], 1).await.remove(0);
    assert_eq!(run.id(), first[0]);
    let waiting = lane.submit("mail", Some("k"), 6000).await;
    let free = lane.submit("mail", None, 2).await;
    lane.sweep().await;
    assert_eq!(lane.ready().await, 2);
    assert_eq!(ids(&lane.claim(node, &["mail"], 10).await), free);
    // The run that releases the slot returns the next job to the line.
    lane.succeed(&run).await;
    let next = lane.claim(node, &["mail"], 10).await;
    assert_eq!(ids(&next), waiting[..1]);
    // A job that is set aside can be canceled.
    lane.pg
        .store
        .command(Command::Cancel(waiting[1], CancelCause::Requested))
        .await
        .expect("cancels");
    lane.succeed(&next[0]).await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 10).await), waiting[2..3]);
    assert_eq!(lane.pending().await, 5997);
}

#[tokio::test]
async fn q_03_sweep_is_the_floor_when_nobody_has_put_the_next_in_line() {
    let lane = QueueDriver::fresh().await;
    let node = lane.node(&["mail"]).await;
    lane.submit("mail", Some("k"), 1).await;
    let run = lane.claim(node, &["mail"], 1).await.remove(0);
    let waiting = lane.submit("mail", Some("k"), 200).await;
    lane.sweep().await;
    assert_eq!(lane.ready().await, 0);
    lane.pg.database.execute("DELETE FROM ratchet.slot").await;
    assert!(lane.claim(node, &["mail"], 10).await.is_empty());
    lane.sweep().await;
    assert_eq!(ids(&lane.claim(node, &["mail"], 10).await), waiting[..1]);
    lane.succeed(&run).await;
}

#[tokio::test]
async fn q_03_few_that_wait_are_left_where_they_are() {
    let lane = QueueDriver::fresh().await;
    let node = lane.node(&["mail"]).await;
    lane.submit("mail", Some("k"), 50).await;
    lane.claim(node, &["mail"], 1).await;
    lane.sweep().await;
    assert_eq!(lane.ready().await, 49);
}
