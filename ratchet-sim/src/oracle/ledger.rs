//! Records the submits of clients and the answers they received.

use std::collections::BTreeMap;

use ratchet_store::model::JobId;

/// The submits, keyed by the number in the arguments of their jobs.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    submits: BTreeMap<u64, Submit>,
}

/// One submit of a client, including its repetitions.
#[derive(Debug, Default)]
pub(super) struct Submit {
    /// The number of times it was sent.
    pub(super) tries: u64,
    /// The jobs that were acknowledged to the client.
    pub(super) reported: Vec<JobId>,
    /// Whether all tries must result in the same job, because of an idempotency key.
    pub(super) once: bool,
}

impl Ledger {
    /// Records that a client is about to send a submit.
    pub(crate) fn asked(&mut self, number: u64, once: bool) {
        let submit = self.submits.entry(number).or_default();
        submit.tries += 1;
        submit.once = once;
    }

    /// Records that this job was acknowledged to a client.
    pub(crate) fn reported(&mut self, number: u64, job: JobId) {
        self.submits.entry(number).or_default().reported.push(job);
    }

    pub(super) fn get(&self, number: u64) -> Option<&Submit> {
        self.submits.get(&number)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (u64, &Submit)> {
        self.submits.iter().map(|(number, submit)| (*number, submit))
    }
}
