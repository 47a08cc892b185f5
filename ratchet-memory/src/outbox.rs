//! Alerts, and messages that wait to be published.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;

use ratchet_store::model::{
    Alert, Backlog, Channel, Delivery, DeliveryBody, DeliveryId, Envelope, ErasureSubject, JobId,
    JobOutcome, Notice, later,
};

/// Alerts and undelivered messages.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// Oldest first.
    pub(super) alerts: Vec<Alert>,
    /// The index of the latest alert of every job name and fingerprint.
    latest: HashMap<(String, String), usize>,
    pub(super) waiting: BTreeMap<Channel, BTreeMap<DeliveryId, Waiting>>,
    last: i64,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) body: Body,
    /// Set when the message was taken: it is not returned again before this time.
    held_until: Option<Timestamp>,
}

#[derive(Debug)]
pub(super) enum Body {
    /// The index of the alert, because suppressed repeats may still be counted in it.
    Alert(usize),
    DeadLetter(Box<Envelope>),
    Outcome(Box<JobOutcome>),
}

impl Body {
    /// Returns the tenant, the correlation id and the id of the job that the message is about, if it contains them.
    fn owner(&self) -> Option<(Option<&str>, Option<&str>, JobId)> {
        match self {
            Self::Alert(_) => None,
            Self::DeadLetter(it) => {
                Some((it.tenant.as_deref(), it.correlation_id.as_deref(), it.job_id))
            }
            Self::Outcome(it) => {
                Some((it.tenant.as_deref(), it.correlation_id.as_deref(), it.job_id))
            }
        }
    }

    /// Returns the job whose outcomes must be delivered in order.
    fn in_line(&self) -> Option<JobId> {
        match self {
            Self::Outcome(outcome) => Some(outcome.job_id),
            Self::Alert(_) | Self::DeadLetter(_) => None,
        }
    }
}

impl Outbox {
    pub(super) fn record(&mut self, notices: Vec<Notice>, now: Timestamp) {
        for notice in notices {
            match notice {
                Notice::Alert { window, envelope } => self.alert(window, &envelope, now),
                Notice::DeadLetter(mut envelope) => {
                    envelope.at = now;
                    self.push(Channel::DeadLetters, Body::DeadLetter(envelope));
                }
                Notice::Outcome(outcome) => {
                    let outcome = Box::new(outcome.with_commit_time(now));
                    self.push(Channel::Outcomes, Body::Outcome(outcome));
                }
            }
        }
    }

    fn alert(&mut self, window: Duration, envelope: &Envelope, now: Timestamp) {
        let key = (envelope.job_name.clone(), envelope.failure.fingerprint.clone());
        let latest = self.latest.get(&key).and_then(|number| self.alerts.get_mut(*number));
        if let Some(latest) = latest
            && later(latest.at, window) > now
        {
            latest.suppressed += 1;
            return;
        }
        let number = self.alerts.len();
        self.alerts.push(Alert {
            job_id: envelope.job_id,
            job_name: key.0.clone(),
            fingerprint: key.1.clone(),
            message: envelope.failure.message.clone(),
            at: now,
            suppressed: 0,
        });
        self.latest.insert(key, number);
        self.push(Channel::Alerts, Body::Alert(number));
    }

    fn push(&mut self, channel: Channel, body: Body) {
        self.last += 1;
        let waiting = Waiting { body, held_until: None };
        self.waiting.entry(channel).or_default().insert(DeliveryId(self.last), waiting);
    }

