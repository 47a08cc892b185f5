//! Serializes the claims of one process.
//!
//! Two overlapping claims skip each other's locked jobs one by one, which costs the server more than it gains from
//! running both at once. Therefore the next claim waits, with its connection already acquired, and is sent as soon as
//! the previous answer arrives, before that answer is read.

use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

/// How long a claim waits for its turn. A claim that is stuck must not block the next ones.
const MAX_WAIT: Duration = Duration::from_millis(20);

/// The lock that claims of this process take in turn.
#[derive(Debug, Default)]
pub(crate) struct ClaimTurnstile(Mutex<()>);

impl ClaimTurnstile {
    /// Waits for a turn in first-come order, at most `MAX_WAIT`.
    pub(crate) async fn wait(&self) -> Turn<'_> {
        Turn(tokio::time::timeout(MAX_WAIT, self.0.lock()).await.ok())
    }
}

/// A turn, or `None` inside if the wait timed out.
#[derive(Debug)]
pub(crate) struct Turn<'a>(Option<MutexGuard<'a, ()>>);

impl Turn<'_> {
    /// Ends the turn when the answer has arrived, and lets the next claim run first.
    pub(crate) async fn over(self) {
        if self.0.is_some() {
            drop(self);
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn who_waits_goes_before_the_answer_is_read() {
        let (turns, said) =
            (Arc::new(ClaimTurnstile::default()), Arc::new(std::sync::Mutex::new(Vec::new())));
        let say = |what| said.lock().expect("no panic").push(what);
        let turn = turns.wait().await;
        let next = tokio::spawn({
            let (turns, said) = (Arc::clone(&turns), Arc::clone(&said));
            async move {
                let _turn = turns.wait().await;
                said.lock().expect("no panic").push("asked");
            }
        });
        tokio::task::yield_now().await;
        say("answered");
        turn.over().await;
        say("read");
        next.await.expect("no panic");
        assert_eq!(*said.lock().expect("no panic"), ["answered", "asked", "read"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_does_not_end_is_not_waited_for() {
        let turns = ClaimTurnstile::default();
        let held = turns.wait().await;
        let before = tokio::time::Instant::now();
        assert!(turns.wait().await.0.is_none());
        assert_eq!(before.elapsed(), MAX_WAIT);
        held.over().await;
        assert!(turns.wait().await.0.is_some());
    }
}
