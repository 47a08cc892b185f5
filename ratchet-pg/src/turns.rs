//! The claims of one process take turns.
//!
//! Two that overlap pass over each other's jobs one by one, which costs the server more than it gains from doing both at
//! once. So the next one waits with its connection in hand, and goes when the one before is back, before that is even read.

use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};

/// For how long a claim waits for its turn: one that is held up must not hold up the others.
const PATIENCE: Duration = Duration::from_millis(20);

/// Whose turn it is.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<()>);

impl Turns {
    /// Waits for a turn, in the order of asking, but not for long.
    pub(crate) async fn wait(&self) -> Turn<'_> {
        Turn(tokio::time::timeout(PATIENCE, self.0.lock()).await.ok())
    }
}

/// A turn; none, if it took too long to come.
#[derive(Debug)]
pub(crate) struct Turn<'a>(Option<MutexGuard<'a, ()>>);

impl Turn<'_> {
    /// The answer is there: whoever waits goes first.
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
            (Arc::new(Turns::default()), Arc::new(std::sync::Mutex::new(Vec::new())));
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
        let turns = Turns::default();
        let held = turns.wait().await;
        let before = tokio::time::Instant::now();
        assert!(turns.wait().await.0.is_none());
        assert_eq!(before.elapsed(), PATIENCE);
        held.over().await;
        assert!(turns.wait().await.0.is_some());
    }
}
