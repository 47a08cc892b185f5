//! Tests of the limits on what a run records.

use serde_json::value::RawValue;

use super::*;
use ratchet_store::model::limits;

fn warnings(ctx: &JobContext) -> Vec<String> {
    ctx.take().0.warnings
}

#[test]
fn s_17_a_log_line_is_cut_and_cleaned() {
    let ctx = JobContext::for_test();
    ctx.info("a\0b\u{1b}[31mc\u{7}");
    ctx.info("x".repeat(limits::LOG_LINE));
    ctx.info("ä".repeat(1_000_000));
    let (notes, ..) = ctx.take();
    let [clean, whole, cut] = &notes.logs[..] else { panic!("three lines") };
    assert_eq!(clean.message, "abc");
    assert_eq!(whole.message.len(), limits::LOG_LINE);
    assert!(cut.message.len() <= limits::LOG_LINE, "{}", cut.message.len());
    assert!(cut.message.ends_with("… (cut, it had 2000000 bytes)"));
    assert!(notes.warnings.is_empty());
}

#[test]
fn s_17_a_run_logs_a_megabyte_and_then_gets_a_warning() {
    let ctx = JobContext::for_test();
    let mut kept = 0;
    for _ in 0..200 {
        ctx.info("x".repeat(limits::LOG_LINE));
        // Lines that were already reported count too.
        kept += ctx.take_news().map_or(0, |notes| notes.logs.len());
    }
    assert_eq!(kept, limits::LOG / limits::LOG_LINE);
    let warnings = warnings(&ctx);
    assert_eq!(
        warnings,
        ["136 log lines were dropped: the run has logged more than 1048576 bytes"]
    );
}

#[test]
fn s_17_a_progress_message_is_cut_and_cleaned() {
    let ctx = JobContext::for_test();
    ctx.set_progress(10.0, "a\0b");
    assert_eq!(ctx.progress().expect("noted").message, "ab");
    ctx.set_progress(10.0, "x".repeat(1_000_000));
    assert!(ctx.progress().expect("noted").message.len() <= limits::LOG_LINE);
}

#[test]
fn s_17_a_checkpoint_has_a_size_and_a_depth() {
    let ctx = JobContext::for_test();
    ctx.set_checkpoint(&"x".repeat(limits::CHECKPOINT - 2)).expect("fits");
    let error = ctx.set_checkpoint(&"x".repeat(limits::CHECKPOINT - 1)).expect_err("too large");
    assert!(matches!(error, KeepError::TooLarge { what: "checkpoint", .. }), "{error}");
    let raw = |levels: usize| {
        let json = "[".repeat(levels) + &"]".repeat(levels);
        RawValue::from_string(json).expect("JSON")
    };
    for levels in [limits::DEPTH + 1, 120] {
        let error = ctx.set_checkpoint(&raw(levels)).expect_err("too deep");
        assert!(matches!(error, KeepError::TooDeep { what: "checkpoint", .. }), "{error}");
    }
    ctx.set_checkpoint(&raw(limits::DEPTH)).expect("fits");
    let (notes, ..) = ctx.take();
    let json = serde_json::to_string(&notes.checkpoint).expect("can be written");
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "and read back");
}

#[test]
fn s_17_a_hand_off_has_limits_that_name_the_field() {
    let ctx = JobContext::for_test();
    let refused = |pipeline: &str, key: &str| {
        ctx.hand_off(pipeline, key, &1).expect_err("refused").to_string()
    };
    assert_eq!(refused("", "key"), "the pipeline name is empty");
    assert_eq!(
        refused("p", &"k".repeat(1001)),
        "the hand-off key has 1001 bytes, the limit is 1000"
    );
    assert_eq!(refused("p", "a\0"), "the hand-off key contains a NUL character");
    let error = ctx.hand_off("p", "k", &"x".repeat(2_000_000)).expect_err("too large");
    assert!(matches!(error, KeepError::TooLarge { what: "hand-off", .. }), "{error}");
    ctx.hand_off("p", "k", &1).expect("fits");
    assert_eq!(ctx.take().3.hand_offs.len(), 1);
}

#[test]
fn s_17_rejects_are_found_by_their_index_and_bounded() {
    let ctx = JobContext::for_test();
    let beyond = 50;
    // A linear search per call would take hours here.
    for index in 0..limits::REJECTS as u64 + beyond {
        ctx.reject_item(index, JobError::msg("bad row"));
    }
    ctx.reject_item(7, JobError::msg("again"));
    ctx.allow_rejects(limits::REJECTS as u64);
    let count = limits::REJECTS as u64 + beyond;
    assert_eq!(ctx.too_many_rejects(), Some((count, limits::REJECTS as u64)));
    let (notes, _, _, items) = ctx.take();
    assert_eq!(items.rejects.len(), limits::REJECTS);
    assert_eq!(items.rejects[7].message, "again");
    assert_eq!(notes.warnings, ["50 rejected items were not kept: a run keeps at most 100000"]);
    let ctx = JobContext::for_test();
    let error = ctx
        .reject_item_with(1, JobError::msg("bad"), &"x".repeat(2_000_000))
        .expect_err("too large");
    assert!(matches!(error, KeepError::TooLarge { what: "rejected item", .. }), "{error}");
}

#[test]
fn nothing_is_lost_silently_after_the_end_of_a_run() {
    let ctx = JobContext::for_test();
    ctx.take();
    let over = |result: Result<(), KeepError>| matches!(result, Err(KeepError::RunOver { .. }));
    assert!(over(ctx.set_checkpoint(&1)));
    assert!(over(ctx.hand_off("p", "k", &1)));
    assert!(over(ctx.reject_item_with(1, JobError::msg("bad"), &1)));
    // These return nothing; the first of them is logged.
    ctx.set_progress(50.0, "half");
    ctx.info("a line");
    ctx.reject_item(2, JobError::msg("bad"));
    assert!(ctx.recorded().warned);
    let (notes, _, _, items) = ctx.take();
    assert!(notes.is_empty() && items.rejects.is_empty() && items.hand_offs.is_empty());
}
