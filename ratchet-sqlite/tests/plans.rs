//! Every statement finds its rows through an index, and no statement sorts the backlog.

use std::path::Path;

use ratchet_sqlite::SqliteStore;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Row as _};

/// Statements that may read a whole table, because it is small or because that is their purpose.
const READS_A_WHOLE_TABLE: &[&str] = &[
    // Reads the newest rows in the order of the primary key.
    "operation/list_operations",
    "operation/list_active",
    // One row per job that a program knows.
    "catalog/list_entries",
    "catalog/delete_old",
    // One row per group of failed jobs about which an operator has said something.
    "failure/delete_old",
    "failure/list_marks",
    // One row per node.
    "node/list_nodes",
    "node/list_known",
    "node/delete_dead_nodes",
    "node/list_orphans",
    "stats/list_versions",
    // One row per current run.
    "node/list_strays",
    // One row per job that cannot be read.
    "unreadable/list",
    "unreadable/count",
    // Damaged rows cannot be found through an index. Runs once per repair.
    "unreadable/delete_business",
    "unreadable/clear_counts",
    "unreadable/count_anew",
    "key/list_lost_lingering",
    // One row per queue with rules, per service, or per current run.
    "gate/list_rules",
    "gate/list_limited",
    "gate/list_breakers",
    "gate/count_runs",
    "gate/count_probes",
    // One row per pipeline that a job accepts.
    "pipeline/delete_pipelines",
    "pipeline/list_pipelines",
    // One row per template and state.
    "count/list_counts",
    "count/list_waiting",
    "count/list_waiting_queues",
    // Newest first, up to the limit.
    "outbox/list_alerts",
    "audit/get_last",
    // Counts all rejects, or lists all schedules.
    "items/count_rejects",
    "items/count_rejects_by_interval",
    "items/list_rejects",
    "schedule/list_schedules",
    "schema/get_version",
    "schema/find_schema",
    // Slots that are not folded yet, lowest first, up to the limit.
    "stats/list_marks",
    // One row per template and state, and per cause that holds jobs back.
    "stats/oldest_due",
    // One row per job whose move to the archive has not ended.
    "archive/delete_moved",
    "archive/list_archiving",
    // Messages that wait, and the groups of a tenant. An erasure reads them once.
    "erasure/list_deliveries",
    "erasure/list_groups",
    "erasure/count_groups",
    // The digests of erased keys, oldest or not, up to the limit.
    "erasure/purge_digests",
    // Indexes of the jobs in a state. Waiting jobs are sorted as long as they are few.
    "job/list_jobs_in_states",
    "job/list_jobs_in_states_oldest_first",
];

/// Statements that may sort: a few rows of a small table.
const SORTS: &[&str] = &[
    // Sorts the entries of one name and program.
    "catalog/list_entries",
    "count/list_counts",
    "count/list_waiting",
    "count/list_waiting_queues",
    "count/list_oldest",
    // Sorts jobs that have expired, of which there are few.
    "job/list_expiring",
    "job/list_expiring_oldest_first",
    "job/list_jobs_in_states",
    "job/list_jobs_in_states_oldest_first",
    // Runs once per repair of a job whose count is unknown.
    "unreadable/count_anew",
    // Sorts the jobs of one commit.
    "archive/count_jobs",
    // Groups rejects by time, which no index has, when an operator wants to see them.
    "items/count_rejects_by_interval",
    // Sorts queues.
    "stats/oldest_due",
    "stats/list_versions",
];

async fn plan(conn: &mut sqlx::SqliteConnection, sql: &str) -> Vec<String> {
    let mut steps = Vec::new();
    for statement in sql.split(";\n") {
        let statement = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}"));
        let rows = sqlx::query(statement).fetch_all(&mut *conn).await.expect("it can be explained");
        steps.extend(rows.iter().map(|row| row.get::<String, _>("detail")));
    }
    steps
}

// spec: C-06
#[tokio::test]
async fn c_06_every_statement_uses_an_index() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let _store = SqliteStore::open(&path).await.expect("opens");
    let mut conn = SqliteConnectOptions::new().filename(&path).connect().await.expect("connects");
    // The statements of the archive read the file of the jobs under this name.
    let attach = format!("ATTACH DATABASE '{}' AS live", path.display());
    sqlx::query(AssertSqlSafe(attach)).execute(&mut conn).await.expect("attaches");
    let mut count = 0;
    let sql = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    for area in std::fs::read_dir(sql).expect("the statements") {
        for file in std::fs::read_dir(area.expect("an area").path()).expect("its files") {
            let path = file.expect("a file").path();
            let area =
                path.parent().and_then(|area| area.file_name()).expect("an area").to_string_lossy();
            let name = format!("{area}/{}", path.file_stem().expect("a name").to_string_lossy());
            let text = std::fs::read_to_string(&path).expect("a statement");
            assert!(text.starts_with("-- "), "{name} says what its rows are");
            if ["insert/insert_job_head", "schema/create_schema"].contains(&name.as_str()) {
                continue;
            }
            for step in plan(&mut conn, &text).await {
                let whole = step.starts_with("SCAN ratchet")
                    || step.starts_with("SCAN job")
                    || step.starts_with("SCAN node");
                assert!(!whole || READS_A_WHOLE_TABLE.contains(&name.as_str()), "{name}: {step}");
                let sorts = step.contains("TEMP B-TREE");
                assert!(!sorts || SORTS.contains(&name.as_str()), "{name}: {step}");
            }
            count += 1;
        }
    }
    assert!(count > 50, "{count} statements were looked at");
}

// spec: C-06
#[tokio::test]
async fn c_06_the_claim_reads_only_the_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs.db");
    let _store = SqliteStore::open(&path).await.expect("opens");
    let mut conn = SqliteConnectOptions::new().filename(&path).connect().await.expect("connects");
    for (statement, index) in [
        (include_str!("../sql/claim/list_line.sql"), "ratchet_job_line (queue=?)"),
        (
            include_str!("../sql/claim/list_line_after.sql"),
            "ratchet_job_line (queue=? AND (sort_key,due,id)>(?,?,?))",
        ),
        (include_str!("../sql/claim/survey.sql"), "ratchet_job_future (template=?)"),
        (include_str!("../sql/claim/survey.sql"), "ratchet_job_future (template>?)"),
        (include_str!("../sql/claim/list_lanes.sql"), "ratchet_aside_name (queue=? AND name=?)"),
        (include_str!("../sql/claim/bring_back.sql"), "ratchet_job_aside (lane=?)"),
        (include_str!("../sql/settle/succeed_jobs.sql"), "ratchet_job_id (id=?)"),
        (
            include_str!("../sql/purge/list_finished.sql"),
            "ratchet_job_finished (state=? AND finished_at<?)",
        ),
        (
            include_str!("../sql/job/list_expiring.sql"),
            "ratchet_job_expires (expires>? AND expires<?)",
        ),
        (include_str!("../sql/key/count_slots.sql"), "ratchet_job_slot (slot_key=?)"),
        (include_str!("../sql/node/list_orphans.sql"), "ratchet_job_running (node=?)"),
        (
            include_str!("../sql/archive/list_by_key.sql"),
            "ratchet_archived_business_key (business_key=? AND job<?)",
        ),
        (
            include_str!("../sql/archive/list_by_key_oldest_first.sql"),
            "ratchet_archived_business_key (business_key=? AND job>?)",
        ),
    ] {
        let steps = plan(&mut conn, statement).await;
        assert!(steps.iter().any(|step| step.contains(index)), "{index}: {steps:#?}");
    }
}
