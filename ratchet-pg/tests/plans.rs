//! The plans of the frequent statements with a million waiting jobs: they must use an index and must not sort the
//! backlog.

mod support;

use std::fs;
use std::path::Path;
use std::time::Duration;

use ratchet_conformance::Harness;
use ratchet_pg::PgStore;
use ratchet_store::Store;
use ratchet_store::model::{NodeId, NodeInfo};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use support::PgHarness;

const FILL: &str = "
    INSERT INTO ratchet.job (id, queued_at, due, head, version, priority, name, queue, payload)
    SELECT lpad(to_hex(g), 32, '0')::uuid, g, g, 0, 1, 2, 'mail', 'default', '{}'
    FROM generate_series(1, 1000000) g;
    INSERT INTO ratchet.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation,
        keyed, queue, name)
    SELECT lpad(to_hex(g), 32, '0')::uuid, g, g, 0, 0, 1, 0, 0, 0, 1, false, 'default', 'mail'
    FROM generate_series(1, 1000000) g;
    INSERT INTO ratchet.scheduled (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals,
        generation, keyed, queue, name)
    SELECT lpad(to_hex(g), 32, '0')::uuid, g, g, 0, 0, 1, 0, 0, 0, 1, false, 'default', 'mail'
    FROM generate_series(1000001, 1300000) g;
    INSERT INTO ratchet.outcome (job, at, due, version, run, attempts, crashes, deferrals, generation, state)
    SELECT lpad(to_hex(g), 32, '0')::uuid, g, g, 2, 1, 0, 0, 0, 1, CASE WHEN g % 3 = 0 THEN 3 ELSE 2 END
    FROM generate_series(1300001, 1600000) g;
    INSERT INTO ratchet.attempt (job, run, started_at, finished_at, due, duration, node, attempt, generation, result)
    SELECT lpad(to_hex(g), 32, '0')::uuid, 1, g, g, g, 0, lpad('', 32, '0')::uuid, 1, 1, 1
    FROM generate_series(1300001, 1600000) g;
    INSERT INTO ratchet.note (job, percent)
    SELECT lpad(to_hex(g), 32, '0')::uuid, 1 FROM generate_series(1300001, 1400000) g;
    INSERT INTO ratchet.graph (id) SELECT lpad(to_hex(g), 32, '0')::uuid FROM generate_series(1, 30000) g;
    INSERT INTO ratchet.job_group (id, graph, body, finished_at)
    SELECT lpad(to_hex(g), 32, '0')::uuid, lpad(to_hex(g), 32, '0')::uuid, '{}', g FROM generate_series(1, 30000) g;
    INSERT INTO ratchet.member (job, graph, grp, delay, linked, first_match, wait)
    SELECT lpad(to_hex(g), 32, '0')::uuid, lpad(to_hex(g / 10), 32, '0')::uuid, lpad(to_hex(g / 10), 32, '0')::uuid, 0, true,
        false, '{}'
    FROM generate_series(1, 300000) g;
    INSERT INTO ratchet.edge (parent, ordinal, child, parent_group, child_group, condition)
    SELECT lpad(to_hex(g), 32, '0')::uuid, 0, lpad(to_hex(g + 1), 32, '0')::uuid, false, false, '{}'
    FROM generate_series(1, 300000) g;
    INSERT INTO ratchet.blocked (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation,
        keyed, queue, name, cause)
    SELECT lpad(to_hex(g), 32, '0')::uuid, g, g, 0, 0, 1, 0, 0, 0, 1, false, 'default', 'mail', 'parent'
    FROM generate_series(2000001, 2300000) g;
    INSERT INTO ratchet.key_rate (queue, key, state, full_until, waiting, ends)
    SELECT 'q' || g % 100, 'key-' || g, '[]', g, g % 2 = 0, g FROM generate_series(1, 100000) g;
    INSERT INTO ratchet.key_lane (cause, queue, key, back, at)
    SELECT 'rate:' || g, 'q' || g % 100, 'key-' || g, CASE WHEN g % 2 = 0 THEN g END, g FROM generate_series(1, 100000) g;
    ANALYZE ratchet.key_rate, ratchet.key_lane;
    INSERT INTO ratchet.idempotency (scope, key, job, name, digest)
    SELECT '', 'key-' || g, lpad(to_hex(g), 32, '0')::uuid, 'mail', '' FROM generate_series(1, 300000) g;
    INSERT INTO ratchet.business (scope, key, job)
    SELECT '', 'key-' || g, lpad(to_hex(g), 32, '0')::uuid FROM generate_series(1, 300000) g;
    INSERT INTO ratchet.log (job, run, after, level, message)
    SELECT lpad(to_hex(g), 32, '0')::uuid, 1, 0, 3, 'done' FROM generate_series(1300001, 1500000) g;
    INSERT INTO ratchet.slot (job, lease, version, key, queue)
    SELECT lpad(to_hex(g), 32, '0')::uuid, lpad(to_hex(g), 32, '0')::uuid, 1, 'key-' || g, 'default' FROM generate_series(1, 50000) g;
    INSERT INTO ratchet.hand_off (pipeline, key, job, at, checkpoint)
    SELECT 'orders', 'key-' || g, lpad(to_hex(g), 32, '0')::uuid, g, '{}' FROM generate_series(1, 100000) g;
    INSERT INTO ratchet.admission (job, pipeline, key, handed_by, handed_at, at, open)
        SELECT lpad(to_hex(g), 32, '0')::uuid, 'p' || g % 100, g, lpad(to_hex(g), 32, '0')::uuid, g, g, g % 100 = 7 FROM generate_series(1, 30000) g;
    INSERT INTO ratchet.reject (job, number, run, at, job_name, error_type, fingerprint, message)
    SELECT lpad(to_hex(g), 32, '0')::uuid, 0, 1, g, 'mail', 'odd', 'odd', 'odd' FROM generate_series(1, 100000) g;
    INSERT INTO ratchet.delivery (channel, job, envelope)
    SELECT g % 3, CASE WHEN g % 3 = 2 THEN lpad(to_hex(g), 32, '0')::uuid END, '{}' FROM generate_series(1, 100000) g;
    INSERT INTO ratchet.node (id, joined_at, until, pid, host, binary_version, queues, names, versions)
    SELECT lpad(to_hex(g), 32, '0')::uuid, g, g, g, 'host', '1', '{}', '{}', '{}' FROM generate_series(1, 2000) g;
    INSERT INTO ratchet.lingering (job, lease, version, node, canceled)
    SELECT lpad(to_hex(g), 32, '0')::uuid, lpad(to_hex(g), 32, '0')::uuid, 1, lpad(to_hex(g), 32, '0')::uuid, true
    FROM generate_series(1, 2000) g;
    INSERT INTO ratchet.lease (id, node, at, remaining, started, keyed, queue, jobs, dues)
    SELECT lpad(to_hex(g), 32, '0')::uuid, lpad(to_hex(g % 2000 + 1), 32, '0')::uuid, g, 2, true, false, 'default',
        ARRAY[lpad(to_hex(g), 32, '0')::uuid, lpad(to_hex(g + 1), 32, '0')::uuid], '{1, 1}'
    FROM generate_series(1, 100000) g;
    ANALYZE ratchet.node, ratchet.lingering, ratchet.lease;
    ANALYZE ratchet.idempotency, ratchet.business, ratchet.log, ratchet.slot, ratchet.hand_off, ratchet.admission, ratchet.reject,
        ratchet.delivery;
    ANALYZE ratchet.job, ratchet.ready, ratchet.scheduled, ratchet.outcome, ratchet.attempt, ratchet.note, ratchet.graph,
        ratchet.job_group, ratchet.member, ratchet.edge, ratchet.blocked";

