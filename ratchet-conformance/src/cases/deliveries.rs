//! Deliveries to sinks: at least once.

use ratchet_store::model::{Backlog, Channel, Delivery, DeliveryBody, JobId};

use crate::World;
use crate::fixture::{RunExt, SettlementExt, secs};

async fn dead(world: &World) -> JobId {
    let run = world.run(world.job()).await;
    world.apply(run.fail().publishing()).await;
    run.id()
}

fn ids(deliveries: &[Delivery]) -> Vec<JobId> {
    let id = |delivery: &Delivery| match &delivery.body {
        DeliveryBody::DeadLetter(envelope) => envelope.job_id,
        DeliveryBody::Alert(alert) => alert.job_id,
        DeliveryBody::Outcome(outcome) => outcome.job_id,
    };
    deliveries.iter().map(id).collect()
}

pub async fn d_07_dead_letter_carries_the_stored_envelope(world: &World) {
    let id = dead(world).await;
    let deliveries = world.take_deliveries(Channel::DeadLetters, secs(30)).await;
    assert_eq!(deliveries.len(), 1);
    let stored = world.get(id).await.envelope.expect("an envelope");
    assert_eq!(deliveries[0].body, DeliveryBody::DeadLetter(Box::new(stored)));
}

pub async fn d_07_deliveries_come_in_commit_order(world: &World) {
    let wanted = [dead(world).await, dead(world).await, dead(world).await];
    let deliveries = world.take_deliveries(Channel::DeadLetters, secs(30)).await;
    assert_eq!(ids(&deliveries), wanted);
    assert!(deliveries.is_sorted_by_key(|delivery| delivery.id));
}

pub async fn d_07_held_delivery_is_not_handed_out_twice(world: &World) {
    dead(world).await;
    assert_eq!(world.take_deliveries(Channel::DeadLetters, secs(30)).await.len(), 1);
    assert!(world.take_deliveries(Channel::DeadLetters, secs(30)).await.is_empty());
}

pub async fn d_07_unacknowledged_delivery_comes_again(world: &World) {
    let id = dead(world).await;
    let first = world.take_deliveries(Channel::DeadLetters, secs(30)).await;
    world.pass(secs(30)).await;
    let again = world.take_deliveries(Channel::DeadLetters, secs(30)).await;
    assert_eq!((ids(&again), again[0].id), (vec![id], first[0].id));
}

pub async fn d_07_acknowledged_delivery_is_gone(world: &World) {
    dead(world).await;
    let kept = dead(world).await;
    let deliveries = world.take_deliveries(Channel::DeadLetters, secs(30)).await;
    world.store.ack_deliveries(vec![deliveries[0].id]).await.expect("acknowledged");
    world.pass(secs(60)).await;
    assert_eq!(ids(&world.take_deliveries(Channel::DeadLetters, secs(30)).await), [kept]);
}

pub async fn d_07_acknowledging_twice_is_harmless(world: &World) {
    dead(world).await;
    let id = world.take_deliveries(Channel::DeadLetters, secs(30)).await[0].id;
    world.store.ack_deliveries(vec![id, id]).await.expect("acknowledged");
    world.store.ack_deliveries(vec![id]).await.expect("acknowledged again");
}

pub async fn d_07_deliveries_are_handed_out_in_bounded_batches(world: &World) {
    let (first, second) = (dead(world).await, dead(world).await);
    let batch = || world.store.take_deliveries(Channel::DeadLetters, 1, secs(30));
    assert_eq!(ids(&batch().await.expect("a batch")), [first]);
    assert_eq!(ids(&batch().await.expect("a batch")), [second]);
    assert!(batch().await.expect("a batch").is_empty());
}

pub async fn d_07_channels_are_apart(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.fail().alerting().publishing()).await;
    let alerts = world.take_deliveries(Channel::Alerts, secs(30)).await;
    assert!(matches!(alerts[..], [Delivery { body: DeliveryBody::Alert(_), .. }]), "{alerts:?}");
    let letters = world.take_deliveries(Channel::DeadLetters, secs(30)).await;
    assert!(
        matches!(letters[..], [Delivery { body: DeliveryBody::DeadLetter(_), .. }]),
        "{letters:?}"
    );
}

pub async fn d_07_nothing_is_published_before_the_commit(world: &World) {
    world.run(world.job()).await;
    assert!(world.take_deliveries(Channel::DeadLetters, secs(30)).await.is_empty());
}

pub async fn d_03_delivered_alert_is_still_listed(world: &World) {
    let run = world.run(world.job()).await;
    world.apply(run.fail().alerting()).await;
    let id = world.take_deliveries(Channel::Alerts, secs(30)).await[0].id;
    world.store.ack_deliveries(vec![id]).await.expect("acknowledged");
    assert_eq!(world.alerts().await.len(), 1);
}

async fn backlogs(world: &World, limit: u32) -> Vec<Backlog> {
    world.store.backlogs(limit).await.expect("backlogs are read")
}

pub async fn v_03_backlogs_count_messages_until_they_are_acknowledged(world: &World) {
    assert_eq!(backlogs(world, 10).await, []);
    dead(world).await;
    world.pass(secs(60)).await;
    let run = world.run(world.job()).await;
    world.apply(run.fail().alerting().publishing()).await;
    let messages = world.take_deliveries(Channel::DeadLetters, secs(30)).await;
    let alerts = world.take_deliveries(Channel::Alerts, secs(30)).await;
    let (alert, first, second) = (&alerts[0], &messages[0], &messages[1]);
    assert!(first.body.stored_at() < second.body.stored_at());
    let letters = |count, oldest: &Delivery| {
        Backlog::new(Channel::DeadLetters, count, Some(oldest.body.stored_at()))
    };
    let other = Backlog::new(Channel::Alerts, 1, Some(alert.body.stored_at()));
    assert_eq!(backlogs(world, 10).await, [other, letters(2, first)], "held messages wait");
    assert_eq!(backlogs(world, 1).await, [other, letters(1, first)]);
    world.store.ack_deliveries(vec![first.id]).await.expect("acknowledged");
    assert_eq!(backlogs(world, 10).await, [other, letters(1, second)]);
    world.store.ack_deliveries(vec![second.id, alert.id]).await.expect("acknowledged");
    assert_eq!(backlogs(world, 10).await, []);
}
