//! The texts that can be encrypted.

use std::sync::Arc;

use serde_json::Value;

use super::outbox::Body;
use super::tables::Tables;
use ratchet_store::model::{
    ContentKey, ContentPage, ContentPlace, ContentRow, Envelope, JobId, JobRecord, Rewrite,
};

/// A place that holds a text.
enum Slot<'t> {
    Text(&'t mut String),
    Json(&'t mut Value),
}

impl Slot<'_> {
    fn read(&self) -> String {
        match self {
            Self::Text(text) => (**text).clone(),
            Self::Json(value) => value.to_string(),
        }
    }

    fn write(self, new: String) {
        match self {
            Self::Text(text) => *text = new,
            Self::Json(value) => {
                if let Ok(new) = serde_json::from_str(&new) {
                    *value = new;
                }
            }
        }
    }
}

/// A row with its slots.
struct Found<'t> {
    key: ContentKey,
    job: JobId,
    handed: Option<(String, String)>,
    slots: Vec<Slot<'t>>,
}

impl<'t> Found<'t> {
    fn new(key: ContentKey, job: JobId, slots: Vec<Slot<'t>>) -> Self {
        Self { key, job, handed: None, slots }
    }

    fn row(&self) -> ContentRow {
        let texts = self.slots.iter().map(|slot| Some(slot.read())).collect();
        let mut row = ContentRow::new(self.key, self.job, texts);
        row.handed.clone_from(&self.handed);
        row
    }
}

fn of_job(job: JobId, number: usize) -> ContentKey {
    ContentKey { job: Some(job), number: signed(number as u64) }
}

fn numbered(number: i64) -> ContentKey {
    ContentKey { job: None, number }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn of_envelope(envelope: &mut Envelope) -> Vec<Slot<'_>> {
    let mut slots = vec![Slot::Text(&mut envelope.failure.message)];
    slots.extend(envelope.explanation.as_mut().map(Slot::Text));
    slots
}

fn of_outcome(job: &mut JobRecord) -> Vec<Slot<'_>> {
    let mut slots: Vec<_> = job.output.as_mut().map(Slot::Text).into_iter().collect();
    slots.extend(job.error.as_mut().map(|error| Slot::Text(&mut error.message)));
    slots.extend(job.envelope.as_mut().into_iter().flat_map(of_envelope));
    slots
}

fn of_notes(job: &mut JobRecord) -> Vec<Slot<'_>> {
    let mut slots: Vec<_> = job.warnings.iter_mut().map(Slot::Text).collect();
    slots.extend(job.progress.as_mut().map(|progress| Slot::Text(&mut progress.message)));
    slots.extend(job.checkpoint.as_mut().map(Slot::Json));
    slots
}

fn of_body(body: &mut Body) -> Option<(JobId, Vec<Slot<'_>>)> {
    match body {
        // Its text is in the alert.
        Body::Alert(_) => None,
        Body::DeadLetter(envelope) => Some((envelope.job_id, of_envelope(envelope))),
        Body::Outcome(outcome) => {
            let job = outcome.job_id;
            let mut slots: Vec<_> = outcome.output.as_mut().map(Slot::Text).into_iter().collect();
            let envelope = outcome.envelope.as_mut().into_iter();
            slots.extend(envelope.flat_map(|envelope| of_envelope(envelope)));
            Some((job, slots))
        }
    }
}

impl Tables {
    pub(super) fn content(
        &mut self,
        place: ContentPlace,
        after: Option<ContentKey>,
        limit: u32,
    ) -> ContentPage {
        let mut found = self.found(place);
        found.retain(|found| after.is_none_or(|after| found.key > after));
        found.sort_by_key(|found| found.key);
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let keys: Vec<_> = found.iter().map(|found| found.key).collect();
        ContentPage::new(&keys, found.iter().map(Found::row).collect())
    }

    /// Applies a replacement if the content is as expected. Returns whether it is.
    pub(super) fn rewrite(&mut self, rewrite: Rewrite) -> bool {
        match rewrite {
            Rewrite::Arguments { job, expected, spec } => {
                let Some(row) = self.jobs.get_mut(&job) else { return false };
                if row.job.spec.payload != expected {
                    return false;
                }
                let stored = Arc::make_mut(&mut row.job.spec);
                stored.payload = spec.payload;
                stored.on_success = spec.on_success;
                stored.on_failure = spec.on_failure;
                stored.finished = spec.finished;
                true
            }
            Rewrite::Texts { place, key, expected, texts } => {
                let found = self.found(place).into_iter().find(|found| found.key == key);
                let Some(found) = found.filter(|found| found.row().texts == expected) else {
                    return false;
                };
                for (slot, text) in found.slots.into_iter().zip(texts) {
                    if let Some(text) = text {
                        slot.write(text);
                    }
                }
                true
            }
        }
    }

    fn found(&mut self, place: ContentPlace) -> Vec<Found<'_>> {
        let rows = self.jobs.iter_mut();
        match place {
            ContentPlace::Outcome => rows
                .map(|(id, row)| Found::new(of_job(*id, 0), *id, of_outcome(&mut row.job)))
                .collect(),
            ContentPlace::Notes => rows
                .map(|(id, row)| Found::new(of_job(*id, 0), *id, of_notes(&mut row.job)))
                .collect(),
            ContentPlace::Attempt => {
                let attempts = rows.flat_map(|(id, row)| {
                    row.history.iter_mut().enumerate().map(|(number, attempt)| {
                        let error = attempt.error.as_mut();
                        let error = error.map(|error| Slot::Text(&mut error.message));
                        let note = attempt.note.as_mut().map(Slot::Text);
                        let slots = error.into_iter().chain(note).collect();
                        Found::new(of_job(*id, number), *id, slots)
                    })
                });
                attempts.collect()
            }
            ContentPlace::Log => {
                let lines = rows.flat_map(|(id, row)| {
                    row.logs.iter_mut().enumerate().map(|(number, line)| {
                        let slots = vec![Slot::Text(&mut line.message)];
                        Found::new(of_job(*id, number), *id, slots)
                    })
                });
                lines.collect()
            }
            ContentPlace::Reject => {
                let rejects = self.items.rejects.iter_mut().map(|((job, index), reject)| {
                    let mut slots = vec![Slot::Text(&mut reject.item.message)];
                    slots.extend(reject.item.payload.as_mut().map(Slot::Text));
                    let key = ContentKey { job: Some(*job), number: signed(*index) };
                    Found::new(key, *job, slots)
                });
                rejects.collect()
            }
            ContentPlace::HandOff => {
                let handed = self.items.hand_offs.iter_mut().map(|(name, handed)| {
                    let key = numbered(signed(handed.number));
                    let slots = vec![Slot::Json(&mut handed.hand_off.handed.checkpoint)];
                    let found = Found::new(key, handed.hand_off.job, slots);
                    Found { handed: Some(name.clone()), ..found }
                });
                handed.collect()
            }
            ContentPlace::Delivery => {
                let waiting = self.outbox.waiting.values_mut().flatten();
                let waiting = waiting.filter_map(|(id, waiting)| {
                    let (job, slots) = of_body(&mut waiting.body)?;
                    Some(Found::new(numbered(id.0), job, slots))
                });
                waiting.collect()
            }
            ContentPlace::Alert => {
                let alerts = self.outbox.alerts.iter_mut().enumerate().map(|(number, alert)| {
                    let slots = vec![Slot::Text(&mut alert.message)];
                    Found::new(numbered(signed(number as u64)), alert.job_id, slots)
                });
                alerts.collect()
            }
            // `ContentPlace` is not exhaustive.
            _ => Vec::new(),
        }
    }
}
