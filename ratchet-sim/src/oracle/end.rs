//! The checks at the end of a schedule, when all work is done.

use std::collections::{BTreeMap, BTreeSet};

use ratchet_core::JobState;
use ratchet_memory::Inspection;
use ratchet_store::model::JobRecord;

use super::Oracle;
use super::moves::about;
use crate::jobs::Numbered;

impl Oracle {
    /// Describes the first item that is not finished yet: a job, a group, a run or a held key.
    pub(crate) fn restless(&self, view: &Inspection<'_>) -> Option<String> {
        if let Some(shadow) = self.shadows.iter().find(|shadow| !shadow.state.is_terminal()) {
            let job = view.jobs().find(|job| job.id == shadow.id);
            return Some(job.map_or_else(String::new, |job| {
                format!("{} due {} wait {:?} node {:?}", about(job), job.due, job.wait, job.node)
            }));
        }
        if let Some(group) = view.groups().find(|group| !group.state.is_ended()) {
            return Some(format!("group {} is {}", group.id, group.state));
        }
        if let Some(token) = view.lingering().next() {
            return Some(format!("a run of {} lingers", token.job));
        }
        if let Some((name, _, id)) = view.business_keys().next() {
            return Some(format!("business key `{name}` still belongs to {id}"));
        }
        let held = |name: &&str| !view.key_holders(name).is_empty();
        self.keys.names().find(held).map(|name| format!("key `{name}` is still held"))
    }

    /// Checks that every acknowledged job exists exactly once, and that children exist if and only if their parent
    /// succeeded.
    pub(crate) fn judge_end(&mut self, view: &Inspection<'_>) {
        let mut found: BTreeMap<u64, Vec<&JobRecord>> = BTreeMap::new();
        for job in view.jobs() {
            if let Some(numbered) = Numbered::read(job) {
                found.entry(numbered.number).or_default().push(job);
                self.judge_children(&numbered, job, view);
            }
        }
        let ids: BTreeSet<_> = view.jobs().map(|job| job.id).collect();
        let mut problem = None;
        for (number, submit) in self.ledger.all() {
            let jobs = found.get(&number).map_or(0, Vec::len) as u64;
            if let Some(lost) = submit.reported.iter().find(|id| !ids.contains(id)) {
                problem =
                    Some(format!("submit {number} was acknowledged as {lost}, which is lost"));
            }
            let most = if submit.once { 1 } else { submit.tries };
            if jobs > most {
                problem = Some(format!(
                    "submit {number} was tried {} times and made {jobs} jobs",
                    submit.tries
                ));
            }
            if submit.once && submit.reported.iter().collect::<BTreeSet<_>>().len() > 1 {
                problem = Some(format!("submit {number} was answered with {:?}", submit.reported));
            }
        }
        for (number, jobs) in &found {
            let child = jobs.iter().any(|job| job.spec.tags.iter().any(|tag| tag == "child"));
            if !child && self.ledger.get(*number).is_none() {
                problem = Some(format!("there was no submit of {}", about(jobs[0])));
            }
        }
        if let Some(problem) = problem {
            self.accuse(|| problem);
        }
    }

    fn judge_children(&mut self, numbered: &Numbered, job: &JobRecord, view: &Inspection<'_>) {
        let Some(children) = numbered.children(job.run) else { return };
        let succeeded = job.state == JobState::Succeeded;
        let tagged = format!("of:{}", job.id);
        let real = view.jobs().filter(|child| child.spec.tags.contains(&tagged)).count();
        let expected = if succeeded { children } else { 0 };
        if real != expected {
            self.accuse(|| format!("{} has {real} children, not {expected}", about(job)));
        }
    }
}
