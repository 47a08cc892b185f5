//! Access to the checkpoints that jobs handed off to pipelines.

use std::sync::Arc;
use std::time::Duration;

use super::Ratchet;
use crate::runtime::Core;
use ratchet_store::model::{HandOff, HandOffStats, PipelineRecord};
use ratchet_store::{StoreError, StoreErrorKind};

impl Ratchet {
    /// Lists the pipelines that a job accepts, ordered by name.
    pub async fn pipelines(&self) -> Result<Vec<PipelineRecord>, StoreError> {
        self.core.store.pipelines(None).await
    }

    /// Returns access to the checkpoints that jobs handed off to a pipeline.
    pub fn pipeline(&self, name: impl Into<String>) -> Pipeline {
        Pipeline { core: Arc::clone(&self.core), name: name.into() }
    }
}

/// Checkpoints that jobs handed off to a pipeline with `ctx.hand_off(…)`. Take them, process them, then finish them.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let ratchet = ratchet_core::Ratchet::builder(ratchet_memory::MemoryStore::new()).build().await?;
/// use std::time::Duration;
///
/// let pages = ratchet.pipeline("pages");
/// let taken = pages.take(100, Duration::from_secs(60)).await?;
/// for hand_off in &taken {
///     println!("{}", hand_off.handed.key);
/// }
/// pages.finish(&taken).await?; // otherwise they are handed out again after a minute
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Pipeline {
    core: Arc<Core>,
    name: String,
}

impl Pipeline {
    /// Takes up to `limit` waiting hand-offs in commit order. Those not finished within `hold` are handed out again.
    ///
    /// # Errors
    ///
    /// A pipeline that a job accepts is refused: its hand-offs are admitted as jobs.
    pub async fn take(&self, limit: u32, hold: Duration) -> Result<Vec<HandOff>, StoreError> {
        if let Some(accepted) = self.core.store.pipelines(Some(&self.name)).await?.pop() {
            return Err(StoreError::new(StoreErrorKind::Config, taken_twice(&accepted)));
        }
        let taken = self.core.store.take_hand_offs(&self.name, limit, hold).await?;
        let now = self.core.clock.now();
        for hand_off in &taken {
            let after = Duration::try_from(now.duration_since(hand_off.at)).unwrap_or_default();
            self.core.meter.hand_off_taken(&self.name, after);
        }
        Ok(taken)
    }

    /// Marks hand-offs as processed, so that they are not handed out again.
    pub async fn finish(
        &self,
        hand_offs: impl IntoIterator<Item = &HandOff>,
    ) -> Result<(), StoreError> {
        let keys: Vec<_> = hand_offs.into_iter().map(|it| it.handed.key.clone()).collect();
        self.core.store.finish_hand_offs(&self.name, &keys).await
    }

    /// Returns which job accepts the hand-offs, and how full the pipeline is; `None` if no job accepts them.
    pub async fn acceptor(&self) -> Result<Option<PipelineRecord>, StoreError> {
        Ok(self.core.store.pipelines(Some(&self.name)).await?.pop())
    }

    /// Returns the backlog, the lag and the number of suppressed repeats.
    pub async fn stats(&self) -> Result<HandOffStats, StoreError> {
        self.core.store.hand_off_stats(&self.name).await
    }
}

fn taken_twice(accepted: &PipelineRecord) -> String {
    let PipelineRecord { pipeline, program, job, .. } = accepted;
    format!(
        "pipeline `{pipeline}` cannot be taken from: job `{job}` of program `{program}` accepts its hand-offs; remove `accepts` from that job, or hand off to another pipeline"
    )
}
