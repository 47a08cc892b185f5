//! The job `ratchet.command`: calls a function of the application by name.
//!
//! A job of its own, with `#[job]`, is checked by the compiler and should be preferred. A command is for names and
//! arguments that come from elsewhere: from an operator, a configuration or another program.
//!
//! ```
//! use ratchet::Job;
//! use ratchet::testing::Sandbox;
//! use ratchet_extras::command::{Command, Commands};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Reindex { table: String }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let commands = Commands::builder()
//!     .command("reindex", async |_ctx, args: Reindex| {
//!         Ok::<_, std::io::Error>(format!("{} is indexed", args.table))
//!     })
//!     .build()?;
//!
//! let sandbox = Sandbox::builder().jobs([Command::JOB]).state(commands).build().await?;
//! let call = Command::call("reindex", &Reindex { table: "orders".into() })?;
//! let called = sandbox.enqueue(call).await?;
//! sandbox.drain().await?;
//! assert_eq!(called.wait().await?, "orders is indexed");
//! # Ok(())
//! # }
//! ```
//!
//! A name that is not registered and arguments that the function cannot read are refused. The function is not called.

mod commands;
mod refusal;

use ratchet_core::{JobContext, JobError, State};
use ratchet_macros::job;
use serde::Serialize;

pub use self::commands::{CommandError, Commands, CommandsBuilder, CommandsError};
pub use self::refusal::CommandRefusal;

/// Calls a function that is registered with [`Commands`]. The stored name of the job is `ratchet.command`.
///
/// The output is the return value of the function as JSON.
#[job(name = "ratchet.command", derive(Debug, Clone, PartialEq), crate = ::ratchet_core)]
pub async fn command(
    #[inject] ctx: JobContext,
    #[inject] commands: State<Commands>,
    /// The name of the function.
    name: String,
    /// Its arguments.
    #[job(default)]
    args: serde_json::Value,
) -> Result<serde_json::Value, JobError> {
    let call = commands.admit(&ctx, &name, &args);
    let call = call.map_err(|refusal| commands.refusals().refuse(&ctx, refusal))?;
    Ok(call.await.map_err(|source| CommandError { command: name, source })?)
}

impl Command {
    /// Creates a call. The arguments are stored as JSON.
    pub fn call<T: Serialize + ?Sized>(
        name: impl Into<String>,
        args: &T,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self { name: name.into(), args: serde_json::to_value(args)? })
    }
}
