//! [`RunMode`]: when a worker stops by itself.

/// When a worker stops by itself.
///
/// A worker that stops by itself runs one sweep first, which rescues orphans and fires schedules, and lets its runs
/// finish. [`Worker::stopped`](crate::Worker::stopped) tells why it has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum RunMode {
    /// Never: the worker runs until it is stopped.
    #[default]
    UntilStopped,
    /// When no job is due that the worker could run. Jobs that are due later, such as retries, stay in their queues.
    Drain,
    /// After one claim, of at most [`max_jobs`](crate::Config::max_jobs) jobs.
    Once,
}
