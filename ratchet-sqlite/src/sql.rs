//! All SQL statements of the store, read from the files in `sql/`. Only transaction control, pragmas and the multi-row
//! insert are written in Rust.

use std::sync::{Arc, LazyLock};

use sqlx::AssertSqlSafe;

/// A statement that returns whole jobs, with the names of their columns in place of `job.*`.
///
/// A later version may add a column. A connection that has prepared `job.*` before would then get more columns than it
/// expects.
pub(crate) type WholeJobs = LazyLock<String>;

/// The columns of a job.
const JOB_COLUMNS: &str = "seq id state ready queue sort_key due queued_at template payload own \
    scoped_key slot_key slot_limit fence run generation attempts crashes deferrals node lease \
    handler_started probe started_at finished_at queue_wait duration lane paused_from canceled progress checkpoint \
    output error envelope warnings grp linked wait root_cause expires tenant";

/// Names the columns of a job in a statement that has `job.*`.
pub(crate) fn whole_jobs(statement: &str) -> String {
    let columns = JOB_COLUMNS.split_whitespace().map(|column| format!("job.{column}"));
    statement.replacen("job.*", &columns.collect::<Vec<_>>().join(", "), 1)
}

pub(crate) mod archive {
    pub(crate) const COUNT_JOBS: &str = include_str!("../sql/archive/count_jobs.sql");
    pub(crate) const DELETE_ARCHIVED: &str = include_str!("../sql/archive/delete_archived.sql");
    pub(crate) const DELETE_MOVED: &str = include_str!("../sql/archive/delete_moved.sql");
    pub(crate) const FIND_ARCHIVED: &str = include_str!("../sql/archive/find_archived.sql");
    pub(crate) const GET_ARCHIVED_AT: &str = include_str!("../sql/archive/get_archived_at.sql");
    pub(crate) const GET_BOUNDS: &str = include_str!("../sql/archive/get_bounds.sql");
    pub(crate) const INSERT_ARCHIVED: &str = include_str!("../sql/archive/insert_archived.sql");
    pub(crate) const INSERT_ARCHIVING: &str = include_str!("../sql/archive/insert_archiving.sql");
    pub(crate) const INSERT_ATTEMPTS: &str = include_str!("../sql/archive/insert_attempts.sql");
    pub(crate) const INSERT_LOG_LINES: &str = include_str!("../sql/archive/insert_log_lines.sql");
    pub(crate) const INSERT_TEMPLATES: &str = include_str!("../sql/archive/insert_templates.sql");
    pub(crate) const LIST_ARCHIVING: &str = include_str!("../sql/archive/list_archiving.sql");
    pub(crate) const LIST_BY_KEY: &str = include_str!("../sql/archive/list_by_key.sql");
    pub(crate) const LIST_BY_KEY_OLDEST_FIRST: &str =
        include_str!("../sql/archive/list_by_key_oldest_first.sql");
    pub(crate) const LIST_COLUMNS: &str = include_str!("../sql/archive/list_columns.sql");
    pub(crate) const LIST_COPIES: &str = include_str!("../sql/archive/list_copies.sql");
    pub(crate) const LIST_OLD: &str = include_str!("../sql/archive/list_old.sql");

    /// Returns the statement that lists the jobs that a purge would delete, for a connection to the archive.
    pub(crate) fn list_finished() -> String {
        super::purge::LIST_FINISHED.replace("ratchet_", "live.ratchet_")
    }

    /// Returns the statement that copies jobs (a list of seq of the file of the jobs), with these columns.
    pub(crate) fn insert_jobs(columns: &str) -> String {
        format!(
            "INSERT INTO main.ratchet_job ({columns}) SELECT {columns} FROM live.ratchet_job \
             WHERE seq IN (SELECT value FROM json_each(?1))"
        )
    }
}

pub(crate) mod audit {
    pub(crate) const GET_HEAD: &str = include_str!("../sql/audit/get_head.sql");
    pub(crate) const GET_LAST: &str = include_str!("../sql/audit/get_last.sql");
    pub(crate) const INSERT_ENTRY: &str = include_str!("../sql/audit/insert_entry.sql");
    pub(crate) const LIST_ENTRIES: &str = include_str!("../sql/audit/list_entries.sql");
    pub(crate) const LIST_ENTRIES_OLDEST_FIRST: &str =
        include_str!("../sql/audit/list_entries_oldest_first.sql");
    pub(crate) const SAVE_HEAD: &str = include_str!("../sql/audit/save_head.sql");
}

