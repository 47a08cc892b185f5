//! Jobs that may have crashed their workers, and how many of them a process runs at a time.

/// How suspect a job is after its worker died while it ran.
///
/// Every job that runs in a process is charged when the process dies, so most suspects are innocent. The limits
/// therefore become stricter with each crash: the job that causes the crashes ends up running by itself, and the jobs
/// that ran beside it lose little time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Suspicion {
    /// The job runs like any other.
    None,
    /// A process runs at most [`Suspects::FEW`] of these jobs at a time, beside any others.
    Few,
    /// A process runs at most one of these jobs at a time, beside any others.
    Single,
    /// The job runs with no other job in its process.
    Isolated,
}

impl Suspicion {
    /// Returns how suspect a job is that has crashed this often, if jobs are isolated from `isolate_after` crashes on.
    pub fn of(crashes: u32, isolate_after: u32) -> Self {
        match isolate_after.saturating_sub(crashes) {
            0 => Self::Isolated,
            1..=2 if crashes == 0 => Self::None,
            1 => Self::Single,
            2 => Self::Few,
            _ => Self::None,
        }
    }

    /// Returns the smallest number of crashes after which a job is suspect.
    pub fn begins_after(isolate_after: u32) -> u32 {
        isolate_after.saturating_sub(2).max(1).min(isolate_after)
    }
}

/// Describes what the suspicion means for the next run.
impl std::fmt::Display for Suspicion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("runs like any other job"),
            Self::Few => write!(f, "a process runs at most {} such jobs at a time", Suspects::FEW),
            Self::Single => f.write_str("a process runs at most one such job at a time"),
            Self::Isolated => f.write_str("runs with no other job in its process"),
        }
    }
}

/// How many suspect jobs a claim may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suspects {
    /// The number of crashes from which on a job must run isolated.
    pub isolate_after: u32,
    /// The maximum number of jobs of [`Suspicion::Few`].
    pub few: u32,
    /// The maximum number of jobs of [`Suspicion::Single`].
    pub single: u32,
    /// Whether the reply may be an isolated job. It is returned if it comes first among all claimable jobs of all
    /// requested queues, and it is then the only job returned. The worker must run no other job.
    pub isolated: bool,
}

impl Suspects {
    /// The maximum number of jobs of [`Suspicion::Few`] that a process runs at a time.
    pub const FEW: u32 = 8;

    /// A process that runs other jobs, but no suspect.
    pub const fn beside_others(isolate_after: u32) -> Self {
        Self { isolate_after, few: Self::FEW, single: 1, isolated: false }
    }

    /// A process that runs no job.
    pub const fn idle(isolate_after: u32) -> Self {
        Self { isolated: true, ..Self::beside_others(isolate_after) }
    }

    /// A process that may run no further suspect.
    pub const fn none(isolate_after: u32) -> Self {
        Self { isolate_after, few: 0, single: 0, isolated: false }
    }

    /// Returns how suspect a job is that has crashed this often.
    pub fn suspicion(&self, crashes: u32) -> Suspicion {
        Suspicion::of(crashes, self.isolate_after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_06_suspicion_is_graded() {
        let grades: Vec<_> = (0..=6).map(|crashes| Suspicion::of(crashes, 5)).collect();
        let (none, isolated) = (Suspicion::None, Suspicion::Isolated);
        assert_eq!(
            grades,
            [none, none, none, Suspicion::Few, Suspicion::Single, isolated, isolated]
        );
        assert_eq!(Suspicion::begins_after(5), 3);
    }

    #[test]
    fn p_06_a_job_that_never_crashed_is_not_suspect() {
        for isolate_after in [1, 2, 3, u32::MAX] {
            assert_eq!(Suspicion::of(0, isolate_after), Suspicion::None);
            let begins = Suspicion::begins_after(isolate_after);
            assert!(begins > 0 && Suspicion::of(begins, isolate_after) > Suspicion::None);
            assert_eq!(Suspicion::of(begins - 1, isolate_after), Suspicion::None);
        }
        assert_eq!(Suspicion::of(1, 1), Suspicion::Isolated);
        assert_eq!(Suspicion::of(1, 2), Suspicion::Single);
    }
}
