//! Checks that every method of the store is in the matrix or in the list of methods that change nothing.

use std::collections::BTreeSet;

use crate::verb::Verb;

/// Methods that only read, and those whose rows no other method touches: the outbox, rejects and hand-offs are taken by
/// one statement each.
const LOOKS: &[&str] = &[
    "now",
    "queues",
    "breakers",
    "claim_context",
    "get",
    "list",
    "group",
    "groups",
    "members",
    "edges",
    "counts",
    "attempts",
    "logs",
    "nodes",
    "unknown_jobs",
    "alerts",
    "backlogs",
    "schedule",
    "schedules",
    "due_schedules",
    "rejects",
    "reject_groups",
    "reject_counts",
    "hand_off_stats",
    "has_competing_claimers",
    "take_deliveries",
    "ack_deliveries",
    "forget_rejects",
    "take_hand_offs",
    "finish_hand_offs",
    "unreadable",
    "count_unreadable",
    "vitals",
    "failure_marks",
    "succession",
    "content",
    "stats",
    "oldest_due",
    "audit",
    "audit_head",
    "erasable",
    "operations",
    "catalog",
    "archive_status",
    "pipelines",
    "admission",
];

#[test]
fn every_verb_of_the_store_has_a_row() {
    let source = include_str!("../../../ratchet-store/src/store.rs");
    let verbs: BTreeSet<_> = source
        .lines()
        .filter_map(|line| line.strip_prefix("    async fn "))
        .filter_map(|line| line.split_once('('))
        .map(|(name, _)| name)
        .collect();
    assert!(verbs.len() > 40, "the trait is read: {verbs:?}");
    let rows: BTreeSet<_> = Verb::ALL.iter().map(|verb| verb.of()).collect();
    let looks: BTreeSet<_> = LOOKS.iter().copied().collect();
    assert_eq!(rows.intersection(&looks).count(), 0);
    let known: BTreeSet<_> = rows.union(&looks).copied().collect();
    assert_eq!(verbs, known, "a verb has no row in the interleaving matrix, or a row has no verb");
}
