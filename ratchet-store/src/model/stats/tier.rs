//! [`StatsTier`]: the resolutions in which the history of metrics is kept.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

/// A resolution in which the history of metrics is kept.
///
/// Time is divided into slots of equal length since 1970, in UTC. A slot is identified by its number.
///
/// ```
/// # mod ratchet { pub use ratchet_store::model; }
/// use ratchet::model::StatsTier;
///
/// let at = "2026-11-17T12:34:56Z".parse().expect("a time");
/// let slot = StatsTier::Hour.slot_of(at);
/// assert_eq!(StatsTier::Hour.start_of(slot).to_string(), "2026-11-17T12:00:00Z");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StatsTier {
    /// Slots of a minute, kept for 48 hours. Nodes write this tier.
    Minute,
    /// Slots of ten minutes, kept for 14 days.
    TenMinutes,
    /// Slots of an hour, kept for 90 days.
    Hour,
    /// Slots of a day, kept for three years.
    Day,
}

impl StatsTier {
    /// All tiers, finest first.
    pub const ALL: [Self; 4] = [Self::Minute, Self::TenMinutes, Self::Hour, Self::Day];

    const fn slot_seconds(self) -> i64 {
        match self {
            Self::Minute => 60,
            Self::TenMinutes => 600,
            Self::Hour => 3600,
            Self::Day => 86_400,
        }
    }

    /// Returns the length of a slot.
    pub const fn slot_length(self) -> Duration {
        Duration::from_secs(self.slot_seconds().unsigned_abs())
    }

    /// Returns for how long slots are kept.
    pub const fn kept(self) -> Duration {
        match self {
            Self::Minute => Duration::from_hours(48),
            Self::TenMinutes => Duration::from_hours(14 * 24),
            Self::Hour => Duration::from_hours(90 * 24),
            Self::Day => Duration::from_hours(3 * 365 * 24),
        }
    }

    /// Returns the slot that contains this time.
    pub fn slot_of(self, at: Timestamp) -> i64 {
        at.as_second().div_euclid(self.slot_seconds())
    }

    /// Returns the time at which a slot begins. A slot outside of the range of [`Timestamp`] begins at its limit.
    pub fn start_of(self, slot: i64) -> Timestamp {
        let seconds = slot.saturating_mul(self.slot_seconds());
        let nearest = if slot < 0 { Timestamp::MIN } else { Timestamp::MAX };
        Timestamp::from_second(seconds).unwrap_or(nearest)
    }

    /// Returns the next coarser tier.
    pub const fn above(self) -> Option<Self> {
        match self {
            Self::Minute => Some(Self::TenMinutes),
            Self::TenMinutes => Some(Self::Hour),
            Self::Hour => Some(Self::Day),
            Self::Day => None,
        }
    }

    /// Returns the next finer tier, of which this one is the sum.
    pub const fn below(self) -> Option<Self> {
        match self {
            Self::Minute => None,
            Self::TenMinutes => Some(Self::Minute),
            Self::Hour => Some(Self::TenMinutes),
            Self::Day => Some(Self::Hour),
        }
    }

    /// Returns the slot of another tier that contains the beginning of this slot.
    pub const fn slot_in(self, slot: i64, tier: Self) -> i64 {
        slot.saturating_mul(self.slot_seconds()).div_euclid(tier.slot_seconds())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn m_02_a_slot_of_a_tier_is_a_whole_number_of_slots_of_the_tier_below() {
        for tier in StatsTier::ALL {
            assert_eq!(tier.above().and_then(StatsTier::below).unwrap_or(tier), tier);
            let Some(below) = tier.below() else { continue };
            assert_eq!(tier.slot_seconds() % below.slot_seconds(), 0);
            assert!(below.kept() < tier.kept());
            // Late rows of the tier below can be added up long after a slot has ended.
            assert!(below.kept() >= tier.slot_length() * 2);
        }
        assert_eq!(StatsTier::Day.kept(), Duration::from_hours(24 * 1095));
    }

    proptest! {
        #[test]
        fn m_02_every_time_is_in_one_slot_of_each_tier(second in -10_000_000_000..10_000_000_000_i64) {
            let at = Timestamp::from_second(second).expect("in range");
            for tier in StatsTier::ALL {
                let slot = tier.slot_of(at);
                prop_assert!(tier.start_of(slot) <= at && at < tier.start_of(slot + 1));
                if let Some(above) = tier.above() {
                    prop_assert_eq!(tier.slot_in(slot, above), above.slot_of(at));
                }
            }
        }

        #[test]
        fn a_slot_out_of_range_does_not_panic(slot in any::<i64>()) {
            for tier in StatsTier::ALL {
                let _ = tier.start_of(slot);
                for other in StatsTier::ALL {
                    let _ = tier.slot_in(slot, other);
                }
            }
        }
    }
}
