//! Claims whose answer was lost: the server may have committed them, and nobody runs their jobs.
//!
//! The node lives, so no rescue would ever look at them. The ids of their leases are made here, before the claim is sent;
//! what was not answered is given back before the next claim, and with the next sign of life.

use std::sync::{Mutex, PoisonError};

use ratchet_core::model::{AttemptOutcome, Settlement, Verdict};
use uuid::Uuid;

use crate::record::token;
use crate::store::{Fault, Inner, transact};

/// Leases of claims whose answer was lost.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    lost: Mutex<Vec<Uuid>>,
}

/// A claim on its way. If it is dropped before it is [over](Self::over), its answer was lost.
#[derive(Debug)]
pub(crate) struct Doubt<'a> {
    doubts: &'a Doubts,
    leases: Mutex<Vec<Uuid>>,
}

impl Doubts {
    pub(crate) fn begin(&self) -> Doubt<'_> {
        Doubt { doubts: self, leases: Mutex::default() }
    }

    fn take(&self) -> Vec<Uuid> {
        std::mem::take(&mut *self.lost.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, leases: impl IntoIterator<Item = Uuid>) {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).extend(leases);
    }
}

impl Doubt<'_> {
    /// These are about to be asked for.
    pub(crate) fn about(&self, leases: &[Uuid]) {
        let mut asked = self.leases.lock().unwrap_or_else(PoisonError::into_inner);
        asked.extend_from_slice(leases);
    }

    /// The answer is here.
    pub(crate) fn over(self) {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        let leases = self.leases.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.doubts.add(leases.drain(..));
    }
}

impl Inner {
    /// Gives back what claims took whose answer was lost.
    pub(crate) async fn give_back_lost(&self) -> Result<(), Fault> {
        let lost = self.doubts.take();
        if lost.is_empty() {
            return Ok(());
        }
        let given_back = transact!(self, |db| {
            let rows =
                sqlx::query(self.sql.select_tokens()).bind(&lost).fetch_all(&mut *db).await?;
            let tokens = rows.iter().map(token).collect::<Result<Vec<_>, _>>()?;
            let release =
                |token| Settlement::new(token, Verdict::Release, AttemptOutcome::Released);
            let settlements: Vec<_> = tokens.into_iter().map(release).collect();
            let asked: Vec<_> = settlements.iter().collect();
            let (_, news) = self.settle_closely(db, &asked).await?;
            news
        });
        match given_back {
            Ok(news) => {
                self.tell(news);
                Ok(())
            }
            Err(fault) => {
                // Not yet, then.
                self.doubts.add(lost);
                Err(fault)
            }
        }
    }
}
