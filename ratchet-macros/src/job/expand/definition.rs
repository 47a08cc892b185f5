//! Generates the constants: one per argument, and `DEF`, a chain with one builder call per option.

use std::time::Duration;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use super::super::model::{Arg, Default, From, Injected, JobModel, Param, Source};
use super::super::{types, upgrades};
use crate::breaker::Breaker;
use crate::idents;
use crate::krate::item;
use crate::values::{
    Backoff, Curve, FnPath, JobPath, Name, Template, Value, Word, duration_tokens as duration,
};

/// Generates `const __TO: __ratchet::Arg<String> = __ratchet::arg::<String>("to", "String");`.
///
/// The whole call carries the span of the type, so rustc reports an unsuitable type only there.
pub(super) fn constants(job: &JobModel) -> TokenStream {
    job.params
        .iter()
        .map(|param| match param {
            // The declaration has it.
            Param::Stored(_) if job.options.implements.is_some() => TokenStream::new(),
            Param::Stored(arg) => stored(arg),
            Param::Injected(injected) => self::injected(job, injected),
        })
        .collect()
}

fn stored(arg: &Arg) -> TokenStream {
    let Arg { ty, constant, .. } = arg;
    let span = ty.span();
    let (arg_type, arg_fn) = (item("Arg", span), item("arg", span));
    let name = idents::plain(&arg.ident);
    let text = types::text(ty);
    let docs = docs(&arg.docs).map(|docs| quote!(.docs(#docs)));
    let secret = arg.secret.then(|| quote!(.secret()));
    let default = arg.default.as_ref().map(|default| match default {
        Default::OfType => {
            let default = item("default_value", span);
            quote_spanned!(span=> .default(#default::<#ty>))
        }
        Default::Value(value) => {
            let some = item("Option", value.span());
            quote_spanned!(value.span()=> .default(|| #some::Some(#value)))
        }
    });
    let value = match &arg.with {
        None => quote_spanned!(span=> #arg_fn::<#ty>(#name, #text)),
        Some(module) => quote! {
            __ratchet::arg_with::<#ty>(
                #name,
                #text,
                |value, out| #module::serialize(value, &mut __ratchet::json_writer(out)),
                |json| #module::deserialize(&mut __ratchet::json_reader(json)),
                |tracer| #module::deserialize(tracer).map(|_: #ty| ()),
            )
        },
    };
    let aliases = &arg.aliases;
    let aliases = (!aliases.is_empty()).then(|| quote!(.aliases(&[#(#aliases),*])));
    quote!(const #constant: #arg_type<#ty> = #value #aliases #docs #secret #default;)
}

fn injected(job: &JobModel, injected: &Injected) -> TokenStream {
    let Injected { name, ty, constant, from } = injected;
    let span = ty.span();
    if let From::Step(Source { step, all }) = from {
        let input_fn = item(if *all { "input_all" } else { "input" }, span);
        let input_type = item("Input", span);
        let value = quote_spanned!(span=> #input_fn::<#ty>(#name));
        let several = job.inputs().filter(|(_, source)| source.step.is_none()).count() > 1;
        let how = match step {
            Some(step) => quote!(.from(#step)),
            None if several => quote!(.by_argument()),
            None => TokenStream::new(),
        };
        return quote!(const #constant: #input_type<#ty> = #value #how;);
    }
    let (injected_type, injected_fn) = (item("Injected", span), item("injected", span));
    let value = quote_spanned!(span=> #injected_fn::<#ty>(#name));
    quote!(const #constant: #injected_type<#ty> = #value;)
}

/// Generates `JobDef::new("shop.send_email", here!()).queue("mail")…`.
pub(super) fn definition(job: &JobModel) -> TokenStream {
    let options = &job.options;
    let span = job.function.sig.ident.span();
    let here = item("here", span);
    let name = if let Some(name) = &options.name {
        name.to_token_stream()
    } else {
        let stored = &job.stored_name;
        quote!(__ratchet::job_name!(#stored))
    };
    let here = quote_spanned!(span=> #here!());
    let new_span = options.name.as_ref().map_or(span, Value::span);
    let def = item("JobDef", new_span);
    let new = quote_spanned!(new_span=> #def::new(#name, #here));
    let calls = calls(job);
    quote!(#new #(#calls)*)
}

/// Generates one builder call per given option, in the order of the options table.
fn calls(job: &JobModel) -> Vec<TokenStream> {
    let options = &job.options;
    let mut calls = Vec::new();
    if !options.aliases.is_empty() {
        let aliases = options.aliases.iter().map(|alias| {
            // First the name under which a function is usually stored.
            let short = job.short_alias(alias).map(|name| quote!(__ratchet::job_name!(#name),));
            quote!(#short #alias)
        });
        calls.push(quote!(.aliases(&[#(#aliases),*])));
    }
    calls.extend(options.version.as_ref().map(|version| call("version", version)));
    if let (false, Some(oldest)) = (options.upgrade.0.is_empty(), upgrades::oldest(job)) {
        let oldest = Literal::u32_unsuffixed(oldest);
        calls.push(quote!(.upgrades_from(#oldest)));
    }
    calls.extend(options.queue.as_ref().map(|queue| call("queue", queue)));
    calls.extend(options.priority.as_ref().map(|level| word("priority", "Priority", level)));
    calls.extend(options.max_retries.as_ref().map(|retries| call("max_retries", retries)));
    calls.extend(options.backoff.as_ref().map(|value| {
        let backoff = backoff(value);
        quote!(.backoff(#backoff))
    }));
    calls.extend(options.timeout.as_ref().map(|timeout| timed("timeout", timeout)));
    calls.extend(
        options.soft_timeout.as_ref().map(|soft| soft_timeout(soft, options.timeout.as_ref())),
    );
    calls.extend(options.delay.as_ref().map(|delay| timed("delay", delay)));
    calls.extend(options.expires_in.as_ref().map(|time| timed("expires_in", time)));
    calls.extend(options.retry_within.as_ref().map(|time| timed("retry_within", time)));
    calls.extend(options.business_key.as_ref().map(|key| template("business_key", key)));
    calls.extend(
        options.on_conflict.as_ref().map(|reaction| word("on_conflict", "KeyConflict", reaction)),
    );
    calls.extend(options.idempotency_key.as_ref().map(|key| template("idempotency_key", key)));
    calls.extend(
        options.idempotency_within.as_ref().map(|within| timed("idempotency_within", within)),
    );
    calls.extend(options.concurrency_key.as_ref().map(|key| template("concurrency_key", key)));
    calls.extend(options.concurrency_limit.as_ref().map(|limit| call("concurrency_limit", limit)));
    if options.single_instance.is_present() {
        calls.push(quote!(.concurrency_limit(1)));
    }
    if let Some(key) = &options.ordered_by {
        calls.push(template("concurrency_key", key));
        calls.push(match &options.after_failure {
            Some(policy) => word("ordered", "AfterFailure", policy),
            None => quote!(.ordered(__ratchet::AfterFailure::Hold)),
        });
    }
    calls.extend(pipelines(job));
    if !options.tags.is_empty() {
        let tags = options.tags.iter();
        calls.push(quote!(.tags(&[#(#tags),*])));
    }
    calls.extend(options.cron.as_ref().map(|cron| {
        let zone = options.tz.as_ref().map(|zone| quote!(.zone(#zone)));
        let overlap = options.overlap.as_ref().map(|policy| word("overlap", "Overlap", policy));
        let alert = options.alert_after.as_ref().map(|within| timed("alert_after", within));
        quote!(.cron(__ratchet::CronDef::new(#cron) #zone #overlap #alert))
    }));
    calls.extend(options.on_success.as_ref().map(|path| callback("on_success", path)));
    calls.extend(options.on_failure.as_ref().map(|path| callback("on_failure", path)));
    calls.extend(options.before.as_ref().map(|path| hook("before", path, &["ctx"])));
    calls.extend(options.after.as_ref().map(|path| hook("after", path, &["ctx", "report"])));
    calls.extend(options.on_retry.as_ref().map(|path| hook("on_retry", path, &["ctx", "report"])));
    calls.extend(options.panic.as_ref().map(|policy| word("panic", "PanicPolicy", policy)));
    if options.blocking.is_present() {
        calls.push(quote!(.blocking()));
    }
    if options.encrypt.is_present() {
        calls.push(quote!(.encrypt()));
    }
    if options.strict.is_present() {
        calls.push(quote!(.strict()));
    }
    calls.extend(options.trace.as_ref().map(|mode| word("trace", "TraceMode", mode)));
    calls.extend(job.breaker.as_ref().map(|value| {
        let breaker = breaker(value);
        quote!(.breaker(#breaker))
    }));
    if job.args().next().is_some() {
        calls.push(quote!(.args(Self::ARGS)));
    }
    if job.injected().any(|injected| matches!(injected.from, From::Runtime)) {
        let injections = injections(job);
        calls.push(quote!(.injections(#injections)));
    }
    if job.inputs().next().is_some() {
        let inputs = inputs(job);
        calls.push(quote!(.inputs(#inputs)));
    }
    calls.extend(docs(&job.docs).map(|docs| quote!(.docs(#docs))));
    calls
}

/// Generates the list of arguments that the runtime injects.
pub(super) fn injections(job: &JobModel) -> TokenStream {
    let injected = job.injected().filter(|injected| matches!(injected.from, From::Runtime));
    let injected = injected.map(|injected| &injected.constant);
    quote!(&[#(#injected.def()),*])
}

/// Generates the list of arguments that take the output of a step.
pub(super) fn inputs(job: &JobModel) -> TokenStream {
    let inputs = job.inputs().map(|(input, _)| &input.constant);
    quote!(&[#(#inputs.def()),*])
}

/// Generates `.queue("mail")` with the span of the value, so that a constant out of range is reported there.
fn call<T>(method: &str, value: &Value<T>) -> TokenStream {
    let span = value.span();
    let value = checked(method, value, value.to_token_stream());
    let method = Ident::new(method, span);
    quote_spanned!(span=> .#method(#value))
}

/// Wraps a constant in a separate call that checks it. The compiler reports a panic at the call that panicked, and the
/// span of a builder call starts at the beginning of the chain.
fn checked<T>(method: &str, value: &Value<T>, tokens: TokenStream) -> TokenStream {
    let rule = match method {
        "queue" | "accepts" => "name",
        "profile" | "delay" => return tokens,
        method => method,
    };
    match value {
        Value::Literal(..) => tokens,
        Value::Constant(_) => {
            let span = value.span();
            let (checked, rule) = (item("checked", span), Ident::new(rule, span));
            quote_spanned!(span=> #checked::#rule(#tokens))
        }
    }
}

fn timed(method: &str, value: &Value<Duration>) -> TokenStream {
    let span = value.span();
    let duration = checked(method, value, duration(value));
    let method = Ident::new(method, span);
    quote_spanned!(span=> .#method(#duration))
}

/// Generates `.soft_timeout(…)`. The macro has compared literals; constants are compared by the compiler.
fn soft_timeout(soft: &Value<Duration>, timeout: Option<&Value<Duration>>) -> TokenStream {
    let known = timeout.is_none_or(|timeout| timeout.literal().is_some());
    if soft.literal().is_some() && known {
        return timed("soft_timeout", soft);
    }
    let span = soft.span();
    let checked = item("checked", span);
    let timeout = match timeout {
        Some(timeout) => duration(timeout),
        None => quote!(__ratchet::JobDef::DEFAULT_TIMEOUT),
    };
    let soft = duration(soft);
    quote_spanned!(span=> .soft_timeout(#checked::soft_timeout_before(#soft, #timeout)))
}

/// Generates `.business_key("order-{id}")`.
fn template(method: &str, template: &Template) -> TokenStream {
    let (method, text) = (idents::local(method), &template.lit);
    quote!(.#method(#text))
}

/// Generates a builder call with a function of the application: `.before(|ctx| hook(check_quota(ctx)))`.
fn hook(method: &str, FnPath(path): &FnPath, arguments: &[&str]) -> TokenStream {
    let method = idents::local(method);
    let arguments: Vec<_> = arguments.iter().map(|argument| idents::local(argument)).collect();
    let span = path.span();
    let hook = item("hook", span);
    quote_spanned!(span=> .#method(|#(#arguments),*| #hook(#path(#(#arguments),*))))
}

/// Generates the calls for `accepts`, `backlog_limit`, `hands_off` and `on_full`.
fn pipelines(job: &JobModel) -> Vec<TokenStream> {
    let options = &job.options;
    let mut calls = Vec::new();
    calls.extend(options.accepts.as_ref().map(|pipeline| accepts(job, pipeline)));
    calls.extend(options.backlog_limit.as_ref().map(|limit| call("backlog_limit", limit)));
    if !options.hands_off.is_empty() {
        let pipelines = &options.hands_off;
        let on_full = match &options.on_full {
            None => quote!(__ratchet::OnFull::Wait),
            Some(Word::Variant(variant, _)) => {
                let variant = idents::local(variant);
                quote!(__ratchet::OnFull::#variant)
            }
            Some(Word::Constant(constant)) => constant.to_token_stream(),
        };
        calls.push(quote!(.hands_off(&[#(#pipelines),*], #on_full)));
    }
    calls
}

/// Generates `.accepts(accepted::<HandedOff<Page>>("pages"))`. The call carries the span of the type, so rustc reports an
/// unsuitable argument there.
fn accepts(job: &JobModel, pipeline: &Value<Name>) -> TokenStream {
    let name = checked("accepts", pipeline, pipeline.to_token_stream());
    // Another number of arguments was reported already.
    let Some(arg) = job.args().next() else { return TokenStream::new() };
    let (ty, span) = (&arg.ty, arg.ty.span());
    let accepted = item("accepted", span);
    quote_spanned!(span=> .accepts(#accepted::<#ty>(#name)))
}

/// Generates `.priority(__ratchet::Priority::High)`.
fn word<W>(method: &str, ty: &str, word: &Word<W>) -> TokenStream {
    let (method, ty) = (idents::local(method), idents::local(ty));
    match word {
        Word::Variant(variant, _) => {
            let variant = idents::local(variant);
            quote!(.#method(__ratchet::#ty::#variant))
        }
        Word::Constant(constant) => {
            let span = constant.span();
            let method = Ident::new(&method.to_string(), span);
            quote_spanned!(span=> .#method(#constant))
        }
    }
}

fn backoff(backoff: &Backoff) -> TokenStream {
    let (curve, jitter) = match backoff {
        Backoff::Constant(constant) => return constant.to_token_stream(),
        Backoff::Curve { curve, jitter } => (curve, jitter),
    };
    let max = |base: &TokenStream, max: &Option<Value<Duration>>| match max {
        Some(max) => duration(max),
        None => quote!(__ratchet::Backoff::default_max(#base)),
    };
    let curve = match &**curve {
        Curve::None => quote!(__ratchet::Backoff::none()),
        Curve::Fixed(delay) => {
            let delay = duration(delay);
            quote!(__ratchet::Backoff::fixed(#delay))
        }
        Curve::Linear { base, max: cap } => {
            let base = duration(base);
            let cap = max(&base, cap);
            quote!(__ratchet::Backoff::linear(#base, #cap))
        }
        Curve::Exponential { base, max: cap, factor } => {
            let base = duration(base);
            let cap = max(&base, cap);
            let factor = factor.as_ref().map(|factor| {
                let number = match factor {
                    Value::Literal(number, _) => {
                        Literal::f64_unsuffixed(number.0).to_token_stream()
                    }
                    Value::Constant(constant) => {
                        checked("factor", factor, constant.to_token_stream())
                    }
                };
                quote_spanned!(factor.span()=> .factor(#number))
            });
            quote!(__ratchet::Backoff::exponential(#base, #cap) #factor)
        }
    };
    let jitter = jitter.as_ref().map(|jitter| word("jitter", "Jitter", jitter));
    quote!(#curve #jitter)
}

/// Generates `.on_success(Callback::of::<SendReceipt>())`.
fn callback(method: &str, JobPath(path): &JobPath) -> TokenStream {
    let span = path.span();
    let method = Ident::new(method, span);
    let callback = item("Callback", span);
    quote_spanned!(span=> .#method(#callback::of::<#path>()))
}

fn breaker(breaker: &Breaker) -> TokenStream {
    let service = breaker.service.as_ref();
    let span = service.map_or_else(Span::call_site, Value::span);
    let def = item("BreakerDef", span);
    let new = quote_spanned!(span=> #def::new(#service));
    let profile = breaker.profile.as_ref().map(|profile| call("profile", profile));
    let failure_rate = breaker.failure_rate.as_ref().map(|rate| call("failure_rate", rate));
    let window = breaker.window.as_ref().map(|calls| call("window", calls));
    let min_calls =
        breaker.min_calls.as_ref().map(|calls| min_calls(calls, breaker.window.as_ref()));
    let probes = breaker.probes.as_ref().map(|probes| call("probes", probes));
    let open_for = breaker.open_for.as_ref().map(|open_for| timed("open_for", open_for));
    let ignore = matchers("ignore", &breaker.ignore);
    let record = matchers("record", &breaker.record);
    quote!(#new #profile #failure_rate #window #min_calls #open_for #probes #ignore #record)
}

/// Generates `.min_calls(…)`. The macro has compared literals; constants are compared by the compiler.
fn min_calls<T>(calls: &Value<T>, window: Option<&Value<T>>) -> TokenStream {
    match window {
        Some(window) if calls.literal().is_none() || window.literal().is_none() => {
            let span = calls.span();
            let checked = item("checked", span);
            quote_spanned!(span=> .min_calls(#checked::min_calls_within(#calls, #window)))
        }
        _ => call("min_calls", calls),
    }
}

fn matchers(method: &str, errors: &[Path]) -> Option<TokenStream> {
    if errors.is_empty() {
        return None;
    }
    let method = idents::local(method);
    let matchers = errors.iter().map(|error| {
        let span = error.span();
        let (matcher, text) = (item("ErrorMatcher", span), idents::text(error.to_token_stream()));
        let Some(ty) = enum_of(error) else {
            return quote_spanned!(span=> #matcher::of::<#error>(#text));
        };
        let find = item("find_error", span);
        let found = quote_spanned!(span=> #find::<#ty>(error));
        quote! {
            __ratchet::ErrorMatcher {
                name: #text,
                matches: |error| #found.is_some_and(|error| __ratchet::matches!(error, #error { .. })),
            }
        }
    });
    Some(quote!(.#method(&[#(#matchers),*])))
}

/// Returns `PayError` for the variant `PayError::Declined`, and `None` for a type: `io::Error` is in a module.
fn enum_of(error: &Path) -> Option<Path> {
    let mut ty = error.clone();
    ty.segments.pop()?;
    let last = ty.segments.pop()?;
    ty.segments.push(last);
    let name = ty.segments.last().map(|segment| idents::plain(&segment.ident))?;
    name.starts_with(char::is_uppercase).then_some(ty)
}

/// Joins the lines of a doc comment; `None` if it is blank.
fn docs(lines: &[String]) -> Option<String> {
    let text: Vec<_> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let text = text.join("\n");
    (!text.trim().is_empty()).then(|| text.trim().to_owned())
}
