//! From a claim to a task on the handlers' runtime.

use std::sync::Arc;

use super::attempt::{Ended, attempt};
use super::handler::LateEnd;
use super::shared::{Message, Shared};
use crate::context::JobContext;
use crate::model::{AttemptOutcome, Claimed, Settlement, Verdict};
use crate::seam::Task;

impl Shared {
    /// Makes a run of a claimed job. It begins when it is [started](Self::start).
    pub(super) fn launch(self: &Arc<Self>, job: Arc<Claimed>) -> (JobContext, Launched) {
        let token = job.token;
        let ctx = JobContext::new(Arc::clone(&self.core), job, Arc::clone(&self.stopping));
        self.runs().insert(token, ctx.clone());
        (ctx.clone(), Launched { shared: Arc::clone(self), ctx, told: false })
    }

    /// Starts runs on the handlers' runtime.
    pub(super) fn start(&self, mut runs: Vec<Launched>) {
        match runs.len() {
            0 => {}
            1 => runs.drain(..).for_each(|run| self.spawn.handler(run.task())),
            _ => self.spawn.handlers(Box::new(runs.into_iter().map(Launched::task))),
        }
    }
}

/// A run on its way. Tells the pump of its end, whatever becomes of its task: a runtime that shuts down drops tasks unasked.
#[derive(Debug)]
pub(super) struct Launched {
    shared: Arc<Shared>,
    ctx: JobContext,
    told: bool,
}

impl Launched {
    fn task(self) -> Task {
        Box::pin(async move {
            let ended =
                attempt(&self.shared.core, &self.ctx, self.shared.spawn.as_ref(), &self).await;
            self.end(ended);
        })
    }

    fn end(mut self, ended: Ended) {
        self.told = true;
        self.shared.send(Message::Ended { token: self.ctx.claimed().token, ended });
    }
}

impl LateEnd for Launched {
    fn told(&self) -> Box<dyn FnOnce() + Send> {
        let (shared, token) = (Arc::clone(&self.shared), self.ctx.claimed().token);
        Box::new(move || shared.send(Message::LateEnd(token)))
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if !self.told {
            let token = self.ctx.claimed().token;
            let release = Settlement::new(token, Verdict::Release, AttemptOutcome::Released);
            self.shared.send(Message::Ended { token, ended: Ended::Settle(Box::new(release)) });
        }
    }
}
