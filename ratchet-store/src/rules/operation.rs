//! The rules of bulk operations: which jobs they select, how fast they go, and how their states change.

use std::time::Duration;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::erasure;
use crate::model::{
    Actor, AuditHash, BulkVerb, CancelCause, Command, CommandError, CommandReply, Due, Erasure,
    Filter, JobId, JobRecord, JobState, OperationControl, OperationId, OperationPage,
    OperationRecord, OperationReply, OperationState, OperationUpdate, Page,
};

/// The maximum number of jobs of one page.
pub const PAGE: u32 = 200;

/// How long an operation that has ended is kept.
pub const KEPT: Duration = Duration::from_hours(90 * 24);

/// The time for which an operation with a pace may catch up.
const CATCH_UP: Duration = Duration::from_mins(1);

/// Returns the filter that an operation uses. If it has no state, it selects the states that the verb can change. The
/// order is ignored, because jobs are visited in the order of their ids.
pub fn selection(verb: &BulkVerb, filter: &Filter) -> Filter {
    let mut filter = filter.clone();
    filter.oldest_first = false;
    if filter.states.is_empty() {
        filter.states = match verb {
            BulkVerb::Retry => vec![JobState::Failed],
            BulkVerb::Cancel => vec![JobState::Pending, JobState::Running, JobState::Paused],
            BulkVerb::Pause | BulkVerb::Reschedule(_) => vec![JobState::Pending],
            BulkVerb::Resume => vec![JobState::Paused],
            BulkVerb::Move(_) => vec![JobState::Pending, JobState::Paused],
            BulkVerb::Erase => Vec::new(),
        };
    }
    filter
}

/// Creates an operation that was not started yet. The times are set when it starts.
pub fn prepare(
    id: OperationId,
    verb: BulkVerb,
    filter: &Filter,
    cutoff: Timestamp,
    actor: Option<Actor>,
) -> OperationRecord {
    let filter = selection(&verb, filter);
    OperationRecord {
        id,
        digest: digest(&verb, &filter, cutoff),
        erasure: (verb == BulkVerb::Erase).then(Erasure::default),
        verb,
        filter,
        cutoff,
        expected: 0,
        exact: false,
        pace: None,
        canary: None,
        actor,
        state: OperationState::Running,
        version: 0,
        cursor: None,
        matched: 0,
        changed: 0,
        refused: 0,
        failed: 0,
        canary_jobs: Vec::new(),
        started_at: cutoff,
        updated_at: cutoff,
        paced_at: cutoff,
        ended_at: None,
    }
}

/// Returns the digest of what an operation does to which jobs. The start of an operation must present it, so that the
/// operation that is started is the one that was previewed.
pub fn digest(verb: &BulkVerb, filter: &Filter, cutoff: Timestamp) -> String {
    let due = match verb {
        BulkVerb::Reschedule(Due::Now) => "now".to_owned(),
        BulkVerb::Reschedule(Due::In(delay)) => format!("in {}", delay.as_micros()),
        BulkVerb::Reschedule(Due::At(at)) => format!("at {}", at.as_microsecond()),
        BulkVerb::Move(placement) => placement.to_string(),
        _ => String::new(),
    };
    let mut sha = Sha256::new();
    sha.update(b"ratchet operation 1");
    for part in [verb.name(), &due, &filter.to_string(), &cutoff.as_microsecond().to_string()] {
        sha.update((part.len() as u64).to_be_bytes());
        sha.update(part);
    }
    let mut digest = AuditHash(sha.finalize().into()).to_string();
    digest.truncate(32);
    digest
}

/// Returns the filter of the next page. The page continues behind [`OperationRecord::cursor`].
pub fn listing(operation: &OperationRecord) -> Filter {
    let mut filter = operation.filter.clone();
    filter.oldest_first = true;
    let before = filter.queued_before.map_or(operation.cutoff, |at| at.min(operation.cutoff));
    filter.queued_before = Some(before);
    if let Some(erasure) = &operation.erasure {
        erasure::narrow(&mut filter, erasure.phase);
    }
    filter
}

/// Returns the update that visits the jobs of a page of [`listing`]. A page that was limited before it was full also names
/// the job up to which it was searched: the operation does not select it and continues behind it.
pub fn page(operation: &OperationRecord, listed: &Page) -> OperationUpdate {
    let mut jobs: Vec<_> = listed.jobs.iter().map(|job| job.id).collect();
    jobs.extend(listed.next.filter(|next| jobs.last() != Some(next)));
    let (id, version, last) = (operation.id, operation.version, listed.next.is_none());
    OperationUpdate::Page { id, version, jobs, last }
}

