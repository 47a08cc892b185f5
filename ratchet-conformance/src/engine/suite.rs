//! The list of all engine cases, and the function that runs one.

#![allow(missing_docs)] // cases are documented by their names

use std::pin::Pin;

use tokio::runtime::Builder;

use super::EngineFixture;
use crate::Harness;

/// Runs one engine case on a fresh store.
///
/// # Panics
///
/// Panics if the case fails.
#[doc(hidden)]
pub fn run_engine<H: Harness>(case: EngineCase) {
    run_with(Box::pin(EngineFixture::new::<H>()), case);
}

/// A case whose future is in a box.
#[doc(hidden)]
pub type EngineCase = fn(EngineFixture) -> EngineCaseFuture;

/// The future of a case.
#[doc(hidden)]
pub type EngineCaseFuture = Pin<Box<dyn Future<Output = ()>>>;

fn run_with(fixture: Pin<Box<dyn Future<Output = EngineFixture>>>, case: EngineCase) {
    // The cases about stuck handlers rely on four threads.
    let runtime = Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .expect("a runtime can be built");
    runtime.block_on(async { case(fixture.await).await });
    // A handler that is still blocked must not prevent the test from ending.
    runtime.shutdown_background();
}

/// Generates one test per engine case for the given [`Harness`](crate::Harness).
#[macro_export]
macro_rules! engine_suite {
    ($harness:ty) => {
        type EngineHarness = $harness;
        $crate::__engine_cases! { $crate::__engine_themes }
    };
}

