//! Signatures of the audit trail: what a user of the database changes cannot be signed.

use ratchet_core::{Actor, AuditError};
use ratchet_store::model::{AuditFilter, AuditNote, AuditSigner, Change, QueueUpdate};
use ratchet_store::rules::audit::Broken;

use crate::engine::fixture::EngineFixture;
use crate::engine::keys::signing;

pub async fn z_06_entries_are_signed_if_there_is_a_key(fixture: EngineFixture) {
    let ratchet = fixture.builder().keyring(signing()).build().await.expect("builds");
    let operator = ratchet.acting_as(Actor::new("ada"));
    operator.queues().pause("mail").await.expect("pauses");
    operator.queues().resume("mail").await.expect("resumes");
    let report = ratchet.audit().verify().await.expect("verifies");
    assert_eq!((report.signed, report.unsigned, report.unchecked), (2, 0, 0));
    let without_keys = fixture.builder().build().await.expect("builds");
    let report = without_keys.audit().verify().await.expect("verifies");
    assert_eq!((report.signed, report.unsigned, report.unchecked), (0, 0, 2));
    // A change by a program without the key is visible, and is no proof of an attack.
    let other = without_keys.acting_as(Actor::new("bob"));
    other.queues().pause("mail").await.expect("pauses");
    let report = ratchet.audit().verify().await.expect("verifies");
    assert_eq!((report.signed, report.unsigned, report.first_unsigned), (2, 1, Some(3)));
}

pub async fn z_06_a_copied_signature_is_found(fixture: EngineFixture) {
    let ratchet = fixture.builder().keyring(signing()).build().await.expect("builds");
    ratchet.acting_as(Actor::new("ada")).queues().pause("mail").await.expect("pauses");
    let store = fixture.store();
    let entries = store.audit(&AuditFilter::default(), None, false, 1).await.expect("reads");
    let copied = entries[0].signature.clone().expect("a signature");
    let change = Change::Queue { queue: "mail".to_owned(), update: QueueUpdate::Resume };
    let mut note = AuditNote::new(Actor::new("ada"), "queues.resume");
    note.signer = Some(AuditSigner::new(move |_| Some(copied.clone())));
    store.operate(change, Some(note)).await.expect("resumes");
    let found = ratchet.audit().verify().await;
    let Err(AuditError::Broken(Broken::Forged { number: 2, .. })) = found else {
        panic!("the signature belongs to another entry: {found:?}")
    };
}
