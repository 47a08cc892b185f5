//! The commands. Each file holds those of one noun.

mod archive;
mod audit;
mod breakers;
mod catalog;
pub(crate) mod codegen;
mod doctor;
mod edit;
mod erasures;
mod failures;
mod flows;
mod jobs;
pub(crate) mod keys;
mod list;
mod lock_file;
pub(crate) mod migrate;
mod nodes;
mod operations;
mod queues;
mod read;
mod reencrypt;
mod rejects;
mod schedules;
#[cfg(feature = "web")]
mod serve;
mod stats;
mod status;
mod stored_review;
#[cfg(feature = "web")]
pub(crate) mod token;
mod unreadable;
pub(crate) mod work;

use ratchet_core::{Actor, Ratchet};

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
    pub(crate) fn new(ratchet: &Ratchet, selected: Selected, global: &Global) -> Self {
        let out = Output::new(global);
        let ratchet = ratchet.acting_as(actor(global));
        Self { ratchet, selected, out, dry_run: global.dry_run, yes: global.yes }
    }
}

/// Returns who makes the changes of this command.
fn actor(global: &Global) -> Actor {
    let user = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    let given = global.actor.clone().or_else(|| std::env::var("RATCHET_ACTOR").ok());
    let name = given.or_else(user).unwrap_or_else(|| "unknown".to_owned());
    let actor = Actor::new(name).via("cli").address(host());
    match &global.reason {
        Some(reason) => actor.reason(reason),
        None => actor,
    }
}

/// Runs a command, and says under which number its change was recorded.
pub(crate) async fn run(session: &Session, command: Command) -> Result<(), Failure> {
    let result = dispatch(session, command).await;
    if let Some(number) = session.ratchet.recorded() {
        eprintln!("audit entry {number}");
    }
    result
}

async fn dispatch(session: &Session, command: Command) -> Result<(), Failure> {
    match command {
        Command::Status => status::run(session).await,
        Command::Stats(args) => stats::run(session, args).await,
        Command::Top { every } => crate::top::run(session, read::duration(&every)?).await,
        Command::Jobs(command) => jobs::run(session, command).await,
        Command::Failures(command) => failures::run(session, command).await,
        Command::Queues(command) => queues::run(session, command).await,
        Command::Breakers(command) => breakers::run(session, command).await,
        Command::Schedules(command) => schedules::run(session, command).await,
        Command::Flows(command) => flows::run(session, command).await,
        Command::Nodes(command) => nodes::run(session, command).await,
        Command::Catalog(command) => catalog::run(session, command).await,
        Command::Operations(command) => operations::run(session, command).await,
        Command::Alerts(crate::args::Alerts::List { limit }) => list::alerts(session, limit).await,
        Command::Rejects(command) => rejects::run(session, command).await,
        Command::Archive(command) => archive::run(session, command).await,
        Command::Erasures(command) => erasures::run(session, command).await,
        Command::Ledger(command) => erasures::ledger(session, command).await,
        Command::Audit(command) => audit::run(session, command).await,
        Command::Pipelines(crate::args::Pipelines::List) => list::pipelines(session).await,
        Command::Pipelines(crate::args::Pipelines::Show { pipeline }) => {
            list::pipeline(session, pipeline).await
        }
        Command::Unreadable(command) => unreadable::run(session, command).await,
        Command::Keys(command) => reencrypt::run(session, &command).await,
        Command::Doctor(args) => doctor::run(session, &args).await,
        Command::Health { worker } => doctor::health(session, worker).await,
        Command::Work(command) => work::run(session, &command).await,
        #[cfg(feature = "web")]
        Command::Serve(command) => serve::run(session, command).await,
        #[cfg(feature = "web")]
        Command::Token(_) => Ok(()),
        // These need no store and have run before.
        Command::Migrate(_)
        | Command::Codegen(_)
        | Command::Completions { .. }
        | Command::Man { .. } => Ok(()),
    }
}

/// Returns the name of this host, or an empty string.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    name.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default().trim().to_owned()
}
