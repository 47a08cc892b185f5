//! [`RunningSuspects`]: the running jobs that have crashed their workers before, and how many more may be claimed.

use std::collections::BTreeMap;

use ratchet_store::model::{Suspects, Suspicion, Token};

/// The running suspects of a process, and the claim that may return more of them.
#[derive(Debug)]
pub(super) struct RunningSuspects {
    isolate_after: u32,
    running: BTreeMap<Token, Suspicion>,
    /// What the claim in flight may return. Other claims in flight may return no suspects, so that the limits hold for
    /// all of them together.
    reserved: Option<Suspects>,
}

impl RunningSuspects {
    pub(super) fn new(isolate_after: u32) -> Self {
        Self { isolate_after, running: BTreeMap::new(), reserved: None }
    }

    /// Returns how many suspects the next claim may return, and reserves them. `idle` means that no job is running and
    /// no claim is in flight.
    pub(super) fn reserve(&mut self, idle: bool) -> Suspects {
        if self.reserved.is_some() {
            return Suspects::none(self.isolate_after);
        }
        let most = Suspects::beside_others(self.isolate_after);
        let suspects = Suspects {
            few: most.few.saturating_sub(self.count(Suspicion::Few)),
            single: most.single.saturating_sub(self.count(Suspicion::Single)),
            isolated: idle,
            ..most
        };
        self.reserved = Some(suspects);
        suspects
    }

    /// Ends the reservation of a claim that was answered or failed. Returns `false` if the claim had none.
    pub(super) fn answered(&mut self, suspects: Suspects) -> bool {
        let had = self.reserved == Some(suspects);
        if had {
            self.reserved = None;
        }
        had
    }

    /// Returns whether an isolated job is running, or a claim in flight may return one.
    pub(super) fn is_isolated(&self) -> bool {
        self.reserved.is_some_and(|reserved| reserved.isolated)
            || self.count(Suspicion::Isolated) > 0
    }

    /// Records the start of a run. Returns how suspect its job is.
    pub(super) fn started(&mut self, token: Token, crashes: u32) -> Suspicion {
        let suspicion = Suspicion::of(crashes, self.isolate_after);
        if suspicion > Suspicion::None {
            self.running.insert(token, suspicion);
        }
        suspicion
    }

    /// Records the end of a run. Returns whether more suspects may be claimed than before.
    pub(super) fn ended(&mut self, token: Token) -> bool {
        self.running.remove(&token).is_some()
    }

    /// Returns how many suspects are running.
    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    fn count(&self, suspicion: Suspicion) -> u32 {
        let count = self.running.values().filter(|running| **running == suspicion).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use ratchet_store::model::{JobId, LeaseId};
    use uuid::Uuid;

    use super::*;

    fn token(number: u128) -> Token {
        let uuid = Uuid::from_u128(number);
        Token { job: JobId::from_uuid(uuid), lease: LeaseId::from_uuid(uuid), version: 1 }
    }

    #[test]
    fn p_06_running_suspects_use_up_the_limits() {
        let mut suspects = RunningSuspects::new(5);
        for number in 0..7 {
            assert_eq!(suspects.started(token(number), 3), Suspicion::Few);
        }
        suspects.started(token(7), 4);
        suspects.started(token(8), 2);
        assert_eq!(suspects.len(), 8, "two crashes change nothing");
        let first = suspects.reserve(false);
        assert_eq!((first.few, first.single, first.isolated), (1, 0, false));
        assert!(suspects.answered(first));
        assert!(suspects.ended(token(7)) && !suspects.ended(token(8)));
        assert_eq!(suspects.reserve(false).single, 1);
    }

    #[test]
    fn p_06_claims_in_flight_do_not_share_a_limit() {
        let mut suspects = RunningSuspects::new(5);
        let first = suspects.reserve(true);
        assert!(suspects.is_isolated(), "no other claim may be sent meanwhile");
        assert!(suspects.answered(first) && !suspects.is_isolated());
        let first = suspects.reserve(false);
        let second = suspects.reserve(false);
        assert_eq!(second, Suspects::none(5));
        assert!(!suspects.answered(second) && suspects.answered(first));
    }

    #[test]
    fn p_06_nothing_runs_beside_an_isolated_job() {
        let mut suspects = RunningSuspects::new(5);
        suspects.started(token(1), 5);
        assert!(suspects.is_isolated());
        assert!(suspects.ended(token(1)) && !suspects.is_isolated());
    }
}
