//! Group commit: concurrent submits share a commit, and each is answered when its own jobs are durable.
//!
//! A submit never waits for further submits. While one commit is in flight, new submits gather, and are then committed
//! together.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ratchet_store::model::{Inserted, NewJob};
use ratchet_store::{StoreError, StoreErrorKind};
use tokio::sync::oneshot;

use crate::error::store_error;
use crate::fault::Fault;
use crate::runtime::in_time;
use crate::store::Inner;

/// The submits that wait to be committed.
#[derive(Debug, Default)]
pub(crate) struct Group {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Whether a commit is in flight. Only one runs at a time: two would halve the batches, and the disk writes them
    /// one after the other anyway.
    busy: bool,
}

#[derive(Debug)]
struct Waiting {
    jobs: Vec<NewJob>,
    answer: oneshot::Sender<Answer>,
}

#[derive(Debug)]
enum Answer {
    Stored,
    Failed(StoreError),
    /// One submit of the batch was refused, so each must be tried by itself.
    Separately(Vec<NewJob>),
}

impl Group {
    /// A submit with more jobs than this gets a commit of its own.
    pub(crate) const MOST_JOBS: usize = 16;
    /// The most jobs in one commit.
    const FULL: usize = 512;

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a submit. Returns whether the caller must start the task that commits.
    fn add(&self, waiting: Waiting) -> bool {
        let mut state = self.state();
        state.waiting.push_back(waiting);
        !std::mem::replace(&mut state.busy, true)
    }

    /// Takes the submits of the next commit. If there are none, the committing task must end.
    fn next(&self) -> Vec<Waiting> {
        let mut state = self.state();
        let (mut next, mut jobs) = (Vec::new(), 0);
        while let Some(first) = state.waiting.front() {
            jobs += first.jobs.len();
            if jobs > Self::FULL && !next.is_empty() {
                break;
            }
            next.extend(state.waiting.pop_front());
        }
        state.busy = !next.is_empty();
        next
    }
}

/// Guards the committing task. If that task panics, all waiting submits fail and the next submit starts a new one.
struct Lead<'a> {
    group: &'a Group,
    over: bool,
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let mut state = self.group.state();
        state.busy = false;
        // This drops their reply channels, which fails the submits.
        state.waiting.clear();
    }
}

impl Inner {
    /// Inserts jobs without keys, in one commit with concurrent submits.
    pub(crate) async fn insert_together(
        self: &Arc<Self>,
        jobs: Vec<NewJob>,
    ) -> Result<Vec<Inserted>, Fault> {
        let created = jobs.iter().map(|job| Inserted::Created(job.id)).collect();
        let (answer, answered) = oneshot::channel();
        if self.group.add(Waiting { jobs, answer }) {
            // A separate task, because it may commit other submits after this one is answered.
            let inner = Arc::clone(self);
            tokio::spawn(async move { inner.lead_submits().await });
        }
        match answered.await {
            Ok(Answer::Stored) => Ok(created),
            Ok(Answer::Separately(jobs)) => self.insert_plain(&jobs).await,
            Ok(Answer::Failed(error)) => Err(Fault::Store(error)),
            Err(_) => {
                let why = "the submit was given up, and it is not known whether it was stored";
                Err(Fault::Store(StoreError::new(StoreErrorKind::Unavailable, why)))
            }
        }
    }

    /// Commits the waiting submits until there are none left.
    async fn lead_submits(&self) {
        let mut lead = Lead { group: &self.group, over: false };
        loop {
            let mut together = self.group.next();
            if together.is_empty() {
                lead.over = true;
                return;
            }
            let stored = async {
                let jobs: Vec<_> = together.iter().flat_map(|waiting| &waiting.jobs).collect();
                self.store_alone(jobs.into_iter()).await
            };
            // A server that is gone must not block the next submits forever.
            let stored = in_time(self.longest, &self.suspects, stored);
            let error = match stored.await {
                Ok(fresh) => {
                    self.announce(&fresh);
                    None
                }
                Err(Fault::Database(error)) => Some(store_error(error)),
                Err(fault) => Some(StoreError::from(fault)),
            };
            for Waiting { jobs, answer } in together.drain(..) {
                let refusal = match &error {
                    None => Answer::Stored,
                    // Invalid data in one submit must not fail the rest of the batch.
                    Some(error) if error.kind() == StoreErrorKind::Data => Answer::Separately(jobs),
                    Some(error) => Answer::Failed(StoreError::new(error.kind(), error.to_string())),
                };
                // If the receiver is gone, the caller dropped the submit. Its jobs are stored nevertheless.
                let _ = answer.send(refusal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting() -> (Waiting, oneshot::Receiver<Answer>) {
        let (answer, answered) = oneshot::channel();
        (Waiting { jobs: Vec::new(), answer }, answered)
    }

    #[test]
    fn s_13_a_lead_that_panics_leaves_no_submit_waiting() {
        let group = Group::default();
        let ((first, _), (second, mut answered)) = (waiting(), waiting());
        assert!(group.add(first), "the first one leads");
        let lead = std::panic::AssertUnwindSafe(|| {
            let _lead = Lead { group: &group, over: false };
            assert_eq!(group.next().len(), 1);
            assert!(!group.add(second), "the second one waits");
            panic!("on purpose");
        });
        std::panic::catch_unwind(lead).expect_err("it panics");
        assert!(matches!(answered.try_recv(), Err(oneshot::error::TryRecvError::Closed)));
        assert!(group.add(waiting().0), "the next one leads");
    }
}
