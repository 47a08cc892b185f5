//! The metrics of a process, and the sample of those that need the store.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::stats::age;
use super::{Core, WorkerGauges};
use crate::meter::{Families, Metrics, OutboxSample, QueueSample, Sample, metric};
use ratchet_store::StoreError;
use ratchet_store::model::{BlockedBy, Counts, JobState, QueueRecord};

/// How long a sample is reused.
const FRESH: Duration = Duration::from_secs(5);

/// How many pipelines are sampled.
const MOST_PIPELINES: usize = 100;

/// How many messages of a channel are counted.
const MOST_MESSAGES: u32 = 100_000;

impl Core {
    /// Reads all measurements. Does not use the store.
    pub(crate) fn metrics(&self) -> Metrics {
        let mut families = Families::default();
        self.meter.collect(&mut families, self.clock.monotonic());
        self.collect_workers(&mut families);
        for (component, panics) in self.panics.by_component() {
            families.counter(&metric::PANICS, &[&Arc::from(component)], panics);
        }
        families.counter(&metric::EVENTS_LAGGED, &[], self.events.lagged());
        let labels = [&*self.config.program, &*self.config.binary_version];
        let [program, version]: [Arc<str>; 2] = labels.map(Arc::from);
        let ratchet = Arc::from(env!("CARGO_PKG_VERSION"));
        families.gauge(&metric::INFO, &[&program, &version, &ratchet], 1.0);
        families.finish()
    }

    #[allow(clippy::cast_precision_loss)] // a gauge is a float
    fn collect_workers(&self, families: &mut Families) {
        let workers = self.workers.all();
        let gauges: Vec<WorkerGauges> = workers.iter().map(|worker| worker.gauges()).collect();
        let sum = |of: fn(&WorkerGauges) -> u64| gauges.iter().map(of).sum::<u64>() as f64;
        let Some(lease_left) = gauges.iter().map(|worker| worker.lease_left).min() else { return };
        let sweep_age = gauges.iter().map(|worker| worker.sweep_age).max().unwrap_or_default();
        families.gauge(&metric::CAPACITY, &[], sum(|worker| u64::from(worker.capacity)));
        families.gauge(&metric::RUNAWAYS, &[], sum(|worker| worker.runaways));
        families.gauge(&metric::SUSPECTS, &[], sum(|worker| worker.suspects));
        families.gauge(&metric::UNREADABLE, &[], sum(|worker| worker.unreadable));
        families.gauge(&metric::SETTLE_HELD, &[], sum(|worker| worker.held));
        families.gauge(&metric::LEASE_LEFT, &[], lease_left.as_secs_f64());
        families.gauge(&metric::SWEEP_AGE, &[], sweep_age.as_secs_f64());
        let mut checks = std::collections::BTreeMap::new();
        for check in workers.iter().flat_map(|worker| worker.readiness().checks) {
            // If there are several workers, all of them must pass.
            *checks.entry(check.name.clone()).or_insert(true) &= check.ok();
        }
        for (name, ok) in checks {
            let value = if ok { 1.0 } else { 0.0 };
            families.gauge(&metric::HEALTH, &[&Arc::from(name)], value);
        }
    }

    /// Samples the gauges that need the store, unless they were sampled within the last seconds.
    pub(crate) async fn sample_metrics(&self) -> Result<(), StoreError> {
        // Callers that wait for the lock find the sample that the first one has taken.
        let _only = self.sampling.lock().await;
        let is_fresh = |at: Duration| self.clock.monotonic().saturating_sub(at) < FRESH;
        if self.meter.sampled_at().is_some_and(is_fresh) {
            return Ok(());
        }
        let sample = self.sample_store().await;
        let sample = sample.inspect_err(|error| self.meter.store_error("sample", error))?;
        self.meter.set_sample(sample);
        Ok(())
    }

    async fn sample_store(&self) -> Result<Sample, StoreError> {
        let counts = self.store.counts().await?;
        let rules = self.store.queues().await?;
        let oldest = self.store.oldest_due().await?;
        let now = self.store.now().await?;
        let breakers = self.store.breakers().await?;
        let nodes = self.store.nodes().await?;
        let mut sample = Sample {
            at: self.clock.monotonic(),
            breakers: breakers.into_iter().map(|it| (it.service, it.state)).collect(),
            live_nodes: nodes.iter().filter(|node| node.alive).count() as u64,
            ..Sample::default()
        };
        sample_queues(&mut sample, &counts, &rules);
        for (queue, due) in oldest {
            sample.queues.entry(queue).or_default().oldest_age = age(now, due);
        }
        for pipeline in self.meter.pipelines().into_iter().take(MOST_PIPELINES) {
            let stats = self.store.hand_off_stats(&pipeline).await?;
            sample.pipelines.push((pipeline, stats));
        }
        sample.outbox = self.sample_outbox(now).await?;
        Ok(sample)
    }

    /// Samples the channels that this process has a sink for. Without a sink, nothing is delivered.
    async fn sample_outbox(&self, now: Timestamp) -> Result<Vec<OutboxSample>, StoreError> {
        let channels: Vec<_> = self.sinks.channels().collect();
        if channels.is_empty() {
            return Ok(Vec::new());
        }
        let backlogs = self.store.backlogs(MOST_MESSAGES).await?;
        let sample = |channel| {
            let backlog = backlogs.iter().find(|backlog| backlog.channel == channel);
            let oldest_age = match backlog {
                Some(backlog) => backlog.oldest.map(|oldest| age(now, oldest)),
                None => Some(Duration::ZERO),
            };
            let waiting = backlog.map_or(0, |backlog| backlog.waiting);
            OutboxSample { channel, waiting, oldest_age }
        };
        Ok(channels.into_iter().map(sample).collect())
    }
}

fn sample_queues(sample: &mut Sample, counts: &Counts, rules: &[QueueRecord]) {
    for (name, counts) in &counts.queues {
        let count = |state| counts.states.get(&state).copied().unwrap_or(0);
        let queue = QueueSample {
            pending: count(JobState::Pending),
            running: count(JobState::Running),
            paused: count(JobState::Paused),
            failed: count(JobState::Failed),
            oldest_age: Duration::ZERO,
            closed_by: None,
            full_keys: None,
        };
        sample.queues.insert(name.clone(), queue);
    }
    for record in rules {
        let queue = sample.queues.entry(record.queue.clone()).or_default();
        queue.closed_by = BlockedBy::of(record.gate).map(BlockedBy::name);
        queue.full_keys = record.rules.limits.rate_per_key.map(|_| record.full_keys);
    }
}
