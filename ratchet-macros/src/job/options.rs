//! The options of `#[job(…)]`, as a table. Parsing, suggestions, completion and the manual are derived from it.

use std::time::Duration;

use darling::FromMeta;
use darling::util::Flag;
use proc_macro2::TokenStream;
use syn::Ident;
use syn::ext::IdentExt;

use crate::diag::Errors;
use crate::entries;
use crate::krate::Krate;
use crate::table::{Opt, Table, Takes};
use crate::values::{
    AfterFailure, Backoff, Cron, Derives, FnPath, JobPath, Name, OnConflict, OnFull, OnPanic,
    Overlap, Priority, StructName, Tags, Template, Trace, Upgrades, Value, Within, Word, Zone,
};

const fn opt(key: &'static str, takes: Takes, example: &'static str, help: &'static str) -> Opt {
    Opt { key, takes, example, help }
}

#[rustfmt::skip]
pub(crate) const OPTIONS: Table = Table {
    attribute: "job",
    options: &[
        opt("name", Takes::Text, r#"name = "send_email""#, "The stored name, instead of `<package>.<fn>`."),
        opt("alias", Takes::Text, r#"alias = "old_name""#, "An older name that still reaches this job: a former name of the function, or a full name with its package. Repeat it for several."),
        opt("version", Takes::Number, "version = 2", "The version of the arguments' shape; 1 unless given."),
        opt("upgrade", Takes::List, "upgrade(1 => from_v1)", "Functions from the arguments of older versions to the present ones, one for each version."),
        opt("oldest", Takes::Number, "oldest = 2", "The oldest version that `upgrade` reads; 1 unless given."),
        opt("queue", Takes::Text, r#"queue = "mail""#, "The queue; `default` unless given."),
        opt("priority", Takes::Word, "priority = high", "`lowest`, `low`, `normal`, `high` or `critical`."),
        opt("max_retries", Takes::Number, "max_retries = 5", "How often a failed run is tried again; 0 means one run."),
        opt("backoff", Takes::Value, r#"backoff = exponential("1s", max = "30s")"#, "The wait between attempts: `none`, `fixed`, `linear` or `exponential`."),
        opt("timeout", Takes::Duration, r#"timeout = "30s""#, "The longest a run may take; 30 minutes unless given."),
        opt("soft_timeout", Takes::Duration, r#"soft_timeout = "20s""#, "When to warn that a run takes long; 80 % of the timeout unless given."),
        opt("delay", Takes::Duration, r#"delay = "5m""#, "How long a submitted job waits before its first run."),
        opt("expires_in", Takes::Duration, r#"expires_in = "1h""#, "How long after its submit the job is canceled unless it has started."),
        opt("retry_within", Takes::Duration, r#"retry_within = "2h""#, "How long after its submit a failed run may be retried; limited only by `max_retries` unless given."),
        opt("business_key", Takes::Text, r#"business_key = "order-{order_id}""#, "At most one live job holds this key."),
        opt("on_conflict", Takes::Word, "on_conflict = coalesce", "What a submit does if another job holds its `business_key`: `refuse` it, return the `existing` job, or `coalesce` with it."),
        opt("idempotency_key", Takes::Text, r#"idempotency_key = "order-{order_id}""#, "At most one job is ever made for this key."),
        opt("idempotency_within", Takes::Duration, r#"idempotency_within = "1h""#, "How long the `idempotency_key` is kept; permanently unless given."),
        opt("concurrency_key", Takes::Text, r#"concurrency_key = "customer-{customer_id}""#, "At most `concurrency_limit` jobs of this key run at once."),
        opt("concurrency_limit", Takes::Number, "concurrency_limit = 3", "How many jobs of one `concurrency_key` run at once in the cluster."),
        opt("single_instance", Takes::Flag, "single_instance", "One run at a time in the cluster, by `concurrency_key` or by the job's name."),
        opt("ordered_by", Takes::Text, r#"ordered_by = "customer-{customer_id}""#, "Jobs of this key run one at a time, in the order of their submits."),
        opt("after_failure", Takes::Word, "after_failure = skip", "What the next job of `ordered_by` does when one has failed: `hold` until it is retried or canceled, or `skip` it; `hold` unless given."),
        opt("accepts", Takes::Text, r#"accepts = "pages""#, "The pipeline whose hand-offs the job accepts: each runs it once, with a `HandedOff<…>` as its argument."),
        opt("backlog_limit", Takes::Number, "backlog_limit = 1000", "The backlog of the accepted pipeline from which jobs with `hands_off` wait or fail; unlimited unless given."),
        opt("hands_off", Takes::Text, r#"hands_off = "pages""#, "A pipeline whose `backlog_limit` the job observes when it hands off. Repeat it for several."),
        opt("on_full", Takes::Word, "on_full = fail", "What the job does if a pipeline of `hands_off` is full: `wait` before it runs, or run and let `ctx.hand_off` `fail`; `wait` unless given."),
        opt("tags", Takes::List, r#"tags("mail", "eu")"#, "Tags of every job of this kind."),
        opt("cron", Takes::Text, r#"cron = "0 3 * * *""#, "Runs by itself on this schedule."),
        opt("tz", Takes::Text, r#"tz = "Europe/Berlin""#, "The time zone of `cron`; UTC unless given."),
        opt("overlap", Takes::Word, "overlap = skip", "What happens if an occurrence falls due while an earlier job has not ended: `allow`, `skip` or `queue_one`."),
        opt("alert_after", Takes::Duration, r#"alert_after = "26h""#, "Records an alert if no job of the schedule has succeeded for this long."),
        opt("on_success", Takes::Path, "on_success = SendReceipt", "The job that runs when this one has succeeded."),
        opt("on_failure", Takes::Path, "on_failure = TellSupport", "The job that runs when this one has failed permanently."),
        opt("before", Takes::Path, "before = check_quota", "A function that is called before the handler; an error fails the attempt."),
        opt("after", Takes::Path, "after = count_run", "A function that is called after every run with its outcome."),
        opt("on_retry", Takes::Path, "on_retry = warn_support", "A function that is called after a failed attempt that is retried."),
        opt("panic", Takes::Text, r#"panic = "dlq""#, "What a panic does: \"retry\" or \"dlq\"."),
        opt("blocking", Takes::Flag, "blocking", "The function is a plain `fn` and may block its thread."),
        opt("strict", Takes::Flag, "strict", "Stored fields that no argument takes are an error instead of a warning."),
        opt("trace", Takes::Word, "trace = link", "How runs relate to the trace of the submit: `auto`, `parent`, `link` or `off`."),
        opt("encrypt", Takes::Flag, "encrypt", "Arguments, output, errors and logs are encrypted. The runtime needs a keyring with an encryption key."),
        opt("implements", Takes::Path, "implements = shop_api::SendEmail", "The function implements this job, which another crate declares without a body."),
        opt("validate", Takes::Path, "validate = check_order", "A `fn(&Struct) -> Result<(), impl Display>` that refuses bad arguments."),
        opt("struct_name", Takes::Path, "struct_name = EmailJob", "The name of the invocation struct, instead of the fn's in `PascalCase`."),
        opt("derive", Takes::List, "derive(Debug, Clone)", "Derives on the invocation struct."),
        opt("crate", Takes::Path, "crate = ::ratchet", "Where the runtime is, if the dependency is renamed."),
    ],
    foreign: &[
        ("retries", "max_retries"),
        ("retry", "max_retries"),
        ("retry_backoff", "backoff"), ("retry_delay", "backoff"), ("retry_policy", "backoff"),
        ("unique", "business_key"), ("unique_key", "business_key"), ("job_key", "business_key"), ("dedupe", "idempotency_key"),
        ("schedule", "cron"), ("every", "cron"), ("recurring", "cron"), ("timezone", "tz"), ("zone", "tz"),
        ("rename", "name"), ("identifier", "name"), ("job_name", "name"), ("args", "struct_name"), ("channel_name", "queue"), ("topic", "queue"),
        ("on_error", "on_failure"), ("on_complete", "on_success"), ("run_in", "delay"), ("schedule_in", "delay"), ("before_run", "before"), ("after_run", "after"),
        ("concurrency", "concurrency_limit"), ("max_concurrency", "concurrency_limit"), ("singleton", "single_instance"),
        ("exclusive", "single_instance"), ("spawn_blocking", "blocking"), ("sync", "blocking"), ("labels", "tags"), ("deadline", "timeout"), ("time_limit", "timeout"),
        ("soft_time_limit", "soft_timeout"), ("expires", "expires_in"), ("expire_after", "expires_in"), ("ttl", "expires_in"), ("retry_until", "retry_within"), ("retry_for", "retry_within"), ("krate", "crate"),
    ],
    elsewhere: &[
        ("max_attempts", "`max_retries` counts the runs after the first"), ("attempts", "`max_retries` counts the runs after the first"),
        ("max_tries", "`max_retries` counts the runs after the first"), ("tries", "`max_retries` counts the runs after the first"),
        ("rate", "a rate limit is a rule of the queue: set it where the runtime is built with `.queue(\"mail\", |queue| queue.rate(…))`, or `rate_per_key(…)` for each `concurrency_key`, and name the queue here"),
        ("rate_limit", "a rate limit is a rule of the queue: set it where the runtime is built with `.queue(\"mail\", |queue| queue.rate(…))`, or `rate_per_key(…)` for each `concurrency_key`, and name the queue here"),
        ("throttle", "a rate limit is a rule of the queue: set it where the runtime is built with `.queue(\"mail\", |queue| queue.rate(…))`, or `rate_per_key(…)` for each `concurrency_key`, and name the queue here"),
        ("tenant", "the tenant belongs to one invocation: set it where the job is enqueued"),
        ("depends_on", "the order of jobs belongs to a chain or workflow: set it where the job is enqueued"),
    ],
    positional: "expected `option = value`; to set the job's name write `name = \"...\"`",
    repeatable: &["alias", "hands_off"],
};

/// The options as written. An invalid option is `None` or empty here.
#[derive(Clone, Default, FromMeta)]
#[darling(default)]
pub(crate) struct Options {
    #[darling(rename = "crate")]
    pub(crate) krate: Krate,
    pub(crate) name: Option<Value<Name>>,
    #[darling(multiple, rename = "alias")]
    pub(crate) aliases: Vec<Value<Name>>,
    pub(crate) version: Option<Value<Within<1, { u32::MAX }>>>,
    pub(crate) upgrade: Upgrades,
    pub(crate) oldest: Option<Value<Within<1, { u32::MAX }>>>,
    pub(crate) queue: Option<Value<Name>>,
    pub(crate) priority: Option<Word<Priority>>,
    pub(crate) max_retries: Option<Value<Within<0, 1000>>>,
    pub(crate) backoff: Option<Backoff>,
    pub(crate) timeout: Option<Value<Duration>>,
    pub(crate) soft_timeout: Option<Value<Duration>>,
    pub(crate) delay: Option<Value<Duration>>,
    pub(crate) expires_in: Option<Value<Duration>>,
    pub(crate) retry_within: Option<Value<Duration>>,
    pub(crate) business_key: Option<Template>,
    pub(crate) on_conflict: Option<Word<OnConflict>>,
    pub(crate) idempotency_key: Option<Template>,
    pub(crate) idempotency_within: Option<Value<Duration>>,
    pub(crate) concurrency_key: Option<Template>,
    pub(crate) concurrency_limit: Option<Value<Within<1, { u32::MAX }>>>,
    pub(crate) single_instance: Flag,
    pub(crate) ordered_by: Option<Template>,
    pub(crate) after_failure: Option<Word<AfterFailure>>,
    pub(crate) accepts: Option<Value<Name>>,
    pub(crate) backlog_limit: Option<Value<Within<1, { u32::MAX }>>>,
    #[darling(multiple)]
    pub(crate) hands_off: Vec<Value<Name>>,
    pub(crate) on_full: Option<Word<OnFull>>,
    pub(crate) tags: Tags,
    pub(crate) cron: Option<Value<Cron>>,
    pub(crate) tz: Option<Value<Zone>>,
    pub(crate) overlap: Option<Word<Overlap>>,
    pub(crate) alert_after: Option<Value<Duration>>,
    pub(crate) on_success: Option<JobPath>,
    pub(crate) on_failure: Option<JobPath>,
    pub(crate) before: Option<FnPath>,
    pub(crate) after: Option<FnPath>,
    pub(crate) on_retry: Option<FnPath>,
    pub(crate) panic: Option<Word<OnPanic>>,
    pub(crate) blocking: Flag,
    pub(crate) strict: Flag,
    pub(crate) trace: Option<Word<Trace>>,
    pub(crate) encrypt: Flag,
    pub(crate) implements: Option<JobPath>,
    pub(crate) validate: Option<FnPath>,
    pub(crate) struct_name: Option<StructName>,
    pub(crate) derive: Derives,
    /// Every key that was written, valid or not. Used for completion.
    #[darling(skip)]
    pub(crate) keys: Vec<Ident>,
}

impl Options {
    pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let read = entries::read(&OPTIONS, tokens, errors);
        let options = read.options(errors);
        Self { keys: read.keys, ..options }
    }

    /// Adds the options of the `#[jobs]` block. Those of the method take precedence.
    pub(crate) fn or(mut self, block: &Self) -> Self {
        let never_retried = self.max_retries.as_ref().and_then(Value::literal) == Some(&Within(0));
        let block = block.clone();
        self.krate = self.krate.or(&block.krate);
        self.queue = self.queue.or(block.queue);
        self.priority = self.priority.or(block.priority);
        self.max_retries = self.max_retries.or(block.max_retries);
        self.backoff = self.backoff.or(block.backoff.filter(|_| !never_retried));
        self.timeout = self.timeout.or(block.timeout);
        self.soft_timeout = self.soft_timeout.or(block.soft_timeout);
        self.delay = self.delay.or(block.delay.filter(|_| self.cron.is_none()));
        self.expires_in = self.expires_in.or(block.expires_in);
        self.retry_within = self.retry_within.or(block.retry_within.filter(|_| !never_retried));
        self.panic = self.panic.or(block.panic);
        self.trace = self.trace.or(block.trace);
        self.tags = self.tags.or(block.tags);
        self.derive = self.derive.or(block.derive);
        self
    }

    /// Returns whether the option was written, even with a value that was rejected.
    pub(crate) fn written(&self, key: &str) -> bool {
        self.keys.iter().any(|written| written.unraw() == key)
    }
}
