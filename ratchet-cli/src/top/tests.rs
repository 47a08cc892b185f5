//! The screens as text, and the keys.

use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratchet_core::{Filter, IdSource, JobState, OsEntropy, PageRequest, Ratchet, SystemClock};
use ratchet_memory::MemoryStore;
use ratchet_store::model::{JobSpec, NewJob};

use super::state::{Action, Effect, Mode, State, Tab};
use super::{data, view};

fn job(name: &str) -> NewJob {
    NewJob::new(
        IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy)).job(),
        JobSpec::new(name, b"{}".to_vec()),
    )
}

/// A runtime with two waiting jobs, a paused queue and an open breaker.
async fn cluster() -> Ratchet {
    let ratchet = Ratchet::builder(MemoryStore::new()).build().await.expect("builds");
    ratchet.queues().pause("mail").await.expect("pauses");
    ratchet.breakers().open("smtp", None).await.expect("opens");
    for name in ["shop.charge", "evil\u{1b}[2J"] {
        let mut job = job(name);
        job.spec.queue = "payments".to_owned();
        ratchet.store().insert(vec![job]).await.expect("inserts");
    }
    ratchet
}

fn press(state: &mut State, keys: &str) -> Effect {
    let mut effect = Effect::None;
    for key in keys.chars() {
        let code = match key {
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            key => KeyCode::Char(key),
        };
        effect = state.press(KeyEvent::new(code, KeyModifiers::NONE));
    }
    effect
}

async fn refresh(ratchet: &Ratchet, state: &mut State) {
    let snapshot = data::read(ratchet, state).await.expect("reads");
    state.show(snapshot);
}

fn screen(state: &State) -> String {
    let mut terminal = Terminal::new(TestBackend::new(100, 16)).expect("a terminal");
    terminal.draw(|frame| view::draw(frame, state)).expect("draws");
    let buffer = terminal.backend().buffer().clone();
    let line = |y| (0..100).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
    (0..16).map(|y| line(y).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn every_page_shows_its_rows() {
    let ratchet = cluster().await;
    let mut state = State::new("sqlite:shop.db".to_owned(), true);
    for (key, expected) in [
        ("1", &["BRK-01", "`smtp` is open", "NOD-01"][..]),
        ("2", &["mail", "paused", "payments"]),
        ("3", &["shop.charge", "newest jobs", "pending"]),
        ("4", &["no job has failed permanently"]),
        ("5", &["no worker is alive"]),
    ] {
        assert_eq!(press(&mut state, key), Effect::Refresh);
        refresh(&ratchet, &mut state).await;
        let screen = screen(&state);
        assert!(
            screen.contains("sqlite:shop.db production") && screen.contains("pending 2"),
            "{screen}"
        );
        assert!(!screen.contains('\u{1b}'), "{screen}");
        for part in expected {
            assert!(screen.contains(part), "`{part}` is missing:\n{screen}");
        }
    }
}

#[tokio::test]
async fn a_change_must_be_confirmed() {
    let ratchet = cluster().await;
    let mut state = State::new("memory".to_owned(), false);
    press(&mut state, "3");
    refresh(&ratchet, &mut state).await;
    let job = state.snapshot.jobs[0].id;
    assert_eq!(press(&mut state, "C"), Effect::None);
    assert!(screen(&state).contains(&format!("cancel job {job}?")));
    assert_eq!(press(&mut state, "n"), Effect::None);
    let Effect::Act(action) = press(&mut state, "Cy") else { panic!("y confirms") };
    assert_eq!(action, Action::CancelJob(job));
    data::act(&ratchet, &action).await.expect("cancels");
    let canceled = ratchet.jobs().get(job).await.expect("reads").expect("exists");
    assert_eq!(canceled.state, JobState::Canceled);
    // A second one is no error.
    assert!(data::act(&ratchet, &action).await.expect("answers").contains("already ended"));
    assert!(data::act(&ratchet, &Action::RetryJob(job)).await.is_err());
}

#[tokio::test]
async fn a_paused_queue_is_resumed() {
    let ratchet = cluster().await;
    let mut state = State::new("memory".to_owned(), false);
    press(&mut state, "2");
    refresh(&ratchet, &mut state).await;
    let Effect::Act(action) = press(&mut state, "Py") else { panic!("y confirms") };
    assert_eq!(action, Action::ResumeQueue("mail".to_owned()));
    data::act(&ratchet, &action).await.expect("resumes");
    refresh(&ratchet, &mut state).await;
    // The queue had nothing but its pause.
    let Effect::Act(action) = press(&mut state, "Py") else { panic!("y confirms") };
    assert_eq!(action, Action::PauseQueue("payments".to_owned()));
}

#[tokio::test]
async fn a_filter_lists_jobs_and_mistakes_keep_the_line() {
    let ratchet = cluster().await;
    let mut state = State::new("memory".to_owned(), false);
    assert_eq!(press(&mut state, "/sate:x\n"), Effect::None);
    assert_eq!(state.mode, Mode::Filter("sate:x".to_owned()));
    assert!(state.message.as_ref().is_some_and(|(text, error)| *error && text.contains("sate")));
    assert_eq!(press(&mut state, "\u{1b}/name:shop.charge\n"), Effect::Refresh);
    assert_eq!((state.tab, &state.filter), (Tab::Jobs, &Filter::any().name("shop.charge")));
    refresh(&ratchet, &mut state).await;
    assert_eq!(state.rows(), 1);
    let job = state.snapshot.jobs[0].id;
    assert_eq!(press(&mut state, "\n"), Effect::Explain(job));
    state.open(data::explain(&ratchet, job).await.expect("explains"));
    assert!(screen(&state).contains("no live worker"), "{}", screen(&state));
    press(&mut state, "x");
    assert_eq!(state.mode, Mode::List);
}

#[tokio::test]
async fn the_selection_follows_its_row() {
    let ratchet = cluster().await;
    let mut state = State::new("memory".to_owned(), false);
    press(&mut state, "3");
    refresh(&ratchet, &mut state).await;
    press(&mut state, "j");
    let selected = state.snapshot.jobs[state.selected].id;
    let other = job("shop.other");
    ratchet.store().insert(vec![other]).await.expect("inserts");
    refresh(&ratchet, &mut state).await;
    assert_eq!(state.snapshot.jobs[state.selected].id, selected);
    let page = PageRequest::default();
    assert_eq!(ratchet.jobs().list(&Filter::any(), page).await.expect("lists").jobs.len(), 3);
    assert_eq!(press(&mut state, "q"), Effect::Quit);
}