/// Jobs of twenty hours, each in its own partition.
const TWENTY: &str = "
    CREATE OR REPLACE FUNCTION plans.now_micros() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;
    SELECT plans.make_parts(3600000000, 68400000000);
    INSERT INTO plans.job (id, queued_at, due, head, version, priority, name, queue, payload)
    SELECT plans.id_at(plans.now_micros() + g * 3600000000), g, g, 0, 1, 2, 'mail', 'default', '{}'
    FROM generate_series(0, 19) g;
    INSERT INTO plans.ready (job, sort_key, due, version, run, job_version, attempts, crashes, deferrals, generation,
        keyed, queue, name)
    SELECT id, due, due, 0, 0, 1, 0, 0, 0, 1, false, 'default', 'mail' FROM plans.job";

/// A statement, with texts that its plan must contain and must not contain.
struct Hot {
    name: &'static str,
    sql: String,
    has: &'static [&'static str],
    has_not: &'static [&'static str],
}

macro_rules! hot {
    ($name:literal: $sql:expr, has: [$($has:literal),*], has_not: [$($not:literal),*]) => {
        Hot { name: $name, sql: String::from($sql), has: &[$($has),*], has_not: &[$($not),*] }
    };
    ($name:literal, has: [$($has:literal),*], has_not: [$($not:literal),*]) => {
        hot!($name: include_str!(concat!("../sql/", $name, ".sql")), has: [$($has),*], has_not: [$($not),*])
    };
}

/// Derived as in `src/sql.rs`.
fn list_ids_oldest_first() -> String {
    LIST_IDS.replace(" < $2)", " > $2)").replace(" DESC", "")
}

