//! Looks for sampled jobs in the archive, by id, by business key and by another condition.

use std::time::Instant;

use ratchet::Ratchet;
use ratchet::model::{ArchivedJobs, Filter, JobId, PageRequest};
use ratchet_bench_pg::percentile;

/// A job that was sampled before it was archived.
pub struct Sampled {
    pub id: JobId,
    pub business_key: String,
    pub tenant: String,
}

/// How many jobs are looked for by a condition, for which no index exists.
const BY_CONDITION: usize = 20;

/// Finds every sampled job, or panics. Prints how long that took.
pub async fn find(ratchet: &Ratchet, sampled: &[Sampled]) {
    let jobs = ratchet.jobs();
    let mut times = Vec::new();
    for job in sampled {
        let started = Instant::now();
        let found = jobs.get(job.id).await.expect("reads").expect("the job is in the archive");
        times.push(started.elapsed().as_secs_f64() * 1000.0);
        assert!(found.archived_at.is_some(), "{} is not archived", job.id);
        assert_eq!(found.spec.business_key.as_ref(), Some(&job.business_key));
        assert!(!jobs.attempts(job.id).await.expect("reads").is_empty(), "the runs of {}", job.id);
    }
    let line = |what: &str, times: &mut Vec<f64>| {
        let (half, most) = (percentile(times, 0.5), percentile(times, 1.0));
        println!("| {what} | {} | {half:.2} ms | {most:.2} ms |", times.len());
    };
    println!("\n| found by | jobs | p50 | most |\n|---|---:|---:|---:|");
    line("id", &mut times);
    for by_key in [true, false] {
        times.clear();
        for job in sampled.iter().take(BY_CONDITION) {
            let filter = Filter::any().archived(ArchivedJobs::Only);
            let filter = match by_key {
                true => filter.business_key(&job.business_key),
                false => filter.tenant(&job.tenant).id(job.id),
            };
            let started = Instant::now();
            let page = jobs.list(&filter, PageRequest::default()).await.expect("lists");
            times.push(started.elapsed().as_secs_f64() * 1000.0);
            let ids: Vec<_> = page.jobs.iter().map(|job| job.id).collect();
            assert_eq!(ids, [job.id], "{filter}");
        }
        line(if by_key { "business key" } else { "tenant and id" }, &mut times);
    }
    times.clear();
    for job in sampled.iter().take(BY_CONDITION) {
        let filter = Filter::any().archived(ArchivedJobs::Only).tenant(&job.tenant);
        let started = Instant::now();
        let page = jobs.list(&filter, PageRequest::default()).await.expect("lists");
        times.push(started.elapsed().as_secs_f64() * 1000.0);
        assert!(page.jobs.iter().all(|found| found.spec.tenant.as_ref() == Some(&job.tenant)));
        assert_eq!(page.jobs.len(), PageRequest::default().limit as usize, "a full page");
    }
    line("tenant (a page of many)", &mut times);
}
