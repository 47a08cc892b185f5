//! The turns of tenants in a fair queue.
//!
//! Tenants take turns in the order of their names, after the tenant that had the last turn. With each turn, a claim
//! takes the first job of the tenant that can run. A tenant with a backlog therefore delays a new job of another tenant
//! by one job per tenant, not by its backlog.
//!
//! The jobs without a tenant have one turn between them, and keep their places in the queue: only those before the
//! first claimable job of any tenant take part.
//!
//! A store lists the tenants of a queue in the order of their names, and reads the jobs of each tenant in order.
//! [`Turns`] says what to list and to read, and which job to offer next:
//!
//! ```
//! use ratchet_store::rules::turns::{Line, Turn, Turns};
//!
//! let mut turns = Turns::new(Some("acme".to_owned()), 2);
//! loop {
//!     match turns.next() {
//!         // The store lists the tenants after a name.
//!         Turn::List { after: "acme", .. } => turns.add_tenants(["zeta"]),
//!         Turn::List { .. } => turns.add_tenants(["acme", "zeta"]),
//!         // The store reads the next jobs of these lines.
//!         Turn::Read(lines) => {
//!             for Line { tenant, .. } in lines {
//!                 turns.add_jobs(&tenant, [1, 2], true);
//!             }
//!         }
//!         Turn::Offer { .. } | Turn::End => break,
//!     }
//! }
//! assert_eq!(turns.next(), Turn::Offer { tenant: "zeta", job: &1 });
//! ```

use std::collections::VecDeque;

/// The least number of tenants among which turns are taken, if the queue has so many.
const PAGE: usize = 16;

/// The tenants of a queue in the order of their turns, with the jobs that were read of each.
///
/// `J` is what the store needs to know about a job.
#[derive(Debug, Clone)]
pub struct Turns<J> {
    /// The tenant that had the last turn before this claim.
    after: Option<String>,
    room: u32,
    /// The part of the names that is listed next.
    part: Part,
    /// The last name that was listed.
    listed: String,
    lines: Vec<Waiting<J>>,
    /// The line whose turn it is.
    at: usize,
}

/// The order of turns begins after the tenant that had the last turn, and ends with that tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    AfterLast,
    UpToLast,
    Complete,
}

#[derive(Debug, Clone)]
struct Waiting<J> {
    tenant: String,
    jobs: VecDeque<J>,
    /// The store may have more jobs of the tenant.
    more: bool,
}

/// A line that must be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The tenant; empty for the jobs without a tenant.
    pub tenant: String,
    /// How many jobs to read, after those that were read before.
    pub limit: u32,
}

/// The next step of a claim.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn<'a, J> {
    /// The store must [add](Turns::add_tenants) the next tenants of the queue that have due jobs.
    List {
        /// The name after which to list.
        after: &'a str,
        /// How many tenants to list.
        limit: usize,
    },
    /// The store must read these lines and [add](Turns::add_jobs) what it finds.
    Read(Vec<Line>),
    /// The store must offer this job to the plan, and report whether it was [accepted](Turns::offered).
    Offer {
        /// The tenant whose turn it is; empty for the jobs without a tenant.
        tenant: &'a str,
        /// The job.
        job: &'a J,
    },
    /// All jobs were offered.
    End,
}

impl<J> Turns<J> {
    /// Starts a claim that can take `room` jobs, after the tenant that had the last turn.
    pub fn new(after: Option<String>, room: u32) -> Self {
        let listed = after.clone().unwrap_or_default();
        let mut turns =
            Self { after, room, part: Part::AfterLast, listed, lines: Vec::new(), at: 0 };
        if turns.after.is_none() {
            turns.begin_again();
        }
        turns
    }