/// Concatenated as in `src/sql.rs`.
const EXCHANGE: &str = concat!(
    include_str!("../sql/exchange/1_clock.sql"),
    include_str!("../sql/exchange/2_lock_keyless.sql"),
    include_str!("../sql/exchange/2_settle.sql"),
    include_str!("../sql/exchange/2_settled.sql"),
    include_str!("../sql/exchange/3_claim.sql"),
    include_str!("../sql/exchange/3_taken.sql"),
    include_str!("../sql/exchange/3_line.sql"),
    include_str!("../sql/exchange/4_tell.sql"),
    include_str!("../sql/exchange/5_claimed.sql"),
);
const EXCHANGE_KEYED: &str = concat!(
    include_str!("../sql/exchange/1_clock.sql"),
    include_str!("../sql/exchange/2_lock.sql"),
    include_str!("../sql/exchange/2_settle.sql"),
    include_str!("../sql/exchange/2_settle_unless_late.sql"),
    include_str!("../sql/exchange/2_settled.sql"),
    include_str!("../sql/exchange/2_settle_keys.sql"),
    include_str!("../sql/freed/2_next.sql"),
    include_str!("../sql/exchange/3_claim.sql"),
    include_str!("../sql/exchange/3_taken.sql"),
    include_str!("../sql/exchange/3_line.sql"),
    include_str!("../sql/exchange/4_tell_keyed.sql"),
    include_str!("../sql/exchange/5_claimed.sql"),
);
const EXCHANGE_PLAIN: &str = concat!(
    include_str!("../sql/exchange/1_clock.sql"),
    include_str!("../sql/exchange/2_lock_keyless.sql"),
    include_str!("../sql/exchange/2_settle.sql"),
    include_str!("../sql/exchange/2_settled.sql"),
    include_str!("../sql/exchange/3_claim_plain.sql"),
    include_str!("../sql/exchange/3_taken.sql"),
    include_str!("../sql/exchange/3_line_plain.sql"),
    include_str!("../sql/exchange/4_tell.sql"),
    include_str!("../sql/exchange/5_plain.sql"),
);
const CLAIM_PLAIN: &str = concat!(
    include_str!("../sql/exchange/1_clock.sql"),
    include_str!("../sql/exchange/3_claim_plain.sql"),
    include_str!("../sql/exchange/3_taken.sql"),
    include_str!("../sql/exchange/3_line_plain.sql"),
    include_str!("../sql/exchange/4_tell_claim.sql"),
    include_str!("../sql/exchange/5_plain.sql"),
);
const FREE_SLOTS: &str = concat!(
    include_str!("../sql/freed/1_slots.sql"),
    include_str!("../sql/freed/2_next.sql"),
    include_str!("../sql/freed/3_tell.sql"),
);
/// The files of a list of jobs, concatenated as in `src/sql.rs`.
macro_rules! list {
    ($($file:literal)+) => {
        concat!($(include_str!(concat!("../sql/list/", $file, ".sql"))),+)
    };
}
macro_rules! list_ids {
    ($source:literal $jobs:literal) => {
        list!("1_ids" $source $jobs "4_live" "5_conditions" "5_prefilter" "6_newest_first")
    };
}
macro_rules! list_archived_ids {
    ($source:literal $jobs:literal) => {
        list!("1_ids" $source $jobs "4_archived" "5_conditions" "5_prefilter" "5_archived_group" "6_newest_first")
    };
}
const LIST_IDS: &str = list_ids!("2_source_all" "3_jobs");
const SELECT_FAILED: &str = list!("1_failed" "5_conditions" "5_group" "6_failed");

/// The lists of jobs of each source, and the counts of the jobs that they examine, concatenated as in `src/sql.rs`.
const LISTS: [(&str, &str); 16] = [
    ("list_ids", LIST_IDS),
    ("list_ids_by_id", list_ids!("2_source_ids" "3_jobs_by_id")),
    ("list_ids_in_group", list_ids!("2_source_group" "3_jobs_by_id")),
    ("list_ids_expiring", list_ids!("2_source_expiring" "3_jobs_by_id")),
    ("list_ids_in_states", list_ids!("2_source_states" "3_jobs_by_id")),
    ("count_source", list!("1_examined" "2_source_every_id" "3_end")),
    ("count_source_by_id", list!("1_examined" "2_source_ids" "3_end")),
    ("count_source_in_group", list!("1_examined" "2_source_group" "3_end")),
    ("count_source_expiring", list!("1_examined" "2_source_expiring" "3_end")),
    ("count_source_in_states", list!("1_examined" "2_source_states" "3_end")),
    ("list_archived_ids", list_archived_ids!("2_source_archived" "3_jobs")),
    ("list_archived_ids_by_id", list_archived_ids!("2_source_archived_ids" "3_archived_by_id")),
    ("list_archived_ids_by_key", list_archived_ids!("2_source_archived_key" "3_archived_by_id")),
    ("count_archived_source", list!("1_examined" "2_source_every_archived_id" "3_end")),
    ("count_archived_source_by_id", list!("1_examined" "2_source_archived_ids" "3_end")),
    ("count_archived_source_by_key", list!("1_examined" "2_source_archived_key" "3_end")),
];

/// The types of the parameters that lists and counts share. Some of them use only a few.
const SHARED: &str = "bigint, uuid, smallint[], text[], text[], text, text, text, text, text, text, bigint, bigint, uuid, bigint, uuid[], bigint, smallint[]";

/// Returns the types of the parameters of a list or of a count.
fn types_of(list: &str) -> String {
    let own = if list.contains("_source") { "uuid" } else { "text[], bigint" };
    format!("({SHARED}, {own})")
}