/// Returns the command for a visited job, or `None` if the operation does not select it.
pub fn command(operation: &OperationRecord, job: &JobRecord) -> Option<Command> {
    let in_time = |at: Timestamp| at < operation.cutoff;
    if operation.verb == BulkVerb::Erase {
        return erasure::ending(operation, job);
    }
    if !listing(operation).matches(job) || !job.finished_at.is_none_or(in_time) {
        return None;
    }
    Some(match &operation.verb {
        BulkVerb::Retry => Command::Retry(job.id),
        BulkVerb::Cancel => Command::Cancel(job.id, CancelCause::Requested),
        BulkVerb::Pause => Command::Pause(job.id),
        BulkVerb::Resume => Command::Resume(job.id),
        BulkVerb::Reschedule(due) => Command::Reschedule(job.id, *due),
        BulkVerb::Move(placement) => Command::Move(job.id, placement.clone()),
        BulkVerb::Erase => return None,
    })
}

/// Adds the answer to the command of a visited job to a page.
///
/// # Errors
///
/// Returns an error of the store, with which the whole page must fail.
pub fn add(
    page: &mut OperationPage,
    job: JobId,
    answer: Result<CommandReply, CommandError>,
) -> Result<(), CommandError> {
    match answer {
        Err(CommandError::Store(error)) => return Err(error.into()),
        Ok(reply) if reply.states().is_some() => page.changed.push((job, reply)),
        _ => page.refused.push(job),
    }
    Ok(())
}

/// Returns whether a page or a judgment that was prepared for `version` may be applied in this state.
pub fn is_current(operation: &OperationRecord, version: u64, state: OperationState) -> bool {
    operation.version == version && operation.state == state
}

/// Applies an update to the stored operation. For a page that [is current](is_current), `page` is what its commands
/// did. An update that is not current is not applied.
///
/// # Errors
///
/// Returns [`CommandError::OperationNotFound`] if the operation does not exist, and [`CommandError::OperationEnded`] if
/// its state does not allow the update.
pub fn updated(
    stored: Option<OperationRecord>,
    update: &OperationUpdate,
    page: Option<OperationPage>,
    now: Timestamp,
) -> Result<OperationReply, CommandError> {
    let stored = match (stored, update) {
        (None, OperationUpdate::Start(new)) => {
            return Ok(OperationReply::new(started(new, now), true, None));
        }
        (None, update) => return Err(CommandError::OperationNotFound(update.id())),
        (Some(stored), _) => stored,
    };
    let next = match update {
        OperationUpdate::Start(_) => None,
        OperationUpdate::Control(_, control) => controlled(&stored, *control, now)?,
        OperationUpdate::Page { jobs, last, .. } => {
            page.as_ref().and_then(|page| visited(&stored, jobs, *last, page, now))
        }
        OperationUpdate::Judge { version, failed, passed, .. } => {
            let current = is_current(&stored, *version, OperationState::CanaryWaiting);
            current.then(|| judged(&stored, *failed, *passed, now))
        }
    };
    Ok(match next {
        Some(next) => OperationReply::new(next, true, page),
        None => OperationReply::new(stored, false, None),
    })
}

/// Sets the times of a new operation.
fn started(operation: &OperationRecord, now: Timestamp) -> OperationRecord {
    let mut started = operation.clone();
    let now = micros(now);
    (started.started_at, started.updated_at, started.paced_at) = (now, now, now);
    started.version = 1;
    started
}

/// Returns how many jobs the next page may visit: 0 if the operation must wait.
pub fn allowance(operation: &OperationRecord, now: Timestamp) -> u32 {
    if operation.state != OperationState::Running {
        return 0;
    }
    let mut most = PAGE;
    if let Some(canary) = operation.canary.filter(|_| !is_judged(operation)) {
        let changed = u32::try_from(operation.canary_jobs.len()).unwrap_or(u32::MAX);
        most = most.min(canary.jobs.saturating_sub(changed));
    }
    if let Some(pace) = operation.pace.filter(|_| erasure::is_paced(operation)) {
        let spare = now.duration_since(operation.paced_at).as_micros().max(0);
        let spare = spare.min(i128::try_from(CATCH_UP.as_micros()).unwrap_or(i128::MAX));
        let jobs = spare * i128::from(pace) / 1_000_000;
        most = most.min(u32::try_from(jobs).unwrap_or(u32::MAX));
    }
    most
}

/// Returns whether the canary is over. It has at least one job, so that an operation whose canary is over has changed
/// or refused a job, and keeps no list of its jobs.
fn is_judged(operation: &OperationRecord) -> bool {
    operation.canary_jobs.is_empty() && operation.changed > 0
}

