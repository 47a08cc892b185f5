//! The entries of the audit trail: what they say, how they are chained, and whether a trail is complete.

use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::model::{
    AuditHash, AuditHead, AuditNote, AuditRecord, BreakerRecord, ChangeReply, CommandError,
    FailureMark, GroupRecord, JobRecord, JobState, NodeRequest, OperationRecord, QueueRules,
    ScheduleRecord, Target,
};

/// Begins the encoding that is hashed. Another encoding must begin otherwise.
const ENCODING: &[u8] = b"ratchet audit 1";

/// Creates the entry that follows the end of a trail.
pub fn entry(
    head: AuditHead,
    at: Timestamp,
    note: &AuditNote,
    target: &Target,
    before: Option<String>,
    after: Option<String>,
) -> AuditRecord {
    // A store keeps microseconds.
    let at = Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at);
    let mut entry = AuditRecord::stored(
        head.number + 1,
        at,
        note.actor.clone(),
        note.verb.clone(),
        target.to_string(),
        before,
        after,
        AuditHash::START,
        None,
    );
    entry.hash = hash(head.hash, &entry);
    entry.signature = note.signer.as_ref().and_then(|signer| signer.sign(entry.hash));
    entry
}

/// Returns the hash of an entry that follows an entry with the hash `previous`. Every part has a length prefix, so that
/// different entries have different encodings.
pub fn hash(previous: AuditHash, entry: &AuditRecord) -> AuditHash {
    let mut sha = Sha256::new();
    sha.update(ENCODING);
    sha.update(previous.0);
    sha.update(entry.number.to_be_bytes());
    sha.update(entry.at.as_microsecond().to_be_bytes());
    let actor = &entry.actor;
    let texts = [
        Some(&actor.name),
        Some(&actor.via),
        actor.address.as_ref(),
        actor.reason.as_ref(),
        Some(&entry.verb),
        Some(&entry.target),
        entry.before.as_ref(),
        entry.after.as_ref(),
    ];
    for text in texts {
        sha.update([u8::from(text.is_some())]);
        let text = text.map(String::as_bytes).unwrap_or_default();
        sha.update((text.len() as u64).to_be_bytes());
        sha.update(text);
    }
    AuditHash(sha.finalize().into())
}

/// Returns what an entry says about a job.
pub fn of_job(job: &JobRecord) -> String {
    let mut view = json!({ "state": job.state, "version": job.version });
    if matches!(job.state, JobState::Pending | JobState::Paused) {
        view["queue"] = json!(job.spec.queue);
        view["priority"] = json!(job.spec.priority);
    }
    if job.state == JobState::Pending {
        view["due"] = json!(job.due);
    }
    view.to_string()
}

/// Returns what an entry says about a chain, batch or workflow.
pub fn of_group(group: &GroupRecord) -> String {
    json!({ "state": group.state }).to_string()
}

/// Returns what an entry says about a queue. A queue without rules is described as well.
pub fn of_queue(rules: &QueueRules) -> String {
    json!({ "paused": rules.paused, "limits": rules.limits, "set_by_operator": rules.set_by_operator })
        .to_string()
}

/// Returns what an entry says about a breaker.
pub fn of_breaker(record: &BreakerRecord) -> String {
    let set = record.breaker.set_by_operator;
    json!({ "state": record.state, "set_by_operator": set }).to_string()
}

/// Returns what an entry says about a schedule. The arguments of its job are not part of it, because they may be secret.
pub fn of_schedule(schedule: &ScheduleRecord) -> String {
    json!({
        "version": schedule.version,
        "expression": schedule.expression,
        "zone": schedule.zone,
        "paused": schedule.paused,
        "missed": schedule.missed,
        "overlap": schedule.overlap,
    })
    .to_string()
}

/// Returns what an entry says about what was requested of a node.
pub fn of_node(request: Option<&NodeRequest>) -> String {
    json!({ "request": request.map(|request| request.action) }).to_string()
}

/// Returns what an entry says about a group of failed jobs.
pub fn of_failure(mark: Option<&FailureMark>) -> String {
    json!({ "judgment": mark.map(|mark| mark.judgment), "at": mark.map(|mark| mark.at) })
        .to_string()
}

