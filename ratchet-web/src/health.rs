//! Health checks and metrics.

use std::time::Duration;

use axum::http::StatusCode;

use crate::request::{Answer, Request, response};

const TEXT: &str = "text/plain; charset=utf-8";

/// Answers 200 while every worker of this process is live. Does not use the store.
pub(crate) async fn live(request: Request) -> Answer {
    Ok(answer(request.ratchet().liveness().ok))
}

/// Answers 200 while every worker of this process is ready. Without a worker, while the store can be read.
pub(crate) async fn ready(request: Request) -> Answer {
    /// The longest time that the store may take.
    const LONGEST: Duration = Duration::from_secs(5);
    let health = request.ratchet().readiness();
    let without_worker = health.problems.iter().any(|problem| problem.starts_with("no worker"));
    if health.ok || !without_worker {
        return Ok(answer(health.ok));
    }
    let store = request.ratchet().store();
    let readable = tokio::time::timeout(LONGEST, store.now()).await;
    Ok(answer(matches!(readable, Ok(Ok(_)))))
}

/// Says only whether the process is well, because anyone may request it.
fn answer(ok: bool) -> axum::http::Response<axum::body::Body> {
    match ok {
        true => response(StatusCode::OK, TEXT, "ok\n"),
        false => response(StatusCode::SERVICE_UNAVAILABLE, TEXT, "not ok\n"),
    }
}

/// Returns the metrics of this process in the text format of Prometheus.
pub(crate) async fn metrics(request: Request) -> Answer {
    request.sees_everything("metrics")?;
    if let Err(error) = request.ratchet().sample_metrics().await {
        tracing::warn!(%error, "metrics about the store were not sampled");
    }
    let text = request.ratchet().metrics().to_prometheus();
    Ok(response(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", text))
}