/// Applies a page to the operation.
fn visited(
    operation: &OperationRecord,
    jobs: &[JobId],
    last: bool,
    page: &OperationPage,
    now: Timestamp,
) -> Option<OperationRecord> {
    let (mut next, now) = (touched(operation, now), micros(now));
    let changed = match operation.verb {
        BulkVerb::Erase => page.erased.jobs + page.erased.archived,
        _ => page.changed.len() as u64,
    };
    next.cursor = jobs.last().copied().or(operation.cursor);
    next.matched += changed + page.refused.len() as u64;
    next.changed += changed;
    next.refused += page.refused.len() as u64;
    if let Some(pace) = operation.pace {
        let used = Duration::from_micros(changed * 1_000_000 / u64::from(pace.max(1)));
        let floor = now.checked_sub(CATCH_UP).unwrap_or(now);
        let used_up_to = operation.paced_at.checked_add(used).unwrap_or(now);
        next.paced_at = micros(used_up_to.max(floor));
    }
    if let Some(canary) = operation.canary.filter(|_| !is_judged(operation)) {
        next.canary_jobs.extend(page.changed.iter().map(|(id, _)| *id));
        if next.canary_jobs.len() >= canary.jobs as usize {
            next.state = OperationState::CanaryWaiting;
        }
    }
    let finished = match &mut next.erasure {
        Some(_) => erasure::visited(operation, &mut next, page, last),
        None => last,
    };
    if finished {
        next.state = OperationState::Finished;
        next.ended_at = Some(now);
        next.canary_jobs.clear();
    }
    // A pass of an erasure that found the same jobs still in use is not recorded.
    let progress = |one: &OperationRecord| (one.cursor, one.state, one.erasure.clone());
    let idle = operation.erasure.is_some() && progress(operation) == progress(&next);
    (!idle).then_some(next)
}

/// Applies a decision of an operator. Returns `None` if the operation already has that state.
fn controlled(
    operation: &OperationRecord,
    control: OperationControl,
    now: Timestamp,
) -> Result<Option<OperationRecord>, CommandError> {
    use OperationState::{Aborted, CanaryWaiting, Paused, Running};
    let refused = || CommandError::OperationEnded {
        operation: operation.id,
        state: operation.state,
        verb: control.name(),
    };
    let state = match (control, operation.state) {
        (OperationControl::Pause, Running | CanaryWaiting) => Paused,
        (OperationControl::Resume, Paused | CanaryWaiting) => Running,
        (OperationControl::Abort, Running | Paused | CanaryWaiting) => Aborted,
        (OperationControl::Pause, Paused)
        | (OperationControl::Resume, Running)
        | (OperationControl::Abort, Aborted) => return Ok(None),
        _ => return Err(refused()),
    };
    let mut next = touched(operation, now);
    if state == Running {
        // An operation that was paused before its canary was complete continues with it.
        let canary = operation.canary.map_or(0, |canary| canary.jobs as usize);
        if next.canary_jobs.len() >= canary {
            next.canary_jobs.clear();
        }
        next.paced_at = micros(now);
    }
    next.state = state;
    next.ended_at = state.is_ended().then(|| micros(now));
    Ok(Some(next))
}

/// Judges a canary by its jobs. Returns how many failed again and whether the operation continues, or `None` if it
/// waits.
///
/// A job has failed again if a run of its present generation failed, so a canary need not wait for the last retry. Jobs
/// that do not exist anymore have ended.
pub fn judgment(operation: &OperationRecord, jobs: &[JobRecord]) -> Option<(u64, bool)> {
    let percent = u64::from(operation.canary?.max_failed_percent?);
    if operation.state != OperationState::CanaryWaiting {
        return None;
    }
    let has_failed = |job: &&JobRecord| job.state == JobState::Failed || job.attempts > 0;
    let failed = jobs.iter().filter(has_failed).count() as u64;
    let total = operation.canary_jobs.len() as u64;
    if failed * 100 > percent * total {
        return Some((failed, false));
    }
    let waits = jobs.iter().any(|job| !job.state.is_terminal() && !has_failed(&job));
    (!waits).then_some((failed, true))
}

/// Applies the judgment of a canary.
fn judged(
    operation: &OperationRecord,
    failed: u64,
    passed: bool,
    now: Timestamp,
) -> OperationRecord {
    let mut next = touched(operation, now);
    next.failed = failed;
    next.state = if passed { OperationState::Running } else { OperationState::Paused };
    next.canary_jobs.clear();
    next.paced_at = micros(now);
    next
}

fn touched(operation: &OperationRecord, now: Timestamp) -> OperationRecord {
    let mut next = operation.clone();
    next.version += 1;
    next.updated_at = micros(now);
    next
}

