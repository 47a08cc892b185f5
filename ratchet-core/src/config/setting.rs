//! [`Setting`]: the table of all settings, from which the environment is read and the documentation is checked.

use std::fmt;

use super::Config;
use super::value::SettingValue;

/// One row of the table of settings, see [`Config::settings`].
///
/// ```
/// # mod ratchet { pub use ratchet_core as runtime; }
/// use ratchet::runtime::Config;
///
/// let mut config = Config::default();
/// config.concurrency = 8;
/// let concurrency = Config::settings().iter().find(|setting| setting.name == "concurrency");
/// let concurrency = concurrency.expect("it is a setting");
/// assert_eq!(concurrency.env, "RATCHET_CONCURRENCY");
/// assert_eq!(concurrency.value(&config), "8");
/// println!("{} must be {}", concurrency.env, concurrency.expects);
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Setting {
    /// The name, which is also the method of the [`Builder`](crate::Builder) that sets it.
    pub name: &'static str,
    /// The environment variable that [`Config::from_env`] reads.
    pub env: &'static str,
    /// What the value of the environment variable must be.
    pub expects: &'static str,
    /// What the setting does.
    pub about: &'static str,
    pub(super) read: fn(&mut Config, &str) -> Option<()>,
    show: fn(&Config) -> String,
}

impl Setting {
    /// Returns the value in a configuration, as the environment would write it.
    pub fn value(&self, config: &Config) -> String {
        (self.show)(config)
    }
}

impl fmt::Debug for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Setting")
            .field("name", &self.name)
            .field("env", &self.env)
            .finish_non_exhaustive()
    }
}

/// Returns what a field expects.
const fn expects<T: SettingValue>(_: fn(&Config) -> &T) -> &'static str {
    T::EXPECTS
}

/// Builds a row from the field of the configuration.
macro_rules! setting {
    ($name:literal, $env:literal, $($field:ident).+, $about:literal) => {
        setting!($name, $env, $($field).+, $about, |_| {})
    };
    ($name:literal, $env:literal, $($field:ident).+, $about:literal, $then:expr) => {
        Setting {
            name: $name,
            env: $env,
            expects: expects(|config| &config.$($field).+),
            about: $about,
            read: |config, text| {
                config.$($field).+ = SettingValue::read(text)?;
                let then: fn(&mut Config) = $then;
                then(config);
                Some(())
            },
            show: |config| config.$($field).+.show(),
        }
    };
}

