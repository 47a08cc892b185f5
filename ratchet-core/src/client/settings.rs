//! The methods of [`Builder`] that set one setting each.

use std::time::Duration;

use super::Builder;
use crate::config::{ArchiveFor, PurgeWindow, RunMode};
use ratchet_store::model::{Backoff, Priority};

impl Builder {
    /// Sets the name of this program. By default the file name of the executable.
    ///
    /// What a program declares in its code, for example the schedules of `#[job(cron = "…")]`, belongs to the program:
    /// when its newest version no longer declares something, that is removed. Give two programs that share a store
    /// different names, and all versions of a program the same name.
    pub fn program(self, name: impl Into<String>) -> Self {
        self.config(|config| config.program = name.into())
    }

    /// Sets the version of this program, stored in the history. By default the file name of the executable.
    pub fn binary_version(self, version: impl Into<String>) -> Self {
        self.config(|config| config.binary_version = version.into())
    }

    /// Makes it an error to start a worker if a job that is declared without a body has no implementation in this
    /// program. By default the worker starts, does not run that job, and logs it.
    pub fn require_implementations(self) -> Self {
        self.config(|config| config.require_implementations = true)
    }

    /// Makes workers serve only these queues, instead of the queues of their jobs and the configured ones. Repeated
    /// calls add queues.
    pub fn only_queues(self, queues: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.config(|config| config.only_queues.extend(queues.into_iter().map(Into::into)))
    }

    /// Makes workers serve all queues except these. Repeated calls add queues.
    pub fn except_queues(self, queues: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.config(|config| config.except_queues.extend(queues.into_iter().map(Into::into)))
    }

    /// Sets when a worker stops by itself.
    pub fn run(self, mode: RunMode) -> Self {
        self.config(|config| config.run = mode)
    }

    /// Makes a worker stop by itself when no job is due that it could run: [`RunMode::Drain`].
    pub fn drain_and_exit(self) -> Self {
        self.run(RunMode::Drain)
    }

    /// Makes a worker claim once, at most this many jobs, and stop when they have ended: [`RunMode::Once`].
    pub fn run_once(self, jobs: u64) -> Self {
        self.run(RunMode::Once).max_jobs(jobs)
    }

    /// Sets the queue of jobs that name none.
    pub fn default_queue(self, queue: impl Into<String>) -> Self {
        self.config(|config| config.defaults.queue = queue.into())
    }

    /// Sets how long a node's lease lasts without a heartbeat. The heartbeat interval becomes a third of it.
    pub fn lease(self, lease: Duration) -> Self {
        self.config(|config| {
            config.lease = lease;
            config.heartbeat = lease / 3;
        })
    }

    /// Sets the shortest and the longest interval between polls of an idle worker that gets no wake-ups.
    pub fn poll_interval(self, shortest: Duration, longest: Duration) -> Self {
        self.config(|config| config.poll_interval = (shortest, longest))
    }

    /// Sets how many jobs a worker runs at once over all queues.
    pub fn concurrency(self, limit: u32) -> Self {
        self.config(|config| config.concurrency = limit)
    }

    /// Stops a worker by itself after this many jobs. It claims no more of them and lets its runs finish.
    pub fn max_jobs(self, jobs: u64) -> Self {
        self.config(|config| config.max_jobs = Some(jobs))
    }

    /// Stops a worker by itself after this time, like [`Worker::stop`](crate::Worker::stop).
    pub fn max_time(self, time: Duration) -> Self {
        self.config(|config| config.max_time = Some(time))
    }

    /// Sets how long a stopping worker lets its runs finish.
    pub fn shutdown_grace(self, grace: Duration) -> Self {
        self.config(|config| config.shutdown_grace = grace)
    }

    /// Sets how long a canceled run may continue before its future is dropped.
    pub fn cancel_grace(self, grace: Duration) -> Self {
        self.config(|config| config.cancel_grace = grace)
    }

    /// Sets the priority of jobs that name none.
    pub fn default_priority(self, priority: Priority) -> Self {
        self.config(|config| config.defaults.priority = priority)
    }

    /// Sets how many times a failed run is retried, for jobs that do not say it.
    pub fn default_max_retries(self, retries: u32) -> Self {
        self.config(|config| config.defaults.max_retries = retries)
    }

    /// Sets the delay between attempts, for jobs that do not say it.
    pub fn default_backoff(self, backoff: Backoff) -> Self {
        self.config(|config| config.defaults.backoff = backoff)
    }

    /// Sets the maximum duration of a run, for jobs that do not say it.
    pub fn default_timeout(self, timeout: Duration) -> Self {
        self.config(|config| config.defaults.timeout = timeout)
    }

    /// Sets the maximum size of arguments, in bytes.
    pub fn payload_limit(self, bytes: usize) -> Self {
        self.config(|config| config.payload_limit = bytes)
    }

    /// Sets the maximum size of a result, in bytes. Larger results are not kept.
    pub fn output_limit(self, bytes: usize) -> Self {
        self.config(|config| config.output_limit = bytes)
    }