/// Returns what an entry says about a bulk operation.
pub fn of_operation(operation: &OperationRecord) -> String {
    operation_view(operation).to_string()
}

fn operation_view(operation: &OperationRecord) -> serde_json::Value {
    json!({
        "verb": operation.verb,
        "filter": operation.filter.to_string(),
        "digest": operation.digest,
        "state": operation.state,
        "changed": operation.changed,
        "refused": operation.refused,
    })
}

/// Returns what an entry says about a change that does not concern a single thing, after the change.
pub fn of_reply(reply: &ChangeReply) -> Option<String> {
    fn text(value: &impl Serialize) -> Option<String> {
        serde_json::to_string(value).ok()
    }
    match reply {
        ChangeReply::Command(crate::model::CommandReply::Redriven(redriven)) => text(redriven),
        ChangeReply::Submitted(jobs) => {
            let ids: Vec<_> = jobs.iter().map(|inserted| inserted.id()).collect();
            text(&json!({ "jobs": ids }))
        }
        ChangeReply::ArchivePurged(rows) | ChangeReply::KeysPurged(rows) => {
            text(&json!({ "removed": rows }))
        }
        ChangeReply::Successor(successor) => text(&json!({ "successor": successor })),
        ChangeReply::Reprotected(applied) => {
            let applied = applied.iter().filter(|applied| **applied).count();
            text(&json!({ "reprotected": applied }))
        }
        ChangeReply::Operation(reply) => reply.page.as_ref().map(|page| {
            let mut view = operation_view(&reply.operation);
            let ids: Vec<_> = page.changed.iter().map(|(id, _)| id).collect();
            view["jobs"] = json!(ids);
            if let Some(erasure) = &reply.operation.erasure {
                view["erasure"] = json!(erasure);
            }
            view.to_string()
        }),
        _ => None,
    }
}

/// Returns whether a change is recorded: it is, if something changed. A breaker changes without a change of its state if
/// its settings do.
pub fn is_recorded(reply: &ChangeReply, before: &Option<String>, after: &Option<String>) -> bool {
    match reply {
        ChangeReply::Breaker(_) => before != after,
        reply => reply.is_change(),
    }
}

/// Checks that a job has the version that the operator saw.
///
/// # Errors
///
/// Returns [`CommandError::Moved`] with the current state if it has another version.
pub fn check_version(job: &JobRecord, expected: Option<u64>) -> Result<(), CommandError> {
    match expected {
        Some(expected) if expected != job.version => Err(CommandError::Moved {
            job: job.id,
            expected,
            version: job.version,
            state: job.state,
        }),
        _ => Ok(()),
    }
}

/// Checks a trail entry by entry, in order.
///
/// ```
/// # use ratchet_store::model::{AuditHead, AuditRecord};
/// # use ratchet_store::rules::audit::{Broken, Verifier};
/// fn verify(entries: &[AuditRecord], head: AuditHead) -> Result<u64, Broken> {
///     let mut verifier = Verifier::default();
///     for entry in entries {
///         verifier.next(entry)?;
///     }
///     verifier.end(head)
/// }
/// assert_eq!(verify(&[], AuditHead::default()), Ok(0));
/// ```
#[derive(Debug, Default)]
pub struct Verifier {
    head: AuditHead,
}

/// Why a trail is not the one that was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// Entries are missing.
    #[error("the entries {from} to {to} of the audit trail are missing")]
    Missing {
        /// The first missing entry.
        from: u64,
        /// The last missing entry.
        to: u64,
    },
    /// An entry was changed, or one before it was replaced.
    #[error("entry {number} of the audit trail was changed: its hash does not match")]
    Changed {
        /// The number of the entry.
        number: u64,
    },
    /// An entry is there twice, or after the end of the trail.
    #[error("entry {number} of the audit trail was added")]
    Added {
        /// The number of the entry.
        number: u64,
    },
    /// The signature of an entry is not one of the engine.
    #[error("entry {number} of the audit trail has a wrong signature: {why}")]
    Forged {
        /// The number of the entry.
        number: u64,
        /// What is wrong.
        why: String,
    },
    /// The stored end of the trail is not the hash of its last entry.
    #[error("the end of the audit trail was changed: it is not entry {number}")]
    EndChanged {
        /// The number of the last entry.
        number: u64,
    },
}

