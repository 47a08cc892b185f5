//! All SQL statements by name, with the schema name filled in. Only this file may mark SQL text as safe.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::rules::search::{Place, Source};
use sqlx::{AssertSqlSafe, SqlSafeStr, SqlStr};

/// A statement ready to be executed.
#[derive(Debug)]
pub(crate) struct Statement {
    /// The name in [`Sql`], for crash tests.
    pub(crate) name: &'static str,
    pub(crate) text: SqlStr,
    /// Whether connections keep the statement prepared.
    pub(crate) keep: bool,
}

impl Statement {
    /// Returns a list of jobs in the opposite direction.
    fn oldest_first(self) -> Self {
        let mut text = self.text.as_str().to_owned();
        for (there, opposite) in DIRECTION {
            text = text.replace(there, opposite);
        }
        Self { text: AssertSqlSafe(text).into_sql_str(), ..self }
    }
}

/// The direction of a list of jobs, as it is written in the files of `list/`, and the opposite one.
const DIRECTION: [(&str, &str); 4] =
    [("newest first", "oldest first"), (" < $2)", " > $2)"), (" DESC", ""), (">= $19", "<= $19")];

/// Declares every statement with the file that holds it, or the files it is concatenated from. The files use `ratchet.`
/// as the schema.
macro_rules! statements {
    ($($name:ident: $($file:literal)+,)*) => {
        /// All statements of the store.
        #[derive(Debug)]
        pub(crate) struct Sql {
            schema: String,
            names: Names,
            keep: bool,
            $($name: Arc<str>,)*
        }

        impl Sql {
            /// Builds all statements for a schema. With `keep`, connections keep them prepared.
            pub(crate) fn new(schema: &str, keep: bool) -> Self {
                let names = Names::new(schema);
                Self {
                    $($name: names.place(concat!($(include_str!(concat!("../sql/", $file))),+)).into(),)*
                    schema: schema.to_owned(),
                    names,
                    keep,
                }
            }

            /// Returns the names and texts of all statements.
            #[cfg(test)]
            fn all(&self) -> Vec<(&'static str, &str)> {
                vec![$((stringify!($name), &*self.$name),)*]
            }

            $(
                pub(crate) fn $name(&self) -> Statement {
                    let text = AssertSqlSafe(Arc::clone(&self.$name)).into_sql_str();
                    Statement { name: stringify!($name), text, keep: self.keep }
                }
            )*
        }
    };
}

