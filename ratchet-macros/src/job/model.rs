//! The model of a job: the data that the expansion needs, independent of the parser.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Attribute, Expr, LitStr, Path, Type, Visibility};

use super::options::Options;
use super::signature::JobFn;
use crate::breaker::Breaker;
use crate::values::{Name, Value};

/// A job in the form that [`check`](super::check) and the expansion take.
pub(crate) struct JobModel {
    /// The function without helper attributes.
    pub(crate) function: JobFn,
    /// The name of the invocation struct, with the span of the function's name.
    pub(crate) struct_name: Ident,
    pub(crate) vis: Visibility,
    /// The part of the stored name after the package: `send_email`, `service.charge`.
    pub(crate) stored_name: String,
    /// The lines of the doc comment, as written.
    pub(crate) docs: Vec<String>,
    /// Attributes of the function that are copied to the struct.
    pub(crate) inherited: Vec<Attribute>,
    pub(crate) deprecated: bool,
    pub(crate) moved: Moved,
    pub(crate) params: Vec<Param>,
    /// The return type; `()` if the signature has none.
    pub(crate) returns: Type,
    pub(crate) options: Options,
    pub(crate) breaker: Option<Breaker>,
    pub(crate) owner: Option<Owner>,
}

/// The attributes below `#[job]` that only a struct can have. They are moved to the invocation struct.
#[derive(std::default::Default)]
pub(crate) struct Moved {
    pub(crate) derives: Vec<Path>,
    /// `#[non_exhaustive]` and the helper attributes of derives.
    pub(crate) others: Vec<Attribute>,
}

/// The `impl` block that contains a method.
#[derive(Clone)]
pub(crate) struct Owner {
    /// The path of the type: `Service`.
    pub(crate) path: Path,
    /// The `&self` of the method; `None` for an associated function.
    pub(crate) receiver: Option<syn::Receiver>,
}

/// An argument of the function, in declaration order.
pub(crate) enum Param {
    Stored(Box<Arg>),
    Injected(Injected),
}

/// An argument that is stored with the job.
pub(crate) struct Arg {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) docs: Vec<String>,
    /// Whether the argument is marked `#[job(secret)]`, or its type is spelled with `Secret<…>`.
    pub(crate) secret: bool,
    /// Whether it is marked.
    pub(crate) marked_secret: bool,
    /// The former names of the argument.
    pub(crate) aliases: Vec<LitStr>,
    pub(crate) default: Option<Default>,
    /// The module of `#[serde(with = "module")]`, which writes and reads the argument.
    pub(crate) with: Option<Path>,
    /// The name of the generated constant, such as `__TO`.
    pub(crate) constant: Ident,
}

impl Arg {
    /// Returns whether the argument can be left out: it has a default, or its type is spelled `Option`. An alias is not
    /// recognized and needs `#[job(default)]`.
    pub(crate) fn is_optional(&self) -> bool {
        let text = crate::idents::text(self.ty.to_token_stream());
        let path = text.split('<').next().unwrap_or_default();
        self.default.is_some() || path == "Option" || path.ends_with("::Option")
    }
}

/// The value used for rows that were stored before the argument existed.
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

/// The source of an argument that is not stored.
pub(crate) enum From {
    /// The runtime: `#[inject]`.
    Runtime,
    /// Another step: `#[input]`.
    Step(Source),
}

/// The steps whose output an argument takes.
#[derive(Clone, Default)]
pub(crate) struct Source {
    /// The name of the step: `#[input(step = "charge")]`.
    pub(crate) step: Option<LitStr>,
    /// Whether it is a list of the outputs of all parents: `#[input(all)]`.
    pub(crate) all: bool,
}

impl JobModel {
    /// Returns the name within this package that an alias without a dot also means: `old_name`, or `service.old_name` for a
    /// method. Returns `None` for a full name, and for the present name of the job.
    pub(crate) fn short_alias(&self, alias: &Value<Name>) -> Option<String> {
        let alias = alias.literal().filter(|alias| !alias.contains(['.', '/', ':']))?;
        let service = self.stored_name.rsplit_once('.').map(|(service, _)| service);
        let name =
            service.map_or_else(|| alias.to_string(), |service| format!("{service}.{}", &**alias));
        (self.options.name.is_some() || name != self.stored_name).then_some(name)
    }

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

    /// Returns the arguments that take the output of a step.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&Injected, &Source)> {
        self.injected().filter_map(|injected| match &injected.from {
            From::Step(source) => Some((injected, source)),
            From::Runtime => None,
        })
    }

    /// Returns the function's name, for error messages.
    pub(crate) fn name(&self) -> String {
        crate::idents::plain(&self.function.sig.ident)
    }
}