/// Passes the list of all cases to a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __engine_cases {
    ($($consumer:tt)+) => {
        $($consumer)+! {
            audit_signatures {
                z_06_entries_are_signed_if_there_is_a_key
                z_06_a_copied_signature_is_found
            }
            breaker {
                b_02_an_outage_from_end_to_end
                b_02_a_failed_probe_uses_no_attempt
                e_11_failed_probes_count_as_deferrals
                b_05_what_says_nothing_of_the_service_does_not_count
                b_05_panics_and_timeouts_count
                b_05_lists_refine_what_counts
                b_07_a_refusal_before_the_run_does_not_trip_it
                b_06_operators_open_close_and_inspect
                b_08_profiles_and_configuration
                b_01_jobs_that_share_a_service_agree
            }
            callbacks {
                d_06_on_success_learns_the_output
                d_06_on_failure_runs_once_and_only_at_the_end
                d_06_a_callback_fires_once_per_generation
                d_06_a_callback_can_be_set_where_the_job_is_enqueued
                d_06_a_failing_callback_changes_nothing_and_is_told
            }
            cancel {
                l_04_the_handler_is_told_and_its_result_discarded
                l_04_a_deaf_handler_is_dropped_after_the_grace_time
                l_04_the_key_stays_taken_until_the_handler_has_ended
                l_10_a_sweep_cancels_jobs_that_have_expired
                l_03_canceling_what_has_ended_changes_nothing
                v_01_commands_are_told
            }
            catalog {
                k_01_a_worker_records_its_jobs_at_its_start
                k_01_a_client_without_code_enqueues_from_the_catalog
            }
            contain {
                x_09_a_panic_in_user_code_is_a_failed_attempt
                x_09_a_panic_of_a_component_is_counted_and_changes_no_outcome
                x_09_a_sink_whose_error_panics_is_asked_again
                x_09_a_resolver_that_panics_fails_the_attempt
                x_09_a_task_that_vanishes_is_counted_and_limited
                x_09_a_runtime_that_takes_no_tasks_stops_claiming
                x_09_an_endless_display_is_cut_off
            }
            context {
                x_05_checkpoint_progress_and_log_outlive_the_attempt
                x_05_progress_is_seen_while_the_run_goes_on
                x_05_keys_are_stable_or_unique_as_promised
            }
            crash {
                p_01_p_05_orphans_are_brought_back_by_any_node
                p_02_a_job_that_had_not_started_is_not_charged
                p_02_a_job_that_keeps_killing_its_worker_is_poison
                d_09_the_envelope_of_a_poisoned_job_shows_its_arguments
                p_06_suspects_run_a_few_at_a_time_beside_others
                p_06_a_job_with_five_crashes_runs_alone
                l_06_a_zombie_cannot_overwrite_a_newer_attempt
            }
            dead_letters {
                d_03_an_alert_reaches_its_sink_at_least_once
                d_07_every_dead_letter_reaches_its_sink_at_least_once
                d_04_a_dead_job_can_be_tried_again
                d_04_a_redrive_is_bounded_and_repeatable
                d_05_what_was_kept_long_enough_is_purged
                d_05_a_purge_that_failed_is_retried_by_the_next_sweep
                a_01_what_was_kept_long_enough_is_archived_within_the_window
            }
            payload_changes {
                u_03_the_table_of_payload_changes
            }
            outcomes {
                i_04_every_end_reaches_the_sink
                i_04_the_sink_is_woken_and_does_not_wait_for_a_sweep
                i_04_a_job_that_is_tried_again_ends_in_order
                i_04_a_refused_outcome_comes_again_and_holds_up_nobody_else
                i_04_poison_is_told
            }
            nodes {
                o_01_a_quiet_node_runs_what_it_runs_and_claims_nothing
                o_01_a_stopped_node_says_who_and_why
            }
            encryption {
                z_03_nothing_of_a_run_is_stored_readable
                z_03_a_reader_without_the_key_sees_envelopes
                z_03_ciphertext_cannot_be_moved
                z_07_destroying_a_key_shreds_the_jobs_of_its_tenant
                z_07_a_job_waits_for_a_retired_encryption_key
                z_03_a_repeat_of_an_encrypted_job_is_recognized
                z_03_a_job_that_must_be_encrypted_needs_a_key
                z_07_a_rotation_under_load_refuses_nothing
            }
            reencryption {
                z_03_reencryption_leaves_nothing_under_an_old_key
                z_03_an_interrupted_reencryption_continues
                z_03_reencryption_beside_workers_refuses_nothing
                z_03_plain_arguments_can_be_encrypted
                z_02_reencryption_does_not_sign_what_is_not_signed
                z_03_content_that_has_changed_is_not_replaced
            }
            engine_death {
                h_06_the_death_of_the_claim_loop_is_seen_and_nothing_is_lost
                h_06_the_death_of_the_heartbeat_is_seen
                h_06_the_death_of_maintenance_is_seen
                h_06_the_death_of_the_watchdog_is_seen
                h_06_the_death_of_the_health_checks_is_seen
                h_06_an_engine_dropped_by_its_runtime_is_seen
                h_06_a_worker_that_was_asked_to_stop_has_not_died
                h_06_claims_that_keep_failing_fail_readiness
                h_06_outcomes_that_a_damaged_store_refuses_are_held
            }
            events {
                v_01_the_life_of_a_job_is_told_in_order
                v_01_failed_says_whether_it_will_be_retried
                v_01_a_slow_subscriber_blocks_nobody_and_is_counted
            }
            failures {
                e_05_a_failed_attempt_is_followed_by_another
                e_04_the_last_attempt_goes_to_the_dead_letters
                e_02_an_annotated_error_deep_in_the_chain_is_not_retried
                x_02_a_panic_is_an_attempt_like_any_other
                x_02_a_panic_may_be_final
                e_07_a_snooze_uses_no_attempt
                e_07_a_reject_uses_no_attempt
                e_07_fatal_and_invalid_end_at_once
                e_07_the_handler_can_name_the_delay
                e_11_endless_deferral_can_be_capped
                e_12_a_domain_failure_is_a_success
                e_09_an_undecodable_payload_is_never_retried
                e_10_an_unknown_job_waits_and_is_seen
                u_01_a_payload_too_new_is_left_for_a_newer_worker
                x_01_hostile_handlers_do_not_stop_the_worker
            }
            health {
                h_04_a_rejection_without_a_check_closes_its_queue_for_a_while
                h_01_an_unhealthy_worker_claims_nothing_and_picks_up_again
                h_01_a_check_may_guard_some_queues_only
                h_01_a_worker_asks_before_it_claims
                h_01_a_check_that_hangs_or_panics_fails
                h_04_a_rejection_makes_it_ask_before_it_claims_more
                h_04_without_checks_one_rejection_holds_up_nobody_for_long
            }
            metrics {
                v_03_metrics_agree_with_the_history
                v_03_gauges_of_the_store_are_sampled
                v_03_messages_that_wait_for_a_sink_are_sampled
                v_03_suppressed_duplicates_and_refusals_are_counted
                m_07_a_worker_that_lost_its_store_is_live_and_not_ready
            }
            declared_rules {
                q_06_a_limit_that_is_no_longer_declared_is_removed
                q_06_limits_of_an_operator_outlive_deployments
                q_06_breakers_are_declared_by_the_newest_version
            }
            limits {
                c_03_a_worker_takes_no_more_than_it_has_room_for
                c_03_with_company_a_worker_asks_for_all_it_may_run
                c_03_jobs_do_not_wait_for_a_look_around
                c_02_a_worker_of_several_queues_drains_one_without_polling
                c_02_a_worker_with_one_place_drains_each_queue_without_polling
                q_01_a_queue_has_a_limit_of_its_own
                q_02_a_concurrency_key_limits_runs
                q_07_jobs_in_order_run_one_after_the_other
                q_07_jobs_in_order_are_no_steps
                q_01_cluster_limits_are_declared_by_the_worker
                q_01_a_rate_is_waited_for
                q_06_the_rate_of_a_key_is_waited_for
                q_01_a_queue_can_be_paused_and_resumed
                h_03_a_deep_queue_refuses
                h_03_a_deep_queue_warns_if_asked
            }
            many {
                x_01_thousands_of_random_jobs_end_as_the_model_predicts
            }
            middleware {
                x_04_layers_are_passed_in_order
                x_04_a_failing_before_fails_the_attempt
                x_04_a_failing_after_changes_nothing
            }
            operations {
                o_04_the_leader_runs_an_operation
                o_04_an_operation_survives_five_leaders
                o_04_an_aborted_operation_stops_at_its_cursor
                o_04_a_good_canary_lets_the_rest_follow
                o_04_a_bad_canary_pauses_the_operation
                o_04_the_digest_binds_an_operation_to_its_preview
            }
            erasures {
                z_12_a_running_job_is_stopped_and_its_data_deleted
                z_12_schedules_of_the_tenant_are_removed
                z_12_an_erasure_survives_its_leaders
                z_12_a_job_of_a_dead_worker_is_erased_after_its_lease
                z_12_the_digest_binds_an_erasure_to_its_preview
            }
            edit {
                o_05_an_edited_job_runs_with_the_options_of_the_original
                o_05_wrong_arguments_are_refused_and_nothing_is_stored
                o_05_a_successor_is_signed_and_a_forged_original_is_refused
            }
            reveal {
                z_05_secrets_are_revealed_to_an_actor_and_recorded
            }
            ops {
                o_11_a_healthy_store_has_no_findings
                o_11_jobs_without_a_worker_are_found
                o_11_nodes_in_trouble_are_found
                o_11_breakers_and_batches_in_trouble_are_found
                o_11_schedules_in_trouble_are_found
                o_11_a_wrong_clock_is_found
                o_11_what_operators_have_left_behind_is_found
                o_11_messages_that_wait_for_a_sink_are_found
                o_11_a_cluster_without_a_leader_is_found
                o_06_a_group_has_a_state
                o_06_failures_are_grouped_by_job_and_fingerprint
                o_07_the_overview_counts_by_queue
            }
            outage {
                x_08_outcomes_are_held_through_an_outage
                p_03_a_node_that_cannot_renew_its_lease_fences_itself
                p_03_claim_that_is_answered_after_the_lease_ran_out_is_not_started
                c_04_a_node_that_lost_its_lease_joins_under_a_new_name
                h_05_a_success_is_settled_without_its_result_rather_than_not_at_all
                h_05_what_cannot_be_settled_is_counted_as_stuck_and_rescued
            }
            output {
                l_08_the_output_is_typed_again
                l_08_an_oversized_output_is_a_warning
                l_08_an_unserializable_output_is_a_warning
                l_08_waiting_tells_failure_cancel_and_time_apart
                l_07_every_run_is_timed
                x_02_a_panic_on_a_blocking_thread_is_caught
            }
            shutdown {
                x_07_what_runs_may_finish_and_nothing_more_is_claimed
                x_07_after_the_grace_time_the_rest_is_given_back_unharmed
                x_07_a_stop_at_once_waits_for_nobody
                p_04_a_graceful_restart_never_charges_a_crash
                x_07_a_stuck_handler_does_not_keep_a_worker_from_stopping
            }
            values {
                s_17_values_have_the_documented_answers
            }
            signing {
                z_02_every_edited_column_is_refused
                z_02_queue_and_priority_can_change
                z_02_a_planted_or_replayed_row_is_refused
                z_08_everything_that_is_created_honestly_runs
                z_08_accept_unsigned_counts_and_refuses_wrong_signatures
                z_08_a_changed_schedule_does_not_run_its_job
                z_07_a_rotated_key_verifies_and_a_retired_one_is_refused
                z_07_a_job_waits_for_a_missing_key
                z_07_a_worker_without_a_keyring_leaves_signed_jobs
                z_02_a_refusal_does_not_count_for_the_breaker
                z_02_a_repeat_of_an_idempotency_key_is_recognized
                z_02_limits_and_keys_are_checked_at_submit
                z_08_a_forged_step_of_an_honest_graph_is_refused
            }
            size {
                s_17_every_text_of_a_submit_has_a_limit
                s_17_children_and_callbacks_have_the_same_limits
                s_17_graphs_have_the_same_limits
                s_17_schedules_have_the_same_limits
                s_17_operator_verbs_have_the_same_limits
                s_17_changing_one_schedule_does_not_list_all
                s_17_tags_and_ids_count_towards_the_payload
                s_17_nested_arguments_are_refused_and_what_is_accepted_runs
                s_17_an_output_that_cannot_be_read_back_is_not_kept
                s_17_a_graph_with_too_many_edges_is_refused
                s_17_codes_and_messages_are_bounded_and_clean
                l_08_an_output_that_was_not_kept_is_an_error_for_all_who_ask
                s_17_a_schedule_that_never_fires_is_refused
            }
            spawning {
                s_14_children_and_graphs_inherit_tenant_and_correlation_id
                s_14_children_callbacks_and_graphs_inherit_the_trace_context
                s_08_children_come_with_the_success
                s_08_a_failed_attempt_leaves_no_children
                s_08_a_taken_key_drops_that_child_with_a_warning
                s_08_a_run_that_is_over_takes_no_children
            }
            run_modes {
                c_08_a_worker_serves_only_its_queues
                c_08_a_worker_serves_all_queues_but_some
                c_08_a_draining_worker_runs_what_is_due_and_stops
                c_08_a_draining_worker_without_work_stops_at_once
                c_08_a_draining_worker_fires_due_schedules_first
                c_08_a_worker_claims_once
                c_08_a_worker_that_claims_once_leaves_what_its_runs_submit
                c_08_a_worker_stops_after_a_number_of_jobs
                c_08_a_worker_stops_after_a_time
                c_08_a_draining_worker_can_be_stopped
            }
            start {
                x_06_every_missing_state_is_listed_at_start
                z_04_a_worker_without_jobs_does_not_start
                z_04_only_names_of_the_registry_can_run
                c_04_nodes_tell_what_they_serve_and_know
                c_01_two_workers_share_the_work
            }
            stored_review {
                k_06_stored_jobs_that_a_new_version_cannot_read_are_counted
                k_06_jobs_that_cannot_be_decrypted_are_counted_separately
                k_06_jobs_of_other_programs_are_not_counted
            }
            stuck {
                x_03_all_but_one_stuck_leave_the_rest_running
                h_02_liveness_fails_when_every_thread_is_stuck_and_claiming_stops
                q_02_thread_that_ends_while_its_timeout_is_settled_frees_its_key
            }
            submit {
                s_02_defaults_are_those_of_the_contract
                s_02_every_option_can_be_set_per_call
                s_03_a_repeat_answers_with_the_original
                s_04_a_taken_key_names_its_holder
                s_06_bulk_is_all_or_nothing
                s_10_too_large_is_refused_with_both_sizes
                s_11_refused_arguments_are_refused_twice
                q_01_a_job_not_allowed_is_refused_at_submit_and_at_dispatch
                q_05_a_queue_nobody_serves_is_a_warning
                s_02_bad_options_are_typed_errors
                s_09_new_work_wakes_an_idle_worker
            }
            timeouts {
                x_03_a_run_is_warned_then_dropped
                x_03_a_timeout_counts_as_an_attempt
                d_02_a_policy_may_forbid_retrying_timeouts
                d_02_a_policy_may_forbid_retrying_a_run_that_never_yields
                x_03_a_blocking_run_cannot_be_killed_but_is_timed_out
                x_03_an_async_run_that_never_yields_is_timed_out
                q_02_a_timed_out_run_keeps_its_business_key_until_its_thread_ends
                q_02_a_run_that_never_yields_lets_go_when_its_thread_ends
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __engine_themes {
    ($($theme:ident { $($case:ident)* })*) => {$(
        mod $theme {
            $(
                #[test]
                fn $case() {
                    $crate::run_engine::<super::EngineHarness>($crate::engine::suite::$theme::$case);
                }
            )*
        }
    )*};
}

/// Generates a function per case that returns its future in a box, so that the body is compiled once.
macro_rules! boxed {
    ($($theme:ident { $($case:ident)* })*) => {
        $(pub mod $theme {
            $(pub fn $case(fixture: super::EngineFixture) -> super::EngineCaseFuture {
                Box::pin(crate::engine::cases::$theme::$case(fixture))
            })*
        })*
    };
}

__engine_cases! { boxed }
