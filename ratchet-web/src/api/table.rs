//! [`READS`]: every query of the API, as data. The routes and the `OpenAPI` document come from it.

use super::read;
use crate::route::Handler;

/// A query of the API.
pub(crate) struct Read {
    pub(crate) path: &'static str,
    /// The verb of `ratchet_core::VERBS`.
    pub(crate) verb: &'static str,
    pub(crate) summary: &'static str,
    /// The names of its query parameters, see [`PARAMETERS`].
    pub(crate) query: &'static [&'static str],
    /// The name of the schema of its answer.
    pub(crate) schema: &'static str,
    pub(crate) handler: Handler,
}

/// Every query parameter with its description.
pub(crate) const PARAMETERS: [(&str, &str); 20] = [
    (
        "filter",
        "Conditions such as `queue:mail state:failed queued>2h`; a job must match all of them",
    ),
    ("limit", "The maximum number of rows, from 1 to 1000; 100 if it is not given"),
    ("after", "Continue behind this id: the `next` of the previous page"),
    ("before", "The page in front of this job: the `previous` of the page"),
    ("name", "The name of the object"),
    ("fingerprint", "The fingerprint of the error"),
    ("service", "The name of the service"),
    ("count", "The number of times, from 1 to 100; 10 if it is not given"),
    ("last", "The length of the time up to now, such as 6h or 7d; 24h if it is not given"),
    ("queue", "The name of the queue"),
    ("by", "The name of the actor"),
    ("verb", "The operation, such as `jobs.retry`"),
    ("target", "The target, such as `queue mail`"),
    (
        "action",
        "`retry`, `cancel`, `pause`, `resume`, `reschedule` or `move`; `retry` if it is not given",
    ),
    ("due", "For `reschedule`: an instant, a delay such as 30m, or `now`"),
    ("to_queue", "For `move`: the new queue"),
    ("priority", "For `move`: `lowest`, `low`, `normal`, `high` or `critical`"),
    ("subject", "`tenant:…` or `correlation:…`"),
    ("format", "`csv` or `ndjson`, instead of the header `Accept`"),
    ("as", "`json`, `dot`, `svg` or `text`; `json` if it is not given"),
];

macro_rules! reads {
    ($($path:literal $verb:literal $summary:literal [$($query:literal)*] $schema:literal $handler:path;)*) => {
        [$(Read {
            path: $path,
            verb: $verb,
            summary: $summary,
            query: &[$($query),*],
            schema: $schema,
            handler: |request| Box::pin($handler(request)),
        }),*]
    };
}

