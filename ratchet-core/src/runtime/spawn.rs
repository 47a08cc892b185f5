//! Where work runs: the engine on a thread that handlers cannot block, and handlers on the user's runtime.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Handle, Runtime};

/// A future to run to completion.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Several futures to run.
pub type Tasks = Box<dyn Iterator<Item = Task> + Send>;

/// Spawns the engine and the handlers.
pub trait Spawn: Send + Sync + fmt::Debug + 'static {
    /// Runs the engine: claims, settlements, heartbeats and the watchdog. It must keep running while every handler is
    /// stuck. `home` is the [runtime of the store](ratchet_store::Store::runtime), if it has one.
    fn engine(&self, task: Task, home: Option<Handle>) -> std::io::Result<()>;

    /// Runs a handler.
    fn handler(&self, task: Task);

    /// Runs several handlers. Each task is created when the iterator yields it, on the thread that will run it.
    fn handlers(&self, tasks: Tasks) {
        tasks.for_each(|task| self.handler(task));
    }

    /// Runs a handler that may block its thread.
    fn blocking(&self, work: Box<dyn FnOnce() + Send>);
}

/// Runs the engine on its own thread or on the store's runtime, and handlers on the runtime that started the worker.
#[derive(Debug, Clone)]
pub struct DedicatedEngineThread {
    handlers: Handle,
    /// Created for the first blocking handler.
    blocking: Arc<OnceLock<BlockingThreads>>,
}

impl DedicatedEngineThread {
    /// Creates a spawner that runs handlers on this runtime.
    pub fn new(handlers: Handle) -> Self {
        Self { handlers, blocking: Arc::default() }
    }
}

impl Spawn for DedicatedEngineThread {
    /// If the store has its own runtime, the engine runs on it. Calls to the store then need no thread switch.
    fn engine(&self, task: Task, home: Option<Handle>) -> std::io::Result<()> {
        if let Some(home) = home {
            home.spawn(task);
            return Ok(());
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new()
            .name("ratchet-engine".to_owned())
            .spawn(move || runtime.block_on(task))?;
        Ok(())
    }

    fn handler(&self, task: Task) {
        self.handlers.spawn(task);
    }

    /// Enters the other runtime once, because spawning from within a runtime is much cheaper than from another thread.
    fn handlers(&self, tasks: Tasks) {
        self.handlers.spawn(async move {
            tasks.for_each(|task| {
                tokio::spawn(task);
            });
        });
    }

    fn blocking(&self, work: Box<dyn FnOnce() + Send>) {
        let handlers = self.handlers.clone();
        self.blocking.get_or_init(BlockingThreads::new).run(Box::new(move || {
            // The handler may use the runtime of the other handlers, as on its own blocking threads.
            let _entered = handlers.enter();
            work();
        }));
    }
}

/// The threads of blocking handlers.
///
/// The user's runtime waits for its own blocking threads when it is dropped, so a handler that does not return would
/// keep a stopped process alive. The end of the process does not wait for these threads.
#[derive(Debug)]
struct BlockingThreads(Option<Runtime>);

impl BlockingThreads {
    fn new() -> Self {
        let mut runtime = Builder::new_current_thread();
        Self(runtime.thread_name("ratchet-blocking").build().ok())
    }

    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        match &self.0 {
            Some(runtime) => drop(runtime.spawn_blocking(work)),
            // A runtime without drivers needs no resources that could be missing.
            None => drop(Handle::current().spawn_blocking(work)),
        }
    }
}

impl Drop for BlockingThreads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs everything on the current runtime. For tests and simulations that need a single scheduler.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleRuntime;

impl Spawn for SingleRuntime {
    fn engine(&self, task: Task, _: Option<Handle>) -> std::io::Result<()> {
        tokio::spawn(task);
        Ok(())
    }

    fn handler(&self, task: Task) {
        tokio::spawn(task);
    }

    fn blocking(&self, work: Box<dyn FnOnce() + Send>) {
        tokio::task::spawn_blocking(work);
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    /// Returns the name of the thread on which the engine runs.
    async fn engine(home: Option<Handle>) -> String {
        let (end, ended) = oneshot::channel();
        let task = async move {
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            end.send(name).expect("is waited for");
        };
        DedicatedEngineThread::new(Handle::current()).engine(Box::pin(task), home).expect("starts");
        ended.await.expect("runs")
    }

    #[tokio::test]
    async fn engine_lives_with_a_store_that_has_a_thread_of_its_own() {
        let home = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("home")
            .build()
            .expect("a runtime");
        assert_eq!(engine(Some(home.handle().clone())).await, "home");
        assert_eq!(engine(None).await, "ratchet-engine");
        home.shutdown_background();
    }
}
