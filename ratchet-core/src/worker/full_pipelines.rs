//! Defers runs whose pipelines are full, before their handlers are called.

use crate::decide::Outcome;
use crate::job::{JobContext, OnFull, Room};
use crate::protect::PIPELINE_FULL;
use crate::runtime::Core;
use ratchet_store::model::{Claimed, Deferral, PipelineRecord};

/// Checks the pipelines that a job hands off to. With [`OnFull::Wait`], a full one defers the run; with [`OnFull::Fail`],
/// the context is given the number of hand-offs that still fit.
///
/// Runs that began before a pipeline was full can exceed its limit by what they hand off.
pub(super) async fn check(core: &Core, job: &Claimed, ctx: &JobContext) -> Result<(), Outcome> {
    let found = match core.resolve(&job.spec.name) {
        Ok(Some(found)) if !found.def.hands_off.is_empty() => found,
        // An unknown name fails when the job is prepared.
        Ok(_) => return Ok(()),
        Err(panic) => {
            let failure = core.classifier.panic(panic.within("resolver"));
            return Err(Outcome::Failed(Box::new(failure)));
        }
    };
    for &pipeline in found.def.hands_off {
        let stored = match core.store.pipelines(Some(pipeline)).await {
            Ok(stored) => stored,
            Err(error) => {
                tracing::warn!(job.id = %job.id(), pipeline, %error, "the backlog of a pipeline could not be read; the job returns to its queue");
                return Err(Outcome::Released);
            }
        };
        for record in stored {
            let (Some(left), Some(limit)) = (record.room(), record.backlog_limit) else { continue };
            match found.def.on_full {
                OnFull::Wait if left == 0 => {
                    ctx.refused_by(pipeline);
                    let note = full(&record, limit);
                    return Err(Outcome::Deferred {
                        why: Deferral::PipelineFull,
                        delay: None,
                        note,
                    });
                }
                OnFull::Wait => {}
                OnFull::Fail => ctx.set_room(pipeline, Room { left, limit }),
            }
        }
    }
    Ok(())
}

/// Says which pipeline is full, and which job has to catch up.
fn full(record: &PipelineRecord, limit: u32) -> String {
    let PipelineRecord { pipeline, program, job, backlog, .. } = record;
    format!(
        "{PIPELINE_FULL}pipeline `{pipeline}` has a backlog of {backlog}, its limit is {limit}; job `{job}` of program `{program}` accepts its hand-offs"
    )
}
