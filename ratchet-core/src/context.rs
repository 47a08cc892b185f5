//! What a running job knows of itself.

use std::sync::Arc;

use crate::job::{State, States};

/// The context of one run, injected with `#[inject] ctx: JobContext`. A cheap handle.
#[derive(Debug, Clone)]
pub struct JobContext {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    states: Arc<States>,
}

impl JobContext {
    /// A context for calling the bare function of a job in a unit test.
    pub fn for_test() -> Self {
        Self { inner: Arc::new(Inner { states: Arc::default() }) }
    }

    /// The registered state of type `T`.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<State<T>> {
        self.inner.states.get()
    }
}