    /// Removes the alerts of deleted jobs, and the messages about them and their outcomes. Returns both numbers.
    pub(super) fn erase_jobs(&mut self, jobs: &HashSet<JobId>) -> (u64, u64) {
        let mut places = Vec::with_capacity(self.alerts.len());
        let mut kept = Vec::with_capacity(self.alerts.len());
        for alert in std::mem::take(&mut self.alerts) {
            let gone = jobs.contains(&alert.job_id);
            places.push((!gone).then_some(kept.len()));
            if !gone {
                kept.push(alert);
            }
        }
        let alerts = places.len() - kept.len();
        self.latest = kept
            .iter()
            .enumerate()
            .map(|(number, alert)| ((alert.job_name.clone(), alert.fingerprint.clone()), number))
            .collect();
        self.alerts = kept;
        let mut deliveries = 0;
        for waiting in self.waiting.values_mut() {
            waiting.retain(|_, it| {
                let gone = match &mut it.body {
                    Body::Alert(number) => match places.get(*number).copied().flatten() {
                        Some(place) => {
                            *number = place;
                            false
                        }
                        None => true,
                    },
                    Body::Outcome(outcome) => jobs.contains(&outcome.job_id),
                    Body::DeadLetter(_) => false,
                };
                deliveries += u64::from(gone);
                !gone
            });
        }
        self.waiting.retain(|_, waiting| !waiting.is_empty());
        (alerts as u64, deliveries)
    }

    /// Removes messages, at most `limit`, by the tenant, the correlation id and the id of their job. Returns their number.
    pub(super) fn erase_rest(
        &mut self,
        limit: usize,
        erased: impl Fn(Option<&str>, Option<&str>, JobId) -> bool,
    ) -> u64 {
        let (mut left, mut gone) = (limit, 0);
        for waiting in self.waiting.values_mut() {
            waiting.retain(|_, it| {
                let own = left > 0
                    && it.body.owner().is_some_and(|(tenant, id, job)| erased(tenant, id, job));
                left -= usize::from(own);
                gone += u64::from(own);
                !own
            });
        }
        self.waiting.retain(|_, waiting| !waiting.is_empty());
        gone
    }

    /// Returns how many messages wait that belong to a subject of an erasure.
    pub(super) fn of_subject(&self, subject: &ErasureSubject) -> usize {
        let waiting = self.waiting.values().flat_map(BTreeMap::values);
        let owners = waiting.filter_map(|it| it.body.owner());
        owners.filter(|(tenant, id, _)| subject.covers(*tenant, *id)).count()
    }

    pub(super) fn alerts(&self, limit: u32) -> Vec<Alert> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.alerts.iter().rev().take(limit).cloned().collect()
    }

    pub(super) fn hand_out(
        &mut self,
        channel: Channel,
        limit: u32,
        hold: Duration,
        now: Timestamp,
    ) -> Vec<Delivery> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let alerts = &self.alerts;
        let hand_out = |(id, waiting): (&DeliveryId, &mut Waiting)| {
            let body = match &waiting.body {
                Body::Alert(number) => DeliveryBody::Alert(alerts.get(*number)?.clone()),
                Body::DeadLetter(envelope) => DeliveryBody::DeadLetter(envelope.clone()),
                Body::Outcome(outcome) => DeliveryBody::Outcome(outcome.clone()),
            };
            waiting.held_until = Some(later(now, hold));
            Some(Delivery { id: *id, body })
        };
        let mut before = HashSet::new();
        let waiting = self.waiting.get_mut(&channel).into_iter().flatten();
        waiting
            .filter(|(_, waiting)| waiting.body.in_line().is_none_or(|job| before.insert(job)))
            .filter(|(_, waiting)| waiting.held_until.is_none_or(|until| until <= now))
            .filter_map(hand_out)
            .take(limit)
            .collect()
    }

    pub(super) fn backlogs(&self, limit: u32) -> Vec<Backlog> {
        let backlog = |(channel, waiting): (&Channel, &BTreeMap<DeliveryId, Waiting>)| {
            let oldest = match &waiting.values().next()?.body {
                Body::Alert(number) => self.alerts.get(*number).map(|alert| alert.at),
                Body::DeadLetter(envelope) => Some(envelope.at),
                Body::Outcome(outcome) => Some(outcome.at),
            };
            let count = waiting.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
            Some(Backlog::new(*channel, u64::try_from(count).unwrap_or(u64::MAX), oldest))
        };
        self.waiting.iter().filter_map(backlog).collect()
    }

    pub(super) fn ack_deliveries(&mut self, deliveries: &[DeliveryId]) {
        for waiting in self.waiting.values_mut() {
            for id in deliveries {
                waiting.remove(id);
            }
        }
    }
}
