//! Applies the rules that this program declares in its code: the cluster-wide limits of its queues, and the settings of
//! its circuit breakers.
//!
//! The store keeps them apart from what operators set. It refuses them if a newer version of the program has started.

use std::collections::BTreeMap;

use crate::config::breaker_settings;
use crate::job::{JobDef, JobInvocationResolver as _, Registration, Registry};
use crate::runtime::Core;
use ratchet_store::StoreError;
use ratchet_store::model::{
    Acceptor, BreakerRecord, BreakerSettings, BreakerUpdate, Declarations, QueueLimits, QueueRules,
    QueueUpdate,
};

/// Returns the jobs of this runtime and all other jobs linked into the program, by name.
pub(super) fn jobs(core: &Core) -> BTreeMap<&'static str, Registration> {
    let linked = Registry::collect().map(|registry| registry.all()).unwrap_or_default();
    linked.into_iter().chain(core.resolver.all()).map(|job| (job.def.name, job)).collect()
}

/// Declares the rules of this program, and removes those that it no longer declares.
pub(super) async fn declare_rules(
    core: &Core,
    declarations: &Declarations,
) -> Result<(), StoreError> {
    declare_queues(core, declarations).await?;
    declare_breakers(core, declarations).await?;
    declare_pipelines(core, declarations).await
}

/// Returns the pipelines that the jobs of this program accept, ordered by name.
pub(super) fn acceptors(core: &Core) -> Vec<Acceptor> {
    let jobs = jobs(core);
    let accepted = jobs.values().filter_map(|job| Some((job.def.accepts?, &job.def)));
    let accepted: BTreeMap<_, _> = accepted.collect();
    let acceptor = |(pipeline, def): (&str, &JobDef)| Acceptor {
        pipeline: pipeline.to_owned(),
        job: def.name.to_owned(),
        backlog_limit: def.backlog_limit,
    };
    accepted.into_iter().map(acceptor).collect()
}

async fn declare_pipelines(core: &Core, declarations: &Declarations) -> Result<(), StoreError> {
    let program = &declarations.program;
    let wanted = acceptors(core);
    let stored = core.store.pipelines(None).await?;
    // Most programs accept no pipeline, and need no write.
    if wanted.is_empty() && !stored.iter().any(|record| record.program == *program) {
        return Ok(());
    }
    for pipeline in core.store.declare_pipelines(declarations, &wanted).await? {
        let other = stored.iter().find(|record| record.pipeline == pipeline);
        let (other, job) = other.map_or(("", ""), |it| (it.program.as_str(), it.job.as_str()));
        tracing::error!(%pipeline, %program, other, other_job = job, "another program accepts this pipeline, so this program admits none of its hand-offs; remove `accepts` from one of the two");
    }
    Ok(())
}

/// Returns the queues for which this program declares cluster-wide limits.
pub(super) fn queue_limits(core: &Core) -> BTreeMap<&str, QueueLimits> {
    let queues = core.config.queues.iter();
    let limits = queues.map(|(queue, config)| (queue.as_str(), config.cluster));
    limits.filter(|(_, limits)| !limits.is_empty()).collect()
}

/// Returns the services for which this program declares a breaker, also those of jobs that another runtime of the
/// program uses.
pub(super) fn breakers(core: &Core) -> BTreeMap<String, BreakerSettings> {
    let jobs: Vec<_> = jobs(core).into_values().collect();
    // Contradictions between the jobs of this runtime were refused when it was built.
    let mut settings = breaker_settings(&jobs, &core.config, &mut Vec::new());
    settings.extend(core.breakers.iter().map(|(service, settings)| (service.clone(), *settings)));
    settings
}

