//! Collects what the library logs. The collector is global, because the engine has its own thread.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex, OnceLock};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The events that were logged, one line each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Logs(Arc<Mutex<Vec<String>>>);

// Each test file uses only some of the methods.
#[allow(dead_code)]
impl Logs {
    /// Starts to collect, once per process.
    pub(crate) fn install() -> Self {
        static LOGS: OnceLock<Logs> = OnceLock::new();
        let start = || {
            let logs = Self::default();
            tracing::subscriber::set_global_default(logs.clone()).expect("no other collector");
            logs
        };
        LOGS.get_or_init(start).clone()
    }

    /// Returns the lines that contain this text.
    pub(crate) fn containing(&self, text: &str) -> Vec<String> {
        let lines = self.0.lock().expect("not poisoned");
        lines.iter().filter(|line| line.contains(text)).cloned().collect()
    }

    /// Returns the lines that contain all of these texts.
    pub(crate) fn containing_all(&self, texts: &[&str]) -> Vec<String> {
        let lines = self.0.lock().expect("not poisoned");
        lines.iter().filter(|line| texts.iter().all(|text| line.contains(text))).cloned().collect()
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Logs {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let mut line = Line(format!("{level} {target}:"));
        event.record(&mut line);
        self.0.lock().expect("not poisoned").push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
