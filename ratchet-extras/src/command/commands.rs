//! [`Commands`]: the functions of the application that jobs may call by name.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::pin::Pin;

use ratchet_core::JobContext;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::CommandRefusal;
use crate::Refusals;

/// The functions that the job `ratchet.command` may call. Without configuration, none.
///
/// Register it with `.state(commands)`. A worker that knows the job does not start without it.
pub struct Commands {
    commands: BTreeMap<String, Box<Prepare>>,
    refusals: Refusals,
}

/// Decodes arguments, and returns the call that is not yet begun.
type Prepare = dyn Fn(&JobContext, &Value) -> Result<Call, serde_json::Error> + Send + Sync;
type Call = Pin<Box<dyn Future<Output = Result<Value, Box<dyn Error + Send + Sync>>> + Send>>;

/// Builds [`Commands`]. What is not registered here is refused.
#[derive(Default)]
#[must_use = "nothing is registered until `.build()`"]
pub struct CommandsBuilder {
    commands: BTreeMap<String, Box<Prepare>>,
    error: Option<CommandsError>,
}

/// Why [`Commands`] cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandsError {
    /// The name of a command is empty.
    #[error("the name of a command must not be empty")]
    EmptyName,
    /// Two commands have the same name.
    #[error("two commands are called `{command}`; names must differ")]
    Duplicate {
        /// The name.
        command: String,
    },
}

/// A command has failed.
#[derive(Debug, thiserror::Error)]
#[error("the command `{command}` has failed")]
#[non_exhaustive]
pub struct CommandError {
    /// The name of the command.
    pub command: String,
    /// The error of the function. A directive in it, such as `fatal`, applies to the job.
    pub source: Box<dyn Error + Send + Sync>,
}

impl Commands {
    /// Starts building commands. None is registered.
    pub fn builder() -> CommandsBuilder {
        CommandsBuilder::default()
    }

    /// Returns the counter of refused jobs.
    pub fn refusals(&self) -> Refusals {
        self.refusals.clone()
    }

    /// Finds the function and decodes its arguments, or refuses the call.
    pub(super) fn admit(
        &self,
        ctx: &JobContext,
        name: &str,
        args: &Value,
    ) -> Result<Call, CommandRefusal> {
        let Some(prepare) = self.commands.get(name) else {
            return Err(CommandRefusal::Unknown { command: name.chars().take(200).collect() });
        };
        prepare(ctx, args)
            .map_err(|source| CommandRefusal::BadArguments { command: name.to_owned(), source })
    }
}

impl CommandsBuilder {
    /// Registers a function.
    ///
    /// The error can be any standard error, a text, or a directive such as `fatal`.
    pub fn command<A, T, E, F, Fut>(mut self, name: impl Into<String>, function: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        T: Serialize,
        E: Into<Box<dyn Error + Send + Sync>>,
        F: Fn(JobContext, A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
    {
        let name = name.into();
        let prepare = move |ctx: &JobContext, args: &Value| {
            let call = function(ctx.clone(), A::deserialize(args)?);
            let ctx = ctx.clone();
            Ok(Box::pin(async move {
                let output = call.await.map_err(Into::into)?;
                // As with every job: the work is done, and must not be repeated for the sake of its output.
                Ok(serde_json::to_value(output).unwrap_or_else(|error| {
                    ctx.warn(format!("the output of the command is not kept: {error}"));
                    Value::Null
                }))
            }) as Call)
        };
        let error = match name.is_empty() {
            true => Some(CommandsError::EmptyName),
            false => {
                let replaced = self.commands.insert(name.clone(), Box::new(prepare));
                replaced.map(|_| CommandsError::Duplicate { command: name })
            }
        };
        self.error = self.error.take().or(error);
        self
    }

    /// Builds the commands.
    pub fn build(self) -> Result<Commands, CommandsError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(Commands { commands: self.commands, refusals: Refusals::default() }),
        }
    }
}

impl fmt::Debug for Commands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands").field("names", &self.commands.keys()).finish_non_exhaustive()
    }
}

impl fmt::Debug for CommandsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandsBuilder")
            .field("names", &self.commands.keys())
            .finish_non_exhaustive()
    }
}
