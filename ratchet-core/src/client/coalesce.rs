//! Submits that coalesce: at most one job of a key runs, and at most one waits.

use std::time::Duration;

use super::SubmitError;
use ratchet_store::model::{ConcurrencyKey, JobSpec, NewJob, OnConflict};

/// Checks a job that coalesces, and gives it a concurrency key, so that the jobs of its business key run one after the
/// other.
pub(super) fn check(job: &mut NewJob) -> Result<(), SubmitError> {
    let OnConflict::Coalesce(debounce) = job.on_conflict else { return Ok(()) };
    let spec = &mut job.spec;
    let shared = spec.concurrency.as_ref().is_some_and(|key| key.limit > 1);
    let never = debounce.is_some_and(|it| it.wait == Duration::ZERO || it.at_most < it.wait);
    let problem = if spec.business_key.is_none() {
        "`coalesce` and `debounce` need a `business_key`"
    } else if shared {
        "jobs that coalesce run one at a time, so the limit of their concurrency key must be 1"
    } else if never {
        "`debounce` needs a wait longer than zero and a bound that is not shorter than the wait"
    } else {
        let key = serial_key(spec);
        spec.concurrency.get_or_insert(key);
        return Ok(());
    };
    Err(SubmitError::BadOption { job: spec.name.clone(), problem: problem.to_owned() })
}

/// Returns the concurrency key of a business key. Concurrency keys are shared by all tenants, and business keys are
/// not.
fn serial_key(spec: &JobSpec) -> ConcurrencyKey {
    let key = spec.business_key.as_deref().unwrap_or_default();
    let key = match &spec.tenant {
        None => format!("coalesce//{key}"),
        Some(tenant) => format!("coalesce/{}/{tenant}/{key}", tenant.len()),
    };
    ConcurrencyKey { key, limit: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratchet_store::model::Debounce;

    fn job(change: impl FnOnce(&mut NewJob)) -> Result<NewJob, SubmitError> {
        let core = crate::runtime::Core::for_test();
        let mut job = NewJob::new(core.ids.job(), JobSpec::new("a", Vec::new()));
        job.spec.business_key = Some("k".to_owned());
        job.on_conflict = OnConflict::Coalesce(None);
        change(&mut job);
        check(&mut job).map(|()| job)
    }

    fn serial(change: impl FnOnce(&mut NewJob)) -> Option<ConcurrencyKey> {
        job(change).expect("it is accepted").spec.concurrency
    }

    #[test]
    fn s_04_jobs_of_one_key_run_one_after_the_other() {
        let tenant = |tenant: &'static str| {
            move |job: &mut NewJob| job.spec.tenant = Some(tenant.to_owned())
        };
        let keys = [serial(|_| ()), serial(tenant("")), serial(tenant("k")), serial(tenant("/k"))];
        for (place, key) in keys.iter().enumerate() {
            assert_eq!(key.as_ref().map(|key| key.limit), Some(1));
            assert!(!keys[..place].contains(key), "{key:?}");
        }
        let own = ConcurrencyKey { key: "own".to_owned(), limit: 1 };
        assert_eq!(serial(|job| job.spec.concurrency = Some(own.clone())), Some(own));
        assert_eq!(serial(|job| job.on_conflict = OnConflict::Refuse), None);
    }

    #[test]
    fn s_04_what_cannot_coalesce_is_refused() {
        let debounce = |wait, at_most| {
            let debounce =
                Debounce { wait: Duration::from_secs(wait), at_most: Duration::from_secs(at_most) };
            move |job: &mut NewJob| job.on_conflict = OnConflict::Coalesce(Some(debounce))
        };
        assert!(job(|job| job.spec.business_key = None).is_err());
        let shared = ConcurrencyKey { key: "own".to_owned(), limit: 2 };
        assert!(job(|job| job.spec.concurrency = Some(shared)).is_err());
        assert!(job(debounce(0, 5)).is_err());
        assert!(job(debounce(6, 5)).is_err());
        assert!(job(debounce(5, 5)).is_ok());
    }
}