statements! {
    create_schema: "migrate/create_schema.sql",
    lock_migrations: "migrate/lock_migrations.sql",
    has_migrations: "migrate/has_migrations.sql",
    select_migration: "migrate/select_migration.sql",
    make_parts: "migrate/make_parts.sql",
    insert_migration: "migrate/insert_migration.sql",
    record_oldest: "migrate/record_oldest.sql",
    select_oldest: "migrate/select_oldest.sql",
    lock_audit_head: "audit/lock_head.sql",
    select_audit_head: "audit/select_head.sql",
    restore_audit_head: "audit/restore_head.sql",
    update_audit_head: "audit/update_head.sql",
    insert_audit: "audit/insert_entry.sql",
    list_audit: "audit/list_entries.sql",
    list_audit_oldest_first: "audit/list_entries_oldest_first.sql",
    save_catalog: "catalog/save_entries.sql",
    delete_old_catalog: "catalog/delete_old.sql",
    list_catalog: "catalog/list_entries.sql",
    select_operation: "operation/select_operation.sql",
    lock_operation: "operation/lock_operation.sql",
    list_operations: "operation/list_operations.sql",
    list_active_operations: "operation/list_active.sql",
    insert_operation: "operation/insert_operation.sql",
    update_operation: "operation/update_operation.sql",
    delete_old_operations: "operation/delete_old.sql",
    lock_outcomes: "erasure/lock_outcomes.sql",
    delete_belongings: "erasure/delete_belongings.sql",
    erase_keys: "erasure/erase_keys.sql",
    erase_archived: "erasure/delete_archived.sql",
    select_keys_of_tenant: "erasure/select_keys_of_tenant.sql",
    select_keys_of_graphs: "erasure/select_keys_of_graphs.sql",
    lock_empty_groups: "erasure/lock_groups.sql",
    delete_groups: "erasure/delete_groups.sql",
    delete_hand_offs_of_tenant: "erasure/delete_hand_offs_of_tenant.sql",
    delete_hand_offs_of_correlation: "erasure/delete_hand_offs_of_correlation.sql",
    count_hand_offs_of_tenant: "erasure/count_hand_offs_of_tenant.sql",
    count_hand_offs_of_correlation: "erasure/count_hand_offs_of_correlation.sql",
    find_deliveries: "erasure/select_deliveries.sql",
    count_keys: "erasure/count_keys.sql",
    find_groups: "erasure/select_groups.sql",
    purge_keys: "erasure/purge_keys.sql",
    purge_digests: "erasure/purge_digests.sql",
    delete_expired_digests: "erasure/delete_expired_digests.sql",
    lock_mark: "failure/lock_mark.sql",
    upsert_mark: "failure/upsert_mark.sql",
    delete_mark: "failure/delete_mark.sql",
    delete_old_marks: "failure/delete_old.sql",
    list_marks: "failure/list_marks.sql",
    insert_successor: "successor/insert_successor.sql",
    lock_original: "successor/lock_original.sql",
    select_succession: "successor/select_succession.sql",
    insert_jobs: "insert/insert_jobs.sql",
    insert_alike: "insert/insert_alike.sql",
    insert_children: "graph/insert_children.sql",
    reserve_idempotency: "insert/reserve_idempotency.sql",
    select_idempotency: "insert/select_idempotency.sql",
    delete_idempotency: "insert/delete_idempotency.sql",
    renew_idempotency: "insert/renew_idempotency.sql",
    reserve_business: "insert/reserve_business.sql",
    select_business: "insert/select_business.sql",
    lock_own_business: "insert/lock_own_business.sql",
    assign_business: "insert/assign_business.sql",
    delete_business: "insert/delete_business.sql",
    select_ids: "insert/select_ids.sql",
    lock_waiting: "insert/lock_waiting.sql",
    insert_expiry: "expiry/insert_expiry.sql",
    delete_expiry: "expiry/delete_expiry.sql",
    lock_ended_expiry: "expiry/lock_ended_expiry.sql",
    delete_ended_expiry: "expiry/delete_ended_expiry.sql",
    exchange_plain: "exchange/1_clock.sql" "exchange/2_lock_keyless.sql" "exchange/2_settle.sql" "exchange/2_settled.sql"
        "exchange/3_claim_plain.sql" "exchange/3_taken.sql" "exchange/3_line_plain.sql" "exchange/4_tell.sql"
        "exchange/5_plain.sql",
    exchange: "exchange/1_clock.sql" "exchange/2_lock_keyless.sql" "exchange/2_settle.sql" "exchange/2_settled.sql" "exchange/3_claim.sql"
        "exchange/3_taken.sql" "exchange/3_line.sql" "exchange/4_tell.sql" "exchange/5_claimed.sql",
    exchange_keyed: "exchange/1_clock.sql" "exchange/2_lock.sql" "exchange/2_settle.sql"
        "exchange/2_settle_unless_late.sql" "exchange/2_settled.sql" "exchange/2_settle_keys.sql"
        "freed/2_next.sql" "exchange/3_claim.sql" "exchange/3_taken.sql" "exchange/3_line.sql"
        "exchange/4_tell_keyed.sql" "exchange/5_claimed.sql",
    claim_plain: "exchange/1_clock.sql" "exchange/3_claim_plain.sql" "exchange/3_taken.sql" "exchange/3_line_plain.sql"
        "exchange/4_tell_claim.sql" "exchange/5_plain.sql",
    claim_only: "exchange/1_clock.sql" "exchange/3_claim.sql" "exchange/3_taken.sql" "exchange/3_line.sql"
        "exchange/4_tell_claim.sql" "exchange/5_claimed.sql",
    select_notes: "claim/select_notes.sql",
    set_aside: "blocked/set_aside.sql",
    bring_back: "blocked/bring_back.sql",
    select_room: "claim/select_room.sql",
    promote_due: "claim/promote_due.sql",
    select_candidates: "claim/select_candidates.sql",
    select_tenant_candidates: "claim/select_tenant_candidates.sql",
    list_tenants: "claim/list_tenants.sql",
    lock_keys: "claim/lock_keys.sql",
    count_slots: "claim/count_slots.sql",
    select_next_due: "claim/select_next_due.sql",
    take_chosen: "claim/take_chosen.sql",
    lock_rules: "gate/lock_rules.sql",
    select_rules: "gate/select_rules.sql",
    insert_rules: "gate/insert_rules.sql",
    update_rules: "gate/update_rules.sql",
    delete_rules: "gate/delete_rules.sql",
    count_runs: "gate/count_runs.sql",
    select_key_rates: "key_rate/select_states.sql",
    select_all_key_rates: "key_rate/select_all_states.sql",
    upsert_key_rates: "key_rate/upsert_states.sql",
    delete_key_rates: "key_rate/delete_states.sql",
    delete_ended_key_rates: "key_rate/delete_ended.sql",
    select_next_free_key: "key_rate/select_next_free.sql",
    count_full_keys: "key_rate/count_full.sql",
    select_key_lanes: "key_rate/select_lanes.sql",
    bring_back_key_lanes_of_queue: "key_rate/bring_back_queue.sql",
    delete_empty_key_lanes_of_queue: "key_rate/delete_empty_lanes_of_queue.sql",
    select_key_lane_queues: "key_rate/select_lane_queues.sql",
    bring_back_key_lanes: "key_rate/bring_back.sql",
    delete_empty_key_lanes: "key_rate/delete_empty_lanes.sql",
    put_off_key_lanes: "key_rate/put_off_lanes.sql",
    put_off_keys: "key_rate/put_off_keys.sql",
    open_key_lanes: "key_rate/open_lanes.sql",
    wake_key_lanes: "key_rate/wake_lanes.sql",
    set_aside_refused: "key_rate/set_aside.sql",
    lock_breakers: "gate/lock_breakers.sql",
    lock_open_breakers: "gate/lock_open_breakers.sql",
    select_breakers: "gate/select_breakers.sql",
    insert_breaker: "gate/insert_breaker.sql",
    update_breaker: "gate/update_breaker.sql",
    select_holders: "gate/select_holders.sql",
    count_probes: "gate/count_probes.sql",
    lock_leases: "settle/lock_leases.sql",
    select_members: "settle/select_members.sql",
    select_tokens: "settle/select_tokens.sql",
    insert_outcomes: "settle/insert_outcomes.sql",
    insert_attempts: "settle/insert_attempts.sql",
    leave_leases: "settle/leave_leases.sql",
    delete_leases: "settle/delete_leases.sql",
    insert_moving: "settle/insert_moving.sql",
    insert_lingering: "settle/insert_lingering.sql",
    delete_lingering: "settle/delete_lingering.sql",
    free_slots: "freed/1_slots.sql" "freed/2_next.sql" "freed/3_tell.sql",
    lock_business: "settle/lock_business.sql",
    free_business: "settle/free_business.sql",
    set_lock_timeout: "settle/set_lock_timeout.sql",
    upsert_notes: "settle/upsert_notes.sql",
    insert_logs: "settle/insert_logs.sql",
    trim_logs: "settle/trim_logs.sql",
    insert_tally: "settle/insert_tally.sql",
    take_pending: "command/take_pending.sql",
    select_pending: "command/select_pending.sql",
    insert_paused: "command/insert_paused.sql",
    delete_paused: "command/delete_paused.sql",
    find_lease: "command/find_lease.sql",
    lock_outcome: "command/lock_outcome.sql",
    select_outcome: "command/select_outcome.sql",
    delete_outcome: "command/delete_outcome.sql",
    update_outcome: "command/update_outcome.sql",
    move_job: "command/move_job.sql",
    select_failed: "list/1_failed.sql" "list/5_conditions.sql" "list/5_group.sql" "list/6_failed.sql",
    has_competing_claimers: "node/has_competing_claimers.sql",
    upsert_node: "node/upsert_node.sql",
    lock_newest: "node/lock_newest.sql",
    renew_node: "node/renew_node.sql",
    expire_node: "node/expire_node.sql",
    delete_leader: "node/delete_leader.sql",
    upsert_leader: "node/upsert_leader.sql",
    upsert_program: "node/upsert_program.sql",
    declares: "node/declares.sql",
    select_nodes: "node/select_nodes.sql",
    mark_declared: "node/mark_declared.sql",
    lock_request: "node/lock_request.sql",
    select_request: "node/select_request.sql",
    upsert_request: "node/upsert_request.sql",
    bring_request: "node/bring_request.sql",
    delete_request: "node/delete_request.sql",
    delete_old_requests: "node/delete_old_requests.sql",
    select_canceled: "node/select_canceled.sql",
    select_lost_runs: "node/select_lost_runs.sql",
    delete_nodes: "node/delete_nodes.sql",
    select_orphans: "node/select_orphans.sql",
    sweep_slots: "sweep/sweep_slots.sql",
    delete_expired_keys: "sweep/delete_expired_keys.sql",
    select_keys: "sweep/select_keys.sql",
    sweep_keys: "sweep/sweep_keys.sql",
    select_latest_alerts: "outbox/select_latest_alerts.sql",
    lock_alerts: "outbox/lock_alerts.sql",
    insert_alerts: "outbox/insert_alerts.sql",
    suppress_alerts: "outbox/suppress_alerts.sql",
    insert_dead_letters: "outbox/insert_dead_letters.sql",
    insert_told_outcomes: "outbox/insert_told_outcomes.sql",
    hold_deliveries: "outbox/hold_deliveries.sql",
    delete_deliveries: "outbox/delete_deliveries.sql",
    select_alerts: "outbox/select_alerts.sql",
    select_backlogs: "outbox/select_backlogs.sql",
    prepare_archive_part: "archive/prepare_part.sql",
    archive_part: "archive/archive_part.sql",
    lock_parts: "archive/lock_parts.sql",
    make_archive_parts: "archive/make_parts.sql",
    drop_archive_part: "archive/drop_part.sql",
    archive_jobs: "removal/1_old.sql" "removal/2_move.sql" "removal/3_rest.sql",
    purge_archived_jobs: "archive/purge_jobs.sql",
    count_archived: "archive/select_counts.sql",
    select_archive_times: "archive/select_times.sql",
    select_archive_size: "archive/select_size.sql",
    select_archived_jobs: "archive/select_jobs.sql",
    select_archived_attempts: "archive/select_attempts.sql",
    select_archived_logs: "archive/select_logs.sql",
    list_archived_ids: "list/1_ids.sql" "list/2_source_archived.sql" "list/3_jobs.sql" "list/4_archived.sql"
        "list/5_conditions.sql" "list/5_prefilter.sql" "list/5_archived_group.sql"
        "list/6_newest_first.sql",
    list_archived_ids_by_id: "list/1_ids.sql" "list/2_source_archived_ids.sql" "list/3_archived_by_id.sql"
        "list/4_archived.sql" "list/5_conditions.sql" "list/5_prefilter.sql" "list/5_archived_group.sql"
        "list/6_newest_first.sql",
    list_archived_ids_by_key: "list/1_ids.sql" "list/2_source_archived_key.sql" "list/3_archived_by_id.sql"
        "list/4_archived.sql" "list/5_conditions.sql" "list/5_prefilter.sql" "list/5_archived_group.sql"
        "list/6_newest_first.sql",
    count_archived_source: "list/1_examined.sql" "list/2_source_every_archived_id.sql" "list/3_end.sql",
    count_archived_source_by_id: "list/1_examined.sql" "list/2_source_archived_ids.sql" "list/3_end.sql",
    count_archived_source_by_key: "list/1_examined.sql" "list/2_source_archived_key.sql" "list/3_end.sql",
    now: "query/now.sql",
    plan_anew: "query/plan_anew.sql",
    select_jobs: "query/select_jobs.sql",
    list_ids: "list/1_ids.sql" "list/2_source_all.sql" "list/3_jobs.sql"
        "list/4_live.sql" "list/5_conditions.sql" "list/5_prefilter.sql" "list/6_newest_first.sql",
    list_ids_by_id: "list/1_ids.sql" "list/2_source_ids.sql" "list/3_jobs_by_id.sql"
        "list/4_live.sql" "list/5_conditions.sql" "list/5_prefilter.sql" "list/6_newest_first.sql",
    list_ids_in_group: "list/1_ids.sql" "list/2_source_group.sql" "list/3_jobs_by_id.sql"
        "list/4_live.sql" "list/5_conditions.sql" "list/5_prefilter.sql" "list/6_newest_first.sql",
    list_ids_expiring: "list/1_ids.sql" "list/2_source_expiring.sql" "list/3_jobs_by_id.sql"
        "list/4_live.sql" "list/5_conditions.sql" "list/5_prefilter.sql" "list/6_newest_first.sql",
    list_ids_in_states: "list/1_ids.sql" "list/2_source_states.sql" "list/3_jobs_by_id.sql"
        "list/4_live.sql" "list/5_conditions.sql" "list/5_prefilter.sql" "list/6_newest_first.sql",
    count_source: "list/1_examined.sql" "list/2_source_every_id.sql" "list/3_end.sql",
    count_source_by_id: "list/1_examined.sql" "list/2_source_ids.sql" "list/3_end.sql",
    count_source_in_group: "list/1_examined.sql" "list/2_source_group.sql" "list/3_end.sql",
    count_source_expiring: "list/1_examined.sql" "list/2_source_expiring.sql" "list/3_end.sql",
    count_source_in_states: "list/1_examined.sql" "list/2_source_states.sql" "list/3_end.sql",
    select_counts: "query/select_counts.sql",
    count_waiting: "query/count_waiting.sql",
    fold_tally: "query/fold_tally.sql",
    vacuum: "query/vacuum.sql",
    select_attempts: "query/select_attempts.sql",
    select_logs: "query/select_logs.sql",
    select_unknown: "query/select_unknown.sql",
    lock_old: "query/lock_old.sql",
    try_lock_graphs: "query/try_lock_graphs.sql",
    try_lock_leases: "query/try_lock_leases.sql",
    purge_jobs: "removal/1_old.sql" "removal/2_delete.sql" "removal/3_rest.sql",
    drop_part: "query/drop_part.sql",
    find_runs: "graph/find_runs.sql",
    insert_edges: "graph/insert_edges.sql",
    insert_graph: "graph/insert_graph.sql",
    insert_groups: "graph/insert_groups.sql",
    insert_steps: "graph/insert_steps.sql",
    insert_waiting: "graph/insert_waiting.sql",
    list_groups: "graph/list_groups.sql",
    list_inner: "graph/list_inner.sql",
    list_members: "graph/list_members.sql",
    lock_graphs: "graph/lock_graphs.sql",
    lock_group: "graph/lock_group.sql",
    lock_sequences: "sequence/lock_sequences.sql",
    update_sequences: "sequence/update_sequences.sql",
    purge_graphs: "graph/purge_graphs.sql",
    purge_groups: "graph/purge_groups.sql",
    release_steps: "graph/release_steps.sql",
    reopen_steps: "graph/reopen_steps.sql",
    select_edges: "graph/select_edges.sql",
    select_groups: "graph/select_groups.sql",
    select_steps: "graph/select_steps.sql",
    take_steps: "graph/take_steps.sql",
    update_edges: "graph/update_edges.sql",
    update_groups: "graph/update_groups.sql",
    update_members: "graph/update_members.sql",
    walk_edges: "graph/walk_edges.sql",
    delete_schedule: "schedule/delete_schedule.sql",
    insert_schedule: "schedule/insert_schedule.sql",
    lock_schedule: "schedule/lock_schedule.sql",
    select_due: "schedule/select_due.sql",
    select_schedule: "schedule/select_schedule.sql",
    select_schedules: "schedule/select_schedules.sql",
    update_schedule: "schedule/update_schedule.sql",
    close_admissions: "pipeline/close_admissions.sql",
    count_admissions: "pipeline/count_admissions.sql",
    count_hand_offs: "items/count_hand_offs.sql",
    count_refusals: "pipeline/count_refusals.sql",
    delete_pipelines: "pipeline/delete_pipelines.sql",
    insert_admissions: "pipeline/insert_admissions.sql",
    lock_hand_offs: "pipeline/lock_hand_offs.sql",
    select_admissions: "pipeline/select_admissions.sql",
    select_latencies: "pipeline/select_latencies.sql",
    select_pipelines: "pipeline/select_pipelines.sql",
    upsert_pipeline: "pipeline/upsert_pipeline.sql",
    count_rejects: "items/count_rejects.sql",
    count_rejects_by_interval: "items/count_rejects_by_interval.sql",
    list_content_outcome: "content/list_outcome.sql",
    update_content_outcome: "content/update_outcome.sql",
    list_content_notes: "content/list_notes.sql",
    update_content_notes: "content/update_notes.sql",
    list_content_attempt: "content/list_attempt.sql",
    update_content_attempt: "content/update_attempt.sql",
    list_content_log: "content/list_log.sql",
    update_content_log: "content/update_log.sql",
    list_content_reject: "content/list_reject.sql",
    update_content_reject: "content/update_reject.sql",
    list_content_hand_off: "content/list_hand_off.sql",
    update_content_hand_off: "content/update_hand_off.sql",
    list_content_delivery: "content/list_delivery.sql",
    update_content_delivery: "content/update_delivery.sql",
    list_content_alert: "content/list_alert.sql",
    update_content_alert: "content/update_alert.sql",
    update_content_job: "content/update_job.sql",
    update_content_carried: "content/update_carried.sql",
    delete_rejects: "items/delete_rejects.sql",
    finish_hand_offs: "items/finish_hand_offs.sql",
    lock_pipelines: "items/lock_pipelines.sql",
    select_rejects: "items/select_rejects.sql",
    take_hand_offs: "items/take_hand_offs.sql",
    upsert_hand_offs: "items/upsert_hand_offs.sql",
    upsert_rejects: "items/upsert_rejects.sql",
    lock_jobs: "unreadable/lock_jobs.sql",
    record_unreadable: "unreadable/record.sql",
    set_aside_unreadable: "unreadable/set_aside.sql",
    set_aside_one: "unreadable/set_aside_one.sql",
    list_waiting: "unreadable/list_waiting.sql",
    try_claim: "unreadable/try_claim.sql",
    select_unreadable: "unreadable/select_unreadable.sql",
    count_unreadable: "unreadable/count_unreadable.sql",
    lock_unreadable: "unreadable/lock_unreadable.sql",
    forget_unreadable: "unreadable/forget_unreadable.sql",
    take_set_aside: "unreadable/take_set_aside.sql",
    delete_job: "unreadable/delete_job.sql",
    upsert_stats: "stats/upsert_rows.sql",
    upsert_stat_marks: "stats/upsert_marks.sql",
    select_stat_marks: "stats/select_marks.sql",
    delete_stat_mark: "stats/delete_mark.sql",
    select_stats: "stats/select_rows.sql",
    lock_leader: "stats/lock_leader.sql",
    select_slot_gauges: "stats/select_gauge.sql",
    upsert_gauges: "stats/upsert_gauges.sql",
    select_gauges: "stats/select_gauges.sql",
    lock_deploys: "stats/lock_deploys.sql",
    last_deploy: "stats/last_deploy.sql",
    select_versions: "stats/select_versions.sql",
    insert_deploy: "stats/insert_deploy.sql",
    select_deploys: "stats/select_deploys.sql",
    purge_stats: "stats/purge_rows.sql",
    purge_gauges: "stats/purge_gauges.sql",
    purge_deploys: "stats/purge_deploys.sql",
    select_objects: "vitals/select_objects.sql",
    select_server: "vitals/select_server.sql",
    select_oldest_transaction: "vitals/select_oldest_transaction.sql",
    select_tables: "vitals/select_tables.sql",
    oldest_due: "stats/oldest_due.sql",
    notify: "wake/notify.sql",
}