pub(crate) mod backup {
    pub(crate) const VACUUM_INTO: &str = include_str!("../sql/backup/vacuum_into.sql");
}

pub(crate) mod catalog {
    pub(crate) const DELETE_OLD: &str = include_str!("../sql/catalog/delete_old.sql");
    pub(crate) const LIST_ENTRIES: &str = include_str!("../sql/catalog/list_entries.sql");
    pub(crate) const SAVE_ENTRY: &str = include_str!("../sql/catalog/save_entry.sql");
}

pub(crate) mod claim {
    pub(crate) const BRING_BACK: &str = include_str!("../sql/claim/bring_back.sql");
    pub(crate) const DELETE_EMPTY_ASIDE: &str = include_str!("../sql/claim/delete_empty_aside.sql");
    pub(crate) const FIRST_FUTURE: &str = include_str!("../sql/claim/first_future.sql");
    pub(crate) const INSERT_ASIDE: &str = include_str!("../sql/claim/insert_aside.sql");
    pub(crate) const LIST_LANES: &str = include_str!("../sql/claim/list_lanes.sql");
    pub(crate) const LIST_LINE: &str = include_str!("../sql/claim/list_line.sql");
    pub(crate) const LIST_LINE_AFTER: &str = include_str!("../sql/claim/list_line_after.sql");
    pub(crate) const LIST_LINE_OF_TENANT: &str =
        include_str!("../sql/claim/list_line_of_tenant.sql");
    pub(crate) const LIST_TENANTS: &str = include_str!("../sql/claim/list_tenants.sql");
    pub(crate) const PROMOTE_JOBS: &str = include_str!("../sql/claim/promote_jobs.sql");
    pub(crate) const SET_ASIDE: &str = include_str!("../sql/claim/set_aside.sql");
    pub(crate) const START_JOBS: &str = include_str!("../sql/claim/start_jobs.sql");
    pub(crate) const SURVEY: &str = include_str!("../sql/claim/survey.sql");
}

pub(crate) mod count {
    pub(crate) const ADD_JOBS: &str = include_str!("../sql/count/add_jobs.sql");
    pub(crate) const LIST_COUNTS: &str = include_str!("../sql/count/list_counts.sql");
    pub(crate) const LIST_OLDEST: &str = include_str!("../sql/count/list_oldest.sql");
    pub(crate) const LIST_WAITING: &str = include_str!("../sql/count/list_waiting.sql");
    pub(crate) const LIST_WAITING_QUEUES: &str =
        include_str!("../sql/count/list_waiting_queues.sql");
    /// The last statement of a transaction together with its commit.
    pub(crate) const ADD_JOBS_AND_COMMIT: &str =
        concat!(include_str!("../sql/count/add_jobs.sql"), "; COMMIT");
}

pub(crate) mod erasure {
    pub(crate) const COUNT_GROUPS: &str = include_str!("../sql/erasure/count_groups.sql");
    pub(crate) const COUNT_HAND_OFFS_OF_CORRELATION: &str =
        include_str!("../sql/erasure/count_hand_offs_of_correlation.sql");
    pub(crate) const COUNT_HAND_OFFS_OF_TENANT: &str =
        include_str!("../sql/erasure/count_hand_offs_of_tenant.sql");
    pub(crate) const COUNT_KEYS: &str = include_str!("../sql/erasure/count_keys.sql");
    pub(crate) const DELETE_ADMISSION: &str = include_str!("../sql/erasure/delete_admission.sql");
    pub(crate) const DELETE_ADMISSIONS: &str = include_str!("../sql/erasure/delete_admissions.sql");
    pub(crate) const DELETE_ALERT_DELIVERIES: &str =
        include_str!("../sql/erasure/delete_alert_deliveries.sql");
    pub(crate) const DELETE_ALERTS: &str = include_str!("../sql/erasure/delete_alerts.sql");
    pub(crate) const DELETE_DELIVERY: &str = include_str!("../sql/erasure/delete_delivery.sql");
    pub(crate) const DELETE_EXPIRED_DIGESTS: &str =
        include_str!("../sql/erasure/delete_expired_digests.sql");
    pub(crate) const DELETE_HAND_OFFS: &str = include_str!("../sql/erasure/delete_hand_offs.sql");
    pub(crate) const DELETE_KEY: &str = include_str!("../sql/erasure/delete_key.sql");
    pub(crate) const DELETE_OUTCOMES: &str = include_str!("../sql/erasure/delete_outcomes.sql");
    pub(crate) const GET_DIGEST: &str = include_str!("../sql/erasure/get_digest.sql");
    pub(crate) const INSERT_DIGEST: &str = include_str!("../sql/erasure/insert_digest.sql");
    pub(crate) const LIST_DELIVERIES: &str = include_str!("../sql/erasure/list_deliveries.sql");
    pub(crate) const LIST_GROUPS: &str = include_str!("../sql/erasure/list_groups.sql");
    pub(crate) const LIST_KEYS_OF_GRAPH: &str =
        include_str!("../sql/erasure/list_keys_of_graph.sql");
    pub(crate) const LIST_KEYS_OF_TENANT: &str =
        include_str!("../sql/erasure/list_keys_of_tenant.sql");
    pub(crate) const LIST_REMOVABLE: &str = include_str!("../sql/erasure/list_removable.sql");
    pub(crate) const PURGE_DIGESTS: &str = include_str!("../sql/erasure/purge_digests.sql");
    pub(crate) const PURGE_KEYS: &str = include_str!("../sql/erasure/purge_keys.sql");
    pub(crate) const TAKE_HAND_OFFS_OF_CORRELATION: &str =
        include_str!("../sql/erasure/take_hand_offs_of_correlation.sql");
    pub(crate) const TAKE_HAND_OFFS_OF_TENANT: &str =
        include_str!("../sql/erasure/take_hand_offs_of_tenant.sql");
}

