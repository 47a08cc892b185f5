//! The options of the attributes as documented constants, so that editors can complete and describe them.
//!
//! This is a copy of the table in `ratchet-macros`. A test there compares the two, including the texts.

#![allow(non_upper_case_globals)]

/// The options of `#[job]`.
pub mod job {
    /// The stored name, instead of `<package>.<fn>`.
    ///
    /// `name = "send_email"`
    pub const name: () = ();

    /// An older name that still reaches this job: a former name of the function, or a full name with its package. Repeat it for several.
    ///
    /// `alias = "old_name"`
    pub const alias: () = ();

    /// The version of the arguments' shape; 1 unless given.
    ///
    /// `version = 2`
    pub const version: () = ();

    /// Functions from the arguments of older versions to the present ones, one for each version.
    ///
    /// `upgrade(1 => from_v1)`
    pub const upgrade: () = ();

    /// The oldest version that `upgrade` reads; 1 unless given.
    ///
    /// `oldest = 2`
    pub const oldest: () = ();

    /// The queue; `default` unless given.
    ///
    /// `queue = "mail"`
    pub const queue: () = ();

    /// `lowest`, `low`, `normal`, `high` or `critical`.
    ///
    /// `priority = high`
    pub const priority: () = ();

    /// How often a failed run is tried again; 0 means one run.
    ///
    /// `max_retries = 5`
    pub const max_retries: () = ();

    /// The wait between attempts: `none`, `fixed`, `linear` or `exponential`.
    ///
    /// `backoff = exponential("1s", max = "30s")`
    pub const backoff: () = ();

    /// The longest a run may take; 30 minutes unless given.
    ///
    /// `timeout = "30s"`
    pub const timeout: () = ();

    /// When to warn that a run takes long; 80 % of the timeout unless given.
    ///
    /// `soft_timeout = "20s"`
    pub const soft_timeout: () = ();

    /// How long a submitted job waits before its first run.
    ///
    /// `delay = "5m"`
    pub const delay: () = ();

    /// How long after its submit the job is canceled unless it has started.
    ///
    /// `expires_in = "1h"`
    pub const expires_in: () = ();

    /// How long after its submit a failed run may be retried; limited only by `max_retries` unless given.
    ///
    /// `retry_within = "2h"`
    pub const retry_within: () = ();

    /// At most one live job holds this key.
    ///
    /// `business_key = "order-{order_id}"`
    pub const business_key: () = ();

    /// What a submit does if another job holds its `business_key`: `refuse` it, return the `existing` job, or `coalesce` with it.
    ///
    /// `on_conflict = coalesce`
    pub const on_conflict: () = ();

    /// At most one job is ever made for this key.
    ///
    /// `idempotency_key = "order-{order_id}"`
    pub const idempotency_key: () = ();

    /// How long the `idempotency_key` is kept; permanently unless given.
    ///
    /// `idempotency_within = "1h"`
    pub const idempotency_within: () = ();

    /// At most `concurrency_limit` jobs of this key run at once.
    ///
    /// `concurrency_key = "customer-{customer_id}"`
    pub const concurrency_key: () = ();

    /// How many jobs of one `concurrency_key` run at once in the cluster.
    ///
    /// `concurrency_limit = 3`
    pub const concurrency_limit: () = ();

    /// One run at a time in the cluster, by `concurrency_key` or by the job's name.
    ///
    /// `single_instance`
    pub const single_instance: () = ();

    /// Jobs of this key run one at a time, in the order of their submits.
    ///
    /// `ordered_by = "customer-{customer_id}"`
    pub const ordered_by: () = ();

    /// What the next job of `ordered_by` does when one has failed: `hold` until it is retried or canceled, or `skip` it; `hold` unless given.
    ///
    /// `after_failure = skip`
    pub const after_failure: () = ();

    /// The pipeline whose hand-offs the job accepts: each runs it once, with a `HandedOff<…>` as its argument.
    ///
    /// `accepts = "pages"`
    pub const accepts: () = ();

    /// The backlog of the accepted pipeline from which jobs with `hands_off` wait or fail; unlimited unless given.
    ///
    /// `backlog_limit = 1000`
    pub const backlog_limit: () = ();

    /// A pipeline whose `backlog_limit` the job observes when it hands off. Repeat it for several.
    ///
    /// `hands_off = "pages"`
    pub const hands_off: () = ();

    /// What the job does if a pipeline of `hands_off` is full: `wait` before it runs, or run and let `ctx.hand_off` `fail`; `wait` unless given.
    ///
    /// `on_full = fail`
    pub const on_full: () = ();

    /// Tags of every job of this kind.
    ///
    /// `tags("mail", "eu")`
    pub const tags: () = ();

    /// Runs by itself on this schedule.
    ///
    /// `cron = "0 3 * * *"`
    pub const cron: () = ();

    /// The time zone of `cron`; UTC unless given.
    ///
    /// `tz = "Europe/Berlin"`
    pub const tz: () = ();

    /// What happens if an occurrence falls due while an earlier job has not ended: `allow`, `skip` or `queue_one`.
    ///
    /// `overlap = skip`
    pub const overlap: () = ();

    /// Records an alert if no job of the schedule has succeeded for this long.
    ///
    /// `alert_after = "26h"`
    pub const alert_after: () = ();

    /// The job that runs when this one has succeeded.
    ///
    /// `on_success = SendReceipt`
    pub const on_success: () = ();

    /// The job that runs when this one has failed permanently.
    ///
    /// `on_failure = TellSupport`
    pub const on_failure: () = ();

    /// A function that is called before the handler; an error fails the attempt.
    ///
    /// `before = check_quota`
    pub const before: () = ();

    /// A function that is called after every run with its outcome.
    ///
    /// `after = count_run`
    pub const after: () = ();

    /// A function that is called after a failed attempt that is retried.
    ///
    /// `on_retry = warn_support`
    pub const on_retry: () = ();

    /// What a panic does: "retry" or "dlq".
    ///
    /// `panic = "dlq"`
    pub const panic: () = ();

    /// The function is a plain `fn` and may block its thread.
    ///
    /// `blocking`
    pub const blocking: () = ();

    /// Stored fields that no argument takes are an error instead of a warning.
    ///
    /// `strict`
    pub const strict: () = ();

    /// How runs relate to the trace of the submit: `auto`, `parent`, `link` or `off`.
    ///
    /// `trace = link`
    pub const trace: () = ();

    /// Arguments, output, errors and logs are encrypted. The runtime needs a keyring with an encryption key.
    ///
    /// `encrypt`
    pub const encrypt: () = ();

    /// The function implements this job, which another crate declares without a body.
    ///
    /// `implements = shop_api::SendEmail`
    pub const implements: () = ();

    /// A `fn(&Struct) -> Result<(), impl Display>` that refuses bad arguments.
    ///
    /// `validate = check_order`
    pub const validate: () = ();

    /// The name of the invocation struct, instead of the fn's in `PascalCase`.
    ///
    /// `struct_name = EmailJob`
    pub const struct_name: () = ();

    /// Derives on the invocation struct.
    ///
    /// `derive(Debug, Clone)`
    pub const derive: () = ();
}
