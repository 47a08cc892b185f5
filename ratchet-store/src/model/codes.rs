//! The numbers under which databases store the enums of the model.
//!
//! A code must never change and must never be reused: rows of earlier releases contain it. A match without a wildcard
//! makes sure that every variant has one.

use super::{AttemptOutcome, BlockedBy, CancelCause, Channel, JobState, LogLevel, StatsTier};

macro_rules! codes {
    ($enum:ident { $($variant:ident = $code:literal,)+ }) => {
        impl $enum {
            /// Returns the number under which databases store this value.
            pub const fn code(self) -> i16 {
                match self { $(Self::$variant => $code,)+ }
            }

            /// Returns the value that is stored under this number, or `None` if this release knows none.
            pub fn from_code(code: impl Into<i64>) -> Option<Self> {
                match code.into() { $($code => Some(Self::$variant),)+ _ => None }
            }

            #[cfg(test)]
            const CODED: &[Self] = &[$(Self::$variant,)+];
        }
    };
}

codes!(JobState {
    Pending = 0,
    Running = 1,
    Succeeded = 2,
    Failed = 3,
    Paused = 4,
    Canceled = 5,
});

codes!(AttemptOutcome {
    Success = 0,
    Failure = 1,
    Exception = 2,
    Invalid = 3,
    Snoozed = 4,
    Rejected = 5,
    BreakerOpen = 6,
    Released = 7,
    Crashed = 8,
    Canceled = 9,
    DomainFailure = 10,
});

codes!(CancelCause {
    Requested = 0,
    UpstreamFailed = 1,
    UpstreamCanceled = 2,
    NotTaken = 3,
    Expired = 4,
});

codes!(StatsTier {
    Minute = 0,
    TenMinutes = 1,
    Hour = 2,
    Day = 3,
});

codes!(BlockedBy {
    Paused = 0,
    Concurrency = 1,
    Rate = 2,
});

codes!(LogLevel {
    Debug = 0,
    Info = 1,
    Warn = 2,
    Error = 3,
});

codes!(Channel {
    Alerts = 0,
    DeadLetters = 1,
    Outcomes = 2,
});

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! assert_codes {
        ($($enum:ident),+) => {$(
            for (place, value) in $enum::CODED.iter().enumerate() {
                assert_eq!(usize::try_from(value.code()), Ok(place), "{value:?}");
                assert_eq!($enum::from_code(value.code()), Some(*value));
            }
            assert_eq!($enum::from_code(-1), None);
            assert_eq!($enum::from_code(i64::MAX), None);
        )+};
    }

    #[test]
    fn every_code_reads_back_and_no_number_is_skipped() {
        assert_codes!(
            JobState,
            AttemptOutcome,
            CancelCause,
            LogLevel,
            Channel,
            StatsTier,
            BlockedBy
        );
        assert_eq!(JobState::CODED, JobState::ALL, "`ALL` is in the order of the codes");
        assert_eq!(Channel::CODED, Channel::ALL, "`ALL` is in the order of the codes");
    }
}