pub(crate) mod failure {
    pub(crate) const DELETE_MARK: &str = include_str!("../sql/failure/delete_mark.sql");
    pub(crate) const DELETE_OLD: &str = include_str!("../sql/failure/delete_old.sql");
    pub(crate) const GET_MARK: &str = include_str!("../sql/failure/get_mark.sql");
    pub(crate) const LIST_MARKS: &str = include_str!("../sql/failure/list_marks.sql");
    pub(crate) const SAVE_MARK: &str = include_str!("../sql/failure/save_mark.sql");
}

pub(crate) mod gate {
    pub(crate) const COUNT_PROBES: &str = include_str!("../sql/gate/count_probes.sql");
    pub(crate) const COUNT_RUNS: &str = include_str!("../sql/gate/count_runs.sql");
    pub(crate) const DELETE_RULES: &str = include_str!("../sql/gate/delete_rules.sql");
    pub(crate) const GET_BREAKER: &str = include_str!("../sql/gate/get_breaker.sql");
    pub(crate) const GET_RULES: &str = include_str!("../sql/gate/get_rules.sql");
    pub(crate) const LIST_BREAKERS: &str = include_str!("../sql/gate/list_breakers.sql");
    pub(crate) const LIST_HOLDERS: &str = include_str!("../sql/gate/list_holders.sql");
    pub(crate) const LIST_LIMITED: &str = include_str!("../sql/gate/list_limited.sql");
    pub(crate) const LIST_RULES: &str = include_str!("../sql/gate/list_rules.sql");
    pub(crate) const MARK_PROBES: &str = include_str!("../sql/gate/mark_probes.sql");
    pub(crate) const SAVE_BREAKER: &str = include_str!("../sql/gate/save_breaker.sql");
    pub(crate) const SAVE_RULES: &str = include_str!("../sql/gate/save_rules.sql");
}

pub(crate) mod graph {
    use super::WholeJobs;

    pub(crate) const DELETE_EDGES: &str = include_str!("../sql/graph/delete_edges.sql");
    pub(crate) const DELETE_GROUP: &str = include_str!("../sql/graph/delete_group.sql");
    pub(crate) const DELETE_GROUP_EDGES: &str = include_str!("../sql/graph/delete_group_edges.sql");
    pub(crate) const FORGET_SEQUENCES: &str = include_str!("../sql/graph/forget_sequences.sql");
    pub(crate) const GET_GROUP: &str = include_str!("../sql/graph/get_group.sql");
    pub(crate) const GET_LAST: &str = include_str!("../sql/graph/get_last.sql");
    pub(crate) const INSERT_EDGE: &str = include_str!("../sql/graph/insert_edge.sql");
    pub(crate) const INSERT_GROUP: &str = include_str!("../sql/graph/insert_group.sql");
    pub(crate) const LIST_EDGES: &str = include_str!("../sql/graph/list_edges.sql");
    pub(crate) const LIST_GROUPS: &str = include_str!("../sql/graph/list_groups.sql");
    pub(crate) const LIST_INNER_GROUPS: &str = include_str!("../sql/graph/list_inner_groups.sql");
    pub(crate) static LIST_MEMBERS: WholeJobs =
        WholeJobs::new(|| super::whole_jobs(include_str!("../sql/graph/list_members.sql")));
    pub(crate) const LIST_OLD_GROUPS: &str = include_str!("../sql/graph/list_old_groups.sql");
    pub(crate) const SAVE_LAST: &str = include_str!("../sql/graph/save_last.sql");
    pub(crate) const SAVE_WAIT: &str = include_str!("../sql/graph/save_wait.sql");
}

