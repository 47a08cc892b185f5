//! Listens for SIGTERM and SIGINT.

/// The number of a signal.
pub(super) type Signal = i32;

/// A listener for termination signals.
#[derive(Debug)]
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Starts to listen.
    pub(super) fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> Signal {
        use tokio::signal::unix::SignalKind;
        let kind = tokio::select! {
            _ = self.terminate.recv() => SignalKind::terminate(),
            _ = self.interrupt.recv() => SignalKind::interrupt(),
        };
        kind.as_raw_value()
    }
}

#[cfg(not(unix))]
impl Signals {
    /// The number that shells use for an interrupt.
    const INTERRUPT: Signal = 2;

    /// Does nothing; listening starts with the first call of [`Self::next`].
    pub(super) fn listen() -> std::io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> Signal {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Self::INTERRUPT
    }
}

/// Ends the process at the next signal.
///
/// A process that has listened for signals ignores them when it no longer listens. The listener has its own thread and
/// runtime, because the user's runtime may be waiting for a handler that does not return.
pub(super) fn exit_on_next() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _entered = runtime.enter();
        Signals::listen()?
    };
    let thread = std::thread::Builder::new().name("ratchet-signals".to_owned());
    thread.spawn(move || exit(runtime.block_on(signals.next())))?;
    Ok(())
}

/// Ends the process with the exit code that shells use for a signal.
#[allow(
    clippy::disallowed_methods,
    reason = "a signal ends the process; the signal handler has replaced the default"
)]
pub(super) fn exit(signal: Signal) -> ! {
    std::process::exit(128 + signal)
}
