//! Health checks of the application: while one fails, nothing is claimed from the queues it guards.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use super::shared::{Message, Shared};
use super::sinks::SinkError;
use crate::failure::{PanicReport, display};

type Checking = Pin<Box<dyn Future<Output = Result<(), SinkError>> + Send>>;

/// A question to the application: can it work now?
#[derive(Clone)]
pub(crate) struct HealthCheck {
    name: String,
    /// The queues it guards; all of them if none are named.
    queues: BTreeSet<String>,
    run: Arc<dyn Fn() -> Checking + Send + Sync>,
}

impl HealthCheck {
    pub(crate) fn new<F, E>(
        name: String,
        queues: BTreeSet<String>,
        check: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<SinkError>,
    {
        let run = move || -> Checking {
            let checking = check();
            Box::pin(async move { checking.await.map_err(Into::into) })
        };
        Self { name, queues, run: Arc::new(run) }
    }

    pub(super) fn guards(&self, queue: &str) -> bool {
        self.queues.is_empty() || self.queues.contains(queue)
    }
}

impl fmt::Debug for HealthCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthCheck")
            .field("name", &self.name)
            .field("queues", &self.queues)
            .finish_non_exhaustive()
    }
}

/// Asks all checks again and again: more often while one fails, at once when a handler turned work away.
pub(super) async fn run_health_checks(shared: Arc<Shared>) {
    let core = &shared.core;
    if core.checks.is_empty() {
        return shared.over.cancelled().await;
    }
    loop {
        let seen = shared.check_requests.load(Ordering::Acquire);
        let failing = tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            failing = ask_all(&shared) => failing,
        };
        let healthy = failing.is_empty();
        let guards = |queue: &&String| failing.iter().any(|(check, _)| check.guards(queue));
        let closed = shared.queues.iter().filter(guards).cloned().collect();
        let problems = failing
            .into_iter()
            .map(|(check, why)| format!("health check `{}` fails: {why}", check.name));
        let problems = problems.collect();
        // The claim loop closes the queues and says so in one turn: what is not ready claims nothing.
        shared.send(Message::Health { closed, seen, problems });
        let pause = if healthy { core.config.health_every } else { core.config.health_retry };
        tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            () = shared.check_requested.notified() => {}
            () = core.clock.sleep(pause) => {}
        }
    }
}

/// The checks that fail, and why.
async fn ask_all(shared: &Shared) -> Vec<(&HealthCheck, String)> {
    let checks = shared.core.checks.iter();
    let asked = checks.map(|check| async move { Some((check, ask(shared, check).await?)) });
    futures_util::future::join_all(asked).await.into_iter().flatten().collect()
}

/// Why a check fails. It is the user's code: it runs where handlers run, and may panic or hang.
async fn ask(shared: &Shared, check: &HealthCheck) -> Option<String> {
    let (tell, answer) = oneshot::channel();
    let (run, panics) = (Arc::clone(&check.run), Arc::clone(&shared.core.panics));
    shared.spawn.handler(Box::pin(async move {
        let mut tell: oneshot::Sender<Option<String>> = tell;
        let checking = async {
            tokio::select! {
                biased;
                // Also the error is the user's: shown and dropped within the guard.
                checked = run() => Some(checked.err().map(|error| display(&error))),
                // Nobody waits any more. One that hangs must not pile up behind itself.
                () = tell.closed() => None,
            }
        };
        let problem = match AssertUnwindSafe(checking).catch_unwind().await {
            Ok(problem) => problem,
            Err(payload) => {
                panics.note("health check", &PanicReport::new(payload));
                Some(Some("it panicked".to_owned()))
            }
        };
        if let Some(problem) = problem {
            // Nobody waits any more: it took too long.
            let _ = tell.send(problem);
        }
    }));
    let limit = shared.core.config.health_timeout;
    tokio::select! {
        biased;
        answer = answer => answer.unwrap_or_else(|_| Some("it was dropped".to_owned())),
        () = shared.core.clock.sleep(limit) => Some(format!("no answer within {limit:?}")),
    }
}