pub(crate) mod insert {
    pub(crate) const FIND_JOB: &str = include_str!("../sql/insert/find_job.sql");
    pub(crate) const GET_TEMPLATE: &str = include_str!("../sql/insert/get_template.sql");
    pub(crate) const INSERT_TEMPLATE: &str = include_str!("../sql/insert/insert_template.sql");
}

pub(crate) mod content {
    pub(crate) const LIST_ALERT: &str = include_str!("../sql/content/list_alert.sql");
    pub(crate) const LIST_ATTEMPT: &str = include_str!("../sql/content/list_attempt.sql");
    pub(crate) const LIST_DELIVERY: &str = include_str!("../sql/content/list_delivery.sql");
    pub(crate) const LIST_HAND_OFF: &str = include_str!("../sql/content/list_hand_off.sql");
    pub(crate) const LIST_LOG: &str = include_str!("../sql/content/list_log.sql");
    pub(crate) const LIST_NOTES: &str = include_str!("../sql/content/list_notes.sql");
    pub(crate) const LIST_OUTCOME: &str = include_str!("../sql/content/list_outcome.sql");
    pub(crate) const LIST_REJECT: &str = include_str!("../sql/content/list_reject.sql");
    pub(crate) const UPDATE_ALERT: &str = include_str!("../sql/content/update_alert.sql");
    pub(crate) const UPDATE_ATTEMPT: &str = include_str!("../sql/content/update_attempt.sql");
    pub(crate) const UPDATE_DELIVERY: &str = include_str!("../sql/content/update_delivery.sql");
    pub(crate) const UPDATE_HAND_OFF: &str = include_str!("../sql/content/update_hand_off.sql");
    pub(crate) const UPDATE_JOB: &str = include_str!("../sql/content/update_job.sql");
    pub(crate) const UPDATE_LOG: &str = include_str!("../sql/content/update_log.sql");
    pub(crate) const UPDATE_NOTES: &str = include_str!("../sql/content/update_notes.sql");
    pub(crate) const UPDATE_OUTCOME: &str = include_str!("../sql/content/update_outcome.sql");
    pub(crate) const UPDATE_REJECT: &str = include_str!("../sql/content/update_reject.sql");
}

pub(crate) mod items {
    pub(crate) const COUNT_HAND_OFFS: &str = include_str!("../sql/items/count_hand_offs.sql");
    pub(crate) const COUNT_REJECTS: &str = include_str!("../sql/items/count_rejects.sql");
    pub(crate) const COUNT_REJECTS_BY_INTERVAL: &str =
        include_str!("../sql/items/count_rejects_by_interval.sql");
    pub(crate) const DELETE_REJECT: &str = include_str!("../sql/items/delete_reject.sql");
    pub(crate) const DELETE_REJECTS: &str = include_str!("../sql/items/delete_rejects.sql");
    pub(crate) const FINISH_HAND_OFFS: &str = include_str!("../sql/items/finish_hand_offs.sql");
    pub(crate) const HOLD_HAND_OFFS: &str = include_str!("../sql/items/hold_hand_offs.sql");
    pub(crate) const INSERT_HAND_OFF: &str = include_str!("../sql/items/insert_hand_off.sql");
    pub(crate) const INSERT_REJECT: &str = include_str!("../sql/items/insert_reject.sql");
    pub(crate) const LIST_HAND_OFFS: &str = include_str!("../sql/items/list_hand_offs.sql");
    pub(crate) const LIST_REJECTS: &str = include_str!("../sql/items/list_rejects.sql");
}