/// The files of a removal of old jobs, concatenated as in `src/sql.rs`.
macro_rules! removal {
    ($how:literal) => {
        concat!(
            include_str!("../sql/removal/1_old.sql"),
            include_str!(concat!("../sql/removal/", $how, ".sql")),
            include_str!("../sql/removal/3_rest.sql"),
        )
    };
}
const PURGE_JOBS: &str = removal!("2_delete");
const ARCHIVE_JOBS: &str = removal!("2_move");
const CLAIM_ONLY: &str = concat!(
    include_str!("../sql/exchange/1_clock.sql"),
    include_str!("../sql/exchange/3_claim.sql"),
    include_str!("../sql/exchange/3_taken.sql"),
    include_str!("../sql/exchange/3_line.sql"),
    include_str!("../sql/exchange/4_tell_claim.sql"),
    include_str!("../sql/exchange/5_claimed.sql"),
);

/// Tables that no statement may read completely. The tables not listed here have only one row per node, queue, service
/// or lease.
const LARGE: [&str; 21] = [
    "job_rest",
    "ready",
    "scheduled",
    "outcome_rest",
    "attempt_rest",
    "note_rest",
    "graph",
    "job_group",
    "member",
    "edge",
    "blocked",
    "idempotency",
    "business",
    "log_rest",
    "slot",
    "hand_off",
    "admission",
    "reject",
    "delivery",
    "key_rate",
    "key_lane",
];

/// Exceptions that read a whole table. They serve operators or count rows, and no worker waits for them.
const SURVEYS: [(&str, &str); 21] = [
    ("query/select_counts", "ready"),
    ("query/select_counts", "scheduled"),
    ("query/select_counts", "blocked"),
    // Ends at 100,000 jobs.
    ("query/count_waiting", "ready"),
    ("query/count_waiting", "scheduled"),
    ("query/count_waiting", "blocked"),
    ("query/select_unknown", "ready"),
    ("query/select_unknown", "scheduled"),
    ("query/select_unknown", "blocked"),
    ("items/count_hand_offs", "hand_off"),
    // Counts what waits in an accepted pipeline. Here that is every row; a limit keeps it small.
    ("pipeline/select_pipelines", "hand_off"),
    ("items/count_rejects", "reject"),
    ("items/count_rejects_by_interval", "reject"),
    // After a rotation of keys. No index has the number of a hand-off.
    ("content/list_hand_off", "hand_off"),
    ("content/update_hand_off", "hand_off"),
    // The keys of one tenant, which here are all keys, and what waits or belongs to one tenant. An erasure reads them.
    ("erasure/count_keys", "idempotency"),
    ("erasure/purge_keys", "idempotency"),
    ("erasure/select_keys_of_graphs", "idempotency"),
    ("erasure/select_deliveries", "delivery"),
    ("erasure/select_groups", "job_group"),
    // Runs once a minute. There is one slot per run with a key.
    ("sweep/sweep_slots", "slot"),
];

/// Statements that read the first rows in index order and stop.
const WALKS: [(&str, &str); 7] = [
    ("stats/oldest_due", "key_lane"),
    ("select_failed", "outcome_rest"),
    ("list_ids", "job_rest"),
    ("list_ids_oldest_first", "job_rest"),
    ("list_ids_in_states", "outcome_rest"),
    ("count_source", "job_rest"),
    ("count_source_in_states", "outcome_rest"),
];

/// The statements of claims of queues with a rate per concurrency key.
fn hot_key_rates() -> Vec<Hot> {
    vec![
        hot!("key_rate/select_states", has: ["using key_rate_pkey"], has_not: []),
        hot!("key_rate/upsert_states", has: ["Conflict Arbiter Indexes: key_rate_pkey"], has_not: ["Seq Scan"]),
        hot!("key_rate/select_next_free", has: ["using key_rate_full"], has_not: ["Sort Key"]),
        hot!("key_rate/delete_ended", has: ["using key_rate_ends", "Tid Scan on key_rate"], has_not: ["Sort Key"]),
        hot!("key_rate/select_lanes", has: ["using key_lane_back"], has_not: ["Sort Key"]),
        hot!("key_rate/bring_back", has: ["Index Scan using blocked_order", "Tid Scan on blocked"],
            has_not: ["Sort Key: b."]),
        hot!("key_rate/set_aside", has: ["Tid Scan on ready", "Conflict Arbiter Indexes: key_lane_pkey"], has_not: []),
        hot!("key_rate/put_off_lanes", has: ["using key_lane_pkey"], has_not: []),
        hot!("key_rate/put_off_keys", has: ["using key_lane_key"], has_not: []),
    ]
}

/// The lists of jobs, and the counts of the jobs that they examine.
fn hot_lists() -> Vec<Hot> {
    vec![
        hot!("list_ids": LIST_IDS, has: ["Scan Backward using job_rest_pkey"], has_not: ["Sort  (cost"]),
        hot!("list_ids_oldest_first": list_ids_oldest_first(), has: ["Scan using job_rest_pkey"], has_not: ["Sort  (cost"]),
        hot!("list_ids_by_id": LISTS[1].1, has: ["Index Cond: (id = "], has_not: []),
        hot!("list_ids_in_group": LISTS[2].1, has: ["using member_group"], has_not: []),
        hot!("list_ids_in_states": LISTS[4].1, has: ["using outcome_rest_job_idx"], has_not: []),
        hot!("count_source": LISTS[5].1, has: ["Index Only Scan Backward using job_rest_pkey"], has_not: []),
    ]
}

