//! The rules of erasures: which jobs are canceled and deleted, in which order, and when an erasure has ended.

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::graph::{GraphEvent, sequence};
use crate::model::{
    ArchivedJobs, CancelCause, Command, ErasurePhase, ErasureSubject, Filter, JobId, JobRecord,
    JobState, OperationPage, OperationRecord,
};

/// The maximum number of rows without jobs that one page deletes, of each kind.
pub const REST: u32 = 1000;

/// Narrows the filter of the next page to what its phase visits.
pub(super) fn narrow(filter: &mut Filter, phase: ErasurePhase) {
    match phase {
        ErasurePhase::Cancel => {
            filter.states = vec![JobState::Pending, JobState::Running, JobState::Paused];
        }
        ErasurePhase::Archive => filter.archived = ArchivedJobs::Only,
        _ => {}
    }
}

/// Returns whose data an operation deletes, or `None` if it is not an erasure.
pub fn subject(operation: &OperationRecord) -> Option<ErasureSubject> {
    operation.erasure.as_ref()?;
    ErasureSubject::of(&operation.filter)
}

/// Returns `true` if a job belongs to an erasure. Jobs that were submitted at or after its cut-off do not.
pub fn selects(operation: &OperationRecord, job: &JobRecord) -> bool {
    let spec = &job.spec;
    job.queued_at < operation.cutoff
        && subject(operation).is_some_and(|subject| {
            subject.covers(spec.tenant.as_deref(), spec.correlation_id.as_deref())
        })
}

/// Returns the command that ends a visited job, or `None` if it has ended or does not belong to the erasure.
pub(super) fn ending(operation: &OperationRecord, job: &JobRecord) -> Option<Command> {
    if !selects(operation, job) {
        return None;
    }
    match job.state {
        JobState::Pending | JobState::Running => {
            Some(Command::Cancel(job.id, CancelCause::Requested))
        }
        JobState::Paused if job.paused_from == Some(JobState::Failed) => {
            Some(Command::Resume(job.id))
        }
        JobState::Paused => Some(Command::Cancel(job.id, CancelCause::Requested)),
        JobState::Succeeded | JobState::Failed | JobState::Canceled => None,
    }
}

/// Returns the event that passes the turn of a job that is about to be deleted. A failed job can hold up the jobs after
/// it in its sequence; they continue as if it had been canceled.
pub fn passed_turn(job: &JobRecord) -> Option<GraphEvent> {
    if job.state != JobState::Failed {
        return None;
    }
    sequence(&job.spec)?;
    let mut member = job.member();
    member.state = JobState::Canceled;
    member.canceled = Some(CancelCause::Requested);
    Some(GraphEvent::Ended { member, condition_results: Vec::new() })
}

/// Returns `true` if an operation deletes in this phase, so that a visited job that has ended is deleted.
pub fn removes(operation: &OperationRecord) -> bool {
    phase(operation) == Some(ErasurePhase::Remove)
}

/// Returns the phase of an erasure, or `None` for any other operation.
pub fn phase(operation: &OperationRecord) -> Option<ErasurePhase> {
    operation.erasure.as_ref().map(|erasure| erasure.phase)
}

/// Returns `true` if a pace limits the next page. An erasure limits how many jobs are deleted, and cancels them at once.
pub(super) fn is_paced(operation: &OperationRecord) -> bool {
    phase(operation)
        .is_none_or(|phase| matches!(phase, ErasurePhase::Remove | ErasurePhase::Archive))
}

/// Returns `true` if a pass has just ended and has left jobs that are still in use. Another pass now would find them in
/// use as well.
pub fn must_wait(operation: &OperationRecord) -> bool {
    operation.cursor.is_none()
        && operation
            .erasure
            .as_ref()
            .is_some_and(|erasure| erasure.phase == ErasurePhase::Remove && erasure.left > 0)
}

/// Applies a page to an erasure. Returns `true` if the erasure has ended.
pub(super) fn visited(
    before: &OperationRecord,
    next: &mut OperationRecord,
    page: &OperationPage,
    last: bool,
) -> bool {
    let Some(erasure) = &mut next.erasure else { return false };
    erasure.erased.add(&page.erased);
    erasure.canceled += page.changed.len() as u64;
    if erasure.phase == ErasurePhase::Remove {
        let earlier = if before.cursor.is_some() { erasure.left } else { 0 };
        erasure.left = earlier + page.left;
    }
    let following = match erasure.phase {
        _ if !last || page.more => return false,
        ErasurePhase::Cancel => ErasurePhase::Remove,
        ErasurePhase::Remove if erasure.left > 0 => ErasurePhase::Remove,
        ErasurePhase::Remove => ErasurePhase::Archive,
        ErasurePhase::Archive => ErasurePhase::Rest,
        ErasurePhase::Rest => ErasurePhase::Scrub,
        ErasurePhase::Scrub => return true,
    };
    erasure.phase = following;
    next.cursor = None;
    false
}

/// Returns the digest that replaces an idempotency key. It is the SHA-256 digest of the length in bytes of the scope, a
/// colon, the scope, and the key. The scope is empty, or `=` and the tenant.
pub fn key_digest(tenant: Option<&str>, key: &str) -> [u8; 32] {
    let scope = tenant.map_or_else(String::new, |tenant| format!("={tenant}"));
    let mut sha = Sha256::new();
    sha.update(format!("{}:", scope.len()));
    sha.update(scope);
    sha.update(key);
    sha.finalize().into()
}

