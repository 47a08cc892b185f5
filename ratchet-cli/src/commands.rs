//! The commands. Each file holds those of one noun.

mod breakers;
mod doctor;
mod failures;
mod flows;
mod jobs;
mod list;
pub(crate) mod migrate;
mod queues;
mod read;
mod schedules;
#[cfg(feature = "web")]
mod serve;
mod status;
#[cfg(feature = "web")]
pub(crate) mod token;
mod unreadable;
pub(crate) mod work;

use ratchet_core::Ratchet;

use crate::args::{Command, Global};
use crate::context::Selected;
use crate::exit::Failure;
use crate::output::Output;

/// What a command works with.
pub(crate) struct Session {
    pub(crate) ratchet: Ratchet,
    pub(crate) selected: Selected,
    pub(crate) out: Output,
    pub(crate) dry_run: bool,
    pub(crate) yes: bool,
}

impl Session {
    pub(crate) fn new(ratchet: Ratchet, selected: Selected, global: &Global) -> Self {
        let out = Output::new(global);
        Self { ratchet, selected, out, dry_run: global.dry_run, yes: global.yes }
    }
}

/// Runs a command.
pub(crate) async fn run(session: &Session, command: Command) -> Result<(), Failure> {
    match command {
        Command::Status => status::run(session).await,
        Command::Top { every } => crate::top::run(session, read::duration(&every)?).await,
        Command::Jobs(command) => jobs::run(session, command).await,
        Command::Failures(command) => failures::run(session, command).await,
        Command::Queues(command) => queues::run(session, command).await,
        Command::Breakers(command) => breakers::run(session, command).await,
        Command::Schedules(command) => schedules::run(session, command).await,
        Command::Flows(command) => flows::run(session, command).await,
        Command::Nodes(crate::args::Nodes::List) => list::nodes(session).await,
        Command::Alerts(crate::args::Alerts::List { limit }) => list::alerts(session, limit).await,
        Command::Rejects(crate::args::Rejects::List { name }) => list::rejects(session, name).await,
        Command::Pipelines(crate::args::Pipelines::Show { pipeline }) => {
            list::pipeline(session, pipeline).await
        }
        Command::Unreadable(command) => unreadable::run(session, command).await,
        Command::Doctor => doctor::run(session).await,
        Command::Health { worker } => doctor::health(session, worker).await,
        Command::Work(_) => work::run(session).await,
        #[cfg(feature = "web")]
        Command::Serve(command) => serve::run(session, command).await,
        #[cfg(feature = "web")]
        Command::Token(_) => Ok(()),
        // These need no store and have run before.
        Command::Migrate(_) | Command::Completions { .. } | Command::Man { .. } => Ok(()),
    }
}
