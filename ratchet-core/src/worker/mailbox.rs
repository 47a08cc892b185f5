//! [`Mailbox`]: messages to the claim loop, which does not wake it for every message.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::shared::Message;

/// A queue of messages to the claim loop. The end of a run wakes the loop only when as many messages wait as it waits
/// for, because a needless wake-up costs more than a run.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    messages: Mutex<Vec<Message>>,
    /// How many messages must wait before the end of a run wakes the loop.
    wake_threshold: AtomicUsize,
    notify: Notify,
}

impl Mailbox {
    fn messages(&self) -> MutexGuard<'_, Vec<Message>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn send(&self, message: Message) {
        let can_wait = matches!(message, Message::Ended { .. });
        let waiting = {
            let mut messages = self.messages();
            messages.push(message);
            messages.len()
        };
        if !can_wait || waiting >= self.wake_threshold.load(Ordering::SeqCst) {
            self.notify.notify_one();
        }
    }

    /// Takes all messages.
    pub(super) fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.messages())
    }

    /// Waits for an urgent message, or until `ends` messages wait.
    pub(super) async fn wait_for(&self, ends: usize) {
        self.wake_threshold.store(ends, Ordering::SeqCst);
        // Messages that arrived before the store were compared with the old threshold.
        if self.messages().len() < ends {
            self.notify.notified().await;
        }
    }
}