    /// Returns the next step.
    #[expect(clippy::should_implement_trait, reason = "the step borrows from the turns")]
    pub fn next(&mut self) -> Turn<'_, J> {
        let open = self.lines.iter().filter(|line| line.has_jobs()).count();
        if self.part != Part::Complete && (open == 0 || self.lines.len() < self.page()) {
            return Turn::List { after: &self.listed, limit: self.page() };
        }
        let Some(at) = self.turn_order().find(|at| self.lines[*at].has_jobs()) else {
            return Turn::End;
        };
        self.at = at;
        if self.lines[at].jobs.is_empty() {
            return Turn::Read(self.unread());
        }
        let line = &self.lines[at];
        line.jobs.front().map_or(Turn::End, |job| Turn::Offer { tenant: &line.tenant, job })
    }

    /// Adds the tenants that were listed, in the order of their names. Fewer than requested mean that there are no more.
    pub fn add_tenants(&mut self, tenants: impl IntoIterator<Item = impl Into<String>>) {
        let limit = self.page();
        let mut count = 0;
        for tenant in tenants {
            let tenant = tenant.into();
            count += 1;
            if self.part == Part::UpToLast && self.after.as_ref().is_some_and(|last| tenant > *last)
            {
                self.part = Part::Complete;
                return;
            }
            self.listed.clone_from(&tenant);
            self.lines.push(Waiting::new(tenant));
        }
        if count >= limit {
            return;
        }
        match self.part {
            Part::AfterLast => self.begin_again(),
            Part::UpToLast | Part::Complete => self.part = Part::Complete,
        }
    }

    /// Adds jobs of a tenant in their order. `end` means that the tenant has no more.
    pub fn add_jobs(&mut self, tenant: &str, jobs: impl IntoIterator<Item = J>, end: bool) {
        if let Some(line) = self.lines.iter_mut().find(|line| line.tenant == tenant) {
            line.jobs.extend(jobs);
            line.more = !end;
        }
    }

    /// Removes the job that was offered. If it was accepted, it is the turn of the next tenant.
    pub fn offered(&mut self, accepted: bool) -> Option<J> {
        let line = self.lines.get_mut(self.at)?;
        let job = line.jobs.pop_front();
        if accepted {
            self.room = self.room.saturating_sub(1);
            self.at = (self.at + 1) % self.lines.len();
        }
        job
    }

    /// Continues with the first names. The jobs without a tenant come before all of them.
    fn begin_again(&mut self) {
        self.part = Part::UpToLast;
        self.listed.clear();
        self.lines.push(Waiting::new(String::new()));
    }

    /// Returns the number of tenants among which turns are taken.
    fn page(&self) -> usize {
        usize::try_from(self.room).unwrap_or(usize::MAX).max(PAGE)
    }

    /// Returns the positions of all lines in the order of their turns.
    fn turn_order(&self) -> impl Iterator<Item = usize> + use<J> {
        let (at, lines) = (self.at, self.lines.len());
        (0..lines).map(move |step| (at + step) % lines)
    }

    /// Returns the next lines of which no job is left and more may exist, so that they can be read together.
    fn unread(&self) -> Vec<Line> {
        let unread = self.turn_order().map(|at| &self.lines[at]);
        let unread = unread.filter(|line| line.more && line.jobs.is_empty());
        let room = usize::try_from(self.room).unwrap_or(usize::MAX).max(1);
        let unread: Vec<_> = unread.take(room).collect();
        let limit = self.room.div_ceil(u32::try_from(unread.len()).unwrap_or(u32::MAX)).max(1);
        unread.into_iter().map(|line| Line { tenant: line.tenant.clone(), limit }).collect()
    }
}

impl<J> Waiting<J> {
    fn new(tenant: String) -> Self {
        Self { tenant, jobs: VecDeque::new(), more: true }
    }

