//! Generates `impl Job`: encode, decode, keys, validate, run.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Index, PathArguments, ReturnType, Type};

use super::super::model::{Arg, From, JobModel, Owner, Param};
use super::super::upgrades;
use super::{composition, definition};
use crate::idents::local;
use crate::krate::item;
use crate::values::{FnPath, Piece, Template};

pub(super) fn implementation(job: &JobModel) -> TokenStream {
    let name = &job.struct_name;
    let returns = &job.returns;
    let args = args(job);
    let definition = definition::definition(job);
    let output = output(job);
    let encode = encode(job);
    let encode_defaults = encode_defaults(job);
    let decode = decode(job);
    let upgrade = upgrade(job);
    let keys = keys(job);
    let validate = validate(job);
    let run = match job.function.body {
        Some(_) => run(job),
        None => declared(job),
    };
    let fallible = fallible(job);
    let follows = composition::follows(job);
    let callback = callback(job);
    let input_refs = composition::input_refs(job);
    let declaration = declaration(job);
    quote! {
        #fallible

        #[automatically_derived]
        impl __ratchet::Job for #name {
            type Output = __ratchet::Output<#returns, __FALLIBLE>;
            #args
            const DEF: __ratchet::JobDef = #definition;
            #output
            #encode
            #encode_defaults
            #decode
            #upgrade
            #keys
            #validate
            #run
        }

        #follows
        #callback
        #input_refs
        #declaration
    }
}

/// Generates the trace of the output, unless the job returns nothing.
fn output(job: &JobModel) -> Option<TokenStream> {
    let nothing = matches!(&job.returns, Type::Tuple(tuple) if tuple.elems.is_empty());
    (!nothing).then(|| {
        quote!(
            const OUTPUT: __ratchet::TypeTrace = __ratchet::output_trace!(Self::Output);
        )
    })
}

