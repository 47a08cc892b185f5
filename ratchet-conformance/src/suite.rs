//! The list of all cases for stores, and the macro that turns them into tests.

#![allow(missing_docs)] // cases are documented by their names

use crate::World;
use crate::run::CaseFuture;

/// Generates one test per case for the given [`Harness`](crate::Harness).
#[macro_export]
macro_rules! suite {
    ($harness:ty) => {
        type ConformanceHarness = $harness;
        $crate::__cases! { $crate::__themes }
    };
}

/// Passes the list of all cases to a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    ($($consumer:tt)+) => {
        $($consumer)+! {
            alerts {
                d_03_dead_job_is_an_alert
                d_03_the_same_is_suppressed_and_counted
                d_03_suppressed_alert_is_not_delivered
                d_03_window_ends
                d_03_other_fingerprint_is_another_alert
                d_03_other_job_name_is_another_alert
                d_03_alerts_are_listed_newest_first_and_bounded
                d_03_two_of_a_kind_in_one_commit
            }
            archive {
                a_01_an_archived_job_is_read_as_it_was
                a_01_archiving_waits_for_the_age_and_takes_one_state
                a_01_archiving_is_bounded_and_takes_the_oldest
                a_01_what_is_not_purged_is_not_archived
                a_01_archived_jobs_are_counted_apart
                a_01_the_times_of_each_state_are_those_of_its_first_and_last_job
                a_01_jobs_that_are_gone_have_no_times
                a_01_every_filter_finds_archived_jobs
                a_01_commands_on_an_archived_job_are_refused
                a_01_redrives_leave_archived_jobs_alone
                a_01_keys_of_archived_jobs_stay
                a_01_archived_jobs_are_dropped_after_a_second_retention
                a_01_dropping_archived_jobs_is_bounded
                a_01_a_removal_by_an_operator_is_recorded
                a_01_an_archived_business_key_can_be_used_again
                a_01_archived_jobs_are_found_by_their_business_key
            }
            audit {
                z_06_an_entry_says_who_did_what_and_why
                z_06_every_command_on_a_job_is_recorded
                z_06_other_changes_are_recorded
                z_06_a_redrive_is_recorded_with_its_jobs
                z_06_what_changes_nothing_is_not_recorded
                z_06_a_reveal_is_recorded_although_nothing_changes
                z_06_without_a_note_nothing_is_recorded
                z_06_entries_are_listed_by_page_and_filter
                z_06_concurrent_changes_form_one_trail
                o_02_a_job_that_has_moved_is_not_changed
                o_02_one_of_several_operators_wins
            }
            breaker {
                b_02_failures_open_it_and_the_change_is_told
                b_02_samples_of_one_batch_count_in_order
                b_02_a_stale_run_is_not_sampled
                b_03_it_holds_for_every_node
                b_04_a_waiting_job_uses_nothing
                b_04_the_claim_says_when_to_ask_again
                b_07_others_do_not_wait_behind_it
                b_02_half_open_lets_only_probes_through
                b_02_good_probes_close_it
                b_02_one_bad_probe_opens_it_again
                b_07_a_blank_probe_is_handed_back
                b_07_a_canceled_probe_is_handed_back
                b_07_the_probe_of_a_dead_node_is_handed_back
                b_02_runs_from_before_say_nothing_new
                b_06_operators_open_and_close_it
                b_06_an_order_may_be_for_a_while
                b_03_every_service_has_its_own
                b_07_what_was_held_back_comes_in_order
            }
            bulk {
                s_06_thousands_at_once_in_order
                s_06_all_or_nothing
                s_06_every_taken_key_is_listed
                s_06_key_taken_within_the_batch
                s_06_holder_within_the_batch
                s_06_repeats_do_not_stop_the_batch
            }
            business_key {
                s_04_second_submit_is_refused_with_the_holder
                s_04_holder_is_returned_if_asked_for
                s_04_key_belongs_to_its_tenant
                s_04_key_is_held_while_running
                s_04_key_is_held_while_paused
                s_04_key_is_held_between_attempts
                s_04_key_is_freed_by_success
                s_04_key_is_freed_by_failure
                s_04_key_is_freed_by_cancel
                s_04_orphan_does_not_hold_it_for_ever
                l_02_paused_failed_job_holds_no_key
                s_04_manual_retry_takes_the_key_again
                s_04_manual_retry_is_refused_while_it_is_taken
                s_04_end_of_an_old_holder_leaves_the_new_one_alone
            }
            cancel {
                l_01_pending_job_is_canceled
                l_01_future_job_is_canceled
                l_01_paused_job_is_canceled
                l_01_cause_of_a_cancel_is_kept
                l_01_unknown_job_cannot_be_canceled
                l_03_terminal_job_is_not_canceled
                l_04_cancel_of_a_run_takes_effect_at_once
                l_04_result_of_a_canceled_run_is_discarded
                l_04_node_hears_of_it_with_its_heartbeat
                l_04_settling_the_run_ends_the_reminder
                l_04_letting_go_ends_the_reminder
                l_07_canceled_run_leaves_a_line
                q_02_canceled_run_keeps_its_business_key
                q_02_settling_a_canceled_run_frees_its_key
                q_02_letting_go_of_a_canceled_run_frees_its_key
                q_02_canceled_run_that_lingers_keeps_its_key
                q_02_only_the_runs_own_token_lets_go
                q_02_end_of_the_node_frees_the_key_of_a_canceled_run
                q_02_letting_go_of_a_live_run_changes_nothing
            }
            catalog {
                k_01_a_starting_worker_records_what_it_can_run
                k_01_the_same_entry_is_recorded_once
                k_01_another_entry_or_program_is_another_row
                k_01_entries_that_no_worker_has_are_removed_after_a_time
            }
            children {
                s_08_children_come_with_the_success
                d_06_children_come_with_the_failure
                s_08_taken_key_drops_that_child_only
                s_08_dropped_child_is_a_warning_on_its_parent
                s_08_mismatched_child_is_dropped
                s_08_repeated_child_is_no_conflict
                s_08_child_may_take_its_parents_key
                s_08_child_may_take_a_neighbours_key
                s_08_two_children_of_one_key
                s_08_lingering_parent_keeps_its_key_from_its_child
                s_08_child_is_due_by_the_stores_clock
            }
            claim_isolated {
                p_02_busy_worker_passes_over_a_crashed_job
                p_02_idle_worker_gets_a_crashed_job_alone
                p_02_crashed_job_waits_for_its_turn
                p_02_first_means_first_of_all_queues
                p_02_two_crashed_jobs_do_not_run_together
                p_02_crashed_job_of_an_unknown_name_is_not_reported
                p_06_two_crashes_change_nothing
                p_06_a_claim_returns_a_limited_number_of_suspects
                p_02_manual_retry_forgives_crashes
            }
            claim_order {
                c_02_older_comes_first
                c_02_due_time_counts_not_submit_time
                c_02_higher_priority_comes_first
                c_02_old_low_work_overtakes_new_high_work
                c_02_a_level_is_worth_its_interval
                c_02_ageing_can_be_switched_off
                c_02_equal_jobs_are_ordered_by_id
                c_02_room_takes_the_first_and_leaves_the_rest
                c_02_order_spans_job_names
                c_02_retried_job_queues_by_its_new_due_time
                c_02_rescheduled_job_queues_by_its_new_due_time
                c_02_released_job_keeps_its_place
            }
            claim_scope {
                c_01_a_job_is_claimed_once
                c_01_every_batch_has_a_lease_of_its_own
                c_03_other_queues_are_left
                c_03_unknown_name_is_left_for_others
                c_03_unknown_names_do_not_block_the_queue
                c_03_a_known_name_is_found_among_many_unknown_ones
                c_03_newer_version_is_left
                c_03_older_version_is_taken
                c_03_the_limit_is_honored
                c_03_each_queue_has_its_own_room
                c_04_claim_carries_node_time_and_attempt
                c_04_attempt_follows_the_failures
                c_04_run_never_repeats
                c_06_only_pending_jobs_are_claimed
                p_03_node_that_never_joined_gets_nothing
                p_03_node_without_a_lease_gets_nothing
                p_04_node_that_left_gets_nothing
                x_08_settle_and_claim_does_both
                x_08_settle_and_claim_loses_nothing
            }
            claim_whole {
                c_04_a_claim_brings_all_that_was_submitted
                c_04_plain_and_odd_jobs_come_in_order_and_end
                c_04_a_job_that_moved_is_still_whole
                m_05_a_trace_context_survives_retries
            }
            coalesce {
                s_04_submits_before_the_start_are_one_job
                s_04_submits_during_a_run_make_one_more
                s_04_job_between_attempts_has_not_started
                s_04_places_of_a_key_are_freed
                s_04_failed_successor_takes_its_place_again
                s_04_key_coalesces_within_its_tenant
                s_04_a_third_run_of_a_key_is_refused
                s_04_children_coalesce_too
                s_04_debounce_moves_the_due_time
                s_04_debounce_never_hastens
                s_04_concurrent_submits_coalesce
                s_04_every_submit_is_followed_by_a_run
            }
            concurrency {
                c_01_many_claimers_share_the_work
                c_01_every_job_is_done_once_under_load
                q_02_limit_holds_under_load
                l_06_settle_cancel_and_rescue_race_for_one_win
                s_03_concurrent_submits_make_one_job
                s_04_concurrent_submits_give_a_key_to_one
                s_06_concurrent_batches_in_opposite_order
                d_04_concurrent_retries_bring_it_back_once
                a_03_concurrent_bids_make_one_leader
                d_07_concurrent_pumps_share_the_deliveries
                i_04_concurrent_pumps_keep_the_outcomes_of_a_job_in_order
            }
            concurrency_key {
                q_02_limit_holds_within_a_claim
                q_02_limit_holds_across_nodes
                q_02_limit_holds_across_names_queues_and_tenants
                q_02_every_key_has_its_own_limit
                q_02_every_end_of_a_run_frees_its_slot
                q_03_waiting_job_does_not_block_others
                q_03_waiting_uses_no_attempt
                q_02_first_in_order_gets_the_free_slot
                q_02_canceled_run_keeps_its_slot
                q_02_lingering_run_keeps_its_slot
                q_02_lingering_run_keeps_its_business_key
                q_02_lingering_run_outlives_the_next_run
                q_02_end_of_the_node_frees_what_lingers
                q_02_lingering_run_is_not_told_as_canceled
                q_02_rescue_frees_the_slot
            }
            deliveries {
                d_07_dead_letter_carries_the_stored_envelope
                d_07_deliveries_come_in_commit_order
                d_07_held_delivery_is_not_handed_out_twice
                d_07_unacknowledged_delivery_comes_again
                d_07_acknowledged_delivery_is_gone
                d_07_acknowledging_twice_is_harmless
                d_07_deliveries_are_handed_out_in_bounded_batches
                d_07_channels_are_apart
                d_07_nothing_is_published_before_the_commit
                d_03_delivered_alert_is_still_listed
                v_03_backlogs_count_messages_until_they_are_acknowledged
            }
            outcomes {
                i_04_outcome_is_handed_out_as_it_was_committed
                i_04_outcomes_of_different_jobs_come_in_commit_order
                i_04_next_outcome_of_a_job_waits_for_the_one_before
                i_04_outcome_that_was_not_acknowledged_comes_again_before_the_next
                i_04_a_held_job_does_not_hold_up_others
                i_04_outcome_of_a_stale_run_is_not_told
                i_04_outcomes_of_a_mixed_batch_are_all_told
                i_04_outcome_of_a_step_is_told
                i_04_outcome_outlives_its_job
                i_04_outcomes_and_dead_letters_are_apart
            }
            due {
                c_05_not_before_its_time
                c_05_claimable_when_due
                c_05_instant_in_the_past_is_due
                c_05_future_jobs_do_not_block_due_ones
                c_05_time_to_the_next_job_is_told
                c_05_jobs_with_options_of_their_own_fall_due
                c_05_next_due_speaks_of_known_jobs_only
                c_05_next_due_speaks_of_served_queues_only
                c_05_next_due_forgets_jobs_that_went_away
                l_01_reschedule_to_later_hides_a_job
                l_01_reschedule_to_now_makes_it_claimable
                l_01_reschedule_changes_nothing_else
            }
            expiry {
                l_10_expired_job_is_not_started
                l_10_job_may_expire_at_an_instant
                l_10_jobs_expire_wherever_they_wait
                l_10_expired_jobs_do_not_block_others
                l_10_expired_jobs_do_not_take_the_turn_of_others
                l_10_expired_suspect_is_not_started
                l_10_run_goes_on_when_its_job_expires
                l_10_retry_is_a_start
                l_10_manual_retry_removes_the_expiry
                l_10_nothing_is_canceled_before_it_expires
                l_10_paused_failed_job_does_not_expire
                l_10_expiring_jobs_are_listed
                l_10_expiry_is_explained
                l_10_limits_of_a_job_are_read_back
            }
            explain {
                q_04_all_clear
                q_04_unknown_job_has_no_surroundings
                q_04_not_waiting
                q_04_not_due
                q_04_queue_paused
                q_04_queue_full
                q_04_rate_spent
                q_04_rate_of_the_key_spent
                q_04_key_held_by
                q_04_breaker_open
                q_04_breaker_probing
                q_04_no_worker_knows_it
                q_04_no_worker_serves_it
                q_04_a_dead_worker_is_none
                q_04_must_run_alone
                q_04_all_reasons_are_told
                q_04_the_answer_is_the_claims_own
                q_04_what_explain_calls_clear_is_claimed_next
            }
            fence {
                l_06_every_move_raises_the_version_by_one
                l_06_stale_settle_changes_nothing
                l_06_second_settle_is_stale
                l_06_same_claim_twice_in_a_batch_counts_once
                l_06_token_of_another_lease_is_stale
                l_06_token_of_another_version_is_stale
                l_06_settle_of_a_purged_job_is_stale
                l_06_settle_of_an_unknown_job_is_stale
                l_06_stale_neighbour_does_not_disturb
                l_06_stale_report_changes_nothing
                l_06_stale_settle_keeps_no_notes
                l_06_stale_settle_spawns_nothing
                l_06_stale_settle_publishes_nothing
                l_06_settle_of_a_waiting_job_is_stale
                x_08_late_settle_wins_if_nobody_rescued
                x_08_late_settle_loses_to_a_rescue
            }
            history {
                e_12_domain_failure_is_a_success_of_its_own_kind
                l_07_history_tells_every_run
                l_07_line_tells_node_times_and_error
                l_07_terminal_failure_is_in_the_history
                l_07_outcome_is_told_as_it_was_given
                l_07_waiting_job_has_no_history
                l_07_running_run_is_not_in_the_history_yet
            }
            idempotency {
                s_03_repeat_returns_the_original
                s_03_repeat_inserts_nothing
                s_03_other_payload_is_a_mismatch
                s_03_other_name_is_a_mismatch
                s_03_other_options_are_a_repeat
                s_03_key_belongs_to_its_tenant
                s_03_key_survives_the_end_of_its_job
                k_03_arguments_are_compared_by_value
                s_15_an_argument_with_its_default_value_does_not_count
                s_15_a_key_can_be_compared_alone
                s_15_a_key_expires
                s_15_an_expired_key_can_be_used_for_another_job
                s_15_a_permanent_key_does_not_expire_later
                s_15_expired_keys_are_deleted
                s_15_a_lost_answer_can_be_requested_after_the_key_expired
                s_15_expired_and_free_keys_in_one_batch
                s_15_of_many_uses_of_an_expired_key_one_makes_a_job
                s_03_key_survives_purge
                s_03_mismatch_is_seen_after_purge
                s_03_repeat_within_a_batch
                s_03_mismatch_within_a_batch
                s_03_lost_answer_can_be_asked_for_again
                s_03_repeat_comes_before_a_taken_business_key
                s_03_repeat_takes_no_business_key
                s_03_refused_batch_leaves_no_key_behind
            }
            insert {
                s_02_every_option_reads_back_equal
                s_02_claim_hands_over_every_option
                s_02_new_job_is_pending_and_untouched
                s_02_payload_may_be_any_bytes
                s_02_texts_may_be_any_language
                s_02_delay_is_added_to_the_stores_clock
                s_02_instant_is_kept
                s_02_instant_is_kept_to_the_microsecond
                l_07_queued_time_is_the_stores
                s_02_unknown_job_is_absent
                s_06_same_id_twice_is_refused
                s_06_empty_batch_is_fine
            }
            invariants {
                v_03_counts_agree_with_the_listing
                s_04_no_key_has_two_live_holders
                s_03_no_key_has_two_jobs
                q_02_no_key_runs_beyond_its_limit
                l_07_history_has_a_line_for_every_ended_run
                l_01_records_fit_their_state
            }
            failure_marks {
                o_06_a_mark_says_who_and_when
                o_06_a_later_mark_replaces_the_one_before
                o_06_old_marks_are_forgotten
            }
            erasure {
                z_12_everything_of_a_tenant_is_deleted
                z_12_everything_of_a_correlation_id_is_deleted
                z_12_archived_jobs_are_deleted
                z_12_jobs_after_the_cutoff_are_kept
                z_12_a_running_job_is_canceled_and_deleted_after_its_handler_has_stopped
                z_12_keys_are_replaced_by_digests_that_still_find_repeats
                z_12_a_digest_expires_with_its_key
                z_12_keys_of_live_jobs_stay
                z_12_a_held_up_sequence_is_deleted_in_whole
                z_12_flows_are_deleted_with_their_members
                z_12_a_member_of_a_flow_of_others_waits_for_its_end
                z_12_what_remains_of_purged_jobs_is_deleted
                z_12_a_page_that_is_repeated_changes_nothing
                z_12_of_two_leaders_one_applies_the_page
                z_12_an_aborted_erasure_deletes_no_more
                z_12_the_audit_trail_has_no_content
                s_03_keys_are_deleted_by_prefix_and_age
                s_03_digests_are_deleted_by_age
            }
            successors {
                o_05_a_successor_is_linked_both_ways_and_the_original_stays
                o_05_a_second_successor_is_refused_with_the_first
                o_05_a_successor_is_fenced_by_the_version_that_was_seen
                o_05_only_jobs_that_no_other_job_waits_for_have_successors
                o_05_a_key_that_is_taken_refuses_the_successor
                o_05_a_job_with_a_successor_is_not_retried
                o_05_either_job_can_be_purged_without_the_other
                o_05_of_several_operators_one_makes_the_successor
            }
            nodes {
                p_01_heartbeat_renews_the_lease
                p_03_lost_lease_is_never_renewed
                p_03_heartbeat_of_a_stranger_is_lost
                p_03_heartbeat_after_leaving_is_lost
                p_03_lost_identity_cannot_join_while_it_holds_jobs
                p_01_joining_twice_is_harmless
                o_01_a_request_reaches_its_node
                o_01_a_node_brings_its_request_to_its_new_identity
                o_01_only_a_live_node_can_be_requested
                c_04_nodes_tell_of_themselves
                p_01_dead_node_is_listed_while_it_holds_jobs
                e_10_jobs_nobody_knows_are_told
                e_10_the_oldest_unknown_job_is_told
                e_10_newer_version_is_unknown
                e_10_only_live_nodes_know
                e_10_only_waiting_jobs_are_told
                a_03_one_node_leads_at_a_time
                a_03_leader_renews_its_lease
                a_03_leadership_moves_when_the_leader_is_silent
                a_03_leaving_leader_hands_over
                a_03_a_leader_that_lost_its_lease_is_replaced_at_once
                a_03_node_without_a_lease_does_not_lead
                t_06_the_version_that_started_last_declares
                t_06_a_node_that_has_not_declared_does_not_keep_others_from_it
                t_06_a_version_that_is_rolled_back_to_declares_again
                t_06_versions_of_other_programs_do_not_matter
                t_06_a_node_without_a_lease_does_not_declare
            }
            notes {
                x_05_progress_is_seen_while_running
                x_05_progress_and_checkpoint_outlive_the_attempt
                x_05_notes_that_say_nothing_erase_nothing
                x_05_report_does_not_move_the_fence
                x_05_log_lines_are_kept_in_order
                x_05_the_newest_log_lines_are_kept
                l_08_warnings_are_kept_with_the_run
                l_04_canceled_run_can_note_nothing
            }
            operations {
                o_04_pages_visit_every_job_once_in_order
                o_04_a_page_that_is_repeated_changes_nothing
                o_04_of_two_leaders_one_applies_the_page
                o_04_jobs_after_the_cutoff_are_not_touched
                o_04_a_job_is_judged_when_it_is_visited
                o_04_refused_jobs_are_counted_and_skipped
                o_04_every_verb_changes_the_states_it_can
                o_04_an_aborted_operation_touches_nothing_beyond_its_cursor
                o_04_operations_are_paused_resumed_and_aborted
                o_04_a_canary_waits_before_the_rest
                o_04_a_failed_canary_pauses_the_operation
                o_04_every_page_has_one_entry_in_the_audit_trail
                o_04_operations_are_listed_newest_first_and_kept_for_a_time
                o_04_a_record_reads_back_as_it_was_written
            }
            fair_queues {
                q_07_a_backlog_delays_another_tenant_by_one_turn
                q_07_turns_continue_with_the_next_claim
                q_07_every_tenant_has_a_turn
                q_07_turns_spare_jobs_that_cannot_run
                q_07_priorities_order_the_jobs_of_a_tenant
                q_07_jobs_without_a_tenant_keep_their_places
                q_07_turns_respect_the_limits_of_the_queue
                q_07_jobs_that_return_take_part
                q_07_a_queue_that_is_no_longer_fair_has_its_order
            }
            order {
                q_07_jobs_of_a_key_run_in_the_order_of_their_submits
                q_07_neither_priority_nor_delay_changes_the_order
                q_07_delay_counts_from_the_submit
                q_07_retried_job_keeps_its_turn
                q_07_rescued_and_released_jobs_keep_their_turn
                q_07_failure_holds_the_rest_until_it_has_been_retried
                q_07_failed_job_that_is_retried_and_canceled_holds_no_longer
                q_07_failure_can_be_skipped
                q_07_canceled_job_passes_the_turn_when_it_comes
                q_07_canceled_run_passes_the_turn_when_its_handler_has_ended
                q_07_paused_job_holds_the_rest
                q_07_other_keys_and_other_jobs_do_not_wait
                q_07_ended_jobs_hold_up_no_later_submit
                q_07_purge_keeps_what_the_order_needs
                q_07_children_of_a_run_join_the_order
                q_07_waiting_job_is_explained
            }
            orphans {
                p_01_running_long_does_not_orphan
                p_01_lapsed_lease_orphans
                p_01_listing_orphans_moves_nothing
                p_02_rescue_brings_it_back_without_an_attempt
                p_02_crash_leaves_a_line
                p_02_whether_the_handler_started_is_told
                p_04_leaving_orphans_at_once
                p_05_orphans_come_in_bounded_batches
                p_05_only_the_dead_are_orphaned
                p_05_settled_and_waiting_jobs_are_not_orphaned
            }
            pause {
                l_02_paused_job_is_not_claimed
                l_02_pausing_twice_changes_nothing
                l_02_running_job_cannot_be_paused
                l_02_resumed_job_goes_on
                l_02_resumed_job_keeps_its_due_time
                l_02_failed_job_resumes_as_failed
                l_02_paused_failed_job_is_not_cancelable
                l_02_paused_failed_job_is_not_redriven
                l_02_paused_failed_job_is_not_purged
                l_02_resumed_failed_job_is_purged
            }
            purge {
                d_05_purge_waits_for_the_age
                d_05_age_counts_from_the_end
                d_05_purge_takes_one_state_at_a_time
                d_05_live_jobs_are_never_purged
                d_05_purge_is_bounded_and_takes_the_oldest
                d_05_purge_takes_history_and_log_along
                a_01_purged_jobs_are_not_counted
                d_05_retried_job_is_not_purged_for_its_old_end
            }
            put_off {
                e_07_deferral_uses_no_attempt
                e_07_deferral_waits_for_its_delay
                e_11_deferrals_are_counted
                e_11_deferral_leaves_a_line_that_says_why
                x_07_release_uses_no_attempt
                p_04_release_charges_no_crash
                x_07_released_job_is_claimable_at_once
                l_07_release_leaves_a_line
            }
            filters {
                o_03_every_filter_selects_what_it_means
            }
            moving {
                l_09_a_waiting_job_is_claimed_from_its_new_queue
                l_09_a_new_priority_is_a_new_place_in_line
                l_09_a_move_changes_nothing_else
                l_09_a_paused_job_resumes_in_its_new_queue
                l_09_jobs_that_cannot_run_now_are_moved
            }
            query {
                l_07_listing_is_newest_first
                l_07_listing_can_be_oldest_first
                l_07_pages_follow_one_another
                l_07_last_full_page_has_no_next
                l_07_pages_of_a_filter_skip_what_does_not_fit
                l_07_listing_tells_what_get_tells
                l_07_jobs_are_found_by_state
                l_07_jobs_are_found_by_what_was_submitted
                d_01_dead_jobs_are_found_by_what_went_wrong
                l_07_jobs_are_found_by_the_time_they_were_submitted
                o_03_jobs_are_found_by_their_arguments
                o_03_jobs_are_found_by_their_runs
                d_01_retried_job_is_no_longer_found_as_dead
                v_03_counts_follow_every_move
                v_03_counts_are_kept_by_queue
                v_03_empty_store_counts_nothing
            }
            bounded_lists {
                o_14_a_page_examines_a_limited_number_of_jobs
                o_14_counts_examine_a_limited_number_of_jobs
                o_14_jobs_in_rare_states_are_found_at_once
            }
            declared_rules {
                q_06_declared_limits_apply_until_the_program_declares_others
                q_06_an_older_version_changes_no_limits
                q_06_limits_of_another_program_remain
                q_06_what_an_operator_sets_stays_until_it_is_reset
                q_06_declared_settings_of_a_breaker_apply_to_all_nodes
                q_06_a_breaker_that_is_no_longer_declared_closes
                q_06_a_breaker_that_an_operator_opened_stays_open
            }
            key_rates {
                q_06_a_rate_per_key_holds_over_the_cluster
                q_06_a_rate_per_key_holds_under_load
                q_06_a_key_that_waits_for_its_rate_holds_up_no_other_job
                q_06_jobs_without_a_key_have_no_rate
                q_06_the_rate_of_a_key_belongs_to_its_queue
                q_06_retries_count_against_the_rate_of_their_key
                q_06_a_claim_says_when_the_rate_of_a_key_lets_a_job_start
                q_06_the_starts_of_a_key_count_when_their_node_has_left
                q_06_both_limits_of_a_key_hold
                q_06_the_rates_of_queue_and_key_hold_together
                q_06_tenants_take_turns_beside_a_rate_per_key
                q_06_priority_decides_which_job_of_a_key_starts
                q_06_canceled_jobs_of_a_key_hold_up_none_behind_them
                q_06_a_paused_job_leaves_the_line_of_its_key
                q_06_a_rate_per_key_that_is_no_longer_declared_frees_all_jobs
                q_06_what_an_operator_sets_replaces_the_declared_rate_per_key
                q_06_keys_that_have_used_up_their_rate_are_counted
                q_06_every_job_of_many_keys_starts_in_time
            }
            queue_rules {
                q_01_a_paused_queue_gives_nothing
                q_01_what_runs_goes_on_when_a_queue_is_paused
                q_03_a_paused_queue_uses_nothing
                q_01_concurrency_holds_over_the_cluster
                q_01_every_end_of_a_run_makes_room
                q_01_a_lingering_run_keeps_its_place_in_the_queue
                q_01_a_lingering_run_stays_in_the_queue_that_it_was_claimed_from
                q_01_the_places_of_a_dead_node_are_free_after_its_rescue
                q_01_other_queues_are_not_limited
                q_01_a_rate_holds_over_the_cluster
                q_05_retries_count_against_the_rate
                q_01_the_claim_says_when_the_rate_opens
                q_01_rules_are_listed_and_go
                q_01_an_isolated_job_counts_too
            }
            retry_manual {
                d_04_manual_retry_starts_a_new_life
                d_04_manual_retry_is_due_now
                d_04_error_is_kept_in_the_history
                d_04_retried_job_can_fail_and_be_retried_again
                d_04_redrive_brings_back_what_fits
                d_04_redrive_starts_a_new_life
                d_04_redrive_by_what_went_wrong
                d_04_redrive_is_bounded_and_takes_the_oldest
                d_04_redrive_repeats_without_doubling
                d_04_redrive_passes_over_taken_keys
                d_04_redrive_gives_a_key_to_one_job_only
            }
            settle {
                l_08_output_is_kept
                l_08_success_without_output
                l_07_times_of_a_run_are_recorded
                l_07_a_new_run_has_no_duration_yet
                e_01_retry_counts_the_attempt
                e_05_delay_of_a_retry_lives_in_the_store
                e_05_retry_without_delay_is_due_at_once
                e_05_retry_keeps_the_failure
                e_05_success_keeps_the_last_failure_of_its_life
                e_08_endless_delay_does_not_overflow
                d_01_failed_job_carries_its_envelope
                d_01_failed_job_is_not_claimed_again
                d_02_reason_reads_back
                p_02_poisoned_job_keeps_its_crashes
            }
            stats {
                m_02_a_repeated_write_replaces_the_row
                m_02_rows_of_different_processes_are_added_up
                m_02_every_tier_has_the_same_sums
                m_02_slots_are_folded_in_any_order_and_any_number_of_times
                m_02_a_late_write_is_added_to_every_tier
                m_02_only_the_leader_folds
                m_02_a_leader_that_dies_leaves_nothing_half_done
                m_02_slots_are_deleted_after_their_time_and_not_before_they_are_folded
                m_02_a_write_to_a_deleted_slot_is_ignored
                m_02_a_query_selects_and_adds_up
                m_02_any_name_can_be_counted
            }
            samples {
                m_03_a_sample_is_kept_in_every_tier
                m_03_only_the_leader_writes_samples
                m_03_old_samples_are_deleted
                m_03_a_new_version_is_marked_once
                m_03_a_restart_during_a_deploy_is_not_marked
                m_03_the_oldest_due_job_of_each_queue
                m_03_the_oldest_due_job_may_have_any_priority
                m_03_a_job_held_back_by_the_rate_of_its_key_is_still_the_oldest
                m_03_a_job_that_is_held_back_is_still_the_oldest
            }
            transitions {
                l_01_pause_from_every_state
                l_01_resume_from_every_state
                l_01_cancel_from_every_state
                l_01_reschedule_from_every_state
                l_09_move_from_every_state
                l_01_manual_retry_from_every_state
                l_01_settle_from_every_state
                l_01_unknown_job_is_told_as_such
            }
            wakes {
                s_09_due_job_wakes_its_queue
                s_09_every_queue_of_a_batch_is_woken
                s_09_refused_batch_wakes_nobody
                s_09_retry_without_delay_wakes
                s_09_release_wakes
                s_09_child_wakes_its_queue
                s_09_commands_that_make_work_wake
                l_08_every_end_is_told
                l_04_canceled_run_is_told
                s_09_resuming_a_queue_wakes
                s_09_closing_a_breaker_wakes
                s_09_the_end_of_a_run_wakes_a_full_queue
                s_09_the_end_of_a_late_handler_wakes_a_full_queue
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __themes {
    ($($theme:ident { $($case:ident)* })*) => {
        $(mod $theme {
            $(#[test]
            fn $case() {
                $crate::run::<super::ConformanceHarness>($crate::suite::$theme::$case);
            })*
        })*
    };
}

/// Generates a function per case that returns its future in a box. The body of an async function is compiled by the
/// crate that boxes it, so that it is compiled here once and not in every test program.
macro_rules! boxed {
    ($($theme:ident { $($case:ident)* })*) => {
        $(pub mod $theme {
            $(pub fn $case(world: &super::World) -> super::CaseFuture<'_> {
                Box::pin(crate::cases::$theme::$case(world))
            })*
        })*
    };
}

__cases! { boxed }
