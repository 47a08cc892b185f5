//! Tracks the actual execution of handlers, independent of the store.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use ratchet_store::model::{Claimed, JobId, NodeId};

use super::Oracle;
use crate::exec::Owner;

/// How a handler ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// It returned a value.
    Ok,
    /// It returned an error, panicked, or was dropped.
    NotOk,
}

#[derive(Debug)]
struct Run {
    owner: Owner,
    node: NodeId,
    key: Option<usize>,
    begun: bool,
    end: Option<RunEnd>,
}

impl Run {
    fn is_active(&self) -> bool {
        self.begun && self.end.is_none()
    }
}

/// All runs that were claimed in the schedule.
#[derive(Debug, Default)]
pub(crate) struct RunBook {
    runs: HashMap<(JobId, u64), Run>,
    active: Vec<(JobId, u64)>,
    /// The processes that were paused at some time.
    paused: HashSet<Owner>,
    /// The number of handlers that were started.
    pub(super) begun: u64,
}

impl Oracle {
    pub(super) fn run_claimed(&mut self, owner: Owner, job: &Claimed) {
        let (key, _) = self.keys.learn(&job.spec);
        let run = Run { owner, node: job.node, key, begun: false, end: None };
        if self.runs.runs.insert((job.id(), job.run), run).is_some() {
            self.accuse(|| format!("run {} of {} was given out twice", job.run, job.id()));
        }
    }

    pub(super) fn run_end(&self, job: JobId, run: u64) -> Option<RunEnd> {
        self.runs.runs.get(&(job, run)).and_then(|run| run.end)
    }

    /// Records the start of a handler and checks that it may run.
    pub(crate) fn begin(&mut self, owner: Owner, job: JobId, number: u64, now: Timestamp) {
        self.digest(number << 1);
        self.note(|| format!("begins {job} run {number}"));
        self.runs.begun += 1;
        let Some(run) = self.runs.runs.get_mut(&(job, number)) else {
            return self.accuse(|| format!("run {number} of {job} began and was never claimed"));
        };
        let again = std::mem::replace(&mut run.begun, true);
        let (key, claimer, node) = (run.key, run.owner, run.node);
        if again || claimer != owner {
            return self.accuse(|| format!("run {number} of {job} began twice or elsewhere"));
        }
        if !self.holds(node, now) {
            let renamed = |(name, since): &(NodeId, Timestamp)| *name != node && *since < now;
            if self.names.get(&owner).is_some_and(renamed) {
                self.accuse(|| format!("run {number} of {job} began under a name that is lost"));
            }
            // A node that was paused cannot know that its lease expired. Its settlement will be fenced.
            return self.runs.active.push((job, number));
        }
        let rival = self.active(now).find(|(other, _)| *other == job).copied();
        if let Some((_, other)) = rival {
            return self.accuse(|| format!("runs {other} and {number} of {job} go on at once"));
        }
        self.runs.active.push((job, number));
        if let Some(key) = key {
            let at_once = self.active(now).filter(|id| self.runs.runs[id].key == Some(key)).count();
            let (name, limit) = self.keys.limit(key);
            if at_once > limit {
                let name = name.to_owned();
                self.accuse(|| {
                    format!("{at_once} handlers of key `{name}` at once, {limit} may be")
                });
            }
        }
    }

    /// Records that a process is paused. It cannot end its runs in time.
    pub(crate) fn pause(&mut self, owner: Owner) {
        self.runs.paused.insert(owner);
    }

    /// Records the end of a handler, and checks that it has not run beyond the lease of its node.
    pub(crate) fn finish(&mut self, job: JobId, number: u64, end: RunEnd, now: Timestamp) {
        self.digest(number << 1 | 1);
        self.note(|| format!("ends {job} run {number}: {end:?}"));
        self.runs.active.retain(|id| *id != (job, number));
        let Some(run) = self.runs.runs.get_mut(&(job, number)) else { return };
        run.end = Some(end);
        let (owner, node) = (run.owner, run.node);
        let lease = self.leases.get(&node).copied();
        if let Some(until) = lease.filter(|until| *until < now)
            && !self.runs.paused.contains(&owner)
        {
            self.accuse(|| format!("run {number} of {job} went on until {now}, beyond the lease of {node}, which ended at {until}"));
        }
    }

    /// Returns the running handlers of nodes with a valid lease. Jobs of the other nodes may already run elsewhere.
    fn active(&self, now: Timestamp) -> impl Iterator<Item = &(JobId, u64)> {
        let counts = move |id: &&(JobId, u64)| {
            let run = &self.runs.runs[*id];
            run.is_active() && self.holds(run.node, now)
        };
        self.runs.active.iter().filter(counts)
    }

    pub(crate) fn handlers_begun(&self) -> u64 {
        self.runs.begun
    }
}
