//! The options of `#[job(…)]`, as a table. Parsing, suggestions, completion and the manual are derived from it.

use std::time::Duration;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Expr, Ident, Path};

use crate::diag::Errors;
use crate::entries::{self, Entry, Given};
use crate::idents;
use crate::krate::Krate;
use crate::table::{Opt, Table, Takes};
use crate::values::{self, Backoff, Range, Template, Value};

const fn opt(key: &'static str, takes: Takes, example: &'static str, help: &'static str) -> Opt {
    Opt { key, takes, example, help }
}

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "job",
    options: &[
        opt("name", Takes::Text, r#"name = "send_email""#, "The stored name, instead of `<package>.<fn>`."),
        opt("alias", Takes::Text, r#"alias = "old_name""#, "An older name that still reaches this job; repeat it for several."),
        opt("version", Takes::Number, "version = 2", "The version of the arguments' shape; 1 unless given."),
        opt("queue", Takes::Text, r#"queue = "mail""#, "The queue; `default` unless given."),
        opt("priority", Takes::Word, "priority = high", "`lowest`, `low`, `normal`, `high` or `critical`."),
        opt("max_retries", Takes::Number, "max_retries = 5", "How often a failed run is tried again; 0 means one run."),
        opt("backoff", Takes::Value, r#"backoff = exponential("1s", max = "30s")"#, "The wait between attempts: `none`, `fixed`, `linear` or `exponential`."),
        opt("timeout", Takes::Duration, r#"timeout = "30s""#, "The longest a run may take; 30 minutes unless given."),
        opt("soft_timeout", Takes::Duration, r#"soft_timeout = "20s""#, "When to warn that a run takes long; 80 % of the timeout unless given."),
        opt("delay", Takes::Duration, r#"delay = "5m""#, "How long a submitted job waits before its first run."),
        opt("business_key", Takes::Text, r#"business_key = "order-{order_id}""#, "At most one live job holds this key."),
        opt("idempotency_key", Takes::Text, r#"idempotency_key = "order-{order_id}""#, "At most one job is ever made for this key."),
        opt("concurrency_key", Takes::Text, r#"concurrency_key = "customer-{customer_id}""#, "At most `concurrency_limit` jobs of this key run at once."),
        opt("concurrency_limit", Takes::Number, "concurrency_limit = 3", "How many jobs of one `concurrency_key` run at once in the cluster."),
        opt("single_instance", Takes::Flag, "single_instance", "One run at a time in the cluster, by `concurrency_key` or by the job's name."),
        opt("tags", Takes::List, r#"tags("mail", "eu")"#, "Tags of every job of this kind."),
        opt("cron", Takes::Text, r#"cron = "0 3 * * *""#, "Runs by itself on this schedule."),
        opt("tz", Takes::Text, r#"tz = "Europe/Berlin""#, "The time zone of `cron`; UTC unless given."),
        opt("on_success", Takes::Path, "on_success = SendReceipt", "The job that runs when this one has succeeded."),
        opt("on_failure", Takes::Path, "on_failure = TellSupport", "The job that runs when this one has failed permanently."),
        opt("panic", Takes::Text, r#"panic = "dlq""#, "What a panic does: \"retry\" or \"dlq\"."),
        opt("blocking", Takes::Flag, "blocking", "The function is a plain `fn` and may block its thread."),
        opt("validate", Takes::Path, "validate = check_order", "A `fn(&Struct) -> Result<(), impl Display>` that refuses bad arguments."),
        opt("struct_name", Takes::Path, "struct_name = EmailJob", "The name of the invocation struct, instead of the fn's in `PascalCase`."),
        opt("derive", Takes::List, "derive(Debug, Clone)", "Derives on the invocation struct."),
        opt("crate", Takes::Path, "crate = ::ratchet", "Where the runtime is, if the dependency is renamed."),
    ],
    foreign: &[
        ("retries", "max_retries"), ("max_attempts", "max_retries"), ("attempts", "max_retries"),
        ("retry", "max_retries"), ("max_tries", "max_retries"), ("tries", "max_retries"),
        ("retry_backoff", "backoff"), ("retry_delay", "backoff"), ("retry_policy", "backoff"),
        ("unique", "business_key"), ("unique_key", "business_key"), ("job_key", "business_key"), ("dedupe", "idempotency_key"),
        ("schedule", "cron"), ("every", "cron"), ("recurring", "cron"), ("timezone", "tz"), ("zone", "tz"),
        ("rename", "name"), ("identifier", "name"), ("job_name", "name"), ("args", "struct_name"), ("channel_name", "queue"), ("topic", "queue"),
        ("on_error", "on_failure"), ("on_complete", "on_success"), ("run_in", "delay"), ("schedule_in", "delay"), ("after", "delay"),
        ("concurrency", "concurrency_limit"), ("max_concurrency", "concurrency_limit"), ("singleton", "single_instance"),
        ("exclusive", "single_instance"), ("spawn_blocking", "blocking"), ("sync", "blocking"), ("labels", "tags"), ("deadline", "timeout"), ("time_limit", "timeout"),
        ("soft_time_limit", "soft_timeout"), ("krate", "crate"),
    ],
    positional: "expected `option = value`; to set the job's name write `name = \"...\"`",
    repeatable: &["alias"],
};

/// The options as written. An invalid option is `None` or empty here.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) krate: Krate,
    pub(crate) name: Option<Value<String>>,
    pub(crate) aliases: Vec<Value<String>>,
    pub(crate) version: Option<Value<u32>>,
    pub(crate) queue: Option<Value<String>>,
    pub(crate) priority: Option<Priority>,
    pub(crate) max_retries: Option<Value<u32>>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) timeout: Option<Value<Duration>>,
    pub(crate) soft_timeout: Option<Value<Duration>>,
    pub(crate) delay: Option<Value<Duration>>,
    pub(crate) business_key: Option<Template>,
    pub(crate) idempotency_key: Option<Template>,
    pub(crate) concurrency_key: Option<Template>,
    pub(crate) concurrency_limit: Option<Value<u32>>,
    pub(crate) single_instance: Option<Ident>,
    pub(crate) tags: Vec<Value<String>>,
    pub(crate) cron: Option<Value<String>>,
    pub(crate) tz: Option<Value<String>>,
    pub(crate) on_success: Option<Path>,
    pub(crate) on_failure: Option<Path>,
    pub(crate) panic_to_dlq: Option<bool>,
    pub(crate) blocking: Option<Ident>,
    pub(crate) validate: Option<Path>,
    pub(crate) struct_name: Option<Ident>,
    pub(crate) derive: Option<TokenStream>,
    /// Every key that was written, valid or not. Used for completion.
    pub(crate) keys: Vec<Ident>,
}

/// The value of `priority`: `priority = high`, or a constant.
pub(crate) enum Priority {
    /// A variant of `Priority`.
    Level(&'static str),
    Constant(Expr),
}

const LEVELS: [(&str, &str); 5] = [
    ("lowest", "Lowest"),
    ("low", "Low"),
    ("normal", "Normal"),
    ("high", "High"),
    ("critical", "Critical"),
];

impl Options {
    pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let read = entries::read(&OPTIONS, tokens, errors);
        let mut options = Self { keys: read.keys, ..Self::default() };
        for entry in &read.entries {
            options.set(entry, errors);
        }
        options
    }

    fn set(&mut self, entry: &Entry, errors: &mut Errors) {
        match entry.option.key {
            "name" => self.name = values::name("a job's", entry, errors),
            "alias" => self.aliases.extend(values::name("a job's", entry, errors)),
            "version" => self.version = values::number(entry, &VERSION, errors),
            "queue" => self.queue = values::name("a queue's", entry, errors),
            "priority" => self.priority = priority(entry, errors),
            "max_retries" => self.max_retries = values::number(entry, &RETRIES, errors),
            "backoff" => self.backoff = Backoff::read(entry, errors),
            "timeout" => self.timeout = positive(entry, errors),
            "soft_timeout" => self.soft_timeout = positive(entry, errors),
            "delay" => self.delay = values::duration(entry, errors),
            "business_key" => self.business_key = Template::read(entry, errors),
            "idempotency_key" => self.idempotency_key = Template::read(entry, errors),
            "concurrency_key" => self.concurrency_key = Template::read(entry, errors),
            "concurrency_limit" => self.concurrency_limit = values::number(entry, &LIMIT, errors),
            "single_instance" => self.single_instance = Some(entry.key.clone()),
            "tags" => self.tags = values::list(entry, errors),
            "cron" => self.cron = values::cron(entry, errors),
            "tz" => self.tz = values::zone(entry, errors),
            "on_success" => self.on_success = callback(entry, errors),
            "on_failure" => self.on_failure = callback(entry, errors),
            "panic" => {
                self.panic_to_dlq =
                    values::one_of(entry, &["retry", "dlq"], errors).map(|i| i == 1);
            }
            "blocking" => self.blocking = Some(entry.key.clone()),
            "validate" => self.validate = path(entry, errors),
            "struct_name" => self.struct_name = ident(entry, errors),
            "derive" => {
                if let Given::List(list) = &entry.given {
                    self.derive = Some(list.clone());
                }
            }
            "crate" => {
                if let Some(value) = values::value(entry) {
                    self.krate = Krate::read(value, errors);
                }
            }
            key => errors.push(
                &entry.key,
                format_args!("bug in ratchet: option `{key}` is in the table but not read"),
            ),
        }
    }
}

const VERSION: Range = Range { of: 1..=u32::MAX, rule: "`version` must be at least 1" };
const RETRIES: Range = Range { of: 0..=1000, rule: "`max_retries` must be between 0 and 1000" };
const LIMIT: Range = Range { of: 1..=u32::MAX, rule: "`concurrency_limit` must be at least 1" };

fn positive(entry: &Entry, errors: &mut Errors) -> Option<Value<Duration>> {
    let value = values::duration(entry, errors)?;
    if value.literal().is_some_and(Duration::is_zero) {
        errors.push(&value, format_args!("`{}` must be longer than zero", entry.option.key));
        return None;
    }
    Some(value)
}

fn priority(entry: &Entry, errors: &mut Errors) -> Option<Priority> {
    let value = values::value(entry)?;
    let words = LEVELS.map(|(word, _)| word);
    if let Expr::Path(path) = value {
        let constant = path.path.segments.len() > 1
            || path
                .path
                .get_ident()
                .is_some_and(|word| word.to_string().chars().all(|c| !c.is_lowercase()));
        if constant {
            return Some(Priority::Constant(value.clone()));
        }
    }
    let given = values::word("priority", value, &words, errors)?;
    LEVELS.iter().find(|(word, _)| *word == given).map(|(_, variant)| Priority::Level(variant))
}

/// Parses a callback. It must name the job's struct; a lower-case name is assumed to be the function.
fn callback(entry: &Entry, errors: &mut Errors) -> Option<Path> {
    let path = path(entry, errors)?;
    let name = path.segments.last().map(|segment| idents::plain(&segment.ident))?;
    if name.starts_with(char::is_lowercase) {
        let (key, meant) = (entry.option.key, idents::pascal_case(&name));
        errors.push(
            &path,
            format_args!("`{key}` names the struct of a job; did you mean `{meant}`?"),
        );
        return None;
    }
    Some(path)
}

fn path(entry: &Entry, errors: &mut Errors) -> Option<Path> {
    match values::value(entry)? {
        Expr::Path(path) if path.qself.is_none() => Some(path.path.clone()),
        value => {
            let Opt { example, .. } = entry.option;
            let what = match entry.option.key {
                "validate" => "the path of a function",
                _ => "the struct of a job",
            };
            errors.push(value, format_args!("expected {what}, `{example}`"));
            None
        }
    }
}

fn ident(entry: &Entry, errors: &mut Errors) -> Option<Ident> {
    let value = values::value(entry)?;
    let ident = match value {
        Expr::Path(path) => path.path.get_ident().cloned(),
        _ => None,
    };
    if ident.is_none() {
        let text = idents::text(value.to_token_stream());
        let bare = text.trim_matches('"');
        let shown = if syn::parse_str::<Ident>(bare).is_ok() { bare } else { "EmailJob" };
        errors.push(value, format_args!("expected a bare name, `struct_name = {shown}`"));
    }
    ident
}
