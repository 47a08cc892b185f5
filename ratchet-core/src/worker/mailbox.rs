//! [`Mailbox`]: messages to the claim loop, which does not wake it for every message.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::app_check::AppCheck;
use super::attempt::AttemptResult;
use ratchet_store::model::Token;

/// A message to the claim loop.
#[derive(Debug)]
pub(super) enum Message {
    /// A run ended.
    Ended { token: Token, ended: AttemptResult },
    /// The thread of a handler that was given up is free again.
    ThreadExited(Token),
    /// The job of a run was canceled, or its token is no longer current.
    Cancel(Token),
    /// The lease may expire: stop claiming and return all running jobs.
    Fence,
    /// The lease was renewed: claim again.
    Unfence,
    /// An operator requests that the node claims no jobs.
    Quiet,
    /// The operator has withdrawn that request.
    Resume,
    /// The health checks were run: nothing may be claimed from the `closed` queues. Check requests up to number `seen`
    /// are done.
    Health { closed: BTreeSet<String>, seen: u64, results: Vec<AppCheck> },
    /// The first sweep was done.
    Swept,
    /// Stop gracefully.
    Stop,
    /// Stop immediately.
    StopNow,
}

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
