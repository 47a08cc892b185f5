//! The list of all cases about composition, and the macro that turns them into tests.

#![allow(missing_docs)] // cases are documented by their names

use crate::World;
use crate::run::CaseFuture;

/// Generates one test per case about chains, batches and workflows for the given [`Harness`](crate::Harness).
#[macro_export]
macro_rules! composition_suite {
    ($harness:ty) => {
        type CompositionHarness = $harness;
        $crate::__composition_cases! { $crate::__composition_themes }
    };
}

/// Passes the list of all cases to a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __composition_cases {
    ($($consumer:tt)+) => {
        $($consumer)+! {
            batch {
                w_03_all_children_can_be_claimed_at_once
                w_03_progress_is_counted
                w_03_callbacks_of_a_success
                w_03_callbacks_of_a_failure
                w_03_callbacks_wait_for_the_last_child
                w_03_child_that_was_called_off_is_neither_success_nor_failure
                w_03_empty_batch_completes_at_once
                w_03_children_come_in_chunks
                w_03_last_chunk_may_seal
                w_03_sealed_batch_takes_no_more
                w_03_refused_chunk_leaves_no_trace
                s_06_child_whose_id_was_used_is_refused
                w_03_repeated_child_is_no_member
                d_04_failed_members_of_one_group_are_found_and_redriven
                w_05_counts_are_exact_under_load
                w_05_one_commit_tells_a_group_once_as_it_is
                d_05_members_stay_until_their_group_has_ended
                d_05_group_stays_until_its_callback_has_ended
                d_05_edges_go_with_their_job
            }
            cancel_graph {
                l_05_everything_downstream_is_canceled
                l_05_running_step_is_told_and_its_successors_canceled
                l_10_waiting_step_expires
                l_10_reopened_step_still_expires
                l_05_what_does_not_depend_on_it_goes_on
                w_06_whole_chain_is_canceled
                w_06_groups_inside_are_canceled_too
                w_06_canceled_group_fires_no_edge
                w_06_ended_group_is_not_canceled
                w_06_canceled_batch_takes_no_more
                w_06_late_end_of_a_canceled_member_counts_once
            }
            chain {
                w_01_steps_run_in_order
                w_01_waiting_step_is_pending_and_not_claimable
                q_04_a_waiting_step_says_for_what
                w_01_next_step_is_released_with_the_success
                w_01_settle_and_claim_brings_the_next_step
                w_01_retry_releases_nothing
                w_01_failure_cancels_the_rest
                w_01_ended_chain_tells_when
                w_01_stale_settle_releases_nothing
                w_01_step_may_wait_once_it_is_released
                w_01_first_step_may_wait_too
                w_01_paused_step_is_released_and_waits_for_its_resume
                w_01_resumed_step_still_waits
                w_01_rescheduled_step_still_waits
                w_01_crash_and_rescue_go_on_with_the_chain
                w_01_steps_of_one_commit_move_together
                w_01_long_chain_that_fails_at_its_first_step
            }
            graph_insert {
                w_06_group_reads_back_as_it_was_submitted
                w_06_members_are_listed_in_pages
                w_06_groups_are_found
                w_06_edges_tell_what_became_of_them
                w_04_refused_graph_leaves_no_trace
                w_04_step_cannot_stand_for_a_job_that_exists
                w_04_same_graph_twice_is_refused
                s_04_waiting_step_holds_its_business_key
            }
            graph_key {
                s_03_same_graph_again_answers_with_the_first
                s_03_another_graph_under_the_key_is_refused
                s_03_jobs_and_graphs_share_one_ledger
                s_15_a_graph_can_be_recognized_by_its_key_alone
                s_15_the_key_of_a_graph_expires
                s_15_arguments_of_a_graph_with_their_default_do_not_count
                s_03_key_of_a_graph_is_unique_within_its_tenant
                s_03_refused_graph_leaves_its_key_free
                s_03_key_outlives_the_graph
                s_03_of_many_submitters_one_makes_the_graph
            }
            graph_spawn {
                s_08_graph_comes_with_the_success
                s_08_stale_run_brings_no_graph
                s_08_refused_graph_is_dropped_whole_with_a_warning
                s_08_repeated_graph_is_neither_there_nor_dropped
                s_08_key_freed_by_a_run_is_there_for_its_graph
                s_08_empty_batch_of_a_run_ends_with_it
                s_08_step_of_a_graph_may_bring_another
            }
            items {
                i_01_rejects_are_committed_with_the_run
                i_01_stale_run_rejects_nothing
                i_01_later_run_replaces_what_was_said_of_an_item
                i_02_rejects_are_grouped_and_filtered
                i_02_rejects_are_counted_by_time
                i_02_rejects_can_be_forgotten_and_go_with_their_job
                i_03_hand_off_is_committed_with_the_run
                i_03_repeated_key_is_suppressed_and_counted
                i_03_what_is_not_finished_comes_again_in_order
                i_03_lag_and_backlog_are_told
            }
            nesting {
                w_03_batch_as_a_step_begins_in_its_turn
                w_01_what_follows_a_batch_waits_for_all_of_it
                w_01_failed_child_of_a_batch_fails_the_chain
                w_01_failure_before_a_batch_cancels_all_of_it
                w_03_empty_batch_as_a_step_is_passed_through
                w_03_chains_as_children_of_a_batch
                w_04_groups_three_deep
            }
            pipelines {
                i_05_declared_pipelines_belong_to_the_newest_version
                i_05_one_program_accepts_a_pipeline
                i_05_hand_off_is_admitted_once
                i_05_finished_hand_off_is_not_admitted
                i_05_backlog_counts_until_the_job_has_ended
                i_05_admitted_job_can_be_paused_and_purged
                i_05_jobs_with_keys_are_not_admitted
                i_05_refusals_are_counted_with_the_run
            }
            random {
                w_05_random_graphs_end_as_predicted
                w_01_retried_random_graphs_end_as_if_nothing_had_failed
            }
            reopen {
                w_01_retry_reopens_what_was_canceled
                w_01_reopened_step_is_as_it_was
                w_01_retry_can_fail_and_be_retried_again
                w_01_redrive_reopens_too
                w_01_step_canceled_by_hand_stays_canceled
                w_01_other_failures_still_hold_a_step_back
                w_01_order_of_the_retries_does_not_matter
                w_04_edge_that_has_fired_does_not_fire_again
                w_03_retried_child_opens_its_batch_and_what_follows
                w_01_reopened_step_takes_its_key_again_or_nothing_moves
                w_01_paused_failure_is_still_a_failure
            }
            schedules {
                t_05_schedule_reads_back_as_it_was_written
                t_07_alert_is_recorded_with_the_change
                t_07_overlap_policy_reads_back
                t_07_occurrences_overlap_as_the_policy_says
                t_02_firing_and_advance_are_one_commit
                t_02_only_one_of_many_fires_an_occurrence
                t_06_a_schedule_can_be_renamed
                t_06_a_schedule_is_not_renamed_to_a_taken_name
                t_06_a_withdrawn_schedule_is_not_due
                t_06_only_the_newest_version_of_a_program_changes_its_schedules
                t_02_stale_write_changes_nothing
                t_02_taken_key_drops_that_occurrence_only
                t_04_due_schedules_are_told_by_the_stores_clock
                t_04_schedule_can_be_removed
            }
            workflow {
                w_04_fan_out_releases_every_branch
                w_04_fan_in_waits_for_all
                w_04_fan_in_of_one_commit_fires_once
                w_04_after_any_begins_with_the_first_and_only_once
                w_04_after_any_survives_one_failure_and_not_all
                w_04_failure_edge_fires_for_good_failures_only
                w_04_branch_not_taken_is_no_failure
                w_04_canceled_step_remembers_why_whatever_happens_later
                w_04_always_fires_for_both_ends
                w_04_condition_decides_by_its_answer
                w_04_job_is_left_for_who_can_judge_its_conditions
                w_04_first_match_fires_one_edge
                w_04_cancel_fires_no_edge
                w_04_diamond_fails_as_a_whole
                w_07_otherwise_fires_if_no_condition_holds
                w_07_otherwise_does_not_fire_after_a_failure
                w_07_join_over_a_branch_not_taken_says_so
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __composition_themes {
    ($($theme:ident { $($case:ident)* })*) => {
        $(mod $theme {
            $(#[test]
            fn $case() {
                $crate::run::<super::CompositionHarness>($crate::composition::suite::$theme::$case);
            })*
        })*
    };
}

/// Generates a function per case that returns its future in a box, so that the body is compiled once.
macro_rules! boxed {
    ($($theme:ident { $($case:ident)* })*) => {
        $(pub mod $theme {
            $(pub fn $case(world: &super::World) -> super::CaseFuture<'_> {
                Box::pin(crate::composition::cases::$theme::$case(world))
            })*
        })*
    };
}

__composition_cases! { boxed }