/// The statements that workers wait for, and those that run all the time.
fn hot() -> Vec<Hot> {
    vec![
        hot!("exchange": EXCHANGE,
            has: ["Index Scan using ready_order", "AND (ROW(sort_key, due, job) >=", "Index Scan using job_rest_pkey", "Tid Scan on ready"],
            has_not: ["Sort Key: r."]),
        hot!("exchange_keyed": EXCHANGE_KEYED,
            has: ["Index Scan using ready_order", "AND (ROW(sort_key, due, job) >=", "Index Scan using job_rest_pkey", "Tid Scan on ready"],
            has_not: ["Sort Key: r."]),
        hot!("claim_only": CLAIM_ONLY,
            has: ["Index Scan using ready_order", "AND (ROW(sort_key, due, job) >=", "Index Scan using job_rest_pkey", "Tid Scan on ready"],
            has_not: ["Sort Key: r."]),
        hot!("exchange_plain": EXCHANGE_PLAIN,
            has: ["Index Scan using ready_order", "AND (ROW(sort_key, due, job) >=", "Tid Scan on ready"],
            has_not: ["Sort Key: r.", "on job_"]),
        hot!("claim_plain": CLAIM_PLAIN,
            has: ["Index Scan using ready_order", "AND (ROW(sort_key, due, job) >=", "Tid Scan on ready"],
            has_not: ["Sort Key: r.", "on job_"]),
        hot!("claim/select_candidates", has: ["Index Scan using ready_order"], has_not: ["Sort Key"]),
        hot!("claim/promote_due", has: ["Index Scan using scheduled_order"], has_not: ["Sort Key"]),
        hot!("claim/select_next_due", has: ["using scheduled_order"], has_not: ["Sort Key"]),
        hot!("claim/take_chosen", has: ["Tid Scan on ready", "Index Scan using job_rest_pkey"], has_not: []),
        hot!("claim/select_notes", has: ["pkey on note_"], has_not: []),
        hot!("settle/select_members", has: ["using outcome_rest_pkey", "using job_rest_pkey", "using member_pkey",
            "One-Time Filter: (j.extra IS NOT NULL)"], has_not: []),
        hot!("command/take_pending", has: ["using ready_moved", "using ready_order", "using scheduled_job"], has_not: []),
        hot!("query/select_jobs", has: ["using job_rest_pkey", "using outcome_rest_pkey", "using member_pkey",
            "One-Time Filter: (j.extra IS NOT NULL)"], has_not: []),
        hot!("query/lock_old", has: ["Index Scan using outcome_rest_pkey"], has_not: ["Sort Key: o."]),
        hot!("purge_jobs": PURGE_JOBS, has: ["using outcome_rest_pkey", "using job_rest_pkey"], has_not: []),
        hot!("archive_jobs": ARCHIVE_JOBS, has: ["using outcome_rest_pkey", "using job_rest_pkey"], has_not: []),
        hot!("settle/lock_business", has: ["using business_job"], has_not: []),
        hot!("settle/free_business", has: ["using business_job", "using outcome_rest_pkey"], has_not: []),
        hot!("sweep/select_keys", has: ["using business_pkey", "using outcome_rest_pkey", "using job_rest_pkey"], has_not: []),
        hot!("sweep/sweep_slots", has: ["using lease_pkey", "using outcome_rest_pkey"], has_not: []),
        hot!("graph/lock_graphs", has: ["using graph_pkey", "using member_pkey"], has_not: []),
        hot!("graph/select_steps", has: ["using member_pkey", "using outcome_rest_pkey"], has_not: []),
        hot!("graph/select_groups", has: ["using job_group_pkey"], has_not: []),
        hot!("graph/walk_edges", has: ["using edge_pkey"], has_not: []),
        hot!("graph/list_members", has: ["using member_group"], has_not: ["Sort Key"]),
        hot!("graph/update_groups", has: ["using job_group_pkey"], has_not: []),
        hot!("graph/update_edges", has: ["using edge_pkey"], has_not: []),
        hot!("graph/update_members", has: ["using member_pkey"], has_not: []),
        hot!("graph/release_steps", has: ["using member_pkey", "using blocked_job"], has_not: []),
        hot!("graph/take_steps", has: ["using ready_moved", "using ready_order", "using scheduled_job", "using blocked_job"],
            has_not: []),
        hot!("blocked/set_aside", has: ["Index Scan using ready_order", "Tid Scan on ready",
            "slot_key"], has_not: ["Sort Key: r."]),
        hot!("blocked/bring_back", has: ["Index Only Scan using blocked_order", "Index Scan using blocked_order",
            "Tid Scan on blocked"], has_not: ["Sort Key: b."]),
        hot!("node/has_competing_claimers", has: ["Scan Backward using lease_node"], has_not: []),
        hot!("claim/count_slots", has: ["slot_key"], has_not: []),
        hot!("claim/select_room", has: ["using node_pkey"], has_not: []),
        hot!("command/delete_outcome", has: ["using outcome_rest_", "Index Cond: (job = $1)"], has_not: []),
        hot!("command/lock_outcome", has: ["using outcome_rest_", "Index Cond: (job = $1)"], has_not: []),
        hot!("command/update_outcome", has: ["using outcome_rest_pkey"], has_not: []),
        hot!("command/move_job", has: ["using job_rest_pkey"], has_not: []),
        hot!("select_failed": SELECT_FAILED, has: ["Merge Append", "using outcome_rest_job_idx"], has_not: ["Sort  (cost"]),
        hot!("command/select_pending", has: ["using job_rest_pkey", "using member_pkey"], has_not: []),
        hot!("gate/select_holders", has: ["slot_key"], has_not: []),
        hot!("graph/purge_groups", has: ["using job_group_finished", "Index Cond: (finished_at <=", "using member_group"], has_not: ["Sort Key: g."]),
        hot!("insert/insert_alike", has: ["Insert on job", "Insert on ready"], has_not: ["Index Scan", "Seq Scan"]),
        hot!("insert/insert_jobs", has: ["Insert on job", "Insert on ready", "Insert on scheduled"],
            has_not: ["Index Scan", "Seq Scan"]),
        hot!("insert/reserve_idempotency", has: ["Conflict Resolution: NOTHING"], has_not: ["Seq Scan"]),
        hot!("insert/select_idempotency", has: ["using idempotency_pkey"], has_not: []),
        hot!("insert/renew_idempotency", has: ["using idempotency_pkey"], has_not: ["Seq Scan"]),
        hot!("sweep/delete_expired_keys", has: ["using idempotency_expires", "Tid Scan on idempotency"], has_not: ["Seq Scan"]),
        hot!("insert/delete_idempotency", has: ["using idempotency_pkey"], has_not: []),
        hot!("insert/reserve_business", has: ["Conflict Resolution: NOTHING"], has_not: ["Seq Scan"]),
        hot!("insert/select_business", has: ["using business_pkey"], has_not: []),
        hot!("insert/assign_business", has: ["using business_pkey"], has_not: []),
        hot!("insert/delete_business", has: ["using business_pkey"], has_not: []),
        hot!("insert/select_ids", has: ["using job_rest_pkey"], has_not: []),
        hot!("items/take_hand_offs", has: ["Index Scan using hand_off_waiting", "Tid Scan on hand_off"], has_not: ["Sort Key: h."]),
        hot!("items/finish_hand_offs", has: ["hand_off_pkey"], has_not: []),
        hot!("pipeline/lock_hand_offs", has: ["hand_off_pkey"], has_not: ["Seq Scan"]),
        hot!("pipeline/close_admissions", has: ["admission_open"], has_not: ["Seq Scan on admission"]),
        hot!("pipeline/select_admissions", has: ["admission_pkey"], has_not: ["Seq Scan"]),
        hot!("pipeline/select_latencies", has: ["admission_latest"], has_not: ["Seq Scan", "Sort"]),
        hot!("outbox/hold_deliveries", has: ["using delivery_channel", "delivery_job", "Tid Scan on delivery"], has_not: ["Sort Key: d."]),
        hot!("outbox/select_backlogs", has: ["using delivery_channel"], has_not: ["Seq Scan on delivery", "Sort Key: d."]),
        hot!("node/renew_node", has: ["using node_pkey"], has_not: []),
        hot!("node/select_canceled", has: ["lingering_node"], has_not: []),
        hot!("query/select_attempts", has: ["using attempt_rest_pkey"], has_not: []),
        hot!("query/select_logs", has: ["using log_rest_pkey"], has_not: []),
        hot!("settle/free_business", has: ["business_job"], has_not: []),
        hot!("free_slots": FREE_SLOTS, has: ["using slot_pkey", "using blocked_order", "Tid Scan on blocked"], has_not: ["Sort Key: b."]),
        hot!("settle/insert_outcomes", has: ["Insert on outcome"], has_not: ["Index Scan", "Seq Scan"]),
        hot!("settle/insert_moving", has: ["Insert on ready", "Insert on scheduled"], has_not: ["Index Scan", "Seq Scan"]),
        hot!("settle/insert_attempts", has: ["Insert on attempt"], has_not: ["Index Scan", "Seq Scan"]),
        hot!("settle/insert_tally", has: ["using outcome_rest_pkey"], has_not: []),
        hot!("settle/trim_logs", has: ["using log_rest_pkey"], has_not: []),
        hot!("settle/upsert_notes", has: ["Conflict Arbiter Indexes"], has_not: ["Seq Scan"]),
        hot!("node/select_orphans", has: ["using job_rest_pkey"], has_not: []),
    ]
}