impl Sql {
    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    /// Returns the statements of a list of jobs: the ids of those of a source that match a filter, and the number of those
    /// that a page examines.
    pub(crate) fn listing(
        &self,
        source: &Source<'_>,
        place: Place,
        oldest_first: bool,
    ) -> [Statement; 2] {
        let statements = match (place, source) {
            (Place::Live, Source::Ids(_)) => [self.list_ids_by_id(), self.count_source_by_id()],
            (Place::Live, Source::Group(_)) => {
                [self.list_ids_in_group(), self.count_source_in_group()]
            }
            (Place::Live, Source::Expiring(_)) => {
                [self.list_ids_expiring(), self.count_source_expiring()]
            }
            (Place::Live, Source::States(_)) => {
                [self.list_ids_in_states(), self.count_source_in_states()]
            }
            (Place::Live, _) => [self.list_ids(), self.count_source()],
            (Place::Archive, Source::Ids(_)) => {
                [self.list_archived_ids_by_id(), self.count_archived_source_by_id()]
            }
            (Place::Archive, Source::BusinessKey(_)) => {
                [self.list_archived_ids_by_key(), self.count_archived_source_by_key()]
            }
            (Place::Archive, _) => [self.list_archived_ids(), self.count_archived_source()],
        };
        if oldest_first { statements.map(Statement::oldest_first) } else { statements }
    }

