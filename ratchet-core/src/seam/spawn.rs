//! Where work runs: the engine on its own thread, handlers on the user's runtime.

use std::fmt;
use std::pin::Pin;

use tokio::runtime::{Builder, Handle};

/// Something to run.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Several things to run.
pub type Tasks = Box<dyn Iterator<Item = Task> + Send>;

/// Where the engine and the handlers run.
pub trait Spawn: Send + Sync + fmt::Debug + 'static {
    /// Runs the engine: claiming, settling, heartbeats, watchdog. It must go on while every handler is stuck.
    fn engine(&self, task: Task) -> std::io::Result<()>;

    /// Runs a handler.
    fn handler(&self, task: Task);

    /// Runs several handlers. Each is made when it is taken, so where it will run.
    fn handlers(&self, tasks: Tasks) {
        tasks.for_each(|task| self.handler(task));
    }

    /// Runs a handler that may block its thread.
    fn blocking(&self, work: Box<dyn FnOnce() + Send>);
}

/// The engine on a thread and a runtime of its own, handlers on the runtime that started the worker.
#[derive(Debug, Clone)]
pub struct OwnThread {
    handlers: Handle,
}

impl OwnThread {
    /// Handlers on this runtime.
    pub fn new(handlers: Handle) -> Self {
        Self { handlers }
    }
}

impl Spawn for OwnThread {
    fn engine(&self, task: Task) -> std::io::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new()
            .name("ratchet-engine".to_owned())
            .spawn(move || runtime.block_on(task))?;
        Ok(())
    }

    fn handler(&self, task: Task) {
        self.handlers.spawn(task);
    }

    /// Crosses over to the other runtime once: there, a task that spawns is far cheaper than a thread that does.
    fn handlers(&self, tasks: Tasks) {
        self.handlers.spawn(async move {
            tasks.for_each(|task| {
                tokio::spawn(task);
            });
        });
    }

    fn blocking(&self, work: Box<dyn FnOnce() + Send>) {
        self.handlers.spawn_blocking(work);
    }
}

/// Everything on the current runtime: for tests and simulations, where one scheduler must see it all.
#[derive(Debug, Clone, Copy, Default)]
pub struct CurrentRuntime;

impl Spawn for CurrentRuntime {
    fn engine(&self, task: Task) -> std::io::Result<()> {
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