    fn has_jobs(&self) -> bool {
        self.more || !self.jobs.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// The jobs of each tenant: a number, and whether it can run.
    type Jobs = BTreeMap<String, VecDeque<(u32, bool)>>;

    /// Claims up to `room` jobs as a store does.
    fn claim(mut jobs: Jobs, after: Option<&str>, room: u32) -> Vec<(String, u32)> {
        let mut turns = Turns::new(after.map(str::to_owned), room);
        let mut claimed = Vec::new();
        while claimed.len() < room as usize {
            let accepted = match turns.next() {
                Turn::End => break,
                Turn::List { after, limit } => {
                    let tenants = jobs.keys().filter(|tenant| tenant.as_str() > after).take(limit);
                    let tenants: Vec<_> = tenants.cloned().collect();
                    turns.add_tenants(tenants);
                    continue;
                }
                Turn::Read(lines) => {
                    for Line { tenant, limit } in lines {
                        let line = jobs.entry(tenant.clone()).or_default();
                        let taken: Vec<_> = (0..limit).map_while(|_| line.pop_front()).collect();
                        let end = taken.len() < limit as usize;
                        turns.add_jobs(&tenant, taken, end);
                    }
                    continue;
                }
                Turn::Offer { tenant, job: (number, runs) } => {
                    if *runs {
                        claimed.push((tenant.to_owned(), *number));
                    }
                    *runs
                }
            };
            turns.offered(accepted);
        }
        claimed
    }

    fn jobs(counts: &[(&str, u32)]) -> Jobs {
        let line = |count: u32| (0..count).map(|number| (number, true)).collect();
        counts.iter().map(|(tenant, count)| ((*tenant).to_owned(), line(*count))).collect()
    }

    fn tenants(claimed: &[(String, u32)]) -> Vec<&str> {
        claimed.iter().map(|(tenant, _)| tenant.as_str()).collect()
    }

    #[test]
    fn q_07_tenants_take_turns_after_the_last_one() {
        let all = jobs(&[("a", 9), ("b", 1), ("c", 9)]);
        assert_eq!(tenants(&claim(all.clone(), None, 6)), ["a", "b", "c", "a", "c", "a"]);
        assert_eq!(tenants(&claim(all.clone(), Some("a"), 4)), ["b", "c", "a", "c"]);
        assert_eq!(tenants(&claim(all.clone(), Some("bb"), 2)), ["c", "a"]);
        assert_eq!(tenants(&claim(all, Some("z"), 2)), ["a", "b"]);
    }

    #[test]
    fn q_07_jobs_without_a_tenant_take_one_turn() {
        let all = jobs(&[("", 5), ("a", 5)]);
        assert_eq!(tenants(&claim(all.clone(), None, 3)), ["", "a", ""]);
        assert_eq!(tenants(&claim(all, Some(""), 3)), ["a", "", "a"]);
    }

    #[test]
    fn a_job_that_cannot_run_does_not_use_up_a_turn() {
        let mut all = jobs(&[("a", 3), ("b", 3)]);
        all.insert("a".to_owned(), [(0, false), (1, true), (2, true)].into());
        let expected = [("a", 1), ("b", 0), ("a", 2)].map(|(tenant, job)| (tenant.to_owned(), job));
        assert_eq!(claim(all, None, 3), expected);
    }

    #[test]
    fn q_07_every_tenant_of_many_has_its_turn() {
        let names: Vec<_> = (0..100).map(|number| format!("{number:03}")).collect();
        let mut all: Jobs = names.iter().map(|name| (name.clone(), [(0, true)].into())).collect();
        all.insert("000".to_owned(), (0..1000).map(|number| (number, true)).collect());
        let (mut last, mut turns) = (None, Vec::new());
        while turns.len() < 100 {
            let claimed = claim(all.clone(), last.as_deref(), 7);
            last = claimed.last().map(|(tenant, _)| tenant.clone());
            turns.extend(claimed.into_iter().map(|(tenant, _)| tenant));
        }
        assert_eq!(turns[..100], names);
    }

    proptest! {
        /// While a tenant still has jobs that can run, no other tenant gets two more jobs than it.
        #[test]
        fn q_07_no_tenant_is_two_turns_ahead_of_one_that_waits(
            lines in prop::collection::btree_map("[a-e]?", prop::collection::vec(any::<bool>(), 1..12), 1..5),
            after in prop::option::of("[a-e]?"), room in 1..20_u32,
        ) {
            let numbered = |line: Vec<bool>| (0..).zip(line).collect::<VecDeque<_>>();
            let all: Jobs = lines.into_iter().map(|(tenant, line)| (tenant, numbered(line))).collect();
            let claimed = claim(all.clone(), after.as_deref(), room);
            let runnable = |tenant: &str| all[tenant].iter().filter(|(_, runs)| *runs).count();
            let taken = |tenant: &str| claimed.iter().filter(|(other, _)| other == tenant).count();
            let total: usize = all.keys().map(|tenant| runnable(tenant)).sum();
            prop_assert_eq!(claimed.len(), total.min(room as usize));
            for (waiting, other) in all.keys().flat_map(|a| all.keys().map(move |b| (a, b))) {
                if taken(waiting) < runnable(waiting) {
                    prop_assert!(taken(other) <= taken(waiting) + 1);
                }
            }
            for tenant in all.keys() {
                let own: Vec<_> = claimed.iter().filter(|(other, _)| other == tenant).map(|(_, job)| *job).collect();
                let first: Vec<_> = all[tenant].iter().filter(|(_, runs)| *runs).map(|(job, _)| *job).take(own.len()).collect();
                prop_assert_eq!(own, first, "the jobs of a tenant run in their order");
            }
        }
    }
}