    /// Returns a migration for this schema. Its text is part of this program.
    pub(crate) fn migration(&self, text: &'static str) -> SqlStr {
        AssertSqlSafe(self.names.place(text)).into_sql_str()
    }
}

/// The longest identifier in PostgreSQL, in bytes. Longer ones are truncated.
pub(crate) const LONGEST_NAME: usize = 63;

/// The placeholders in the statements, and their replacements.
#[derive(Debug)]
struct Names([(&'static str, String); 7]);

impl Names {
    fn new(schema: &str) -> Self {
        let literal = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let (quoted, archive) = (quote(schema), archive_schema(schema));
        // Advisory locks are shared by the whole database. In the default schema their names never change, so that
        // workers of different versions exclude each other.
        let scope = if schema == "ratchet" { String::new() } else { format!("{schema} ") };
        Self([
            ("ratchet.", format!("{quoted}.")),
            ("ratchet_archive.", format!("{}.", quote(&archive))),
            ("__ARCHIVE__", literal(&archive)),
            ("__SCHEMA__", quoted),
            ("__CHANNEL__", literal(&channel(schema))),
            ("__HOME__", literal(schema)),
            ("__SCOPE__", literal(&scope)),
        ])
    }

    /// Replaces the placeholders in one pass. Replacements are not scanned again.
    fn place(&self, text: &str) -> String {
        let mut placed = String::with_capacity(text.len() + text.len() / 8);
        let mut rest = text;
        let next = |rest: &str| {
            let found =
                self.0.iter().filter_map(|(mark, name)| Some((rest.find(mark)?, *mark, name)));
            found.min_by_key(|(at, ..)| *at).map(|(at, mark, name)| (at, mark, name.as_str()))
        };
        while let Some((at, mark, name)) = next(rest) {
            placed.push_str(&rest[..at]);
            placed.push_str(name);
            rest = &rest[at + mark.len()..];
        }
        placed.push_str(rest);
        placed
    }
}

/// Returns the settings of a connection.
///
/// Sequential and bitmap scans are disabled. The small tables are not always small, and a cached plan outlives the
/// moment it was made for. A bitmap scan of a queue would read and sort the whole backlog. Plans are generic because
/// planning a claim costs more than the claim itself. The isolation level is set because code that locks first and then
/// reads needs a new snapshot per statement, whatever the default of the database is.
fn settings(set: &str, isolation: &str, statement_timeout: Duration) -> String {
    let millis = statement_timeout.as_millis();
    let limits = [
        format!("statement_timeout = {millis}"),
        format!("idle_in_transaction_session_timeout = {millis}"),
    ];
    [
        "enable_seqscan = off",
        "enable_bitmapscan = off",
        "jit = off",
        "plan_cache_mode = force_generic_plan",
        isolation,
    ]
    .into_iter()
    .chain(limits.iter().map(String::as_str))
    .map(|setting| format!("{set} {setting}"))
    .collect::<Vec<_>>()
    .join("; ")
}

/// Returns the statement that configures a new connection.
pub(crate) fn session(statement_timeout: Duration) -> SqlStr {
    let isolation = "default_transaction_isolation = 'read committed'";
    AssertSqlSafe(settings("SET", isolation, statement_timeout)).into_sql_str()
}

/// Returns the statement that begins a transaction behind a pooler, with the settings for this transaction only.
pub(crate) fn begin(statement_timeout: Duration) -> SqlStr {
    let isolation = "transaction_isolation = 'read committed'";
    let settings = settings("SET LOCAL", isolation, statement_timeout);
    AssertSqlSafe(format!("BEGIN; {settings}")).into_sql_str()
}

/// Returns the statement that ends any open transaction of a connection.
pub(crate) fn roll_back() -> SqlStr {
    "ROLLBACK".into_sql_str()
}

/// Returns the notification channel of a schema, truncated to the 63 bytes that PostgreSQL allows.
pub(crate) fn channel(schema: &str) -> String {
    let mut channel = format!("ratchet:{schema}");
    while channel.len() > LONGEST_NAME {
        channel.pop();
    }
    channel
}

/// Returns the schema of the archive of a schema. If the name would be too long, it is shortened and a hash is added.
pub(crate) fn archive_schema(schema: &str) -> String {
    const SUFFIX: &str = "_archive";
    if schema.len() + SUFFIX.len() <= LONGEST_NAME {
        return format!("{schema}{SUFFIX}");
    }
    let hash = schema
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let kept = schema.floor_char_boundary(LONGEST_NAME - SUFFIX.len() - 9);
    format!("{}_{hash:08x}{SUFFIX}", &schema[..kept])
}

/// Quotes an identifier.
pub(crate) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('\0', "").replace('"', "\"\""))
}

#[cfg(test)]
mod tests;
