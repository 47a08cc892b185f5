//! Calls the handler of a job: catches panics, runs blocking functions on their own thread, and drops aborted futures.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use crate::failure::{
    JobError, KnownSecrets, PanicReport, catch_panic, drop_catching_panics, masking_panics,
};
use crate::job::JobContext;
use crate::job::{Returned, RunFuture, Work};
use crate::runtime::Core;
use crate::runtime::Spawn;
use crate::runtime::{HandlerFuture, Next};

/// How the handler ended.
#[derive(Debug)]
pub(super) enum HandlerExit {
    /// The handler returned a value or an error.
    Returned(Returned),
    /// The handler panicked.
    Panicked(PanicReport),
    /// The handler was stopped. `lingering` means that its thread is still running.
    Stopped { lingering: bool },
}

/// Receives a notification when a blocking thread that was given up has ended.
pub(crate) trait ThreadExit: Sync {
    /// Returns the function that the thread calls. Used only for blocking handlers.
    fn notifier(&self) -> Box<dyn FnOnce() + Send>;
}

/// Ignores the notification.
impl ThreadExit for () {
    fn notifier(&self) -> Box<dyn FnOnce() + Send> {
        Box::new(|| {})
    }
}

/// Runs the handler inside the middleware until it ends or is aborted.
pub(super) async fn call(
    core: &Core,
    ctx: &JobContext,
    spawn: &dyn Spawn,
    run: RunFuture,
    late: &dyn ThreadExit,
) -> HandlerExit {
    // Aborted while it waited for inputs or middleware. The handler must not be polled even once: its job may already
    // run elsewhere, and one poll may complete it.
    if ctx.stop_signal().is_aborted() {
        return HandlerExit::Stopped { lingering: false };
    }
    let (handler, blocking) = match run.work {
        Work::Async(future) => (future, None),
        Work::Blocking(call) => {
            let (future, thread) = on_thread(call, ctx, spawn, late.notifier());
            (future, Some(thread))
        }
    };
    let next = Next::new(core.middleware_of(ctx.queue()), ctx, handler);
    let secrets = ctx.secrets();
    let run = run_masking_panics(secrets.clone(), Box::pin(next.run()));
    let mut guarded_run = Box::pin(AssertUnwindSafe(run).catch_unwind());
    let ended = tokio::select! {
        biased;
        ended = &mut guarded_run => Some(ended),
        () = ctx.stop_signal().aborted() => None,
    };
    match ended {
        Some(Ok(returned)) => match blocking.map(|mut thread| thread.panic.try_recv()) {
            // A panic on the blocking thread arrives on its own channel. The future only sees that its channel was
            // closed.
            Some(Ok(panic)) => HandlerExit::Panicked(panic),
            _ => HandlerExit::Returned(returned),
        },
        Some(Err(payload)) => HandlerExit::Panicked(PanicReport::new(payload)),
        None => {
            // Dropping the future runs destructors of user code, which may panic as well.
            if let Some(panic) = masking_panics(&secrets, || drop_catching_panics(guarded_run)) {
                let panic = ctx.classifier().sanitized(panic);
                tracing::warn!(job.id = %ctx.job_id(), panic = %panic.message, "a handler panicked while it was dropped");
            }
            let lingering = blocking.is_some_and(|mut thread| thread.ended.try_recv().is_err());
            HandlerExit::Stopped { lingering }
        }
    }
}

/// A handler inside its middleware.
type Run<'a> = Pin<Box<dyn Future<Output = Returned> + Send + 'a>>;

