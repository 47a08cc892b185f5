//! The jobs that a listing reads: those that an index finds by one condition of its filter, or all of them.

use jiff::Timestamp;

use crate::model::{ArchivedJobs, Filter, GroupId, JobId, JobRecord, JobState};

/// The maximum number of waiting jobs for which a listing of waiting jobs reads no others. A store has no index of them by
/// id, so it sorts them, and sorting more would take too long.
pub const FEW_WAITING: u64 = 100_000;

/// Where a listing reads jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The jobs that are not archived.
    Live,
    /// The archive.
    Archive,
}

/// The jobs that a listing reads, in the order of their ids. The conditions that the source does not imply are compared
/// with each of them.
///
/// ```
/// use ratchet_store::model::{Filter, JobState};
/// use ratchet_store::rules::search::{Place, Source};
///
/// let filter = Filter::any().state(JobState::Failed).queue("mail");
/// let source = Source::of(&filter, Place::Live, 0);
/// assert!(matches!(&source, Source::States(states) if *states == [JobState::Failed]));
/// assert!(source.leaves_conditions(&filter));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source<'a> {
    /// The jobs with these ids.
    Ids(&'a [JobId]),
    /// The members of a chain, batch or workflow.
    Group(GroupId),
    /// The jobs that wait or are paused and expire at this instant or earlier.
    Expiring(Timestamp),
    /// The jobs with this business key.
    BusinessKey(&'a str),
    /// The jobs in these states.
    States(Vec<JobState>),
    /// All jobs.
    All,
}

impl<'a> Source<'a> {
    /// Returns the source of a listing. `waiting` is the number of pending jobs in the store.
    pub fn of(filter: &'a Filter, place: Place, waiting: u64) -> Self {
        if !filter.ids.is_empty() {
            return Self::Ids(&filter.ids);
        }
        match place {
            Place::Archive => filter.business_key.as_deref().map_or(Self::All, Self::BusinessKey),
            Place::Live => {
                let group = filter.group.map(Self::Group);
                let expiring = || filter.expires_by.map(Self::Expiring);
                let states = || states(filter, waiting).map(Self::States);
                group.or_else(expiring).or_else(states).unwrap_or(Self::All)
            }
        }
    }

    /// Returns `true` if the source has the job.
    pub fn contains(&self, job: &JobRecord) -> bool {
        match self {
            Self::Ids(ids) => ids.contains(&job.id),
            Self::Group(group) => {
                job.spec.step.as_ref().is_some_and(|step| step.group == Some(*group))
            }
            Self::Expiring(instant) => job.cancels_at().is_some_and(|expires| expires <= *instant),
            Self::BusinessKey(key) => job.spec.business_key.as_deref() == Some(key),
            Self::States(states) => states.contains(&job.state),
            Self::All => true,
        }
    }

    /// Returns `true` if the filter has conditions that a job of the source may not match.
    pub fn leaves_conditions(&self, filter: &Filter) -> bool {
        let mut rest = filter.clone();
        (rest.archived, rest.oldest_first) = (ArchivedJobs::default(), false);
        match self {
            Self::Ids(_) => rest.ids.clear(),
            Self::Group(_) => rest.group = None,
            Self::Expiring(_) => rest.expires_by = None,
            Self::BusinessKey(_) => rest.business_key = None,
            Self::States(_) => rest.states.clear(),
            Self::All => {}
        }
        rest != Filter::any()
    }
}

/// Returns the states by which an index finds every job that can match.
fn states(filter: &Filter, waiting: u64) -> Option<Vec<JobState>> {
    // Only failed jobs have a reason and a fingerprint, and they keep them while they are paused.
    let has_failed = filter.reason.is_some() || filter.fingerprint.is_some();
    let can_match = |state: JobState| {
        let wanted = filter.states.is_empty() || filter.states.contains(&state);
        wanted && (!has_failed || matches!(state, JobState::Failed | JobState::Paused))
    };
    let states: Vec<_> = JobState::ALL.into_iter().filter(|state| can_match(*state)).collect();
    let has_index = |state: &JobState| match state {
        JobState::Running | JobState::Paused | JobState::Failed | JobState::Canceled => true,
        JobState::Pending => waiting <= FEW_WAITING,
        JobState::Succeeded => false,
    };
    states.iter().all(has_index).then_some(states)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TerminalReason;

    fn live(filter: &Filter, waiting: u64) -> Source<'_> {
        Source::of(filter, Place::Live, waiting)
    }

    fn in_states(states: &[JobState]) -> Source<'_> {
        Source::States(states.to_vec())
    }

    #[test]
    fn o_14_states_with_an_index_are_read_alone() {
        let failed = Filter::any().state(JobState::Failed).state(JobState::Running).tenant("acme");
        assert_eq!(live(&failed, 0), in_states(&[JobState::Running, JobState::Failed]));
        let ended = Filter::any().state(JobState::Failed).state(JobState::Succeeded);
        assert_eq!(live(&ended, 0), Source::All);
        assert_eq!(Source::of(&failed, Place::Archive, 0), Source::All);
    }

    #[test]
    fn o_14_waiting_jobs_are_read_alone_while_they_are_few() {
        let waiting = Filter::any().state(JobState::Pending);
        assert_eq!(live(&waiting, FEW_WAITING), in_states(&[JobState::Pending]));
        assert_eq!(live(&waiting, FEW_WAITING + 1), Source::All);
    }

    #[test]
    fn o_14_only_failed_jobs_have_a_reason() {
        let reason = Filter::any().reason(TerminalReason::ALL[0]);
        assert_eq!(live(&reason, 0), in_states(&[JobState::Failed, JobState::Paused]));
        assert!(live(&reason, 0).leaves_conditions(&reason));
        let none = Filter::any().fingerprint("boom").state(JobState::Succeeded);
        assert_eq!(live(&none, 0), in_states(&[]));
    }

    #[test]
    fn o_14_a_source_implies_one_condition() {
        let id = JobId::from_uuid(uuid::Uuid::from_u128(1));
        let filter = Filter::any().id(id).oldest_first();
        assert!(!live(&filter, 0).leaves_conditions(&filter));
        let filter = filter.state(JobState::Failed);
        assert_eq!(live(&filter, 0), Source::Ids(&[id]));
        assert!(live(&filter, 0).leaves_conditions(&filter));
        assert!(!Source::All.leaves_conditions(&Filter::any()));
    }

    #[test]
    fn o_14_keys_have_an_index_in_the_archive() {
        let filter = Filter::any().business_key("order-7");
        assert_eq!(live(&filter, 0), Source::All);
        assert_eq!(Source::of(&filter, Place::Archive, 0), Source::BusinessKey("order-7"));
    }
}