/// Generates the registry entry of a job without a body, and a check of its output, which `run` makes otherwise.
fn declared(job: &JobModel) -> TokenStream {
    let returns = &job.returns;
    let output = item("declared_output", returns.span());
    let check = quote_spanned!(returns.span()=> #output::<__FALLIBLE, #returns>());
    let span = job.function.sig.ident.span();
    let arguments = item("declared_arguments", span);
    let arguments = quote_spanned!(span=> #arguments::<Self>());
    quote! {
        const JOB: __ratchet::Registration = {
            #check;
            #arguments;
            __ratchet::Registration::declared::<Self>()
        };
    }
}

/// Generates the marker of a job without a body, which `implements` requires.
fn declaration(job: &JobModel) -> Option<TokenStream> {
    let name = &job.struct_name;
    let declared = job.function.body.is_none();
    declared.then(|| quote!(impl __ratchet::Declared for #name { type Job = Self; }))
}

/// Generates the marker of a job that can be a callback: nothing has to be passed to it.
fn callback(job: &JobModel) -> Option<TokenStream> {
    let complete = job.args().all(Arg::is_optional) && job.inputs().next().is_none();
    let name = &job.struct_name;
    complete.then(|| quote!(impl __ratchet::CallbackJob for #name {}))
}

/// Generates the implementation of a rejected job. It compiles, so that only the original errors are reported.
pub(super) fn broken(job: &JobModel) -> TokenStream {
    let name = &job.struct_name;
    let returns = &job.returns;
    let fallible = fallible(job);
    let follows = composition::follows_all(name);
    let declaration = declaration(job);
    quote! {
        #fallible

        #[automatically_derived]
        impl __ratchet::Job for #name {
            type Output = __ratchet::Output<#returns, __FALLIBLE>;
            const DEF: __ratchet::JobDef = __ratchet::JobDef::new("broken", __ratchet::here!());

            fn encode(&self, _: &mut __ratchet::Encoder) {
                __ratchet::broken()
            }

            fn decode(_: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
                __ratchet::broken()
            }

            fn run(self, _: __ratchet::JobContext) -> __ratchet::Run {
                __ratchet::broken()
            }
        }

        #follows
        impl __ratchet::CallbackJob for #name {}
        #declaration
    }
}

/// Generates the constant that states whether the function returns a `Result`, decided by the type system.
pub(super) fn fallible(job: &JobModel) -> TokenStream {
    let returns = &job.returns;
    let answer = match &job.function.sig.output {
        ReturnType::Default => quote!(false),
        ReturnType::Type(..) => quote!(__ratchet::fallible!(#returns)),
    };
    quote!(const __FALLIBLE: bool = #answer;)
}

fn args(job: &JobModel) -> Option<TokenStream> {
    job.args().next()?;
    let constants = job.args().map(|arg| &arg.constant);
    Some(quote!(const ARGS: &'static [__ratchet::ArgDef] = &[#(#constants.def()),*];))
}

fn encode(job: &JobModel) -> TokenStream {
    let encoder = match job.args().next() {
        Some(_) => local("args"),
        None => local("_args"),
    };
    let puts = job
        .args()
        .map(|Arg { ident, constant, .. }| quote!(#encoder.put(#constant, &self.#ident);));
    quote! {
        fn encode(&self, #encoder: &mut __ratchet::Encoder) {
            #(#puts)*
        }
    }
}

/// Generates the default values, if an argument has one.
fn encode_defaults(job: &JobModel) -> Option<TokenStream> {
    let defaults: Vec<_> =
        job.args().filter(|arg| arg.default.is_some()).map(|arg| &arg.constant).collect();
    let encoder = local("args");
    (!defaults.is_empty()).then(|| {
        quote! {
            fn encode_defaults(#encoder: &mut __ratchet::Encoder) {
                #(#encoder.put_default(#defaults);)*
            }
        }
    })
}

fn decode(job: &JobModel) -> TokenStream {
    let decoder = match job.args().next() {
        Some(_) => local("args"),
        None => local("_args"),
    };
    let takes =
        job.args().map(|Arg { ident, constant, .. }| quote!(#ident: #decoder.take(#constant)?));
    quote! {
        fn decode(#decoder: &mut __ratchet::Decoder<'_>) -> __ratchet::Decoded<Self> {
            __ratchet::Result::Ok(Self { #(#takes),* })
        }
    }
}

/// Generates `Keys::new().business(format_args!("order-{}", key_part(&self.order_id)))`.
fn keys(job: &JobModel) -> Option<TokenStream> {
    let options = &job.options;
    let business = options.business_key.as_ref().map(|key| template("business", key));
    let idempotency = options.idempotency_key.as_ref().map(|key| template("idempotency", key));
    let limited = options.ordered_by.as_ref().or(options.concurrency_key.as_ref());
    // A job that accepts a pipeline can have a limit without a key.
    let accepts_some = options.accepts.is_some() && options.concurrency_limit.is_some();
    let by_name = options.single_instance.is_present() || accepts_some;
    let concurrency = match (limited, by_name) {
        (Some(key), _) => Some(template("concurrency", key)),
        (None, true) => {
            Some(quote!(.concurrency(__ratchet::format_args!("{}", Self::DEF.instance_key()))))
        }
        (None, false) => None,
    };
    if business.is_none() && idempotency.is_none() && concurrency.is_none() {
        return None;
    }
    Some(quote! {
        fn keys(&self) -> __ratchet::Keys {
            __ratchet::Keys::new() #business #idempotency #concurrency
        }
    })
}

fn template(method: &str, template: &Template) -> TokenStream {
    // `self` must resolve to the method's receiver, and rustc reports mixed spans at the whole attribute.
    let span = Span::call_site().located_at(template.lit.span());
    let method = local(method);
    let (key_part, key_field) = (item("key_part", span), item("KeyField", span));
    let mut format = String::new();
    let mut parts = Vec::new();
    for piece in &template.pieces {
        match piece {
            Piece::Text(text) => format.push_str(&text.replace('{', "{{").replace('}', "}}")),
            Piece::Field(path) => {
                format.push_str("{}");
                let fields = path.iter().map(|part| match part.parse::<u32>() {
                    Ok(index) => Index { index, span }.into_token_stream(),
                    Err(_) => syn::parse_str::<Ident>(part).map_or_else(
                        |_| TokenStream::new(),
                        |mut ident| {
                            ident.set_span(span);
                            ident.into_token_stream()
                        },
                    ),
                });
                // The inherent method of a secret refuses it, and shadows the method of the trait. It is called on the
                // field itself, so that a field that does not exist is one error.
                parts.push(quote_spanned!(span=> {
                    use #key_field as _;
                    #key_part(self #(.#fields)* .key_field())
                }));
            }
        }
    }
    quote!(.#method(__ratchet::format_args!(#format #(, #parts)*)))
}

/// Generates `upgrade`, with one arm per older version.
fn upgrade(job: &JobModel) -> Option<TokenStream> {
    let upgrades = &job.options.upgrade.0;
    let oldest = upgrades::oldest(job).filter(|_| !upgrades.is_empty())?;
    let (version, args) = (local("version"), local("args"));
    let arms = upgrades.iter().map(|upgrade| {
        let (number, path) = (Literal::u32_unsuffixed(upgrade.version), &upgrade.path);
        let span = path.span();
        let upgraded = item("upgraded", span);
        let call = quote_spanned!(span=> #upgraded::<_, Self, _, _>(#path, #version, #args));
        quote!(#number => #call,)
    });
    let too_old = (oldest > 1).then(|| {
        let (last, oldest) = (Literal::u32_unsuffixed(oldest - 1), Literal::u32_unsuffixed(oldest));
        quote!(0..=#last => __ratchet::too_old(#version, #oldest),)
    });
    Some(quote! {
        fn upgrade(#version: __ratchet::u32, #args: &mut __ratchet::Decoder<'_>) -> __ratchet::Upgraded<Self> {
            match #version {
                #too_old
                #(#arms)*
                _ => __ratchet::Option::None,
            }
        }
    })
}

fn validate(job: &JobModel) -> Option<TokenStream> {
    let FnPath(path) = job.options.validate.as_ref()?;
    let span = path.span();
    let validated = item("validated", span);
    let this = Ident::new("self", Span::call_site().located_at(span));
    let call = quote_spanned!(span=> #validated::<Self, _, _>(#path, #this));
    Some(quote! {
        fn validate(&self) -> __ratchet::Validated {
            #call
        }
    })
}

/// Generates `run::<__FALLIBLE, R, _, _>(send_email(__CTX.inject(&ctx)?, self.to))`.
///
/// The user's future is not wrapped in another one; otherwise rustc would explain why the wrapper is not `Send`.
fn run(job: &JobModel) -> TokenStream {
    let ctx = context(job);
    let body = call(job, &ctx);
    quote! {
        fn run(self, #ctx: __ratchet::JobContext) -> __ratchet::Run {
            #body
        }
    }
}

/// Returns the name of the context in `run`.
pub(super) fn context(job: &JobModel) -> Ident {
    match job.injected().next() {
        Some(_) => local("ctx"),
        None => local("_ctx"),
    }
}

/// Generates the call of the function, for the body of `run`.
pub(super) fn call(job: &JobModel, ctx: &Ident) -> TokenStream {
    let span = job.function.sig.ident.span();
    let returns = &job.returns;
    let blocking = job.options.blocking.is_present();
    let receiver = job.owner.as_ref().and_then(|owner| owner.receiver.as_ref());
    let (before, call) = match (blocking, receiver) {
        (true, _) => blocking_call(job, ctx),
        (false, Some(_)) => method_call(job, ctx),
        (false, None) => {
            let function = path(job);
            let args = job.params.iter().map(|param| argument(job, param, ctx));
            (TokenStream::new(), quote_spanned!(span=> #function(#(#args),*)))
        }
    };
    let run = item(if blocking { "run_blocking" } else { "run" }, span);
    let run = quote_spanned!(span=> #run::<__FALLIBLE, #returns, _, _>(#call));
    quote! {
        #before
        __ratchet::Result::Ok(#run)
    }
}

fn argument(job: &JobModel, param: &Param, ctx: &Ident) -> TokenStream {
    match param {
        // The handler has taken the declared struct apart.
        Param::Stored(arg) if job.options.implements.is_some() => arg.ident.to_token_stream(),
        Param::Stored(arg) => {
            let ident = &arg.ident;
            quote!(self.#ident)
        }
        Param::Injected(injected) => {
            let constant = &injected.constant;
            match injected.from {
                From::Runtime => quote!(#constant.inject(&#ctx)?),
                From::Step(_) => quote!(#constant.take(&#ctx)?),
            }
        }
    }
}

/// Generates a call on a blocking thread. Injected arguments are resolved before the call.
fn blocking_call(job: &JobModel, ctx: &Ident) -> (TokenStream, TokenStream) {
    let mut before = TokenStream::new();
    let mut args = Vec::new();
    let receiver = job.owner.as_ref().is_some_and(|owner| owner.receiver.is_some());
    for (i, param) in job.params.iter().enumerate() {
        if let Param::Injected(_) = param {
            let taken = local(&format!("injected_{i}"));
            let value = argument(job, param, ctx);
            before.extend(quote!(let #taken = #value;));
            let borrow = (receiver && i == 0).then(|| quote!(&));
            args.push(quote!(#borrow #taken));
        } else {
            args.push(argument(job, param, ctx));
        }
    }
    let span = job.function.sig.ident.span();
    let function = path(job);
    // Without arguments, the function is passed directly. A closure would trigger a lint in the user's crate.
    let call = if args.is_empty() {
        function
    } else {
        quote_spanned!(span=> move || #function(#(#args),*))
    };
    (before, call)
}

/// Generates an `async fn` with the method's name. It owns the service that the method's future borrows.
fn method_call(job: &JobModel, ctx: &Ident) -> (TokenStream, TokenStream) {
    let name = &job.function.sig.ident;
    let span = name.span();
    let function = path(job);
    let returns = &job.returns;
    let names: Vec<_> = (0..job.params.len())
        .map(|i| if i == 0 { local("service") } else { local(&format!("arg_{i}")) })
        .collect();
    let types = job.params.iter().map(|param| match param {
        Param::Stored(arg) => arg.ty.to_token_stream(),
        Param::Injected(injected) => injected.ty.clone(),
    });
    let (service, rest) = (&names[0], &names[1..]);
    let before = quote_spanned! {span=>
        async fn #name(#(#names: #types),*) -> #returns {
            #function(&#service, #(#rest),*).await
        }
    };
    let args = job.params.iter().map(|param| argument(job, param, ctx));
    (before, quote_spanned!(span=> #name(#(#args),*)))
}

/// Returns the path of the function: `send_email`, `Service::charge`.
fn path(job: &JobModel) -> TokenStream {
    let name = &job.function.sig.ident;
    match &job.owner {
        None => name.to_token_stream(),
        Some(Owner { path, .. }) => {
            let plain = path
                .segments
                .iter()
                .all(|segment| matches!(segment.arguments, PathArguments::None));
            if plain { quote!(#path::#name) } else { quote!(<#path>::#name) }
        }
    }
}