pub(crate) mod pipeline {
    pub(crate) const CLOSE_ADMISSIONS: &str = include_str!("../sql/pipeline/close_admissions.sql");
    pub(crate) const COUNT_ADMISSIONS: &str = include_str!("../sql/pipeline/count_admissions.sql");
    pub(crate) const COUNT_REFUSALS: &str = include_str!("../sql/pipeline/count_refusals.sql");
    pub(crate) const DELETE_PIPELINES: &str = include_str!("../sql/pipeline/delete_pipelines.sql");
    pub(crate) const FIND_WAITING: &str = include_str!("../sql/pipeline/find_waiting.sql");
    pub(crate) const GET_ADMISSION: &str = include_str!("../sql/pipeline/get_admission.sql");
    pub(crate) const INSERT_ADMISSION: &str = include_str!("../sql/pipeline/insert_admission.sql");
    pub(crate) const LIST_LATENCIES: &str = include_str!("../sql/pipeline/list_latencies.sql");
    pub(crate) const LIST_PIPELINES: &str = include_str!("../sql/pipeline/list_pipelines.sql");
    pub(crate) const SAVE_PIPELINE: &str = include_str!("../sql/pipeline/save_pipeline.sql");
}

pub(crate) mod schedule {
    pub(crate) const DELETE_SCHEDULE: &str = include_str!("../sql/schedule/delete_schedule.sql");
    pub(crate) const GET_VERSION: &str = include_str!("../sql/schedule/get_version.sql");
    pub(crate) const LIST_DUE: &str = include_str!("../sql/schedule/list_due.sql");
    pub(crate) const GET_SCHEDULE: &str = include_str!("../sql/schedule/get_schedule.sql");
    pub(crate) const LIST_SCHEDULES: &str = include_str!("../sql/schedule/list_schedules.sql");
    pub(crate) const SAVE_SCHEDULE: &str = include_str!("../sql/schedule/save_schedule.sql");
}

pub(crate) mod job {
    use super::WholeJobs;

    pub(crate) static GET_JOB: WholeJobs =
        WholeJobs::new(|| super::whole_jobs(include_str!("../sql/job/get_job.sql")));
    pub(crate) static GET_JOBS: WholeJobs =
        WholeJobs::new(|| super::whole_jobs(include_str!("../sql/job/get_jobs.sql")));
    pub(crate) const LIST_ATTEMPTS: &str = include_str!("../sql/job/list_attempts.sql");
    pub(crate) const LIST_EXPIRING: &str = include_str!("../sql/job/list_expiring.sql");
    pub(crate) const LIST_EXPIRING_OLDEST_FIRST: &str =
        include_str!("../sql/job/list_expiring_oldest_first.sql");
    pub(crate) static LIST_FAILED: WholeJobs =
        WholeJobs::new(|| super::whole_jobs(include_str!("../sql/job/list_failed.sql")));
    pub(crate) const LIST_GROUP_JOBS: &str = include_str!("../sql/job/list_group_jobs.sql");
    pub(crate) const LIST_GROUP_JOBS_OLDEST_FIRST: &str =
        include_str!("../sql/job/list_group_jobs_oldest_first.sql");
    pub(crate) const MOVE_JOB: &str = include_str!("../sql/job/move_job.sql");
    pub(crate) const LIST_JOBS: &str = include_str!("../sql/job/list_jobs.sql");
    pub(crate) const LIST_JOBS_OLDEST_FIRST: &str =
        include_str!("../sql/job/list_jobs_oldest_first.sql");
    pub(crate) const LIST_JOBS_IN_STATES: &str = include_str!("../sql/job/list_jobs_in_states.sql");
    pub(crate) const LIST_JOBS_IN_STATES_OLDEST_FIRST: &str =
        include_str!("../sql/job/list_jobs_in_states_oldest_first.sql");
    pub(crate) const LIST_LOG_LINES: &str = include_str!("../sql/job/list_log_lines.sql");
    pub(crate) const KEEP_LATE_JOB: &str = include_str!("../sql/job/keep_late_job.sql");
    pub(crate) const SAVE_JOB: &str = include_str!("../sql/job/save_job.sql");
    pub(crate) const SAVE_NOTES: &str = include_str!("../sql/job/save_notes.sql");
}

