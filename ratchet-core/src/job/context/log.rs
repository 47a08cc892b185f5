//! The log lines of a run.

use super::JobContext;
use ratchet_store::model::{LogLevel, LogLine, Protection};

impl JobContext {
    /// Logs a line that is stored with the job.
    ///
    /// The line is also a [`tracing`] event with the target `ratchet::job` and the fields `job.id`, `job.name` and
    /// `attempt`.
    ///
    /// The line passes the [sanitizer](crate::ErrorSanitizer), and secrets of the run are replaced. A line longer than [`limits::LOG_LINE`](ratchet_store::model::limits::LOG_LINE) is truncated. After
    /// [`limits::LOG`](ratchet_store::model::limits::LOG) bytes in one run, further lines are dropped with a warning on the
    /// job.
    pub fn log(&self, level: LogLevel, message: impl Into<String>) {
        let message = self.sanitized(&message.into());
        self.trace(level, &message);
        let line = LogLine { after: self.elapsed(), level, message, run: self.run.job.run };
        self.note("log line", |recorded| recorded.log(line));
    }

    /// Returns the lines that this run has logged and that are not stored yet, for unit tests of the bare function.
    pub fn logged(&self) -> Vec<LogLine> {
        self.recorded().notes.logs.clone()
    }

    /// Publishes a log line as a `tracing` event.
    fn trace(&self, level: LogLevel, message: &str) {
        // The log of the process is not encrypted.
        let confidential = self.run.job.spec.protection == Protection::Confidential;
        let message = if confidential { "[confidential]" } else { message };
        macro_rules! event {
            ($level:ident) => {
                tracing::event!(target: "ratchet::job", tracing::Level::$level, job.id = %self.job_id(), job.name = %self.job_name(), attempt = self.attempt(), "{message}")
            };
        }
        match level {
            LogLevel::Debug => event!(DEBUG),
            LogLevel::Info => event!(INFO),
            LogLevel::Warn => event!(WARN),
            LogLevel::Error => event!(ERROR),
        }
    }

    /// Logs a line at level debug.
    pub fn debug(&self, message: impl Into<String>) {
        self.log(LogLevel::Debug, message);
    }

    /// Logs a line at level info.
    pub fn info(&self, message: impl Into<String>) {
        self.log(LogLevel::Info, message);
    }

    /// Logs a line at level warn.
    pub fn warn(&self, message: impl Into<String>) {
        self.log(LogLevel::Warn, message);
    }

    /// Logs a line at level error. The run continues; return an error to fail it.
    pub fn error(&self, message: impl Into<String>) {
        self.log(LogLevel::Error, message);
    }
}
