//! Checks that the state table in ARCHITECTURE.md matches the code.

use ratchet_core::JobState;
use ratchet_core::model::{TRANSITIONS, TransitionKind};

#[test]
fn l_01_the_documented_transitions_are_those_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ARCHITECTURE.md");
    let text = std::fs::read_to_string(path).expect("ARCHITECTURE.md");
    let table = text
        .split("<!-- transitions:begin -->")
        .nth(1)
        .and_then(|rest| rest.split("<!-- transitions:end -->").next());
    let documented: Vec<&str> = table.expect("the markers").trim().lines().skip(2).collect();
    let from = |state: Option<JobState>| state.map_or("–".to_owned(), |state| state.to_string());
    let coded: Vec<String> = TRANSITIONS
        .iter()
        .map(|row| format!("| {} | {} | {} |", from(row.from), row.to, row.by))
        .collect();
    assert_eq!(documented, coded);
}

#[test]
fn l_01_no_terminal_state_but_failed_is_ever_left() {
    for row in TRANSITIONS {
        let left = row.from.filter(|from| from.is_terminal());
        assert!(left.is_none() || left == Some(JobState::Failed), "{row:?}");
    }
    assert!(!JobState::Running.allows(TransitionKind::Pause), "a running job cannot be paused");
}
