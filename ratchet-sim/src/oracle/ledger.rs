//! What clients were told.

use std::collections::BTreeMap;

use ratchet_core::model::JobId;

/// Every submit, by the number that its jobs carry in their arguments.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    submits: BTreeMap<u64, Submit>,
}

/// One thing a client wanted, however often it asked for it.
#[derive(Debug, Default)]
pub(super) struct Submit {
    /// How often it asked.
    pub(super) tries: u64,
    /// The jobs it was told of.
    pub(super) told: Vec<JobId>,
    /// There is one job for all of the tries.
    pub(super) once: bool,
}

impl Ledger {
    /// A client is about to ask.
    pub(crate) fn asked(&mut self, number: u64, once: bool) {
        let submit = self.submits.entry(number).or_default();
        submit.tries += 1;
        submit.once = once;
    }

    /// A client was told that this job exists.
    pub(crate) fn told(&mut self, number: u64, job: JobId) {
        self.submits.entry(number).or_default().told.push(job);
    }

    pub(super) fn get(&self, number: u64) -> Option<&Submit> {
        self.submits.get(&number)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (u64, &Submit)> {
        self.submits.iter().map(|(number, submit)| (*number, submit))
    }
}