/// Every query.
pub(crate) static READS: [Read; 39] = reads! {
    "/api/v1/overview" "status" "The state of the cluster" [] "Overview" read::overview;
    "/api/v1/jobs" "jobs.list" "Lists jobs, newest first. With `Accept: text/csv` or `application/x-ndjson`, exports all of them" ["filter" "limit" "after" "before" "format"] "JobPage" read::jobs;
    "/api/v1/jobs/count" "jobs.count" "Counts the jobs that match a filter, up to `cap`" ["filter" "cap"] "JobCount" read::count;
    "/api/v1/jobs/{job}" "jobs.show" "Shows a job. The header `ETag` has its version" [] "Job" read::job;
    "/api/v1/jobs/{job}/runs" "jobs.runs" "Lists the runs of a job, oldest first" [] "Runs" read::runs;
    "/api/v1/jobs/{job}/log" "jobs.log" "Lists the log lines of a job, oldest first" [] "Log" read::log;
    "/api/v1/jobs/{job}/explain" "jobs.explain" "Explains why a job is not running" [] "Explanation" read::explain;
    "/api/v1/failures" "failures.list" "Groups failed jobs by name and error" ["filter" "limit"] "Failures" read::failures;
    "/api/v1/queues" "queues.list" "Lists queues" [] "Queues" read::queues;
    "/api/v1/queue" "queues.show" "Shows a queue" ["name"] "Queue" read::queue;
    "/api/v1/breakers" "breakers.list" "Lists circuit breakers" [] "Breakers" read::breakers;
    "/api/v1/breaker" "breakers.show" "Shows a circuit breaker" ["service"] "Breaker" read::breaker;
    "/api/v1/schedules" "schedules.list" "Lists schedules" [] "Schedules" read::schedules;
    "/api/v1/schedules/next" "schedules.next" "Lists the next times of a schedule" ["name" "count"] "Times" read::next;
    "/api/v1/flows" "flows.list" "Lists chains, batches and workflows, newest first" ["name" "limit" "after"] "Flows" read::flows;
    "/api/v1/flows/{flow}" "flows.show" "Shows a chain, batch or workflow with its members" [] "Flow" read::flow;
    "/api/v1/flows/{flow}/drawing" "flows.draw" "Draws a chain, batch or workflow" ["as"] "Text" read::drawing;
    "/api/v1/nodes" "nodes.list" "Lists worker processes" [] "Nodes" read::nodes;
    "/api/v1/catalog" "catalog.list" "Lists the jobs that the programs of the cluster can run" [] "Catalog" read::catalog;
    "/api/v1/catalog/job" "catalog.show" "Shows a job of the catalog" ["name"] "CatalogJob" read::catalog_job;
    "/api/v1/operations" "operations.list" "Lists bulk operations, newest first" ["limit"] "Operations" read::operations;
    "/api/v1/operations/preview" "operations.preview" "Says which jobs a bulk operation would change. Its start must present the digest and the cut-off" ["filter" "action" "due" "to_queue" "priority"] "BulkPreview" read::preview_operation;
    "/api/v1/erasures/preview" "erasures.preview" "Counts what an erasure would delete. Its start must present the digest and the cut-off" ["subject"] "ErasurePreview" read::preview_erasure;
    "/api/v1/operation/{operation}" "operations.show" "Shows a bulk operation" [] "Operation" read::operation;
    "/api/v1/operation/{operation}/progress" "operations.watch" "Shows how far a bulk operation is" [] "Progress" read::progress;
    "/api/v1/alerts" "alerts.list" "Lists alerts, newest first" ["limit"] "Alerts" read::alerts;
    "/api/v1/rejects" "rejects.list" "Groups rejected items by job and error" ["name" "fingerprint" "last"] "Rejects" read::rejects;
    "/api/v1/rejects/trends" "rejects.trends" "Counts stored rejected items over time, by job and error" ["name" "fingerprint" "last"] "RejectTrends" read::reject_trends;
    "/api/v1/rejects/sample" "rejects.sample" "Lists rejected items. Payloads are included if the caller may see arguments" ["name" "fingerprint" "last" "limit"] "RejectSample" read::reject_sample;
    "/api/v1/pipelines" "pipelines.list" "Lists the pipelines that a job accepts" [] "Pipelines" read::pipelines;
    "/api/v1/pipeline" "pipelines.show" "Shows the backlog of a pipeline" ["name"] "Pipeline" read::pipeline;
    "/api/v1/unreadable" "unreadable.list" "Lists jobs whose rows cannot be read" ["limit"] "Unreadable" read::unreadable;
    "/api/v1/stats" "stats" "The history of the cluster, a queue or a job" ["last" "queue" "name"] "Stats" read::stats;
    "/api/v1/archive" "archive.status" "Shows what the archive contains, and when jobs leave it as this process is configured" [] "Archive" read::archive;
    "/api/v1/archive/jobs" "archive.list" "Lists archived jobs, newest first. With `Accept: text/csv` or `application/x-ndjson`, exports all of them" ["filter" "limit" "after" "before" "format"] "JobPage" read::archived_jobs;
    "/api/v1/audit" "audit.list" "Lists changes by operators, newest first" ["by" "verb" "target" "limit" "after"] "Audit" read::audit;
    "/api/v1/audit/verify" "audit.verify" "Checks that no entry of the audit trail was changed, added or removed" [] "AuditEnd" read::verify_audit;
    "/api/v1/doctor" "doctor" "Looks for known problems" [] "Doctor" read::doctor;
    "/api/v1/failures/group" "failures.show" "Lists the newest jobs of one group" ["filter" "limit" "after"] "JobPage" read::failure_group;
};