/// Truncates to microseconds, which every store keeps.
fn micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Canary, JobSpec};
    use uuid::Uuid;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).expect("a timestamp")
    }

    fn running() -> OperationRecord {
        let id = OperationId::from_uuid(Uuid::from_u128(1));
        started(&prepare(id, BulkVerb::Retry, &Filter::any(), at(0), None), at(0))
    }

    fn retried(number: u128, state: JobState, attempts: u32) -> JobRecord {
        let id = JobId::from_uuid(Uuid::from_u128(number));
        let mut job = JobRecord::pending(id, JobSpec::new("job", Vec::new()), at(0), at(0));
        (job.state, job.attempts) = (state, attempts);
        job
    }

    fn page_of(jobs: u128) -> (Vec<JobId>, OperationPage) {
        let ids: Vec<_> = (1..=jobs).map(|id| JobId::from_uuid(Uuid::from_u128(id))).collect();
        let reply = CommandReply::Done { from: JobState::Failed, to: JobState::Pending };
        let changed = ids.iter().map(|id| (*id, reply.clone())).collect();
        (ids, OperationPage { changed, ..OperationPage::default() })
    }

    #[test]
    fn o_04_a_pace_is_kept_over_pages() {
        let mut operation = running();
        assert_eq!(allowance(&operation, at(0)), PAGE);
        operation.pace = Some(10);
        assert_eq!(allowance(&operation, at(0)), 0);
        assert_eq!(allowance(&operation, at(2)), 20);
        let (ids, page) = page_of(15);
        let next = visited(&operation, &ids, false, &page, at(2)).expect("changes");
        assert_eq!(allowance(&next, at(2)), 5, "what was not used remains");
        assert_eq!(allowance(&next, at(3)), 15);
        assert_eq!(allowance(&next, at(1000)), PAGE, "a page has a limit");
        let next = visited(&next, &ids, false, &page, at(1000)).expect("changes");
        assert_eq!(allowance(&next, at(1000)), PAGE, "catches up with a minute at most");
        assert_eq!(next.paced_at, at(940));
        let paused = controlled(&next, OperationControl::Pause, at(1000)).expect("pauses");
        let paused = paused.expect("changes");
        assert_eq!(allowance(&paused, at(2000)), 0);
        let resumed = controlled(&paused, OperationControl::Resume, at(2000)).expect("resumes");
        assert_eq!(
            allowance(&resumed.expect("changes"), at(2000)),
            0,
            "the pause is not caught up"
        );
    }

    #[test]
    fn o_04_a_canary_is_judged_by_its_jobs() {
        use JobState::{Canceled, Failed, Pending, Running, Succeeded};
        let mut operation = running();
        operation.canary = Some(Canary::new(4).max_failed_percent(25));
        let (ids, page) = page_of(4);
        let waiting = visited(&operation, &ids, false, &page, at(1)).expect("changes");
        assert_eq!(waiting.state, OperationState::CanaryWaiting);
        let judge = |jobs: &[(JobState, u32)]| {
            let jobs: Vec<_> =
                (1..).zip(jobs).map(|(id, (state, runs))| retried(id, *state, *runs)).collect();
            judgment(&waiting, &jobs)
        };
        assert_eq!(judge(&[(Pending, 0), (Succeeded, 0), (Succeeded, 0), (Succeeded, 0)]), None);
        assert_eq!(judge(&[(Succeeded, 0), (Succeeded, 0), (Canceled, 0)]), Some((0, true)));
        assert_eq!(judge(&[(Failed, 1), (Succeeded, 0), (Succeeded, 0)]), Some((1, true)));
        assert_eq!(judge(&[(Failed, 1), (Pending, 1), (Running, 0)]), Some((2, false)));
        assert_eq!(judge(&[(Pending, 1), (Running, 0)]), None, "one may fail, and one still runs");
        let mut manual = waiting.clone();
        manual.canary = Some(Canary::new(4));
        assert_eq!(judgment(&manual, &[]), None, "an operator decides");
    }

    #[test]
    fn o_04_a_digest_is_that_of_verb_filter_and_cutoff() {
        let digest_of = |verb: &BulkVerb, filter: Filter, cutoff| digest(verb, &filter, cutoff);
        let one = digest_of(&BulkVerb::Retry, Filter::any().queue("a"), at(0));
        assert_eq!(one.len(), 32);
        for other in [
            digest_of(&BulkVerb::Cancel, Filter::any().queue("a"), at(0)),
            digest_of(&BulkVerb::Retry, Filter::any().queue("b"), at(0)),
            digest_of(&BulkVerb::Retry, Filter::any().queue("a"), at(1)),
            digest_of(&BulkVerb::Reschedule(Due::Now), Filter::any().queue("a"), at(0)),
        ] {
            assert_ne!(one, other);
        }
    }
}