pub(crate) mod key {
    pub(crate) const COUNT_SLOTS: &str = include_str!("../sql/key/count_slots.sql");
    pub(crate) const DELETE_LINGERING: &str = include_str!("../sql/key/delete_lingering.sql");
    pub(crate) const DELETE_LOST_LINGERING: &str =
        include_str!("../sql/key/delete_lost_lingering.sql");
    pub(crate) const FREE_BUSINESS_KEY: &str = include_str!("../sql/key/free_business_key.sql");
    pub(crate) const FREE_BUSINESS_KEYS: &str = include_str!("../sql/key/free_business_keys.sql");
    pub(crate) const GET_HOLDER: &str = include_str!("../sql/key/get_holder.sql");
    pub(crate) const DELETE_EXPIRED_LEDGER_ENTRIES: &str =
        include_str!("../sql/key/delete_expired_ledger_entries.sql");
    pub(crate) const GET_LEDGER_ENTRY: &str = include_str!("../sql/key/get_ledger_entry.sql");
    pub(crate) const INSERT_LEDGER_ENTRY: &str = include_str!("../sql/key/insert_ledger_entry.sql");
    pub(crate) const INSERT_LINGERING: &str = include_str!("../sql/key/insert_lingering.sql");
    pub(crate) const LIST_LANES_OF_SLOT: &str = include_str!("../sql/key/list_lanes_of_slot.sql");
    pub(crate) const LIST_LOST_LINGERING: &str = include_str!("../sql/key/list_lost_lingering.sql");
    pub(crate) const TAKE_BUSINESS_KEY: &str = include_str!("../sql/key/take_business_key.sql");
}

pub(crate) mod key_rate {
    pub(crate) const COUNT_FULL: &str = include_str!("../sql/key_rate/count_full.sql");
    pub(crate) const DELETE_ENDED: &str = include_str!("../sql/key_rate/delete_ended.sql");
    pub(crate) const DELETE_STATES: &str = include_str!("../sql/key_rate/delete_states.sql");
    pub(crate) const FREE_LANES: &str = include_str!("../sql/key_rate/free_lanes.sql");
    pub(crate) const GET_STATE: &str = include_str!("../sql/key_rate/get_state.sql");
    pub(crate) const LIST_LANES: &str = include_str!("../sql/key_rate/list_lanes.sql");
    pub(crate) const LIST_STATES: &str = include_str!("../sql/key_rate/list_states.sql");
    pub(crate) const NEXT_FREE: &str = include_str!("../sql/key_rate/next_free.sql");
    pub(crate) const OPEN_LANES: &str = include_str!("../sql/key_rate/open_lanes.sql");
    pub(crate) const PUT_OFF_KEYS: &str = include_str!("../sql/key_rate/put_off_keys.sql");
    pub(crate) const PUT_OFF_LANE: &str = include_str!("../sql/key_rate/put_off_lane.sql");
    pub(crate) const SAVE_STATES: &str = include_str!("../sql/key_rate/save_states.sql");
    pub(crate) const WAKE_LANES: &str = include_str!("../sql/key_rate/wake_lanes.sql");
}

pub(crate) mod node {
    use super::WholeJobs;

    pub(crate) const DECLARES: &str = include_str!("../sql/node/declares.sql");
    pub(crate) const DELETE_DEAD_NODES: &str = include_str!("../sql/node/delete_dead_nodes.sql");
    pub(crate) const DELETE_LEADER: &str = include_str!("../sql/node/delete_leader.sql");
    pub(crate) const END_LEASE: &str = include_str!("../sql/node/end_lease.sql");
    pub(crate) const FIND_HELD: &str = include_str!("../sql/node/find_held.sql");
    pub(crate) const FIND_NEWEST: &str = include_str!("../sql/node/find_newest.sql");
    pub(crate) const GET_LEADER: &str = include_str!("../sql/node/get_leader.sql");
    pub(crate) const GET_LEASE: &str = include_str!("../sql/node/get_lease.sql");
    pub(crate) const GET_REQUEST: &str = include_str!("../sql/node/get_request.sql");
    pub(crate) const INSERT_NODE: &str = include_str!("../sql/node/insert_node.sql");
    pub(crate) const LIST_CANCELED: &str = include_str!("../sql/node/list_canceled.sql");
    pub(crate) const LIST_KNOWN: &str = include_str!("../sql/node/list_known.sql");
    pub(crate) const LIST_NODES: &str = include_str!("../sql/node/list_nodes.sql");
    pub(crate) const MARK_DECLARED: &str = include_str!("../sql/node/mark_declared.sql");
    pub(crate) static LIST_STRAYS: WholeJobs =
        WholeJobs::new(|| super::whole_jobs(include_str!("../sql/node/list_strays.sql")));
    pub(crate) static LIST_ORPHANS: WholeJobs =
        WholeJobs::new(|| super::whole_jobs(include_str!("../sql/node/list_orphans.sql")));
    pub(crate) const RENEW_LEASE: &str = include_str!("../sql/node/renew_lease.sql");
    pub(crate) const SET_REQUEST: &str = include_str!("../sql/node/set_request.sql");
    pub(crate) const TAKE_LEAD: &str = include_str!("../sql/node/take_lead.sql");
    pub(crate) const TAKE_PROGRAM: &str = include_str!("../sql/node/take_program.sql");
}

