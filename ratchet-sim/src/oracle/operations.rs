//! Bulk operations: each job is changed at most once, the cursor only moves forward, and no job is left out.

use std::collections::{BTreeMap, BTreeSet};

use ratchet_memory::Inspection;
use ratchet_store::model::{JobId, OperationReply, OperationState};
use ratchet_store::rules::operation;

use super::Oracle;

/// What an operation has done.
#[derive(Debug, Default)]
pub(super) struct OperationBook {
    /// The versions of the jobs that it selected when it was started.
    selected: BTreeMap<JobId, u64>,
    changed: BTreeSet<JobId>,
    refused: BTreeSet<JobId>,
    cursor: Option<JobId>,
    ended: bool,
}

impl Oracle {
    /// Checks a change of an operation that the store has answered.
    pub(crate) fn operation_changed(&mut self, view: &Inspection<'_>, reply: &OperationReply) {
        if !reply.applied {
            return;
        }
        let current = &reply.operation;
        let is_new = !self.operations.contains_key(&current.id);
        let book = self.operations.entry(current.id).or_default();
        let mut wrong = None;
        if is_new {
            let jobs = view.jobs().filter(|job| operation::command(current, job).is_some());
            book.selected = jobs.map(|job| (job.id, job.version)).collect();
        }
        if book.ended {
            wrong = Some("was changed after its end".to_owned());
        }
        if current.cursor < book.cursor {
            wrong = Some(format!("went back from {:?} to {:?}", book.cursor, current.cursor));
        }
        if let Some(page) = &reply.page {
            for (job, _) in &page.changed {
                if !book.changed.insert(*job) || Some(*job) <= book.cursor {
                    wrong = Some(format!("changed job {job} twice"));
                }
            }
            book.refused.extend(&page.refused);
        }
        if current.changed != book.changed.len() as u64 {
            wrong = Some(format!("counts {} of {} jobs", current.changed, book.changed.len()));
        }
        book.cursor = current.cursor;
        book.ended = current.state.is_ended();
        if current.state == OperationState::Finished {
            let left_out = view.jobs().find(|job| {
                book.selected.get(&job.id) == Some(&job.version) && !book.refused.contains(&job.id)
            });
            wrong = wrong.or(left_out.map(|job| format!("left out job {}", job.id)));
        }
        if let Some(wrong) = wrong {
            self.accuse(|| format!("operation {} {wrong}", current.id));
        }
    }
}