/// All settings that have an environment variable. The order matters: a later row may overwrite what an earlier one
/// has derived.
#[rustfmt::skip]
pub(super) const SETTINGS: &[Setting] = &[
    setting!("program", "RATCHET_PROGRAM", program, "The name of the program. What its code declares belongs to it. Default: the file name of the executable."),
    setting!("binary_version", "RATCHET_BINARY_VERSION", binary_version, "The version of the program, stored in the history. Default: the file name of the executable."),
    setting!("only_queues", "RATCHET_QUEUES", only_queues, "The only queues that a worker serves. Without it, a worker serves the queues of its jobs and the configured ones."),
    setting!("except_queues", "RATCHET_EXCEPT_QUEUES", except_queues, "Queues that a worker does not serve."),
    setting!("concurrency", "RATCHET_CONCURRENCY", concurrency, "How many jobs a worker runs at once over all queues."),
    setting!("run", "RATCHET_RUN", run, "When a worker stops by itself: never, when nothing is due (`drain`), or after one claim (`once`)."),
    setting!("max_jobs", "RATCHET_MAX_JOBS", max_jobs, "After how many jobs a worker stops by itself."),
    setting!("max_time", "RATCHET_MAX_TIME", max_time, "After what time a worker stops by itself."),
    setting!("shutdown_grace", "RATCHET_SHUTDOWN_GRACE", shutdown_grace, "How long runs may continue after the worker was stopped. Must be shorter than the time after which the supervisor kills the process (30 s in Kubernetes)."),
    setting!("cancel_grace", "RATCHET_CANCEL_GRACE", cancel_grace, "How long a canceled run may continue before its future is dropped."),
    setting!("default_queue", "RATCHET_DEFAULT_QUEUE", defaults.queue, "The queue of jobs that name none."),
    setting!("default_priority", "RATCHET_DEFAULT_PRIORITY", defaults.priority, "The priority of jobs that name none."),
    setting!("default_max_retries", "RATCHET_DEFAULT_MAX_RETRIES", defaults.max_retries, "How many times a failed run is retried, for jobs that do not say it."),
    setting!("default_backoff", "RATCHET_DEFAULT_BACKOFF", defaults.backoff, "The delay between attempts, for jobs that do not say it."),
    setting!("default_timeout", "RATCHET_DEFAULT_TIMEOUT", defaults.timeout, "The maximum duration of a run, for jobs that do not say it."),
    setting!("payload_limit", "RATCHET_PAYLOAD_LIMIT", payload_limit, "The maximum size of arguments, in bytes."),
    setting!("output_limit", "RATCHET_OUTPUT_LIMIT", output_limit, "The maximum size of a result, in bytes. Larger results are not kept."),
    setting!("keep_succeeded", "RATCHET_KEEP_SUCCEEDED", keep_succeeded, "How long succeeded jobs are kept."),
    setting!("keep_canceled", "RATCHET_KEEP_CANCELED", keep_canceled, "How long canceled jobs are kept."),
    setting!("keep_failed", "RATCHET_KEEP_FAILED", keep_failed, "How long failed jobs are kept."),
    setting!("archive_succeeded", "RATCHET_ARCHIVE_SUCCEEDED", archive_succeeded, "Whether succeeded jobs are archived after that instead of being deleted, and how long they stay in the archive."),
    setting!("archive_canceled", "RATCHET_ARCHIVE_CANCELED", archive_canceled, "Whether canceled jobs are archived after that instead of being deleted, and how long they stay in the archive."),
    setting!("archive_failed", "RATCHET_ARCHIVE_FAILED", archive_failed, "Whether failed jobs are archived after that instead of being deleted, and how long they stay in the archive."),
    setting!("purge_window", "RATCHET_PURGE_WINDOW", purge_window, "When old jobs are deleted and archived: for a time after each occurrence of a cron expression."),
    setting!("max_deferrals", "RATCHET_MAX_DEFERRALS", max_deferrals, "How many times a job may be deferred. One more deferral makes it a dead letter."),
    setting!("crash_limit", "RATCHET_CRASH_LIMIT", crash_limit, "How many crashes of its worker a job may cause. One more makes it a dead letter."),
    setting!("isolate_after_crashes", "RATCHET_ISOLATE_AFTER_CRASHES", isolate_after_crashes, "The number of crashes from which on a job runs isolated."),
    setting!("alert_window", "RATCHET_ALERT_WINDOW", alert_window, "How long further alerts of the same kind are suppressed."),
    setting!("boost", "RATCHET_BOOST", boost, "The waiting time that counts as one level of priority. Zero disables aging."),
    setting!("lease", "RATCHET_LEASE", lease, "How long a node's lease lasts without a heartbeat. Also sets `heartbeat` to a third of it.", |config| config.heartbeat = config.lease / 3),
    setting!("heartbeat", "RATCHET_HEARTBEAT", heartbeat, "The interval between heartbeats. At most half of the lease."),
    setting!("poll_interval", "RATCHET_POLL_INTERVAL", poll_interval, "The shortest and longest interval between polls of an idle worker that gets no wake-ups."),
    setting!("maintenance_interval", "RATCHET_MAINTENANCE_INTERVAL", maintenance_interval, "The interval between sweeps, which rescue orphans and fire schedules."),
    setting!("settle_delay", "RATCHET_SETTLE_DELAY", settle_delay, "How long a finished run waits for others, so that they are settled together."),
    setting!("max_batch", "RATCHET_MAX_BATCH", max_batch, "The maximum number of jobs in one round trip to the store."),
    setting!("runaway_after", "RATCHET_RUNAWAY_AFTER", runaway_after, "How long a dropped handler may still block its thread before it counts as a runaway."),
    setting!("stall_after", "RATCHET_STALL_AFTER", stall_after, "How long all handler threads may be stuck before the worker stops claiming."),
    setting!("delivery_hold", "RATCHET_DELIVERY_HOLD", delivery_hold, "How long an unacknowledged delivery to a sink is held before it is retried."),
    setting!("health_every", "RATCHET_HEALTH_EVERY", health_every, "The interval between health checks while the worker is healthy."),
    setting!("health_retry", "RATCHET_HEALTH_RETRY", health_retry, "The interval between health checks while the worker is unhealthy."),
    setting!("health_timeout", "RATCHET_HEALTH_TIMEOUT", health_timeout, "The maximum duration of a health check before it counts as failed."),
    setting!("metering", "RATCHET_METERING", metering, "Whether the runs and submits of jobs are measured. See the page *Metrics* of the guide."),
    setting!("require_implementations", "RATCHET_REQUIRE_IMPLEMENTATIONS", require_implementations, "Whether a worker must not start if a declared job has no implementation in this program."),
];

impl Config {
    /// Returns the table of all settings that have an environment variable. The rest, such as the rules of queues and
    /// breakers, is set only in code.
    ///
    /// ```
    /// # mod ratchet { pub use ratchet_core as runtime; }
    /// use ratchet::runtime::Config;
    ///
    /// let config = Config::default();
    /// for setting in Config::settings() {
    ///     println!("{}={}", setting.env, setting.value(&config));
    /// }
    /// ```
    pub fn settings() -> &'static [Setting] {
        SETTINGS
    }
}