pub(crate) mod operation {
    pub(crate) const DELETE_OLD: &str = include_str!("../sql/operation/delete_old.sql");
    pub(crate) const GET_OPERATION: &str = include_str!("../sql/operation/get_operation.sql");
    pub(crate) const LIST_ACTIVE: &str = include_str!("../sql/operation/list_active.sql");
    pub(crate) const LIST_OPERATIONS: &str = include_str!("../sql/operation/list_operations.sql");
    pub(crate) const SAVE_OPERATION: &str = include_str!("../sql/operation/save_operation.sql");
}

pub(crate) mod outbox {
    pub(crate) const DELETE_DELIVERIES: &str = include_str!("../sql/outbox/delete_deliveries.sql");
    pub(crate) const GET_LATEST_ALERT: &str = include_str!("../sql/outbox/get_latest_alert.sql");
    pub(crate) const HOLD_DELIVERIES: &str = include_str!("../sql/outbox/hold_deliveries.sql");
    pub(crate) const INSERT_ALERT: &str = include_str!("../sql/outbox/insert_alert.sql");
    pub(crate) const INSERT_DELIVERY: &str = include_str!("../sql/outbox/insert_delivery.sql");
    pub(crate) const LIST_ALERTS: &str = include_str!("../sql/outbox/list_alerts.sql");
    pub(crate) const LIST_BACKLOGS: &str = include_str!("../sql/outbox/list_backlogs.sql");
    pub(crate) const LIST_DELIVERIES: &str = include_str!("../sql/outbox/list_deliveries.sql");
    pub(crate) const SUPPRESS_ALERT: &str = include_str!("../sql/outbox/suppress_alert.sql");
}

pub(crate) mod purge {
    pub(crate) const DELETE_ATTEMPTS: &str = include_str!("../sql/purge/delete_attempts.sql");
    pub(crate) const DELETE_JOBS: &str = include_str!("../sql/purge/delete_jobs.sql");
    pub(crate) const DELETE_LOG_LINES: &str = include_str!("../sql/purge/delete_log_lines.sql");
    pub(crate) const LIST_FINISHED: &str = include_str!("../sql/purge/list_finished.sql");
}

pub(crate) mod schema {
    pub(crate) const CREATE_SCHEMA: &str = include_str!("../sql/schema/create_schema.sql");
    pub(crate) const FIND_SCHEMA: &str = include_str!("../sql/schema/find_schema.sql");
    pub(crate) const GET_VERSION: &str = include_str!("../sql/schema/get_version.sql");
    pub(crate) const GET_OLDEST: &str = include_str!("../sql/schema/get_oldest.sql");
    pub(crate) const RECORD_OLDEST: &str = include_str!("../sql/schema/record_oldest.sql");
    pub(crate) const LIST_OBJECTS: &str = include_str!("../sql/schema/list_objects.sql");
    pub(crate) const INSERT_VERSION: &str = include_str!("../sql/schema/insert_version.sql");
}

pub(crate) mod settle {
    pub(crate) const INSERT_ATTEMPT: &str = include_str!("../sql/settle/insert_attempt.sql");
    pub(crate) const INSERT_LOG_LINE: &str = include_str!("../sql/settle/insert_log_line.sql");
    pub(crate) const SUCCEED_JOBS: &str = include_str!("../sql/settle/succeed_jobs.sql");
    pub(crate) const TRIM_LOG: &str = include_str!("../sql/settle/trim_log.sql");
}
pub(crate) mod stats {
    pub(crate) const GET_GAUGE: &str = include_str!("../sql/stats/get_gauge.sql");
    pub(crate) const INSERT_DEPLOY: &str = include_str!("../sql/stats/insert_deploy.sql");
    pub(crate) const LAST_DEPLOY: &str = include_str!("../sql/stats/last_deploy.sql");
    pub(crate) const LEADS: &str = include_str!("../sql/stats/leads.sql");
    pub(crate) const LIST_DEPLOYS: &str = include_str!("../sql/stats/list_deploys.sql");
    pub(crate) const LIST_GAUGES: &str = include_str!("../sql/stats/list_gauges.sql");
    pub(crate) const LIST_MARKS: &str = include_str!("../sql/stats/list_marks.sql");
    pub(crate) const LIST_ROWS: &str = include_str!("../sql/stats/list_rows.sql");
    pub(crate) const LIST_VERSIONS: &str = include_str!("../sql/stats/list_versions.sql");
    pub(crate) const MARK: &str = include_str!("../sql/stats/mark.sql");
    pub(crate) const OLDEST_DUE: &str = include_str!("../sql/stats/oldest_due.sql");
    pub(crate) const PURGE_DEPLOYS: &str = include_str!("../sql/stats/purge_deploys.sql");
    pub(crate) const PURGE_GAUGES: &str = include_str!("../sql/stats/purge_gauges.sql");
    pub(crate) const PURGE_ROWS: &str = include_str!("../sql/stats/purge_rows.sql");
    pub(crate) const SAVE_GAUGE: &str = include_str!("../sql/stats/save_gauge.sql");
    pub(crate) const SAVE_ROW: &str = include_str!("../sql/stats/save_row.sql");
    pub(crate) const UNMARK: &str = include_str!("../sql/stats/unmark.sql");
}

