//! Notes that handlers write while they run: progress, logs, checkpoints.

use std::time::Duration;

use ratchet_store::MAX_LOG_LINES;
use ratchet_store::model::{Claimed, JobId, LogLevel, LogLine, Progress, RunNotes};

use crate::World;
use crate::fixture::{RunExt, SettlementExt, ms, secs};

pub(super) fn line(run: &Claimed, message: &str) -> LogLine {
    LogLine { after: ms(5), level: LogLevel::Info, message: message.to_owned(), run: run.run }
}

fn progress(percent: f32) -> RunNotes {
    let mut notes = RunNotes::default();
    notes.progress = Some(Progress { percent, message: "on it".to_owned() });
    notes
}

fn checkpoint(value: serde_json::Value) -> RunNotes {
    let mut notes = RunNotes::default();
    notes.checkpoint = Some(value);
    notes
}

fn warning(text: &str) -> RunNotes {
    let mut notes = RunNotes::default();
    notes.warnings.push(text.to_owned());
    notes
}

async fn report(world: &World, run: &Claimed, notes: RunNotes) {
    let answers = world.store.write_notes(vec![(run.token, notes)]).await;
    assert_eq!(answers.expect("notes are answered"), [true]);
}

async fn percent(world: &World, id: JobId) -> Option<f32> {
    world.get(id).await.progress.map(|progress| progress.percent)
}

pub async fn x_05_progress_is_seen_while_running(world: &World) {
    let run = world.run(world.job()).await;
    report(world, &run, progress(40.0)).await;
    assert_eq!(percent(world, run.id()).await, Some(40.0));
    report(world, &run, progress(60.0)).await;
    assert_eq!(percent(world, run.id()).await, Some(60.0));
}

pub async fn x_05_progress_and_checkpoint_outlive_the_attempt(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    report(world, &run, progress(40.0)).await;
    let state = serde_json::json!({ "page": 3, "seen": ["a", null] });
    world.apply(run.retry(secs(0)).notes(checkpoint(state.clone()))).await;
    let next = node.claim_one().await;
    assert_eq!(next.checkpoint, Some(state));
    assert_eq!(next.progress.map(|progress| progress.percent), Some(40.0));
}

pub async fn x_05_notes_that_say_nothing_erase_nothing(world: &World) {
    let run = world.run(world.job()).await;
    report(world, &run, progress(40.0)).await;
    report(world, &run, checkpoint(7.into())).await;
    report(world, &run, warning("careful")).await;
    world.apply(run.succeed()).await;
    let job = world.get(run.id()).await;
    assert_eq!(percent(world, run.id()).await, Some(40.0));
    assert_eq!(job.checkpoint, Some(7.into()));
    assert_eq!(job.warnings, ["careful"]);
}

pub async fn x_05_report_does_not_move_the_fence(world: &World) {
    let run = world.run(world.job()).await;
    report(world, &run, progress(40.0)).await;
    assert_eq!(world.get(run.id()).await.version, run.token.version);
    world.apply(run.succeed()).await;
}

pub async fn x_05_log_lines_are_kept_in_order(world: &World) {
    let node = world.node().await;
    let run = world.run_on(&node, world.job()).await;
    let mut notes = RunNotes::default();
    notes.logs = vec![line(&run, "one"), line(&run, "two")];
    report(world, &run, notes).await;
    let mut notes = RunNotes::default();
    notes.logs = vec![line(&run, "three")];
    world.apply(run.retry(secs(0)).notes(notes)).await;
    let next = node.claim_one().await;
    let mut notes = RunNotes::default();
    notes.logs = vec![line(&next, "four")];
    report(world, &next, notes).await;
    assert_eq!(world.logs(run.id()).await, ["one", "two", "three", "four"]);
    let lines = world.store.logs(run.id()).await.expect("the log can be read");
    assert_eq!((lines[0].run, lines[3].run), (1, 2));
    assert_eq!((lines[0].after, lines[0].level), (Duration::from_millis(5), LogLevel::Info));
}

pub async fn x_05_the_newest_log_lines_are_kept(world: &World) {
    let run = world.run(world.job()).await;
    for part in 0..3 {
        let mut notes = RunNotes::default();
        let numbers = part * 500..(part + 1) * 500;
        notes.logs = numbers.map(|number| line(&run, &number.to_string())).collect();
        report(world, &run, notes).await;
    }
    let logs = world.logs(run.id()).await;
    assert_eq!(logs.len(), MAX_LOG_LINES);
    assert_eq!(logs.first().map(String::as_str), Some("500"));
    assert_eq!(logs.last().map(String::as_str), Some("1499"));
}

pub async fn l_08_warnings_are_kept_with_the_run(world: &World) {
    let run = world.run(world.job()).await;
    report(world, &run, warning("first")).await;
    world.apply(run.succeed().notes(warning("second"))).await;
    assert_eq!(world.get(run.id()).await.warnings, ["first", "second"]);
}

pub async fn l_04_canceled_run_can_note_nothing(world: &World) {
    let run = world.run(world.job()).await;
    world.cancel(run.id()).await;
    let answers = world.store.write_notes(vec![(run.token, progress(99.0))]).await;
    assert_eq!(answers.expect("notes are answered"), [false]);
    assert_eq!(percent(world, run.id()).await, None);
}
