//! Tracks the offset between the local clock and the store's clock, and rejects ids that are far ahead of the store's
//! clock.
//!
//! Jobs are partitioned by id, and an id starts with the milliseconds of the clock that created it. An id from a clock
//! that is weeks ahead belongs to a partition that does not exist yet.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use ratchet_store::env::{Clock as _, SystemClock};
use ratchet_store::{StoreError, StoreErrorKind};
use uuid::Uuid;

/// How far ahead an id may be. With the default partition size its partition exists. Otherwise the rows are moved when
/// the partition is created.
const AHEAD: Duration = Duration::from_hours(24);

/// An estimate of the store's clock.
#[derive(Debug, Default)]
pub(crate) struct StoreClock {
    here: SystemClock,
    /// Microseconds by which the store's clock is ahead of the local one.
    offset: AtomicI64,
}

impl StoreClock {
    /// Records the current time of the store, in microseconds.
    pub(crate) fn saw(&self, now: i64) {
        let offset = now.saturating_sub(self.here.now().as_microsecond());
        self.offset.store(offset, Ordering::Relaxed);
    }

    /// Returns an error if one of the ids was created by a clock far ahead of the store's clock.
    pub(crate) fn check(
        &self,
        what: &str,
        ids: impl IntoIterator<Item = Uuid>,
    ) -> Result<(), StoreError> {
        let now = self.here.now().as_microsecond();
        let now = now.saturating_add(self.offset.load(Ordering::Relaxed));
        let now = Duration::from_micros(u64::try_from(now).unwrap_or(0));
        let latest = now.saturating_add(AHEAD);
        match ids.into_iter().find(|id| made_at(*id) > latest) {
            None => Ok(()),
            Some(id) => {
                let hours = made_at(id).saturating_sub(now).as_secs() / 3600;
                let why = format!(
                    "the id of {what} {id} is {hours} hours ahead of the store's clock; correct the clock of this \
                     machine, or of the database server"
                );
                Err(StoreError::new(StoreErrorKind::Data, why))
            }
        }
    }
}

/// Returns the time encoded in an id.
fn made_at(id: Uuid) -> Duration {
    let millis = u64::try_from(id.as_u128() >> 80).unwrap_or(u64::MAX);
    Duration::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_at(micros: i64) -> Uuid {
        let millis = u64::try_from(micros / 1000).expect("not before 1970");
        uuid::Builder::from_unix_timestamp_millis(millis, &[0; 10]).into_uuid()
    }

    #[test]
    fn s_17_an_id_is_judged_by_the_stores_clock() {
        const DAY: i64 = 24 * 3600 * 1_000_000;
        let clock = StoreClock::default();
        let here = SystemClock::default().now().as_microsecond();
        for offset in [-30 * DAY, 0, 30 * DAY] {
            clock.saw(here + offset);
            let check = |ahead: i64| clock.check("job", [id_at(here + offset + ahead)]);
            check(0).expect("now");
            check(-300 * DAY).expect("an old id harms nothing");
            check(DAY / 2).expect("a clock may be off");
            let error = check(3 * DAY).expect_err("too far");
            assert!(error.to_string().contains("hours ahead of the store's clock"), "{error}");
        }
    }
}
