//! Applies the overlap policy of a schedule to the job of an occurrence.

use crate::model::{ConcurrencyKey, NewJob, OnConflict, Overlap};

impl Overlap {
    /// Makes the insert of a job follow the policy. The job gets the business key `schedule:<name>`, unless it has its
    /// own.
    pub fn apply(self, job: &mut NewJob, schedule: &str) {
        job.on_conflict = match self {
            Self::Allow => return,
            Self::Skip => OnConflict::ReturnHolder,
            Self::QueueOne => OnConflict::Coalesce(None),
        };
        let key = || format!("schedule:{schedule}");
        job.spec.business_key.get_or_insert_with(key);
        if self == Self::QueueOne {
            job.spec.concurrency.get_or_insert_with(|| ConcurrencyKey { key: key(), limit: 1 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{JobId, JobSpec};

    fn job(overlap: Overlap, key: Option<&str>) -> NewJob {
        let id = JobId::from_uuid(uuid::Uuid::nil());
        let mut job = NewJob::new(id, JobSpec::new("a", Vec::new()));
        job.spec.business_key = key.map(str::to_owned);
        overlap.apply(&mut job, "nightly");
        job
    }

    #[test]
    fn t_07_the_policy_decides_how_a_job_is_inserted() {
        let allowed = job(Overlap::Allow, None);
        assert_eq!((allowed.on_conflict, allowed.spec.business_key), (OnConflict::Refuse, None));
        let skipped = job(Overlap::Skip, None);
        assert_eq!(skipped.on_conflict, OnConflict::ReturnHolder);
        assert_eq!(skipped.spec.business_key.as_deref(), Some("schedule:nightly"));
        assert_eq!(skipped.spec.concurrency, None);
        let queued = job(Overlap::QueueOne, Some("own"));
        assert_eq!(queued.on_conflict, OnConflict::Coalesce(None));
        assert_eq!(queued.spec.business_key.as_deref(), Some("own"));
        assert_eq!(queued.spec.concurrency.map(|key| key.limit), Some(1));
    }
}