pub(crate) mod successor {
    pub(crate) const FORGET_ORIGINALS: &str = include_str!("../sql/successor/forget_originals.sql");
    pub(crate) const GET_SUCCESSION: &str = include_str!("../sql/successor/get_succession.sql");
    pub(crate) const INSERT_SUCCESSOR: &str = include_str!("../sql/successor/insert_successor.sql");
}

pub(crate) mod unreadable {
    use super::WholeJobs;

    pub(crate) const CANCEL: &str = include_str!("../sql/unreadable/cancel.sql");
    pub(crate) const CLEAR_COUNTS: &str = include_str!("../sql/unreadable/clear_counts.sql");
    pub(crate) const COUNT: &str = include_str!("../sql/unreadable/count.sql");
    pub(crate) const COUNT_ANEW: &str = include_str!("../sql/unreadable/count_anew.sql");
    pub(crate) const DELETE_BUSINESS: &str = include_str!("../sql/unreadable/delete_business.sql");
    pub(crate) const DELETE_LINGERING: &str =
        include_str!("../sql/unreadable/delete_lingering.sql");
    pub(crate) const END_RUN: &str = include_str!("../sql/unreadable/end_run.sql");
    pub(crate) const FIND: &str = include_str!("../sql/unreadable/find.sql");
    pub(crate) const FIND_BY_JOB: &str = include_str!("../sql/unreadable/find_by_job.sql");
    pub(crate) const FIND_JOB: &str = include_str!("../sql/unreadable/find_job.sql");
    pub(crate) const FIND_RUN: &str = include_str!("../sql/unreadable/find_run.sql");
    pub(crate) const FORGET: &str = include_str!("../sql/unreadable/forget.sql");
    pub(crate) static GET_JOB: WholeJobs =
        WholeJobs::new(|| super::whole_jobs(include_str!("../sql/unreadable/get_job.sql")));
    pub(crate) const GET_REMAINS: &str = include_str!("../sql/unreadable/get_remains.sql");
    pub(crate) const GET_STEP: &str = include_str!("../sql/unreadable/get_step.sql");
    pub(crate) const LIST: &str = include_str!("../sql/unreadable/list.sql");
    pub(crate) const PUT_BACK: &str = include_str!("../sql/unreadable/put_back.sql");
    pub(crate) const RECORD: &str = include_str!("../sql/unreadable/record.sql");
    pub(crate) const SAVE_WAIT: &str = include_str!("../sql/unreadable/save_wait.sql");
    pub(crate) const SET_ASIDE: &str = include_str!("../sql/unreadable/set_aside.sql");
}

/// The numbers of rows per insert statement. A few fixed sizes, so that each statement is prepared once.
pub(crate) const INSERT_SIZES: [usize; 5] = [128, 32, 8, 2, 1];

static INSERTS: LazyLock<[Arc<str>; 5]> = LazyLock::new(|| INSERT_SIZES.map(insert_jobs_sql));

/// Returns the statement that inserts `INSERT_SIZES[size]` jobs. It is built once.
pub(crate) fn insert_jobs(size: usize) -> AssertSqlSafe<Arc<str>> {
    AssertSqlSafe(Arc::clone(&INSERTS[size]))
}

fn insert_jobs_sql(rows: usize) -> Arc<str> {
    const HEAD: &str = include_str!("../sql/insert/insert_job_head.sql");
    const ROW: &str = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)";
    format!("{HEAD}{}", vec![ROW; rows].join(", ")).into()
}
