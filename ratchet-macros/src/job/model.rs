//! A job as data: everything the expansion needs, nothing of how it was parsed.

use proc_macro2::{Ident, TokenStream};
use syn::{Attribute, Expr, LitStr, Path, Type, Visibility};

use super::options::Options;
use super::signature::JobFn;
use crate::breaker::Breaker;

/// One job.
pub(crate) struct JobModel {
    /// The function without helper attributes.
    pub(crate) function: JobFn,
    /// The struct of the invocation, with the span of the function's name.
    pub(crate) struct_name: Ident,
    pub(crate) vis: Visibility,
    /// The part of the stored name behind the package: `send_email`, `service.charge`.
    pub(crate) stored_name: String,
    /// One line each, as written.
    pub(crate) docs: Vec<String>,
    /// Attributes of the function that its struct needs too.
    pub(crate) inherited: Vec<Attribute>,
    pub(crate) deprecated: bool,
    pub(crate) params: Vec<Param>,
    /// The return type, `()` if there is none.
    pub(crate) returns: Type,
    pub(crate) options: Options,
    pub(crate) breaker: Option<Breaker>,
    pub(crate) owner: Option<Owner>,
}

/// The `impl` block of a method.
#[derive(Clone)]
pub(crate) struct Owner {
    /// `Service`.
    pub(crate) path: Path,
    /// Whether the method takes `&self`.
    pub(crate) receiver: Option<syn::Receiver>,
}

/// An argument of the function, in its place.
pub(crate) enum Param {
    Stored(Box<Arg>),
    Injected(Injected),
}

/// An argument that is stored with the job.
pub(crate) struct Arg {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) docs: Vec<String>,
    pub(crate) secret: bool,
    pub(crate) default: Option<Default>,
    /// `__TO`.
    pub(crate) constant: Ident,
}

/// What rows written before the argument existed get.
pub(crate) enum Default {
    /// `Default::default()`.
    OfType,
    Value(Expr),
}

/// An argument that the runtime provides.
pub(crate) struct Injected {
    pub(crate) name: String,
    pub(crate) ty: TokenStream,
    pub(crate) constant: Ident,
    pub(crate) from: From,
}

/// Where an argument that is not stored comes from.
pub(crate) enum From {
    /// The runtime: `#[inject]`.
    Runtime,
    /// The output of the step before, or of the step of this name: `#[input]`, `#[input(step = "charge")]`.
    Step(Option<LitStr>),
}

impl JobModel {
    pub(crate) fn args(&self) -> impl Iterator<Item = &Arg> {
        self.params.iter().filter_map(|param| match param {
            Param::Stored(arg) => Some(&**arg),
            Param::Injected(_) => None,
        })
    }

    pub(crate) fn injected(&self) -> impl Iterator<Item = &Injected> {
        self.params.iter().filter_map(|param| match param {
            Param::Injected(injected) => Some(injected),
            Param::Stored(_) => None,
        })
    }

    /// The arguments that take the output of a step.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&Injected, Option<&LitStr>)> {
        self.injected().filter_map(|injected| match &injected.from {
            From::Step(step) => Some((injected, step.as_ref())),
            From::Runtime => None,
        })
    }

    /// The function's name, for messages.
    pub(crate) fn name(&self) -> String {
        crate::idents::plain(&self.function.sig.ident)
    }
}
