//! Settles a batch in which some settlements wait for a key held by another transaction, without delaying the rest.
//!
//! A child may need a key that a caller has inserted in a transaction that is still open. Only the end of that
//! transaction decides whether the key is taken, and its time is unknown. Such a settlement is reported as blocked and
//! retried later.

use std::time::Duration;

use ratchet_store::model::{NewGraph, NewJob, Settled, Settlement};
use tokio::time::Instant;

use crate::db;
use crate::fault::{Fault, is_blocked, transact};
use crate::insert::graph_of;
use crate::store::Inner;
use sqlx::PgConnection;

/// How long a settlement waits for a key.
const KEY_TIMEOUT: &str = "100ms";

/// How long to try the blocked settlements of a batch one by one.
const APART: Duration = Duration::from_millis(300);

impl Inner {
    /// Limits lock waits of the following statements to [`KEY_TIMEOUT`].
    pub(crate) async fn limit_key_waits(&self, db: &mut PgConnection) -> Result<(), Fault> {
        self.set_lock_timeout(db, KEY_TIMEOUT).await
    }

    pub(crate) async fn unlimit_key_waits(&self, db: &mut PgConnection) -> Result<(), Fault> {
        self.set_lock_timeout(db, "0").await
    }

    async fn set_lock_timeout(&self, db: &mut PgConnection, timeout: &str) -> Result<(), Fault> {
        db::query(self.sql.set_lock_timeout()).bind(timeout).execute(db).await?;
        Ok(())
    }

    /// Settles the settlements that need no key together, then the rest one by one.
    pub(super) async fn settle_apart(
        &self,
        settlements: &[Settlement],
    ) -> Result<Vec<Settled>, Fault> {
        let (wait, calm): (Vec<_>, Vec<_>) =
            (0..settlements.len()).partition(|index| needs_keys(&settlements[*index]));
        let mut settled = vec![None; settlements.len()];
        if !calm.is_empty() {
            let those: Vec<_> = calm.iter().map(|index| &settlements[*index]).collect();
            let (answers, post_commit) =
                transact!(self, |db| self.settle_general(db, &those).await?)?;
            self.tell(post_commit);
            for (index, answer) in calm.into_iter().zip(answers) {
                settled[index] = Some(answer);
            }
        }
        let until = Instant::now() + APART;
        for index in wait {
            let one = [&settlements[index]];
            let answer = match Instant::now() < until {
                false => None,
                true => match transact!(self, |db| self.settle_general(db, &one).await?) {
                    Ok((mut answers, post_commit)) => {
                        self.tell(post_commit);
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

/// Returns whether a settlement spawns children that need keys.
pub(super) fn needs_keys(settlement: &Settlement) -> bool {
    let graph = |graph: &NewGraph| graph.key.is_some() || any_keyed(&graph.jobs);
    any_keyed(&settlement.spawned) || settlement.graphs.iter().any(graph)
}

/// Returns whether one of the jobs has an idempotency key or a business key, or runs in order.
pub(crate) fn any_keyed(jobs: &[NewJob]) -> bool {
    jobs.iter().any(|job| {
        job.spec.idempotency_key.is_some()
            || job.spec.business_key.is_some()
            || graph_of(job).is_some()
    })
}
