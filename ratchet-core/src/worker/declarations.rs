//! Applies what this program declares in its code: the schedules of `#[job(cron = "…")]`, and the rules of queues and
//! breakers.
//!
//! What is declared belongs to the program that declares it. If several versions of a program are running, only the
//! newest one changes it, see [`Store::try_declare`](ratchet_store::Store::try_declare).

use std::collections::BTreeSet;

use super::declared_rules::{acceptors, breakers, declare_rules, jobs, queue_limits};
use crate::client::{ScheduleError, TRIES, declare, definition, rename, write_schedule as write};
use crate::job::Registration;
use crate::runtime::Core;
use ratchet_store::model::{Declarations, Declared, NodeId, ScheduleRecord};
use ratchet_store::{StoreError, StoreErrorKind};

/// Returns what this program declares, for its nodes.
///
/// Covers all jobs linked into the program, because two runtimes of one program may use different jobs of it.
pub(crate) fn declarations(core: &Core) -> Declarations {
    let mut fingerprint = Fingerprint::default();
    for job in jobs(core).values() {
        job.def.names().for_each(|name| fingerprint.add(name.as_bytes()));
        let schedule = definition(core, job);
        let schedule = schedule.map(|schedule| serde_json::to_vec(&schedule).unwrap_or_default());
        fingerprint.add(&schedule.unwrap_or_default());
    }
    for (queue, limits) in queue_limits(core) {
        fingerprint.add(queue.as_bytes());
        fingerprint.add(&serde_json::to_vec(&limits).unwrap_or_default());
    }
    for (service, settings) in breakers(core) {
        fingerprint.add(service.as_bytes());
        fingerprint.add(&serde_json::to_vec(&settings).unwrap_or_default());
    }
    for acceptor in acceptors(core) {
        fingerprint.add(&serde_json::to_vec(&acceptor).unwrap_or_default());
    }
    Declarations { program: core.config.program.clone(), fingerprint: fingerprint.0 }
}

/// Declares the rules of this program and the schedules of its jobs. Removes what it no longer declares. Renames the
/// schedules that it has declared under another name.
pub(crate) async fn declare_all(
    core: &Core,
    node: NodeId,
    declarations: &Declarations,
) -> Result<(), StoreError> {
    if !core.store.try_declare(node).await? {
        tracing::info!(program = %declarations.program, "a newer version of this program is running; its schedules, queue limits and breaker settings stay as they are");
        return Ok(());
    }
    declare_rules(core, declarations).await?;
    for job in core.resolver.all() {
        match declare_one(core, &job, declarations).await {
            Ok(()) => {}
            Err(ScheduleError::Store(error)) => return Err(error),
            // The declarations are no longer the newest.
            Err(ScheduleError::Contended(_)) => {
                tracing::warn!(program = %declarations.program, "another version of this program has started at the same time; its schedules stay as they are");
                return Ok(());
            }
            // The macro has checked literals. This is an expression that it could not evaluate.
            Err(error) => {
                let why = format!("job `{}` ({}): {error}", job.def.name, job.def.location);
                return Err(StoreError::new(StoreErrorKind::Config, why));
            }
        }
    }
    withdraw(core, declarations).await
}

async fn declare_one(
    core: &Core,
    job: &Registration,
    declarations: &Declarations,
) -> Result<(), ScheduleError> {
    let Some(schedule) = definition(core, job) else { return Ok(()) };
    take_over(core, job, &schedule, declarations).await?;
    declare(core, schedule, Some(declarations)).await
}

/// Renames the schedules that this job has declared under former names.
async fn take_over(
    core: &Core,
    job: &Registration,
    schedule: &ScheduleRecord,
    declarations: &Declarations,
) -> Result<(), ScheduleError> {
    for alias in job.def.aliases {
        rename_from(core, alias, schedule, declarations).await?;
    }
    Ok(())
}

/// Renames a schedule of this program. Tries again if the schedule has fired in the meantime, because two schedules
/// would fire each occurrence twice.
async fn rename_from(
    core: &Core,
    alias: &str,
    schedule: &ScheduleRecord,
    declarations: &Declarations,
) -> Result<(), ScheduleError> {
    for _ in 0..TRIES {
        let Some(old) = core.store.schedule(alias).await? else { return Ok(()) };
        let owned = match &old.declared {
            Some(declared) => declared.program == declarations.program,
            // Written before schedules recorded their declaration. A declared schedule has the name of its job.
            None => old.name == old.spec.name,
        };
        if !owned {
            return Ok(());
        }
        if rename(core, &old, schedule.clone(), declarations).await? {
            tracing::info!(from = %old.name, to = %schedule.name, "the schedule of a renamed job was renamed");
            return Ok(());
        }
    }
    Err(ScheduleError::Contended(alias.to_owned()))
}

/// Removes the schedules of this program whose job has no `cron` any more. Stops those whose job does not exist any
/// more.
async fn withdraw(core: &Core, declarations: &Declarations) -> Result<(), StoreError> {
    for _ in 0..TRIES {
        if withdraw_once(core, declarations).await? {
            return Ok(());
        }
    }
    tracing::warn!(program = %declarations.program, "another version of this program has started at the same time; its schedules stay as they are");
    Ok(())
}

/// Returns `false` if a schedule has changed in the meantime.
async fn withdraw_once(core: &Core, declarations: &Declarations) -> Result<bool, StoreError> {
    let mut unchanged = true;
    let jobs = jobs(core);
    let declared: BTreeSet<_> =
        jobs.values().filter(|job| job.def.cron.is_some()).map(|job| job.def.name).collect();
    let known = |name: &str| jobs.values().any(|job| job.def.names().any(|known| known == name));
    for schedule in core.store.schedules().await? {
        let program = &declarations.program;
        let owned = |declared: &Declared| declared.program == *program && !declared.withdrawn;
        if !schedule.declared.as_ref().is_some_and(owned) || declared.contains(&*schedule.name) {
            continue;
        }
        let job_exists = known(&schedule.spec.name);
        let record = (!job_exists).then(|| {
            let mut record = schedule.clone();
            record.declared = Some(Declared { program: program.clone(), withdrawn: true });
            record
        });
        let replaces = Some(schedule.version);
        if !write(core, &schedule.name, replaces, record, Some(declarations)).await? {
            unchanged = false;
        } else if job_exists {
            tracing::info!(schedule = %schedule.name, "a schedule that the program no longer declares was removed");
        } else {
            tracing::warn!(schedule = %schedule.name, job = %schedule.spec.name, %program, "the job of a schedule no longer exists in the program, so the schedule does not fire; remove the schedule, or add an `alias` to the job that replaces it");
        }
    }
    Ok(unchanged)
}

/// A 64-bit FNV-1a hash, which is the same in every build, unlike the hashes of the standard library.
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// Adds a text and its end.
    fn add(&mut self, text: &[u8]) {
        for byte in text.iter().chain(&[0xff]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