#[tokio::test]
async fn c_06_statements_use_their_indexes_with_a_million_rows() {
    let pg = PgHarness::fresh().await;
    pg.database.execute(FILL).await;
    let mut db = PgConnection::connect(&pg.database.url()).await.expect("connects");
    // The plan must suit any parameters, like the plan of a prepared statement. Scan types are left to the planner
    // here.
    db.execute("SET plan_cache_mode = force_generic_plan; SET jit = off").await.expect("set");
    let mut wrong = Vec::new();
    for hot in hot().into_iter().chain(hot_key_rates()).chain(hot_lists()) {
        let plan = plan(&mut db, hot.name, &hot.sql).await;
        for wanted in hot.has.iter().filter(|wanted| !plan.contains(*wanted)) {
            wrong.push(format!("{}: no `{wanted}` in\n{plan}", hot.name));
        }
        for unwanted in hot.has_not.iter().filter(|unwanted| plan.contains(*unwanted)) {
            wrong.push(format!("{}: `{unwanted}` in\n{plan}", hot.name));
        }
    }
    for (name, sql) in every_statement() {
        let plan = plan(&mut db, &name, &sql).await;
        for table in LARGE {
            let all = reads_all(&plan, table);
            let may = [&SURVEYS[..], &WALKS].concat().contains(&(name.as_str(), table));
            if all != may {
                wrong.push(format!("{name}: reads all of {table}, is {all}:\n{plan}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong plans:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns whether a plan reads a whole table, either sequentially or by an index scan without a condition.
fn reads_all(plan: &str, table: &str) -> bool {
    let lines: Vec<_> = plan.lines().collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    lines.iter().enumerate().any(|(at, line)| {
        if !line.contains(&format!(" on {table} ")) || !line.contains("Scan ") {
            return false;
        }
        let mut about = lines[at + 1..].iter().take_while(|below| depth(below) > depth(line));
        let sought = about.any(|line| line.contains("Cond: "));
        line.contains("Seq Scan") || (line.contains("Index") && !sought)
    })
}

/// Returns the names and texts of all statements that have a plan.
fn every_statement() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("sql");
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
        let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    // Statements that are concatenated from several files.
    let whole = [
        ("exchange", EXCHANGE),
        ("exchange_keyed", EXCHANGE_KEYED),
        ("claim_only", CLAIM_ONLY),
        ("exchange_plain", EXCHANGE_PLAIN),
        ("claim_plain", CLAIM_PLAIN),
        ("free_slots", FREE_SLOTS),
        ("select_failed", SELECT_FAILED),
        ("purge_jobs", PURGE_JOBS),
        ("archive_jobs", ARCHIVE_JOBS),
    ];
    let whole = whole.into_iter().chain(LISTS);
    let mut all: Vec<_> = whole.map(|(name, sql)| (name.to_owned(), sql.to_owned())).collect();
    let folders = entries(&root).into_iter();
    let apart = ["migrate", "exchange", "freed", "list", "removal"];
    for folder in folders.filter(|at| !apart.iter().any(|name| at.ends_with(name))) {
        for file in entries(&folder) {
            let name = file.strip_prefix(&root).expect("inside").with_extension("");
            all.push((name.display().to_string(), fs::read_to_string(&file).expect("text")));
        }
    }
    assert!(all.len() > 100, "every statement is in a file");
    all.push(("list_ids_oldest_first".to_owned(), list_ids_oldest_first()));
    // `SET` and `VACUUM` have no plan.
    all.retain(|(name, _)| !["query/plan_anew", "query/vacuum"].contains(&name.as_str()));
    all
}

async fn plan(db: &mut PgConnection, name: &str, sql: &str) -> String {
    let sql = sql.replace("__SCOPE__", "''").replace("__HOME__", "'ratchet'");
    let sql = sql.replace("__ARCHIVE__", "'ratchet_archive'");
    let is_list = name.starts_with("list_") || name.contains("_source");
    let types = if is_list { types_of(name) } else { String::new() };
    let prepare = format!("PREPARE hot{types} AS {sql}");
    db.execute(AssertSqlSafe(prepare)).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    let types = "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'hot'";
    let types: Vec<String> =
        sqlx::query_scalar(types).persistent(false).fetch_one(&mut *db).await.expect("types");
    // The values determine which partitions are read.
    let mut values: Vec<_> = types.iter().map(|of| sample(of)).collect();
    // The store uses custom plans for these statements.
    let custom = match name {
        _ if is_list || name == "select_failed" => {
            // No condition is set.
            let unset = |of: &String| if of.ends_with("[]") { "'{}'" } else { "NULL" };
            values = types.iter().map(unset).collect();
            values[0] = "101";
            if is_list {
                (values[13], values[14], values[15]) = (sample("uuid"), "1", sample("uuid[]"));
                (values[16], values[17]) = ("101", "'{3}'");
            }
            true
        }
        "query/lock_old" => {
            (values[0], values[1], values[2]) = ("2", "1", "1000");
            true
        }
        _ => false,
    };
    if custom {
        db.execute("SET plan_cache_mode = force_custom_plan").await.expect("set");
    }
    let arguments =
        if values.is_empty() { String::new() } else { format!("({})", values.join(", ")) };
    let explain = AssertSqlSafe(format!("EXPLAIN EXECUTE hot{arguments}"));
    let rows = sqlx::raw_sql(explain).fetch_all(&mut *db).await;
    let rows = rows.unwrap_or_else(|error| panic!("{name}: {error}"));
    db.execute("DEALLOCATE hot; SET plan_cache_mode = force_generic_plan").await.expect("set");
    rows.iter().map(|row| row.get::<String, _>(0) + "\n").collect()
}

/// Returns a sample value of a type.
fn sample(of: &str) -> &'static str {
    match of {
        "uuid" => "'00000000-0000-0000-0000-000000000001'",
        "uuid[]" => "'{00000000-0000-0000-0000-000000000001}'",
        "text" => "'default'",
        "text[]" => "'{default}'",
        "bigint" | "integer" | "smallint" => "1",
        "bigint[]" | "integer[]" | "smallint[]" | "real[]" => "'{1}'",
        "boolean" => "true",
        "boolean[]" => "'{true}'",
        _ => "NULL",
    }
}

/// With twenty partitions, a claim reads only those that hold its jobs, and a settlement writes only to those.
#[tokio::test]
async fn c_06_claims_look_into_one_range_per_job() {
    let pg = PgHarness::fresh().await;
    pg.database.execute("DROP SCHEMA IF EXISTS plans CASCADE").await;
    let options = pg.database.options().schema("plans").partition(Duration::from_hours(1));
    let store = PgStore::open(options).await.expect("opens");
    pg.database.execute(TWENTY).await;
    let node = NodeId::from_uuid(uuid::Uuid::from_u128(1));
    store.join(NodeInfo::new(node), Duration::from_hours(1)).await.expect("joins");
    let mut db = PgConnection::connect(&pg.database.url()).await.expect("connects");
    db.execute("SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off")
        .await
        .expect("set");
    let sql = EXCHANGE.replace("ratchet.", "plans.");
    db.execute(AssertSqlSafe(format!("PREPARE hot AS {sql}"))).await.expect("prepared");
    let explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE hot(
        '{default}', '{3}', '{00000000-0000-0000-0000-000000000002}', '{-9223372036854775808}',
        '00000000-0000-0000-0000-000000000001', '{mail}', '{1}', 2, true,
        '{-9223372036854775808}', '{00000000-0000-0000-0000-000000000000}', '{}', '{}', '{}', '{}', '{}', '{}', 0)";
    let rows = sqlx::raw_sql(explain).fetch_all(&mut db).await.expect("explains");
    let plan: String = rows.iter().map(|row| row.get::<String, _>(0) + "\n").collect();
    let look_ups: Vec<_> = plan.lines().filter(|line| line.contains(" on job_")).collect();
    let never = look_ups.iter().filter(|line| line.contains("never executed")).count();
    assert!(look_ups.len() >= 20, "every range is in the plan:\n{plan}");
    assert_eq!(look_ups.len() - never, 3, "three jobs of three hours:\n{plan}");
    pg.database.execute("DROP SCHEMA plans CASCADE").await;
}

/// 200,000 archived jobs in twenty ranges of a week. Every second one has a business key.
const ARCHIVED: &str = "
    SELECT keyed.make_archive_parts(array_agg(keyed.id_at(1000000000000000 + g * 604800000000))) FROM generate_series(0, 20) g;
    CREATE TABLE filled AS
        SELECT (lpad(to_hex(1000000000000 + g::bigint * 60000), 12, '0') || '70008000' || lpad(to_hex(g), 12, '0'))::uuid AS id, g
        FROM generate_series(1, 200000) g;
    INSERT INTO keyed_archive.job (id, queued_at, due, head, version, priority, name, queue, payload, business_key)
        SELECT id, g, g, 0, 1, 2, 'mail', 'default', '{}', CASE WHEN g % 2 = 0 THEN 'order-' || g END FROM filled;
    INSERT INTO keyed_archive.outcome (job, at, due, version, run, attempts, crashes, deferrals, generation, state)
        SELECT id, g, g, 2, 1, 0, 0, 0, 1, 2 FROM filled;
    DROP TABLE filled;
    ANALYZE keyed_archive.job, keyed_archive.outcome";

/// A search for archived jobs by business key looks into the index of each range.
#[tokio::test]
async fn a_01_archived_jobs_are_found_by_business_key_through_an_index() {
    let pg = PgHarness::fresh().await;
    pg.database.execute("DROP SCHEMA IF EXISTS keyed, keyed_archive CASCADE").await;
    let store = PgStore::open(pg.database.options().schema("keyed")).await.expect("opens");
    pg.database.execute(ARCHIVED).await;
    let mut db = PgConnection::connect(&pg.database.url()).await.expect("connects");
    db.execute("SET plan_cache_mode = force_custom_plan").await.expect("set");
    let (name, sql) = LISTS[12];
    let sql = sql.replace("ratchet_archive.", "keyed_archive.");
    let prepare = format!("PREPARE hot{} AS {sql}", types_of(name));
    db.execute(AssertSqlSafe(prepare)).await.expect("prepared");
    let explain = "EXPLAIN (COSTS OFF) EXECUTE hot(
        101, NULL, '{}', '{}', '{}', NULL, NULL, 'order-7000', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{}', 101, '{}', '{}', NULL)";
    let rows = sqlx::raw_sql(explain).fetch_all(&mut db).await.expect("explains");
    let plan: String = rows.iter().map(|row| row.get::<String, _>(0) + "\n").collect();
    assert!(plan.matches("(business_key = 'order-7000'::text)").count() >= 20, "{plan}");
    assert!(!plan.contains("Seq Scan on job") && !plan.contains("Filter: (business_key"), "{plan}");
    store.close().await;
    pg.database.execute("DROP SCHEMA keyed, keyed_archive CASCADE").await;
}
