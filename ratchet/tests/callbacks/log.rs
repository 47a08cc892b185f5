//! Collects the messages that are logged as warnings or errors.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

static LOGGED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// A subscriber that stores messages.
pub(crate) struct Log;

/// Returns the logged messages, without duplicates.
pub(crate) fn logged() -> Vec<String> {
    LOGGED.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        let text = format!("{}: {}", event.metadata().level(), message.0);
        LOGGED.lock().unwrap_or_else(PoisonError::into_inner).insert(text);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
