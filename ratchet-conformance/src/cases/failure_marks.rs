//! What operators say about groups of failed jobs.

use ratchet_store::model::{
    Actor, AuditFilter, AuditNote, Change, ChangeReply, FailureMark, Judgment, MarkFailure,
};

use crate::World;
use crate::fixture::{hours, secs};

async fn mark(world: &World, fingerprint: &str, judgment: Option<Judgment>) -> bool {
    let actor = Actor::new("ada").reason("a new certificate");
    let note = AuditNote::new(actor.clone(), "failures.mark");
    let change = Change::Failure(MarkFailure {
        job_name: "mail".to_owned(),
        fingerprint: fingerprint.to_owned(),
        judgment,
        actor: Some(actor),
    });
    match world.store.operate(change, Some(note)).await.expect("operates").reply {
        ChangeReply::Failure(changed) => changed,
        other => panic!("{other:?} is no reply to a mark"),
    }
}

async fn marks(world: &World) -> Vec<FailureMark> {
    world.store.failure_marks().await.expect("lists")
}

pub async fn o_06_a_mark_says_who_and_when(world: &World) {
    let before = world.now().await;
    assert!(mark(world, "b", Some(Judgment::Acknowledged)).await);
    assert!(mark(world, "a", Some(Judgment::Ignored { until: Some(before) })).await);
    let listed = marks(world).await;
    let fingerprints: Vec<_> = listed.iter().map(|mark| mark.fingerprint.as_str()).collect();
    assert_eq!(fingerprints, ["a", "b"], "in order");
    assert_eq!(listed[0].judgment, Judgment::Ignored { until: Some(before) });
    let actor = listed[1].actor.as_ref().expect("an actor");
    assert_eq!((actor.name.as_str(), actor.reason.as_deref()), ("ada", Some("a new certificate")));
    assert!(listed[1].at >= before && listed[1].at <= world.now().await);
}

pub async fn o_06_a_later_mark_replaces_the_one_before(world: &World) {
    mark(world, "a", Some(Judgment::Resolved)).await;
    let first = marks(world).await;
    world.pass(secs(10)).await;
    assert!(mark(world, "a", Some(Judgment::Resolved)).await, "it is said of later failures too");
    let second = marks(world).await;
    assert_eq!(second.len(), 1);
    assert!(second[0].at >= first[0].at + secs(10));
    assert!(mark(world, "a", None).await);
    assert!(!mark(world, "a", None).await, "nothing is left to remove");
    assert_eq!(marks(world).await, []);
    let target = Some("failure mail a".to_owned());
    let filter = AuditFilter { target, ..AuditFilter::default() };
    let trail = world.store.audit(&filter, None, true, 10).await.expect("reads");
    assert_eq!(trail.len(), 3, "{trail:?}");
    assert!(trail[2].before.as_deref().is_some_and(|before| before.contains("resolved")));
    assert_eq!(trail[2].after.as_deref(), Some(r#"{"at":null,"judgment":null}"#));
}

pub async fn o_06_old_marks_are_forgotten(world: &World) {
    mark(world, "a", Some(Judgment::Resolved)).await;
    world.pass(hours(401 * 24)).await;
    mark(world, "b", Some(Judgment::Resolved)).await;
    let left: Vec<_> = marks(world).await.into_iter().map(|mark| mark.fingerprint).collect();
    assert_eq!(left, ["b"]);
}