/// Returns the future of a run that prints no secret when it panics.
fn run_masking_panics(secrets: KnownSecrets, mut run: Run<'_>) -> Run<'_> {
    if secrets.is_empty() {
        return run;
    }
    Box::pin(poll_fn(move |cx| masking_panics(&secrets, || run.as_mut().poll(cx))))
}

/// The channels from a blocking thread.
struct Thread {
    panic: oneshot::Receiver<PanicReport>,
    ended: oneshot::Receiver<()>,
}

/// Runs a blocking function on its own thread. Returns a future for its result.
fn on_thread(
    call: Box<dyn FnOnce() -> Returned + Send>,
    ctx: &JobContext,
    spawn: &dyn Spawn,
    on_late_end: Box<dyn FnOnce() + Send>,
) -> (HandlerFuture, Thread) {
    let (result_tx, result_rx) = oneshot::channel();
    let (panic_tx, panic_rx) = oneshot::channel();
    let (ended_tx, ended_rx) = oneshot::channel();
    let (ctx, span) = (ctx.clone(), tracing::Span::current());
    spawn.blocking(Box::new(move || {
        // The run may have been aborted while it waited for a thread. Then the function must not start.
        let outcome = if ctx.stop_signal().is_aborted() {
            Ok(Err(JobError::msg("the run was stopped before it began").into_handler_error()))
        } else {
            span.in_scope(|| masking_panics(&ctx.secrets(), || catch_panic(call)))
        };
        // Report the end first, then check for an abort. In this order, either `call` sees the end or this thread sees
        // the abort and sends the notification.
        let _ = ended_tx.send(());
        match outcome {
            Ok(returned) => drop(result_tx.send(returned)),
            Err(panic) => {
                let _ = panic_tx.send(panic);
                drop(result_tx);
            }
        }
        if ctx.stop_signal().is_aborted() {
            on_late_end();
        }
    }));
    let future: HandlerFuture =
        Box::pin(async move {
            match result_rx.await {
                Ok(returned) => returned,
                Err(_) => Err(JobError::msg("the blocking thread ended without a result")
                    .into_handler_error()),
            }
        });
    (future, Thread { panic: panic_rx, ended: ended_rx })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::job::Output;
    use crate::job::StopCause;
    use crate::runtime::SingleRuntime;

    // spec: P-03
    #[tokio::test]
    async fn run_that_was_called_off_does_not_start_its_handler() {
        for blocking in [false, true] {
            let (began, ctx) = (Arc::new(AtomicBool::new(false)), JobContext::for_test());
            ctx.stop_signal().abort(StopCause::Released);
            let begin = Arc::clone(&began);
            let play = move || {
                begin.store(true, Ordering::SeqCst);
                Ok(Output::Json(None))
            };
            let work = if blocking {
                Work::Blocking(Box::new(play))
            } else {
                Work::Async(Box::pin(async move { play() }))
            };
            let run = RunFuture { work };
            let end = call(&Core::for_test(), &ctx, &SingleRuntime, run, &()).await;
            assert!(matches!(end, HandlerExit::Stopped { lingering: false }));
            assert!(!began.load(Ordering::SeqCst));
        }
    }

    /// Simulates busy threads: work waits until the test runs it.
    #[derive(Default)]
    struct Busy(std::sync::Mutex<Vec<Box<dyn FnOnce() + Send>>>);

    impl std::fmt::Debug for Busy {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("Busy")
        }
    }

    impl Spawn for Busy {
        fn engine(
            &self,
            _: crate::runtime::Task,
            _: Option<tokio::runtime::Handle>,
        ) -> std::io::Result<()> {
            Ok(())
        }

        fn handler(&self, _: crate::runtime::Task) {}

        fn blocking(&self, work: Box<dyn FnOnce() + Send>) {
            self.0.lock().expect("lock").push(work);
        }
    }

    struct ExitFlag(Arc<AtomicBool>);

    impl ThreadExit for ExitFlag {
        fn notifier(&self) -> Box<dyn FnOnce() + Send> {
            let woken = Arc::clone(&self.0);
            Box::new(move || woken.store(true, Ordering::SeqCst))
        }
    }

    // spec: X-03
    #[tokio::test]
    async fn run_that_was_called_off_while_it_waited_for_a_thread_does_not_begin() {
        let (began, ended) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let begin = Arc::clone(&began);
        let work = Work::Blocking(Box::new(move || {
            begin.store(true, Ordering::SeqCst);
            Ok(Output::Json(None))
        }));
        let (core, ctx, threads) = (Core::for_test(), JobContext::for_test(), Busy::default());
        let late = ExitFlag(Arc::clone(&ended));
        let run = call(&core, &ctx, &threads, RunFuture { work }, &late);
        let (end, ()) = tokio::join!(run, async { ctx.stop_signal().abort(StopCause::Timeout) });
        assert!(matches!(end, HandlerExit::Stopped { lingering: true }));
        threads.0.lock().expect("lock").drain(..).for_each(|work| work());
        assert!(!began.load(Ordering::SeqCst));
        assert!(ended.load(Ordering::SeqCst), "what it held can be let go");
    }
}
