//! [`Sampled`]: the gauges that need the store, as they were sampled last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::series::{MOST, OVERFLOW};
use super::snapshot::Families;
use super::table::{self as metric, Metric};
use ratchet_store::model::{BreakerState, Channel, HandOffStats};

/// The state of the store at one point in time.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// When it was taken, by the monotonic clock.
    pub(crate) at: Duration,
    pub(crate) queues: BTreeMap<String, QueueSample>,
    pub(crate) breakers: Vec<(String, BreakerState)>,
    pub(crate) live_nodes: u64,
    pub(crate) pipelines: Vec<(Arc<str>, HandOffStats)>,
    pub(crate) outbox: Vec<OutboxSample>,
}

/// The messages that wait for a sink of this process.
#[derive(Debug)]
pub(crate) struct OutboxSample {
    pub(crate) channel: Channel,
    pub(crate) waiting: u64,
    /// The age of the oldest one. `None` if it is unknown.
    pub(crate) oldest_age: Option<Duration>,
}

/// The state of one queue.
#[derive(Debug, Default)]
pub(crate) struct QueueSample {
    pub(crate) pending: u64,
    pub(crate) running: u64,
    pub(crate) paused: u64,
    pub(crate) failed: u64,
    /// How long the oldest job has been due.
    pub(crate) oldest_age: Duration,
    /// Why nothing can be claimed.
    pub(crate) closed_by: Option<&'static str>,
    /// How many concurrency keys have used up their rate, if the queue has a rate per key.
    pub(crate) full_keys: Option<u64>,
}

/// The last sample. Shared, because it is taken and read by different tasks.
#[derive(Debug, Default)]
pub(crate) struct Sampled(Mutex<Option<Arc<Sample>>>);

impl Sampled {
    pub(crate) fn get(&self) -> Option<Arc<Sample>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, sample: Sample) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(sample));
    }
}

/// Writes one series per name. Those beyond the limit are added up.
fn write<'a>(
    families: &mut Families,
    metric: &'static Metric,
    values: impl Iterator<Item = (&'a str, f64)>,
) -> u64 {
    let (mut rest, mut count) = (0.0, 0);
    for (number, (name, value)) in values.enumerate() {
        if number < MOST {
            families.gauge(metric, &[&Arc::from(name)], value);
        } else {
            rest += value;
            count += 1;
        }
    }
    if count > 0 {
        families.gauge(metric, &[&Arc::from(OVERFLOW)], rest);
    }
    count
}

impl Sample {
    /// Writes the gauges of this sample. Returns by metric how many series exceeded the limit.
    #[allow(clippy::cast_precision_loss)] // a gauge is a float
    pub(super) fn write(&self, families: &mut Families, now: Duration) -> Vec<(&'static str, u64)> {
        let mut overflow = Vec::new();
        type Field = fn(&QueueSample) -> u64;
        let by_queue: [(&'static Metric, Field); 4] = [
            (&metric::QUEUE_DEPTH, |queue| queue.pending),
            (&metric::QUEUE_RUNNING, |queue| queue.running),
            (&metric::QUEUE_PAUSED, |queue| queue.paused),
            (&metric::DLQ_DEPTH, |queue| queue.failed),
        ];
        for (metric, field) in by_queue {
            let values = self.queues.iter().map(|(name, queue)| (&**name, field(queue) as f64));
            overflow.push((metric.name, write(families, metric, values)));
        }
        for (name, queue) in self.queues.iter().take(MOST) {
            let age = queue.oldest_age.as_secs_f64();
            families.gauge(&metric::OLDEST_AGE, &[&Arc::from(name.as_str())], age);
            if let Some(cause) = queue.closed_by {
                let labels = [&Arc::from(name.as_str()), &Arc::from(cause)];
                families.gauge(&metric::QUEUE_BLOCKED, &labels, queue.pending as f64);
            }
            if let Some(keys) = queue.full_keys {
                families.gauge(&metric::FULL_KEYS, &[&Arc::from(name.as_str())], keys as f64);
            }
        }
        let breakers = self.breakers.iter().map(|(service, state)| {
            let state = match state {
                BreakerState::Closed => 0.0,
                BreakerState::HalfOpen { .. } => 1.0,
                BreakerState::Open { .. } => 2.0,
            };
            (&**service, state)
        });
        let metric = &metric::BREAKER_STATE;
        overflow.push((metric.name, write(families, metric, breakers)));
        families.gauge(&metric::NODES, &[], self.live_nodes as f64);
        for (name, stats) in &self.pipelines {
            families.gauge(&metric::HANDOFF_BACKLOG, &[name], stats.backlog as f64);
            families.gauge(&metric::HANDOFF_LAG, &[name], stats.lag.as_secs_f64());
            families.gauge(&metric::HANDOFF_FINISHED, &[name], stats.finished as f64);
            families.gauge(&metric::HANDOFF_REPEATS, &[name], stats.repeats as f64);
        }
        for outbox in &self.outbox {
            let channel = [&Arc::from(outbox.channel.name())];
            families.gauge(&metric::OUTBOX_DEPTH, &channel, outbox.waiting as f64);
            if let Some(age) = outbox.oldest_age {
                families.gauge(&metric::OUTBOX_AGE, &channel, age.as_secs_f64());
            }
        }
        let age = now.saturating_sub(self.at).as_secs_f64();
        families.gauge(&metric::SAMPLE_AGE, &[], age);
        overflow.retain(|(_, count)| *count > 0);
        overflow
    }
}