impl Verifier {
    /// Checks the next entry.
    ///
    /// # Errors
    ///
    /// Fails if the entry is not the one that was written after those before it.
    pub fn next(&mut self, entry: &AuditRecord) -> Result<(), Broken> {
        let (number, expected) = (entry.number, self.head.number + 1);
        if number > expected {
            return Err(Broken::Missing { from: expected, to: number - 1 });
        }
        if number < expected {
            return Err(Broken::Added { number });
        }
        if hash(self.head.hash, entry) != entry.hash {
            return Err(Broken::Changed { number });
        }
        self.head = AuditHead { number, hash: entry.hash };
        Ok(())
    }

    /// Checks that the last entry is the end of the trail. Returns the number of entries.
    ///
    /// # Errors
    ///
    /// Fails if entries are missing at the end, or were added.
    pub fn end(self, head: AuditHead) -> Result<u64, Broken> {
        let number = self.head.number;
        match number.cmp(&head.number) {
            std::cmp::Ordering::Less => Err(Broken::Missing { from: number + 1, to: head.number }),
            std::cmp::Ordering::Greater => Err(Broken::Added { number: head.number + 1 }),
            std::cmp::Ordering::Equal if self.head.hash != head.hash => {
                Err(Broken::EndChanged { number })
            }
            std::cmp::Ordering::Equal => Ok(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Actor;

    fn trail(length: u64) -> (Vec<AuditRecord>, AuditHead) {
        let (mut entries, mut head) = (Vec::new(), AuditHead::default());
        for number in 0..length {
            let actor = Actor::new("ada").reason(format!("reason {number}"));
            let note = AuditNote::new(actor, "queues.pause");
            let target = Target::Queue("mail".to_owned());
            let entry = entry(head, Timestamp::UNIX_EPOCH, &note, &target, None, None);
            head = AuditHead { number: entry.number, hash: entry.hash };
            entries.push(entry);
        }
        (entries, head)
    }

    fn verify(entries: &[AuditRecord], head: AuditHead) -> Result<u64, Broken> {
        let mut verifier = Verifier::default();
        entries.iter().try_for_each(|entry| verifier.next(entry))?;
        verifier.end(head)
    }

    #[test]
    fn z_06_every_change_of_a_trail_is_found() {
        let (entries, head) = trail(5);
        assert_eq!(verify(&entries, head), Ok(5));
        for index in 0..5 {
            let number = index as u64 + 1;
            let mut missing = entries.clone();
            missing.remove(index);
            let gone = Broken::Missing { from: number, to: number };
            assert_eq!(verify(&missing, head), Err(gone));
            let mut twice = entries.clone();
            twice.insert(index, entries[index].clone());
            assert_eq!(verify(&twice, head), Err(Broken::Added { number }));
            type Edit = fn(&mut AuditRecord);
            let edits: [Edit; 9] = [
                |entry| entry.at = Timestamp::from_microsecond(1).expect("in range"),
                |entry| entry.actor.name.push('x'),
                |entry| entry.actor.via.push('x'),
                |entry| entry.actor.address = Some(String::new()),
                |entry| entry.actor.reason = None,
                |entry| entry.verb.push('x'),
                |entry| entry.target.push('x'),
                |entry| entry.before = Some(String::new()),
                |entry| entry.after = Some(String::new()),
            ];
            for edit in edits {
                let mut changed = entries.clone();
                edit(&mut changed[index]);
                assert_eq!(verify(&changed, head), Err(Broken::Changed { number }));
            }
        }
        let cut = AuditHead { number: 4, hash: entries[3].hash };
        assert_eq!(verify(&entries, cut), Err(Broken::Added { number: 5 }));
        let other = AuditHead { hash: AuditHash::START, ..head };
        assert_eq!(verify(&entries, other), Err(Broken::EndChanged { number: 5 }));
    }

    /// Stored hashes must stay valid, so the encoding must not change.
    #[test]
    fn z_06_the_hash_of_an_entry_is_fixed() {
        let (_, head) = trail(2);
        insta::assert_snapshot!(head.hash, @"f47f426ba94f567fae9a60a04bca18c9688248448d39ca14212166aa9df3d146");
    }
}
