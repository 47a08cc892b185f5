//! Admits the hand-offs of the pipelines that the jobs of this program accept.
//!
//! A hand-off is held while its job is made, for as long as the lease of a node. If the process dies in between, it is
//! handed out again, and because a hand-off is admitted once, no other process can have inserted its job in the meantime.

use std::time::Duration;

use crate::client::admitted_job;
use crate::job::Registration;
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{HandOff, HandOffContent, NewAdmission, PipelineRecord};

/// How many hand-offs are admitted in one commit.
const BATCH: u32 = 100;

/// Admits what waits in the pipelines that this program accepts.
pub(crate) async fn admit(core: &Core) -> Result<(), StoreError> {
    let jobs = core.resolver.all().into_iter().filter(Registration::is_implemented);
    let accepting: Vec<_> =
        jobs.filter_map(|job| job.def.accepts.map(|pipeline| (pipeline, job))).collect();
    if accepting.is_empty() {
        return Ok(());
    }
    let stored = core.store.pipelines(None).await?;
    for (pipeline, job) in &accepting {
        let is_own = |record: &&PipelineRecord| {
            record.pipeline == *pipeline
                && record.program == core.config.program
                && job.def.names().any(|name| name == record.job)
        };
        if stored.iter().find(is_own).is_some_and(|record| record.backlog > 0) {
            admit_from(core, pipeline, job).await?;
        }
    }
    Ok(())
}

async fn admit_from(core: &Core, pipeline: &str, job: &Registration) -> Result<(), StoreError> {
    loop {
        let taken = core.store.take_hand_offs(pipeline, BATCH, core.config.lease).await?;
        crash_point(CrashPoint::AdmitTaken);
        let full = taken.len() >= BATCH as usize;
        let (locked, readable): (Vec<_>, Vec<_>) =
            taken.into_iter().partition(|it| it.content == HandOffContent::Locked);
        for HandOff { handed, .. } in locked {
            tracing::warn!(pipeline, key = %handed.key, "a hand-off is encrypted with a key that this process does not have; another process has to admit it");
        }
        let admission = |hand_off: &HandOff| {
            let key = hand_off.handed.key.clone();
            NewAdmission { key, job: admitted_job(core, job, hand_off) }
        };
        let admissions = readable.iter().map(admission).collect();
        // Also without any hand-off, because the call stops counting those whose jobs have ended.
        let admitted = core.store.admit_hand_offs(pipeline, admissions).await?;
        crash_point(CrashPoint::AdmitAnswered);
        let now = core.clock.now();
        for (hand_off, _) in readable.iter().zip(admitted).filter(|(_, admitted)| *admitted) {
            let after = Duration::try_from(now.duration_since(hand_off.at)).unwrap_or_default();
            core.meter.hand_off_admitted(pipeline, after);
        }
        if !full {
            return Ok(());
        }
    }
}
