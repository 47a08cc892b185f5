//! Settlements that wait for a key which another transaction holds, apart from those that do not.
//!
//! A child may need a key that a caller has inserted in a transaction that is still open. Whether the key is taken is known
//! when that transaction ends, and nobody knows when that is. The settlement is tried again later; its neighbors do not wait.

use std::time::Duration;

use ratchet_core::model::{NewGraph, NewJob, Settled, Settlement};
use tokio::time::Instant;

use crate::fault::{Fault, is_blocked, transact};
use crate::sqlx::{self, PgConnection};
use crate::store::Inner;

/// How long a settle waits for a key.
const KEY_TIMEOUT: &str = "100ms";

/// How long the blocked settlements of a batch are tried one by one.
const APART: Duration = Duration::from_millis(300);

impl Inner {
    /// From here on, keys are waited for only so long.
    pub(crate) async fn limit_key_waits(&self, db: &mut PgConnection) -> Result<(), Fault> {
        self.set_lock_timeout(db, KEY_TIMEOUT).await
    }

    pub(crate) async fn unlimit_key_waits(&self, db: &mut PgConnection) -> Result<(), Fault> {
        self.set_lock_timeout(db, "0").await
    }

    async fn set_lock_timeout(&self, db: &mut PgConnection, timeout: &str) -> Result<(), Fault> {
        sqlx::query(self.sql.set_lock_timeout()).bind(timeout).execute(db).await?;
        Ok(())
    }

    /// Settles first what needs no key, then the others one by one.
    pub(super) async fn settle_apart(
        &self,
        settlements: &[Settlement],
    ) -> Result<Vec<Settled>, Fault> {
        let (wait, calm): (Vec<_>, Vec<_>) =
            (0..settlements.len()).partition(|index| needs_keys(&settlements[*index]));
        let mut settled = vec![None; settlements.len()];
        if !calm.is_empty() {
            let those: Vec<_> = calm.iter().map(|index| &settlements[*index]).collect();
            let (answers, news) = transact!(self, |db| self.settle_closely(db, &those).await?)?;
            self.tell(news);
            for (index, answer) in calm.into_iter().zip(answers) {
                settled[index] = Some(answer);
            }
        }
        let until = Instant::now() + APART;
        for index in wait {
            let one = [&settlements[index]];
            let answer = match Instant::now() < until {
                false => None,
                true => match transact!(self, |db| self.settle_closely(db, &one).await?) {
                    Ok((mut answers, news)) => {
                        self.tell(news);
                        answers.pop()
                    }
                    Err(fault) if is_blocked(&fault) => None,
                    Err(fault) => return Err(fault),
                },
            };
            settled[index] = Some(answer.unwrap_or_else(|| Settled::Blocked {
                why: "an open transaction holds a key that a child of this run needs".to_owned(),
            }));
        }
        Ok(settled.into_iter().flatten().collect())
    }
}

/// Whether a settlement brings children that need keys.
pub(super) fn needs_keys(settlement: &Settlement) -> bool {
    let graph = |graph: &NewGraph| graph.key.is_some() || any_keyed(&graph.jobs);
    any_keyed(&settlement.spawned) || settlement.graphs.iter().any(graph)
}

/// Whether one of these has a key that only one job can have.
pub(crate) fn any_keyed(jobs: &[NewJob]) -> bool {
    jobs.iter().any(|job| job.spec.idempotency_key.is_some() || job.spec.business_key.is_some())
}
