//! The claim loop's inbox: a bell that is not rung for every letter.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::shared::Message;

/// Messages on their way to the claim loop. The end of a run rings only when as many have come as the claim loop waits for: each time it
/// is woken for nothing costs more than a run.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    messages: Mutex<Vec<Message>>,
    /// How many ends are worth a turn of the claim loop.
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

    /// Everything that has come.
    pub(super) fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.messages())
    }

    /// Waits for a message that cannot wait, or for this many ends.
    pub(super) async fn wait_for(&self, ends: usize) {
        self.wake_threshold.store(ends, Ordering::SeqCst);
        // What has come in between was measured by another patience.
        if self.messages().len() < ends {
            self.notify.notified().await;
        }
    }
}
