//! Normalizes the results of different stores: times are rounded and relative to the start, leases are omitted.

use std::time::Duration;

use jiff::Timestamp;
use ratchet_store::model::{
    Alert, Applied, AttemptRecord, BreakerChange, BreakerState, ChangeError, Claimed, CommandError,
    CommandReply, DeliveryBody, Envelope, GraphEffects, GraphInserted, GroupRecord, JobRecord,
    LeaseId, NodeRecord, UnknownJob,
};
use ratchet_store::rules::{Explanation, Waiting};
use uuid::Uuid;

use super::driver::TICK;

/// Rounds times to ticks since the start. This removes the milliseconds that a real clock adds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Normal {
    pub(super) start: Timestamp,
}

impl Normal {
    pub(super) fn time(self, instant: Timestamp) -> Timestamp {
        let since = instant.duration_since(self.start).as_secs();
        let tick = i64::try_from(TICK.as_secs()).unwrap_or(i64::MAX);
        let ticks = since.saturating_add(tick / 2).div_euclid(tick);
        Timestamp::from_second(ticks.saturating_mul(tick)).unwrap_or(Timestamp::MAX)
    }

    pub(super) fn job(self, mut job: JobRecord) -> JobRecord {
        job.due = self.time(job.due);
        job.queued_at = self.time(job.queued_at);
        job.started_at = job.started_at.map(|at| self.time(at));
        job.finished_at = job.finished_at.map(|at| self.time(at));
        job.archived_at = job.archived_at.map(|at| self.time(at));
        job.queue_wait = job.queue_wait.map(span);
        job.duration = job.duration.map(span);
        job.envelope = job.envelope.map(|envelope| self.envelope(envelope));
        // The wording of warnings differs between stores.
        job.warnings = job.warnings.iter().map(|_| "warned".to_owned()).collect();
        job
    }

    pub(super) fn claimed(self, mut claimed: Claimed) -> Claimed {
        claimed.token.lease = LeaseId::from_uuid(Uuid::nil());
        claimed.due = self.time(claimed.due);
        claimed.queued_at = self.time(claimed.queued_at);
        claimed.claimed_at = self.time(claimed.claimed_at);
        claimed
    }

    pub(super) fn line(self, mut line: AttemptRecord) -> AttemptRecord {
        line.started_at = self.time(line.started_at);
        line.finished_at = self.time(line.finished_at);
        line.queue_wait = span(line.queue_wait);
        line.duration = span(line.duration);
        line
    }

    pub(super) fn applied(self, mut applied: Applied) -> Applied {
        applied.at = self.time(applied.at);
        applied.due = applied.due.map(|due| self.time(due));
        applied.breaker = applied.breaker.map(|change| self.change(change));
        for child in &mut applied.dropped {
            child.why.clear();
        }
        for graph in &mut applied.dropped_graphs {
            graph.why.clear();
        }
        applied.effects = self.effects(applied.effects);
        applied
    }

    pub(super) fn effects(self, mut effects: GraphEffects) -> GraphEffects {
        effects.groups = effects.groups.into_iter().map(|group| self.group(group)).collect();
        effects
    }

    pub(super) fn group(self, mut group: GroupRecord) -> GroupRecord {
        group.queued_at = self.time(group.queued_at);
        group.finished_at = group.finished_at.map(|at| self.time(at));
        group
    }

    pub(super) fn reply(self, reply: CommandReply) -> CommandReply {
        match reply {
            CommandReply::MovedWithGraph { from, to, effects } => {
                CommandReply::MovedWithGraph { from, to, effects: Box::new(self.effects(*effects)) }
            }
            CommandReply::GroupCanceled(effects) => {
                CommandReply::GroupCanceled(Box::new(self.effects(*effects)))
            }
            other => other,
        }
    }

    pub(super) fn answer(self, answer: Result<CommandReply, CommandError>) -> String {
        let answer = answer.map(|reply| self.reply(reply)).map_err(|error| self.refused(error));
        format!("{answer:?}")
    }

    pub(super) fn refused_change(self, error: ChangeError) -> ChangeError {
        match error {
            ChangeError::Command(error) => ChangeError::Command(self.refused(error)),
            other => other,
        }
    }

    fn refused(self, error: CommandError) -> CommandError {
        match error {
            CommandError::Archived { job, at } => CommandError::Archived { job, at: self.time(at) },
            other => other,
        }
    }

    pub(super) fn graph(self, mut inserted: GraphInserted) -> GraphInserted {
        inserted.effects = self.effects(inserted.effects);
        inserted
    }

    pub(super) fn change(self, change: BreakerChange) -> BreakerChange {
        match change {
            BreakerChange::Opened { until } => {
                BreakerChange::Opened { until: until.map(|until| self.time(until)) }
            }
            BreakerChange::Closed => BreakerChange::Closed,
        }
    }

    pub(super) fn breaker(self, state: BreakerState) -> BreakerState {
        match state {
            BreakerState::Open { until } => {
                BreakerState::Open { until: until.map(|until| self.time(until)) }
            }
            other => other,
        }
    }

    pub(super) fn explanation(self, explanation: Explanation) -> String {
        let mut reasons = match explanation {
            Explanation::Waits(reasons) => reasons,
            Explanation::Expired { at } => return format!("expired at {}", self.time(at)),
            other => return format!("{other:?}"),
        };
        for reason in &mut reasons {
            match reason {
                Waiting::NotDue { due: at } | Waiting::Expired { at } => *at = self.time(*at),
                Waiting::RateLimited { until, .. }
                | Waiting::KeyRateLimited { until, .. }
                | Waiting::BreakerOpen { until: Some(until), .. } => *until = self.time(*until),
                _ => {}
            }
        }
        format!("{reasons:?}")
    }

    pub(super) fn node(self, mut node: NodeRecord) -> NodeRecord {
        if let Some(request) = &mut node.info.request {
            request.at = self.time(request.at);
        }
        node.joined_at = self.time(node.joined_at);
        node.lease_until = self.time(node.lease_until);
        node
    }

    pub(super) fn alert(self, mut alert: Alert) -> Alert {
        alert.at = self.time(alert.at);
        alert
    }

    pub(super) fn unknown(self, mut unknown: UnknownJob) -> UnknownJob {
        unknown.oldest = self.time(unknown.oldest);
        unknown
    }

    pub(super) fn body(self, body: DeliveryBody) -> DeliveryBody {
        match body {
            DeliveryBody::Alert(alert) => DeliveryBody::Alert(self.alert(alert)),
            DeliveryBody::DeadLetter(envelope) => {
                DeliveryBody::DeadLetter(Box::new(self.envelope(*envelope)))
            }
            DeliveryBody::Outcome(outcome) => {
                let at = self.time(outcome.at);
                DeliveryBody::Outcome(Box::new(outcome.with_commit_time(at)))
            }
        }
    }

    fn envelope(self, mut envelope: Envelope) -> Envelope {
        envelope.at = self.time(envelope.at);
        envelope
    }
}

/// Rounds a duration to ticks.
pub(super) fn span(duration: Duration) -> Duration {
    let ticks = duration.saturating_add(TICK / 2).as_secs() / TICK.as_secs();
    Duration::from_secs(ticks * TICK.as_secs())
}