    /// Sets how long succeeded jobs are kept; `None` means forever.
    pub fn keep_succeeded(self, age: impl Into<Option<Duration>>) -> Self {
        self.config(|config| config.keep_succeeded = age.into())
    }

    /// Sets how long canceled jobs are kept; `None` means forever.
    pub fn keep_canceled(self, age: impl Into<Option<Duration>>) -> Self {
        self.config(|config| config.keep_canceled = age.into())
    }

    /// Sets how long failed jobs are kept; `None` means forever.
    pub fn keep_failed(self, age: impl Into<Option<Duration>>) -> Self {
        self.config(|config| config.keep_failed = age.into())
    }

    /// Sets what becomes of succeeded jobs after their retention. By default they are deleted.
    pub fn archive_succeeded(self, archive: ArchiveFor) -> Self {
        self.config(|config| config.archive_succeeded = archive)
    }

    /// Sets what becomes of canceled jobs after their retention. By default they are deleted.
    pub fn archive_canceled(self, archive: ArchiveFor) -> Self {
        self.config(|config| config.archive_canceled = archive)
    }

    /// Sets what becomes of failed jobs after their retention. By default they are deleted.
    pub fn archive_failed(self, archive: ArchiveFor) -> Self {
        self.config(|config| config.archive_failed = archive)
    }

    /// Sets when old jobs are deleted and archived. By default they always are.
    pub fn purge_window(self, window: PurgeWindow) -> Self {
        self.config(|config| config.purge_window = Some(window))
    }

    /// Sets how many times a job may be deferred. One more deferral makes it a dead letter. There is no limit by
    /// default.
    pub fn max_deferrals(self, limit: u32) -> Self {
        self.config(|config| config.max_deferrals = Some(limit))
    }

    /// Sets how many crashes of its worker a job may cause. One more makes it a dead letter.
    pub fn crash_limit(self, limit: u32) -> Self {
        self.config(|config| config.crash_limit = limit)
    }

    /// Sets the number of crashes from which on a job runs isolated.
    pub fn isolate_after_crashes(self, crashes: u32) -> Self {
        self.config(|config| config.isolate_after_crashes = crashes)
    }

    /// Sets how long further alerts of the same kind are suppressed.
    pub fn alert_window(self, window: Duration) -> Self {
        self.config(|config| config.alert_window = window)
    }

    /// Sets the waiting time that counts as one level of priority, for queues without their own. Zero disables aging.
    pub fn boost(self, interval: Duration) -> Self {
        self.config(|config| config.boost = interval)
    }

    /// Sets the interval between heartbeats. Must be at most half of the lease, and must be set after it.
    pub fn heartbeat(self, interval: Duration) -> Self {
        self.config(|config| config.heartbeat = interval)
    }

    /// Sets the interval between sweeps, which rescue orphans and fire schedules.
    pub fn maintenance_interval(self, interval: Duration) -> Self {
        self.config(|config| config.maintenance_interval = interval)
    }

    /// Sets how long a finished run waits for others, so that they are settled together.
    pub fn settle_delay(self, delay: Duration) -> Self {
        self.config(|config| config.settle_delay = delay)
    }

    /// Sets the maximum number of jobs in one round trip to the store.
    pub fn max_batch(self, jobs: usize) -> Self {
        self.config(|config| config.max_batch = jobs)
    }

    /// Sets how long a dropped handler may still block its thread before it counts as a runaway.
    pub fn runaway_after(self, time: Duration) -> Self {
        self.config(|config| config.runaway_after = time)
    }

    /// Sets how long all handler threads may be stuck before the worker stops claiming.
    pub fn stall_after(self, time: Duration) -> Self {
        self.config(|config| config.stall_after = time)
    }

    /// Sets how long an unacknowledged delivery to a sink is held before it is retried.
    pub fn delivery_hold(self, time: Duration) -> Self {
        self.config(|config| config.delivery_hold = time)
    }

    /// Sets the interval between health checks while the worker is healthy.
    pub fn health_every(self, interval: Duration) -> Self {
        self.config(|config| config.health_every = interval)
    }

    /// Sets the interval between health checks while the worker is unhealthy.
    pub fn health_retry(self, interval: Duration) -> Self {
        self.config(|config| config.health_retry = interval)
    }

    /// Sets the maximum duration of a health check before it counts as failed.
    pub fn health_timeout(self, limit: Duration) -> Self {
        self.config(|config| config.health_timeout = limit)
    }

    /// Sets whether the runs and submits of jobs are measured, see [`Ratchet::metrics`](crate::Ratchet::metrics). By
    /// default they are.
    pub fn metering(self, on: bool) -> Self {
        self.config(|config| config.metering = on)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn s_12_every_setting_has_a_method_of_its_name() {
        let source = include_str!("settings.rs");
        for setting in Config::settings() {
            let method = format!("    pub fn {}(self", setting.name);
            assert!(source.contains(&method), "{setting:?}");
        }
    }
}
