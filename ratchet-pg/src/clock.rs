//! How far the clock of this process is from the store's, and ids that are far ahead of it.
//!
//! Jobs are kept in ranges of their ids, and an id begins with the milliseconds of the clock that made it. An id of a clock
//! that is weeks ahead belongs to a range that does not exist yet.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use ratchet_core::store::{StoreError, StoreErrorKind};
use ratchet_core::{Clock as _, SystemClock};
use uuid::Uuid;

/// Ids may be this far ahead: by default their range exists, and otherwise they are moved there when it is made.
const AHEAD: Duration = Duration::from_hours(24);

/// What is known of the store's clock.
#[derive(Debug, Default)]
pub(crate) struct StoreClock {
    here: SystemClock,
    /// How many microseconds the store's clock is ahead of this one.
    offset: AtomicI64,
}

impl StoreClock {
    /// The store has just said that it is this time.
    pub(crate) fn saw(&self, now: i64) {
        let offset = now.saturating_sub(self.here.now().as_microsecond());
        self.offset.store(offset, Ordering::Relaxed);
    }

    /// Refuses ids that were made by a clock far ahead of the store's.
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

/// The time that an id begins with.
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
