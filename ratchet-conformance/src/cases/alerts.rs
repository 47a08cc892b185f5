//! Alerts: raised once per suppression window.

use ratchet_store::model::{Channel, JobId, NewJob};

use crate::World;
use crate::fixture::{JobExt, RunExt, SettlementExt, mins, secs};

async fn fail(world: &World, job: NewJob, message: &str) -> JobId {
    let run = world.run(job).await;
    world.apply(run.fail_with(message).alerting()).await;
    run.id()
}

pub async fn d_03_dead_job_is_an_alert(world: &World) {
    let before = world.now().await;
    let id = fail(world, world.job(), "boom").await;
    let alerts = world.alerts().await;
    assert_eq!(alerts.len(), 1);
    let alert = &alerts[0];
    assert_eq!((alert.job_id, alert.job_name.as_str()), (id, "mail"));
    assert_eq!((alert.fingerprint.as_str(), alert.message.as_str()), ("boom", "boom"));
    assert_eq!(alert.suppressed, 0);
    assert!(alert.at >= before);
}

pub async fn d_03_the_same_is_suppressed_and_counted(world: &World) {
    let first = fail(world, world.job(), "boom").await;
    for suppressed in 1..4 {
        world.pass(mins(10)).await;
        fail(world, world.job(), "boom").await;
        let alerts = world.alerts().await;
        assert_eq!((alerts.len(), alerts[0].suppressed), (1, suppressed));
        assert_eq!(alerts[0].job_id, first);
    }
}

pub async fn d_03_suppressed_alert_is_not_delivered(world: &World) {
    fail(world, world.job(), "boom").await;
    fail(world, world.job(), "boom").await;
    assert_eq!(world.take_deliveries(Channel::Alerts, secs(1)).await.len(), 1);
}

pub async fn d_03_window_ends(world: &World) {
    fail(world, world.job(), "boom").await;
    world.pass(mins(30)).await;
    fail(world, world.job(), "boom").await;
    world.pass(mins(30)).await;
    let third = fail(world, world.job(), "boom").await;
    let alerts = world.alerts().await;
    assert_eq!(alerts.len(), 2);
    assert_eq!((alerts[0].job_id, alerts[0].suppressed), (third, 0));
    assert_eq!(alerts[1].suppressed, 1);
}

pub async fn d_03_other_fingerprint_is_another_alert(world: &World) {
    fail(world, world.job(), "boom").await;
    fail(world, world.job(), "bang").await;
    assert_eq!(world.alerts().await.len(), 2);
}

pub async fn d_03_other_job_name_is_another_alert(world: &World) {
    fail(world, world.job(), "boom").await;
    fail(world, world.job().named("bill"), "boom").await;
    let names: Vec<_> = world.alerts().await.into_iter().map(|alert| alert.job_name).collect();
    assert_eq!(names, ["bill", "mail"]);
}

pub async fn d_03_alerts_are_listed_newest_first_and_bounded(world: &World) {
    for message in ["a", "b", "c"] {
        fail(world, world.job(), message).await;
        world.pass(secs(1)).await;
    }
    let newest = world.store.alerts(2).await.expect("alerts are listed");
    let messages: Vec<_> = newest.iter().map(|alert| alert.message.as_str()).collect();
    assert_eq!(messages, ["c", "b"]);
}

pub async fn d_03_two_of_a_kind_in_one_commit(world: &World) {
    let node = world.node().await;
    world.submit_all(world.jobs(2)).await;
    let runs = node.claim(2).await;
    world.settle_all(runs.iter().map(|run| run.fail().alerting()).collect()).await;
    let alerts = world.alerts().await;
    assert_eq!((alerts.len(), alerts[0].suppressed), (1, 1));
}