/// Returns the smallest id that a job can have that was submitted at this instant: a version 7 UUID begins with its
/// milliseconds.
pub fn first_id(at: Timestamp) -> JobId {
    let millis = u128::try_from(at.as_millisecond()).unwrap_or_default();
    JobId::from_uuid(Uuid::from_u128((millis & 0xffff_ffff_ffff) << 80))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{BulkVerb, ErasedRows, JobSpec, OperationId};
    use crate::rules::operation;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).expect("a timestamp")
    }

    fn erasure() -> OperationRecord {
        let subject = ErasureSubject::Tenant("acme".to_owned());
        let id = OperationId::from_uuid(Uuid::from_u128(1));
        operation::prepare(id, BulkVerb::Erase, &subject.filter(), at(0), None)
    }

    fn job(tenant: Option<&str>, state: JobState) -> JobRecord {
        let mut spec = JobSpec::new("job", Vec::new());
        spec.tenant = tenant.map(str::to_owned);
        let id = JobId::from_uuid(Uuid::from_u128(7));
        let mut job = JobRecord::pending(id, spec, at(-1), at(-1));
        job.state = state;
        job
    }

    #[test]
    fn z_12_only_jobs_of_the_subject_before_the_cutoff_are_selected() {
        let operation = erasure();
        assert!(selects(&operation, &job(Some("acme"), JobState::Pending)));
        assert!(!selects(&operation, &job(Some("other"), JobState::Pending)));
        assert!(!selects(&operation, &job(None, JobState::Pending)));
        let mut late = job(Some("acme"), JobState::Pending);
        late.queued_at = at(0);
        assert!(!selects(&operation, &late));
    }

    #[test]
    fn z_12_a_job_is_ended_before_it_is_deleted() {
        let operation = erasure();
        let ending = |state, paused_from| {
            let mut job = job(Some("acme"), state);
            job.paused_from = paused_from;
            operation::command(&operation, &job)
        };
        let id = JobId::from_uuid(Uuid::from_u128(7));
        let cancel = Some(Command::Cancel(id, CancelCause::Requested));
        assert_eq!(ending(JobState::Pending, None), cancel);
        assert_eq!(ending(JobState::Running, None), cancel);
        assert_eq!(ending(JobState::Paused, Some(JobState::Pending)), cancel);
        assert_eq!(ending(JobState::Paused, Some(JobState::Failed)), Some(Command::Resume(id)));
        for ended in [JobState::Succeeded, JobState::Failed, JobState::Canceled] {
            assert_eq!(ending(ended, None), None);
        }
    }

    #[test]
    fn z_12_phases_follow_one_another_and_wait_for_jobs_in_use() {
        let mut current = erasure();
        let mut visit = |page: &OperationPage, last: bool| {
            let mut next = current.clone();
            let ended = visited(&current, &mut next, page, last);
            current = next;
            (phase(&current).expect("an erasure"), must_wait(&current), ended)
        };
        let empty = OperationPage::default();
        let in_use = OperationPage { left: 2, ..OperationPage::default() };
        let more = OperationPage { more: true, ..OperationPage::default() };
        assert_eq!(visit(&empty, false), (ErasurePhase::Cancel, false, false));
        assert_eq!(visit(&empty, true), (ErasurePhase::Remove, false, false));
        assert_eq!(visit(&in_use, true), (ErasurePhase::Remove, true, false));
        assert_eq!(visit(&empty, true), (ErasurePhase::Archive, false, false));
        assert_eq!(visit(&empty, true), (ErasurePhase::Rest, false, false));
        assert_eq!(visit(&more, true), (ErasurePhase::Rest, false, false));
        assert_eq!(visit(&empty, true), (ErasurePhase::Scrub, false, false));
        assert_eq!(visit(&empty, true), (ErasurePhase::Scrub, false, true));
    }

    #[test]
    fn z_12_counts_are_added_up() {
        let current = erasure();
        let mut next = current.clone();
        let erased = ErasedRows { jobs: 3, keys: 2, ..ErasedRows::default() };
        let page = OperationPage { erased, ..OperationPage::default() };
        visited(&current, &mut next, &page, false);
        visited(&next.clone(), &mut next, &page, false);
        let erased = next.erasure.expect("an erasure").erased;
        assert_eq!((erased.jobs, erased.keys, erased.archived), (6, 4, 0));
    }

    #[test]
    fn z_12_a_subject_is_one_tenant_or_one_correlation_id() {
        let both = Filter::any().tenant("a").correlation_id("b");
        assert_eq!(ErasureSubject::of(&both), None);
        assert_eq!(ErasureSubject::of(&Filter::any().tenant("a").queue("q")), None);
        assert_eq!(ErasureSubject::of(&Filter::any()), None);
        let subject = ErasureSubject::Correlation("b".to_owned());
        assert_eq!(ErasureSubject::of(&subject.filter()), Some(subject));
    }

    #[test]
    fn z_12_digests_of_keys_depend_on_the_tenant() {
        let digests = [
            key_digest(None, "k"),
            key_digest(Some(""), "k"),
            key_digest(Some("a"), "k"),
            key_digest(None, "=ak"),
            key_digest(Some("ak"), ""),
        ];
        for (index, one) in digests.iter().enumerate() {
            assert!(!digests[index + 1..].contains(one), "{index}");
        }
    }
}
