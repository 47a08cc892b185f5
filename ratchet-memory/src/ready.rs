//! Due jobs in queue order.
//!
//! Jobs that a claim treats alike form a lane. A claim visits only the heads of lanes, so skipping a thousand jobs that
//! cannot run costs as much as skipping one.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use jiff::Timestamp;

use ratchet_store::model::{ConcurrencyKey, JobId, JobRecord};

/// The position of a job in its queue. Lower positions come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    sort_key: i64,
    due: Timestamp,
    pub(super) id: JobId,
}

impl Place {
    pub(super) fn of(job: &JobRecord) -> Self {
        let sort_key = job.spec.sort_key(job.due.as_microsecond());
        Self { sort_key, due: job.due, id: job.id }
    }
}

/// The properties by which a claim decides whether to skip a job. If a claim skips one job of a lane, it skips all
/// later ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) version: u32,
    pub(super) concurrency: Option<ConcurrencyKey>,
    pub(super) service: Option<String>,
    pub(super) crashes: u32,
    /// The tenant, which takes turns with others in a fair queue.
    pub(super) tenant: Option<String>,
    /// Conditions that the claiming node must be able to evaluate.
    pub(super) conditions: Vec<String>,
    /// When the jobs expire.
    pub(super) expires: Option<Timestamp>,
}

impl Lane {
    pub(super) fn of(job: &JobRecord) -> Self {
        let spec = &job.spec;
        Self {
            name: spec.name.clone(),
            version: spec.version,
            concurrency: spec.concurrency.clone(),
            service: spec.service.clone(),
            crashes: job.crashes,
            tenant: spec.tenant.clone(),
            conditions: spec.step.as_ref().map(|step| step.conditions.clone()).unwrap_or_default(),
            expires: job.expires_at(),
        }
    }
}

/// The due jobs of one queue.
#[derive(Debug, Default)]
pub(super) struct Line {
    lanes: HashMap<Arc<Lane>, BTreeSet<Place>>,
    /// The first job of every lane.
    heads: BTreeMap<Place, Arc<Lane>>,
    /// The first jobs of the lanes of each tenant.
    tenants: BTreeMap<String, BTreeSet<Place>>,
}

impl Line {
    pub(super) fn insert(&mut self, lane: Lane, place: Place) {
        let lane = match self.lanes.get_key_value(&lane) {
            Some((lane, _)) => Arc::clone(lane),
            None => Arc::new(lane),
        };
        let places = self.lanes.entry(Arc::clone(&lane)).or_default();
        let head = places.first().copied();
        places.insert(place);
        if head.is_none_or(|head| place < head) {
            if let Some(head) = head {
                self.remove_head(head);
            }
            self.insert_head(place, lane);
        }
    }

    /// Returns `true` if the job was present.
    pub(super) fn remove(&mut self, lane: &Lane, place: Place) -> bool {
        let Some(places) = self.lanes.get_mut(lane) else { return false };
        let there = places.remove(&place);
        let next = places.first().copied();
        if next.is_none() {
            self.lanes.remove(lane);
        }
        if let Some(lane) = self.remove_head(place)
            && let Some(next) = next
        {
            self.insert_head(next, lane);
        }
        there
    }

    fn insert_head(&mut self, place: Place, lane: Arc<Lane>) {
        if let Some(tenant) = &lane.tenant {
            self.tenants.entry(tenant.clone()).or_default().insert(place);
        }
        self.heads.insert(place, lane);
    }

    fn remove_head(&mut self, place: Place) -> Option<Arc<Lane>> {
        let lane = self.heads.remove(&place)?;
        if let Some(tenant) = &lane.tenant
            && let Some(places) = self.tenants.get_mut(tenant)
        {
            places.remove(&place);
            if places.is_empty() {
                self.tenants.remove(tenant);
            }
        }
        Some(lane)
    }

    /// Returns the first head after a position. The next head of a lane is always after the one just taken, so a walk
    /// from position to position visits the queue in order even while it takes jobs.
    pub(super) fn after(&self, place: Option<Place>) -> Option<(Place, Arc<Lane>)> {
        let start = place.map_or(Bound::Unbounded, Bound::Excluded);
        let (place, lane) = self.heads.range((start, Bound::Unbounded)).next()?;
        Some((*place, Arc::clone(lane)))
    }

    /// Returns the tenants after a name that have due jobs, in the order of their names.
    pub(super) fn tenants_after(&self, name: &str) -> impl Iterator<Item = &str> {
        let after = (Bound::Excluded(name), Bound::Unbounded);
        self.tenants.range::<str, _>(after).map(|(tenant, _)| tenant.as_str())
    }

    /// Returns the first head of a tenant after a position.
    pub(super) fn of_tenant(
        &self,
        tenant: &str,
        place: Option<Place>,
    ) -> Option<(Place, Arc<Lane>)> {
        let start = place.map_or(Bound::Unbounded, Bound::Excluded);
        let place = self.tenants.get(tenant)?.range((start, Bound::Unbounded)).next()?;
        Some((*place, Arc::clone(self.heads.get(place)?)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn lane(number: u8) -> Lane {
        Lane {
            name: number.to_string(),
            version: 1,
            concurrency: None,
            service: None,
            crashes: 0,
            tenant: (number == 1).then(|| "acme".to_owned()),
            conditions: vec![],
            expires: None,
        }
    }

    fn place(number: u8) -> Place {
        let id = JobId::from_uuid(Uuid::from_u128(number.into()));
        Place { sort_key: i64::from(number / 4), due: Timestamp::UNIX_EPOCH, id }
    }

    // spec: C-06
    #[test]
    fn jobs_of_a_lane_hide_behind_its_head() {
        let mut line = Line::default();
        for number in 0..100 {
            line.insert(lane(number % 2), place(number));
        }
        assert_eq!(line.heads.len(), 2);
    }

    proptest! {
        // spec: C-02
        #[test]
        fn walk_that_takes_sees_every_job_in_order(
            changes in prop::collection::vec((any::<bool>(), 0..3_u8, 0..40_u8), 0..200),
        ) {
            let (mut line, mut model) = (Line::default(), BTreeMap::new());
            for (insert, number, at) in changes {
                // A job is in one lane at a time.
                let at = at * 3 + number;
                if insert {
                    line.insert(lane(number), place(at));
                    model.insert(place(at), number);
                } else {
                    let there = line.remove(&lane(number), place(at));
                    prop_assert_eq!(there, model.remove(&place(at)).is_some());
                }
            }
            let (mut walked, mut at) = (Vec::new(), None);
            while let Some((place, lane)) = line.after(at) {
                walked.push(place);
                line.remove(&lane, place);
                at = Some(place);
            }
            prop_assert_eq!(walked, model.into_keys().collect::<Vec<_>>());
            prop_assert!(line.is_empty() && line.lanes.is_empty() && line.tenants.is_empty());
        }
    }
}
