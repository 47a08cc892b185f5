//! `ratchet top`: a full-screen view that refreshes itself.
//!
//! [`state`] holds what is shown and how keys change it, [`view`] draws it, and [`data`] reads the store. This file
//! connects them to the terminal.

mod data;
mod state;
#[cfg(test)]
mod tests;
mod view;

use std::io::{self, IsTerminal};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use tokio::sync::mpsc;

use self::state::{Effect, State};
use crate::commands::Session;
use crate::exit::Failure;

/// Shows the cluster until the operator quits.
pub(crate) async fn run(session: &Session, every: Duration) -> Result<(), Failure> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Failure::usage("`top` needs a terminal; use `status` in scripts"));
    }
    // Read once before the screen changes, so that an error is printed on an ordinary screen.
    let mut state = State::new(session.selected.target.to_string(), session.selected.production);
    state.show(data::read(&session.ratchet, &state).await?);
    let mut keys = keys();
    let mut terminal = ratatui::try_init()?;
    let result = watch(session, &mut state, &mut keys, &mut terminal, every).await;
    ratatui::try_restore()?;
    result
}

async fn watch(
    session: &Session,
    state: &mut State,
    keys: &mut mpsc::UnboundedReceiver<Event>,
    terminal: &mut ratatui::DefaultTerminal,
    every: Duration,
) -> Result<(), Failure> {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        terminal.draw(|frame| view::draw(frame, state))?;
        let effect = tokio::select! {
            event = keys.recv() => match event {
                Some(Event::Key(key)) if key.kind == KeyEventKind::Press => state.press(key),
                Some(_) => Effect::None,
                // The terminal is gone.
                None => return Ok(()),
            },
            _ = ticks.tick() => Effect::Refresh,
        };
        match effect {
            Effect::None => continue,
            Effect::Quit => return Ok(()),
            Effect::Refresh => {}
            Effect::Act(action) => match data::act(&session.ratchet, &action).await {
                Ok(done) => state.say(done),
                Err(failure) => state.complain(failure.to_string()),
            },
            Effect::Explain(id) => match data::explain(&session.ratchet, id).await {
                Ok(text) => state.open(text),
                Err(failure) => state.complain(failure.to_string()),
            },
        }
        // A store that does not answer is shown as such, and read again.
        match data::read(&session.ratchet, state).await {
            Ok(snapshot) => state.show(snapshot),
            Err(failure) => state.complain(failure.to_string()),
        }
    }
}

/// Reads events of the terminal on a thread of its own, because reading blocks.
fn keys() -> mpsc::UnboundedReceiver<Event> {
    let (send, receive) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        while let Ok(event) = event::read() {
            if send.send(event).is_err() {
                return;
            }
        }
    });
    receive
}
