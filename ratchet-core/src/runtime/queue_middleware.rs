//! The middleware of all jobs and of single queues.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Middleware;

/// The middleware of every queue, outermost first: that of all jobs, then that of the queue.
#[derive(Debug, Default)]
pub(crate) struct QueueMiddleware {
    all: Vec<Arc<dyn Middleware>>,
    /// The whole list of each queue that has its own.
    by_queue: BTreeMap<String, Vec<Arc<dyn Middleware>>>,
}

impl QueueMiddleware {
    pub(crate) fn new(
        all: Vec<Arc<dyn Middleware>>,
        own: Vec<(String, Arc<dyn Middleware>)>,
    ) -> Self {
        let mut by_queue = BTreeMap::new();
        for (queue, middleware) in own {
            by_queue.entry(queue).or_insert_with(|| all.clone()).push(middleware);
        }
        Self { all, by_queue }
    }

    pub(crate) fn of(&self, queue: &str) -> &[Arc<dyn Middleware>] {
        self.by_queue.get(queue).unwrap_or(&self.all)
    }
}
