//! Cases about chains, batches and workflows with a real engine.

#![allow(missing_docs, clippy::missing_panics_doc)] // cases are documented by their names, and fail by panicking

pub mod batches;
pub mod chains;
pub mod declarations;
pub mod fan_in;
mod jobs;
pub mod pipelines;
pub mod recurring;
pub mod sink;
pub mod spawning;
pub mod workflows;

use std::time::Duration;

use ratchet_core::{GroupHandle, Ratchet, Worker};
use ratchet_store::model::GroupRecord;

use super::fixture::{EngineFixture, start};

impl EngineFixture {
    /// Builds a runtime with the jobs of this module and starts its worker.
    async fn start_composed(&self) -> (Ratchet, Worker) {
        start(self.builder().jobs(jobs::all())).await
    }
}

/// The upper bound of every wait in a case.
const TIMEOUT: Duration = Duration::from_secs(30);

async fn ended(group: &GroupHandle) -> GroupRecord {
    group.wait_for(TIMEOUT).await.expect("it comes to its end")
}

/// Generates one test per engine case about composition for the given [`Harness`](crate::Harness).
#[macro_export]
macro_rules! composition_engine_suite {
    ($harness:ty) => {
        type EngineHarness = $harness;
        $crate::__composition_engine_cases! { $crate::__composition_engine_themes }
    };
}

/// Passes the list of all cases to a macro.
#[doc(hidden)]
#[macro_export]
macro_rules! __composition_engine_cases {
    ($($consumer:tt)+) => {
        $($consumer)+! {
            batches {
                w_03_progress_and_completion_are_told
                w_03_callbacks_are_told_of_the_batch
                w_03_children_come_as_a_stream
                s_14_children_that_are_added_later_inherit
                w_03_waiting_for_a_large_batch_reads_it_seldom
                w_03_bad_rates_and_names_are_refused
                d_06_callback_of_an_empty_batch_runs
                h_03_a_deep_queue_refuses_a_batch
                h_03_a_batch_warns_of_its_queues
            }
            chains {
                w_02_a_step_takes_what_the_one_before_returned
                w_01_the_next_step_starts_at_once
                w_01_the_first_step_keeps_its_delay
                w_01_failure_is_told_and_a_retry_goes_on
                w_02_a_step_on_its_own_is_refused
                w_02_output_that_was_not_kept_is_told
                s_08_callback_of_a_chain_is_told
                l_05_cancel_of_a_running_step_cancels_the_rest
                w_06_whole_chain_is_canceled_and_drawn
                w_01_step_survives_a_store_outage
            }
            recurring {
                t_01_cron_on_a_job_is_declared_and_fires
                t_05_declaring_again_changes_nothing
                t_02_competing_nodes_fire_each_occurrence_once
                t_04_pause_resume_run_now_and_remove
                t_01_bad_schedules_are_refused
                t_04_schedule_without_code_is_shown_and_not_fired
            }
            declarations {
                t_06_a_renamed_job_keeps_its_schedule
                t_06_a_removed_cron_removes_the_schedule
                t_06_a_job_renamed_without_cron_has_no_schedule
                t_06_a_deleted_job_stops_its_schedule
                t_06_schedules_of_others_are_left_alone
                t_06_a_schedule_without_a_recorded_declaration_is_renamed
                t_06_a_schedule_that_changes_meanwhile_is_tried_again
            }
            sink {
                i_01_items_are_set_aside_and_the_run_goes_on
                i_01_threshold_makes_the_run_a_failure
                i_03_checkpoint_is_handed_on_once
            }
            spawning {
                s_08_graphs_come_with_the_success_of_a_run
                s_08_a_failed_run_leaves_no_graph
                s_08_a_refused_graph_is_a_warning_on_the_run
                s_08_a_run_that_is_over_takes_no_graph
                s_03_a_chain_under_a_key_is_one_chain
                s_03_a_workflow_under_a_key_is_one_workflow
                s_03_a_key_of_a_part_is_refused
                s_02_tenant_of_a_graph_is_that_of_its_steps
            }
            fan_in {
                w_07_outputs_of_all_parents_are_taken_in_order
                w_07_list_of_a_workflow_is_taken_in_its_order
                w_07_an_empty_list_must_be_bound
                w_07_a_join_after_any_takes_what_is_there
                w_07_workflow_binds_inputs_of_one_type
                w_07_inputs_of_two_types_need_no_names
                w_07_a_bound_input_does_not_change_the_edges
                w_07_otherwise_takes_the_output
                w_07_mistakes_of_bindings_are_typed_errors
                w_07_a_lost_output_of_a_list_is_a_failure
            }
            pipelines {
                i_05_hand_offs_are_admitted_as_jobs
                i_05_full_pipeline_holds_its_publisher
                i_05_full_pipeline_fails_the_hand_off
                i_05_failed_hand_off_is_a_dead_letter_that_can_be_retried
                i_05_checkpoint_that_cannot_be_read_is_an_invalid_job
                i_05_hand_off_waits_for_its_acceptor
                i_05_encrypted_hand_off_is_admitted_encrypted
            }
            workflows {
                w_04_conditions_choose_the_branch
                w_04_fan_in_takes_outputs_by_name
                w_04_refund_runs_when_shipping_fails
                w_04_any_takes_the_output_of_the_one_that_succeeded
                w_04_mistakes_are_typed_errors_and_nothing_is_inserted
                w_04_condition_that_panics_fails_its_step
                w_04_groups_are_steps
                w_06_dot_shows_steps_and_states
                w_06_svg_shows_steps_and_states
                v_01_end_of_a_workflow_is_told
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __composition_engine_themes {
    ($($theme:ident { $($case:ident)* })*) => {$(
        mod $theme {
            $(
                #[test]
                fn $case() {
                    $crate::run_engine::<super::EngineHarness>($crate::engine::composition::__boxed::$theme::$case);
                }
            )*
        }
    )*};
}

/// Generates a function per case that returns its future in a box, so that the body is compiled once.
macro_rules! boxed {
    ($($theme:ident { $($case:ident)* })*) => {
        #[doc(hidden)]
        pub mod __boxed {
            $(pub mod $theme {
                use crate::engine::EngineFixture;
                use crate::engine::suite::EngineCaseFuture;

                $(pub fn $case(fixture: EngineFixture) -> EngineCaseFuture {
                    Box::pin(crate::engine::composition::$theme::$case(fixture))
                })*
            })*
        }
    };
}

__composition_engine_cases! { boxed }
