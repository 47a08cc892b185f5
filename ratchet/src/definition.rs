//! What `#[job]` generates: the definition of a job, its arguments and its entry in the registry.
//!
//! A program that only uses `#[job]` does not need these items. They are for programs that resolve jobs in their own way
//! ([`JobInvocationResolver`]), list the jobs of a binary ([`Registry`]), or accept their own types as keys and errors.

pub use ratchet_core::{
    Arg, ArgDef, BreakerDef, ConditionDef, CronDef, DecodeError, Decoder, EncodeError, Encoder,
    ErrorMatcher, HandedOff, Handler, Inject, InjectError, InjectRequirement, Injection, InputDef,
    IntoFailure, JobArg, JobDef, JobInvocationResolver, JobOutput, KeepError, KeyConflict, KeyPart,
    KeyTemplates, Keys, Location, OnFull, Output, PanicPolicy, PrepareError, Prepared,
    Registration, Registry, RegistryError, RunFuture, States, TraceMode, TypeTrace,
};
pub use ratchet_core::{BackoffKind, Jitter};

/// Functions that generated code calls, and the bounds that they put on the types of a job. Compiler errors name them.
pub use ratchet_core::{
    CallbackJob, ChainError, ClassifiedError, ConditionInput, Declared, DeclaredAs, DefaultArg,
    ErrorClass, Fallible, JobReturn, MayBeShown, MayRefuse, OldArguments, Permanent, Plain,
    ReturnsDeclared, TakesHandOff, Upgrade, Upgrades, Validate, ViaBox, ViaError, ViaJobError,
    accepted, arg, checked, declared_argument, declared_arguments, declared_output, default_value,
    evaluate, find_error, implemented, injected, input, input_all, key_part, permanent, run,
    run_blocking, same_output, too_old, upgraded, validated,
};

/// The hooks of one job.
pub use ratchet_core::{AfterHook, BeforeHook, HookFuture, HookReturn, Hooks, RetryHook, hook};
