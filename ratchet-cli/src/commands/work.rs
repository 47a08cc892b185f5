//! `work`: runs a worker of the program.

use std::io::IsTerminal;
use std::net::SocketAddr;

use ratchet_core::{Builder, HealthServer, RunMode, Stopped};
use tracing_subscriber::EnvFilter;

use super::{Session, read};
use crate::args::Work;
use crate::exit::Failure;
use crate::output::text::{count, printable};

/// Applies the options of the command line, which take precedence over the environment and the program.
pub(crate) fn configure(builder: Builder, work: &Work) -> Result<Builder, Failure> {
    let max_time = work.max_time.as_deref().map(read::duration).transpose()?;
    Ok(builder.config(|config| {
        if !work.queues.is_empty() {
            config.only_queues = work.queues.iter().cloned().collect();
            config.except_queues.clear();
        }
        if !work.except_queues.is_empty() {
            config.except_queues = work.except_queues.iter().cloned().collect();
            config.only_queues.clear();
        }
        if let Some(concurrency) = work.concurrency {
            config.concurrency = concurrency;
        }
        if work.once {
            config.run = RunMode::Once;
        }
        if work.drain {
            config.run = RunMode::Drain;
        }
        config.max_jobs = work.max_jobs.or(config.max_jobs);
        config.max_time = max_time.or(config.max_time);
    }))
}

/// Logs to standard error, unless the program has installed a subscriber of its own. Must be called before the settings
/// are read, so that warnings about them are logged.
pub(crate) fn log() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let _ = subscriber.with_ansi(std::io::stderr().is_terminal()).try_init();
}

/// Runs a worker until a signal arrives or its mode ends it, and prints what it did.
pub(super) async fn run(session: &Session, work: &Work) -> Result<(), Failure> {
    eprintln!("working on {}", session.selected.target);
    let worker = session.ratchet.start().await?;
    eprintln!("serving {}", worker.queues().join(", "));
    let health = work.health.map(|address| listen(session, address)).transpose()?;
    worker.run_until_signal().await?;
    drop(health);
    let stats = worker.stats();
    eprintln!(
        "claimed {}, succeeded {}, retried {}, failed {}, deferred {}, returned {}",
        count(stats.claimed),
        count(stats.succeeded),
        count(stats.retried),
        count(stats.failed),
        count(stats.deferred),
        count(stats.released),
    );
    match worker.stopped().await {
        Stopped::Died(died) => Err(Failure::refused(died.to_string())),
        Stopped::ByOperator(request) => {
            eprintln!("stopped at the request of {}", printable(&request.to_string()));
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Serves probes and metrics.
fn listen(session: &Session, address: SocketAddr) -> Result<HealthServer, Failure> {
    let health = session.ratchet.serve_health(address);
    let health =
        health.map_err(|error| Failure::refused(format!("cannot listen at {address}: {error}")))?;
    eprintln!("health and metrics at http://{}/", health.addr());
    Ok(health)
}
