//! Runs the health checks of the application. While one fails, nothing is claimed from the queues it guards.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use super::app_check::AppCheck;
use super::mailbox::Message;
use super::shared::Shared;
use crate::failure::{PanicReport, display};
use crate::runtime::HealthCheck;

/// Runs all checks periodically: more often while one fails, and immediately when a handler rejects a job.
pub(super) async fn run_health_checks(shared: Arc<Shared>) {
    let core = &shared.core;
    if core.checks.is_empty() {
        return shared.over.cancelled().await;
    }
    loop {
        let seen = shared.check_requests.load(Ordering::Acquire);
        let answers = tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            answers = ask_all(&shared) => answers,
        };
        let healthy = answers.iter().all(|(_, why)| why.is_none());
        let guards = |queue: &&String| {
            answers.iter().any(|(check, why)| why.is_some() && check.guards(queue))
        };
        let closed = shared.queues.iter().filter(guards).cloned().collect();
        let result = |(check, why): (&HealthCheck, Option<String>)| {
            let fails = |why| format!("health check `{}` fails: {why}", check.name);
            AppCheck { name: check.name.clone(), problem: why.map(fails) }
        };
        let results = answers.into_iter().map(result).collect();
        // The claim loop closes the queues and updates readiness together, so that a worker that is not ready claims
        // nothing.
        shared.send(Message::Health { closed, seen, results });
        let pause = if healthy { core.config.health_every } else { core.config.health_retry };
        tokio::select! {
            biased;
            () = shared.over.cancelled() => return,
            () = shared.check_requested.notified() => {}
            () = core.clock.sleep(pause) => {}
        }
    }
}

/// Runs all checks concurrently. Returns for each why it fails, or `None` if it passes.
async fn ask_all(shared: &Shared) -> Vec<(&HealthCheck, Option<String>)> {
    let checks = shared.core.checks.iter();
    let asked = checks.map(|check| async move { (check, ask(shared, check).await) });
    futures_util::future::join_all(asked).await
}

/// Runs a check. Returns why it fails, or `None` if it passes. Because it is user code that may panic or hang, it runs
/// on the handlers' runtime.
async fn ask(shared: &Shared, check: &HealthCheck) -> Option<String> {
    let (tell, answer) = oneshot::channel();
    let (run, panics) = (Arc::clone(&check.run), Arc::clone(&shared.core.panics));
    shared.spawn.handler(Box::pin(async move {
        let mut tell: oneshot::Sender<Option<String>> = tell;
        let checking = async {
            tokio::select! {
                biased;
                // The error is user code too, so it is formatted and dropped inside the panic guard.
                checked = run() => Some(checked.err().map(|error| display(&error))),
                // The caller has timed out. Drop the check, so that checks that hang do not accumulate.
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
            // The send fails if the caller has timed out.
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
