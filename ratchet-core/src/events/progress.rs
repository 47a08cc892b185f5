//! Keeps the reported progress of batches monotonic. Replies to commits of one process can arrive out of order, so
//! progress older than the last reported one is dropped.

use std::collections::{HashMap, VecDeque};

use ratchet_store::model::GroupId;

/// The last reported progress of each batch. The oldest entries are evicted first.
#[derive(Debug, Default)]
pub(super) struct Progress {
    ended: HashMap<GroupId, u64>,
    order: VecDeque<GroupId>,
}

impl Progress {
    /// The maximum number of batches remembered. The progress of an evicted batch may go backward, by at most the
    /// commits in flight.
    const ROOM: usize = 1024;

    /// Records that `ended` members have ended. Returns `true` if that is newer than the last reported progress.
    pub(super) fn is_news(&mut self, group: GroupId, ended: u64) -> bool {
        if let Some(last) = self.ended.get_mut(&group) {
            let news = ended > *last;
            *last = ended.max(*last);
            return news;
        }
        if self.order.len() == Self::ROOM
            && let Some(oldest) = self.order.pop_front()
        {
            self.ended.remove(&oldest);
        }
        self.order.push_back(group);
        self.ended.insert(group, ended);
        true
    }

    /// Resets a batch that a command changed: fewer members may have ended than were reported.
    pub(super) fn forget(&mut self, group: GroupId) {
        if self.ended.remove(&group).is_some() {
            self.order.retain(|other| *other != group);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(number: usize) -> GroupId {
        GroupId::from_uuid(uuid::Uuid::from_u128(number as u128))
    }

    // spec: W-03
    #[test]
    fn w_03_progress_goes_forwards() {
        let (mut progress, batch) = (Progress::default(), batch(1));
        assert!(progress.is_news(batch, 3));
        assert!(progress.is_news(batch, 9));
        assert!(!progress.is_news(batch, 5), "an older commit, answered later");
        progress.forget(batch);
        assert!(progress.is_news(batch, 8), "a member is tried again");
        assert!(progress.is_news(batch, 9), "and has ended again");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut progress = Progress::default();
        let first = batch(0);
        assert!(progress.is_news(first, 2));
        for number in 1..=Progress::ROOM {
            assert!(progress.is_news(batch(number), 1));
        }
        assert_eq!(progress.ended.len(), Progress::ROOM);
        assert!(progress.is_news(first, 1), "forgotten");
    }
}
