//! [`Program`]: a worker program with the commands of `ratchet`.

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use ratchet_core::{Builder, Keyring, Ratchet, Store};

use crate::args::{Cli, Command};
use crate::commands::{self, Session};
use crate::context;
use crate::exit::{ExitStatus, Failure, with_sources};

/// The error of a function that configures a runtime.
pub type BuildProblem = Box<dyn Error + Send + Sync>;

/// A worker program with the commands of `ratchet`, which know the jobs of the program, and with `work`.
///
/// The function gets a builder over the store that the command line selects, and adds state, sinks and queues. It is
/// called once, for the commands that need the runtime.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// struct Mailer;
///
/// fn main() -> ExitCode {
///     ratchet_cli::Program::new(async |builder| Ok(builder.state(Mailer)))
///         .default_store("sqlite:shop.db")
///         .main()
/// }
/// ```
pub struct Program<F> {
    configure: F,
    default_store: Option<String>,
    has_jobs: bool,
}

impl<F> std::fmt::Debug for Program<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("default_store", &self.default_store)
            .finish_non_exhaustive()
    }
}

impl<F: AsyncFnOnce(Builder) -> Result<Builder, BuildProblem>> Program<F> {
    /// Creates a program whose runtime is configured by a function.
    pub fn new(configure: F) -> Self {
        Self { configure, default_store: None, has_jobs: true }
    }

    /// Sets the store that is used if neither the command line nor the environment names one.
    #[must_use]
    pub fn default_store(mut self, store: impl Into<String>) -> Self {
        self.default_store = Some(store.into());
        self
    }

    /// Runs the command of the command line. `work` logs to standard error, filtered by `RUST_LOG`.
    pub fn main(self) -> ExitCode {
        let mut command = Cli::command();
        if self.has_jobs {
            let name = std::env::args().next().unwrap_or_default();
            let name = std::path::Path::new(&name).file_name().and_then(|name| name.to_str());
            command = command.bin_name(name.unwrap_or("ratchet").to_owned());
        } else {
            command = command.mut_subcommand("work", |work| work.hide(true));
        }
        let cli = command.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
        let cli = match cli {
            Ok(cli) => cli,
            Err(error) => {
                let _ = error.print();
                let shown =
                    matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
                let status = if shown { ExitStatus::Done } else { ExitStatus::Usage };
                return ExitCode::from(status.code());
            }
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let result = match runtime {
            Ok(runtime) => runtime.block_on(self.run(cli)),
            Err(error) => Err(error.into()),
        };
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                let text = failure.to_string();
                if !text.is_empty() {
                    eprintln!("error: {text}");
                }
                ExitCode::from(failure.status.code())
            }
        }
    }

    async fn run(self, cli: Cli) -> Result<(), Failure> {
        match &cli.command {
            Command::Completions { shell } => {
                let mut command = Cli::command();
                clap_complete::generate(*shell, &mut command, "ratchet", &mut io::stdout());
                return Ok(());
            }
            Command::Codegen(args) => return commands::codegen::run(args),
            Command::Keys(command) if !command.needs_store() => {
                return commands::keys::run(command, &cli.global);
            }
            Command::Man { folder } => {
                return Ok(clap_mangen::generate_to(Cli::command(), folder)?);
            }
            #[cfg(feature = "web")]
            Command::Token(command) => return commands::token::run(command),
            Command::Work(_) if !self.has_jobs => {
                return Err(Failure::usage(
                    "this program has no jobs; `work` is a command of your own worker program, \
                     see https://docs.rs/ratchet-jobs-cli",
                ));
            }
            _ => {}
        }
        let selected = context::select(&cli.global, self.default_store.as_deref())?;
        if let Command::Migrate(command) = &cli.command {
            return commands::migrate::run(&selected, command, &cli.global).await;
        }
        let store: Arc<dyn Store> = match &cli.command {
            Command::Work(work) => {
                commands::work::log();
                selected.target.open_for_worker(!work.no_migrate).await?
            }
            _ => selected.target.open().await?,
        };
        let builder = Ratchet::builder_shared(store).env();
        let mut builder = (self.configure)(builder)
            .await
            .map_err(|error| Failure::refused(with_sources(error.as_ref())))?;
        if let Command::Work(work) = &cli.command {
            builder = commands::work::configure(builder, work)?;
        }
        let ratchet = builder.build().await?;
        let session = Session::new(&ratchet, selected, &cli.global);
        commands::run(&session, cli.command).await
    }
}

/// Runs the program `ratchet`, which knows no jobs. It uses the keyring of the environment.
pub fn tool() -> ExitCode {
    // A program with jobs decides itself where its keyring comes from.
    let mut program = Program::new(async |builder: Builder| {
        Ok(match Keyring::find_in_env()? {
            Some(keyring) => builder.keyring(keyring),
            None => builder,
        })
    });
    program.has_jobs = false;
    program.main()
}