async fn declare_queues(core: &Core, declarations: &Declarations) -> Result<(), StoreError> {
    let program = &declarations.program;
    let stored = core.store.queues().await?;
    let stored: BTreeMap<_, _> =
        stored.into_iter().map(|record| (record.queue, record.rules)).collect();
    let own = |rules: &QueueRules| {
        let declared = rules.declared.iter().find(|declared| declared.program == *program);
        declared.map(|declared| declared.limits)
    };
    let write = async |queue: &str, limits: QueueLimits| {
        let declarations = declarations.clone();
        core.store.update_queue(queue, QueueUpdate::Declare { declarations, limits }).await
    };
    let wanted = queue_limits(core);
    for (queue, limits) in &wanted {
        let rules = stored.get(*queue);
        if rules.and_then(own) != Some(*limits) {
            write(queue, *limits).await?;
        }
        if let Some(rules) = rules {
            report_queue(queue, rules, *limits, program);
        }
    }
    let dropped = stored
        .iter()
        .filter(|(queue, rules)| own(rules).is_some() && !wanted.contains_key(queue.as_str()));
    for (queue, _) in dropped {
        if write(queue, QueueLimits::default()).await? {
            tracing::info!(%queue, %program, "the limits of a queue that the program no longer declares were removed");
        }
    }
    Ok(())
}

/// Logs why the declared limits of a queue do not apply, if they do not.
fn report_queue(queue: &str, rules: &QueueRules, limits: QueueLimits, program: &str) {
    if let Some(set) = rules.set_by_operator.filter(|set| *set != limits) {
        tracing::info!(queue, ?set, declared = ?limits, "an operator has set the limits of a queue; the declared ones apply after `queues().reset(…)`");
    }
    let other = rules.declared.iter().find(|other| other.program != program);
    if let Some(other) = other.filter(|other| other.limits != limits) {
        tracing::warn!(queue, program, declared = ?limits, other = %other.program, other_declared = ?other.limits, "two programs declare different limits for a queue; the lower ones apply");
    }
}

async fn declare_breakers(core: &Core, declarations: &Declarations) -> Result<(), StoreError> {
    let program = &declarations.program;
    let stored = core.store.breakers().await?;
    let stored: BTreeMap<_, _> =
        stored.into_iter().map(|record| (record.service.clone(), record)).collect();
    let own = |record: &BreakerRecord| {
        let mut declared = record.breaker.declared.iter();
        let declared = declared.find(|declared| declared.program == *program);
        declared.map(|declared| declared.settings)
    };
    let write = async |service: &str, settings: Option<BreakerSettings>| {
        let declarations = declarations.clone();
        let order = BreakerUpdate::Declare { declarations, settings };
        core.store.update_breaker(service, order).await
    };
    let wanted = breakers(core);
    for (service, settings) in &core.breakers {
        let record = stored.get(service);
        if record.and_then(own) != Some(*settings) {
            write(service, Some(*settings)).await?;
        }
        if let Some(record) = record {
            report_breaker(record, *settings, program);
        }
    }
    let dropped =
        stored.values().filter(|it| own(it).is_some() && !wanted.contains_key(&it.service));
    for record in dropped {
        let service = &record.service;
        let change = write(service, None).await?;
        tracing::info!(%service, %program, ?change, "the settings of a breaker that the program no longer declares were removed");
    }
    Ok(())
}

/// Logs why the declared settings of a breaker do not apply, if they do not.
fn report_breaker(record: &BreakerRecord, settings: BreakerSettings, program: &str) {
    let (service, breaker) = (&record.service, &record.breaker);
    if let Some(set) = breaker.set_by_operator.filter(|set| *set != settings) {
        tracing::info!(%service, ?set, declared = ?settings, "an operator has set a breaker; the declared settings apply after `breakers().reset(…)`");
    }
    let other = breaker.declared.iter().find(|other| other.program != program);
    if let Some(other) = other.filter(|other| other.settings != settings) {
        tracing::warn!(%service, program, declared = ?settings, other = %other.program, other_declared = ?other.settings, "two programs declare different settings for a breaker; those of the first name apply");
    }
}
