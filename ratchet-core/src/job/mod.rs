//! The definition of a job: the [`Job`] trait that `#[job]` implements, its options, arguments and results.
//!
//! This module does not depend on stores or workers.

mod arg;
mod breaker;
mod callback;
pub mod checked;
mod codec;
mod condition;
mod conflict;
mod context;
mod def;
mod domain_failure;
mod explicit;
#[cfg(test)]
mod fuzz;
mod handed_off;
mod handler;
mod hooks;
mod host;
mod inject;
mod input;
mod input_ref;
mod keys;
mod registry;
mod returns;
mod schedule;
mod secret;
mod secret_scope;
mod secrets_of;
mod state;
mod stop_signal;
mod trace;
mod type_trace;
mod upgrade;
mod validate;

pub use arg::{
    Arg, ArgDef, DefaultArg, JobArg, arg, arg_with, default_value, json_reader, json_writer,
};
pub use breaker::{BreakerDef, ChainError, ErrorMatcher, find_error};
pub use callback::{Callback, CallbackJob};
pub use codec::{DecodeError, Decoder, EncodeError, Encoder};
pub(crate) use condition::collect as collect_conditions;
pub use condition::{Condition, ConditionDef, ConditionInput, evaluate};
pub use conflict::KeyConflict;
pub use context::{JobContext, KeepError};
pub(crate) use context::{Room, StepInputs};
pub use def::{JobDef, Location};
pub use handed_off::{HandedOff, OnFull, TakesHandOff, accepted};
pub use handler::{
    Declared, DeclaredAs, Handler, ReturnsDeclared, declared_argument, declared_arguments,
    declared_output, implemented, same_output,
};
pub use hooks::{
    AfterHook, BeforeHook, HookFuture, HookReturn, Hooks, RetryHook, RetryReport, RunReport, hook,
};
pub(crate) use host::RunHost;
pub use inject::{
    Inject, InjectError, InjectRequirement, Injected, Injection, inject, injected, injection,
};
pub use input::{
    FanIn, FirstStep, Input, InputDef, ListOf, NoOutput, StepAfter, WithoutInputs, input, input_all,
};
pub use input_ref::{InputListRef, InputRef};
pub use keys::{KeyField, KeyPart, KeyTemplates, Keys, MayBeShown, key_part};
pub use registry::{
    JobInvocationResolver, PrepareError, Prepared, Registration, Registry, RegistryError,
};
pub use returns::Output;
pub use returns::{Fallible, Plain, ProbeFallback, ViaBox, ViaError, ViaJobError};
pub use returns::{
    IntoFailure, JobOutput, JobReturn, Probe, ReturnShape, RunFuture, run, run_blocking,
};
pub(crate) use returns::{Returned, Work};
pub use schedule::CronDef;
pub use secret::Secret;
pub(crate) use secret_scope::{collecting, masking};
pub(crate) use secrets_of::{secrets_of, stored_fields};
pub use state::{State, States};
pub(crate) use stop_signal::{StopCause, StopSignal};
pub use trace::{TraceMode, TraceRelation};
pub(crate) use type_trace::Secrecy;
pub use type_trace::{OutputProbe, OutputProbeFallback, TypeTrace};
pub use upgrade::{MayRefuse, OldArguments, Upgrade, Upgrades, too_old, upgraded};
pub use validate::{Validate, validated};

/// An invocation of a `#[job]` function: its arguments, and how to store and run them.
///
/// `#[job]` generates the implementation. Manual implementations are useful only in tests of this crate.
///
/// ```
/// # mod ratchet { pub use ratchet_core::Job; pub use ratchet_macros::job; }
/// use ratchet::{Job, job};
///
/// #[job(max_retries = 3, queue = "mail", crate = ::ratchet_core)]
/// async fn send_receipt(to: String) -> usize {
///     to.len()
/// }
///
/// # fn main() {
/// assert_eq!((SendReceipt::DEF.queue, SendReceipt::DEF.max_retries), ("mail", 3));
/// assert_eq!(SendReceipt::ARGS.len(), 1);
/// let receipt = SendReceipt { to: "ada@example.com".into() }; // what is enqueued
/// # drop(receipt);
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a job",
    label = "expected the arguments of a job",
    note = "`#[job] async fn send_email(to: String)` is enqueued as `SendEmail {{ to }}`; calling `send_email(..)` runs it at once instead"
)]
pub trait Job: Sized + 'static {
    /// The return value of a successful run; `handle.wait()` returns it.
    ///
    /// Has no bounds here. They are required once, by `run`, so that an unsuitable type causes a single error.
    type Output;

    /// The stored arguments, the same as in [`Job::DEF`].
    ///
    /// A separate constant, so that two jobs can name each other as callbacks without a cycle between their
    /// definitions.
    const ARGS: &'static [ArgDef] = &[];

    /// The name, version, options and arguments: everything that the runtime knows about the job without running it.
    const DEF: JobDef;

    /// How the JSON shape of the output is traced.
    const OUTPUT: TypeTrace = TypeTrace::UNIT;

    /// The registry entry of the job, for `.jobs([SendEmail::JOB])`.
    const JOB: Registration = Registration::of::<Self>();

    /// Writes the arguments.
    fn encode(&self, args: &mut Encoder);

    /// Writes the default values of the arguments that have one.
    fn encode_defaults(_: &mut Encoder) {}

    /// Reads the arguments.
    fn decode(args: &mut Decoder<'_>) -> Result<Self, DecodeError>;

    /// Reads the arguments of an older version, if it has an upgrade function (`#[job(upgrade(1 => from_v1))]`).
    fn upgrade(_version: u32, _args: &mut Decoder<'_>) -> Option<Result<Self, DecodeError>> {
        None
    }

    /// Returns the keys of this invocation, built from the templates on `#[job]`.
    fn keys(&self) -> Keys {
        Keys::new()
    }

    /// Returns an error for arguments that can never succeed (`#[job(validate = path)]`).
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }

    /// Injects the `#[inject]` arguments and calls the function. A job that is declared without a body has no function
    /// in this program.
    fn run(self, ctx: JobContext) -> Result<RunFuture, InjectError> {
        drop(ctx);
        let why = "it is declared without a body, and this program has no implementation of it";
        Err(InjectError { wanted: Self::DEF.name.to_owned(), why: why.to_owned() })
    }
}
