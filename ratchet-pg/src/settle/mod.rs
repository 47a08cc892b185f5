//! Settling: successes in one statement; what needs more in one transaction of a few, whatever the size of the batch.

mod batch;
mod moves;
mod notes;

use std::collections::{BTreeSet, HashMap, HashSet};

use ratchet_core::model::{
    Applied, ClaimReply, ClaimRequest, JobId, JobState, Settled, Settlement, Token, Verdict,
};
use ratchet_core::store::Wake;
use sqlx::{PgConnection, Row};
use uuid::Uuid;

pub(crate) use self::moves::{Ends, Left, Lines, RunEnd};
use crate::spec::{clean_option, instant, large, micros};
use crate::store::{Fault, Inner, transact};

/// What is to be told once a settle is committed.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) wakes: Vec<Wake>,
    pub(crate) empty: Vec<Uuid>,
    /// Jobs may be claimable that were not, or stand where nobody looks.
    pub(crate) unsettled: bool,
}

impl Inner {
    pub(crate) async fn settle(&self, settlements: Vec<Settlement>) -> Result<Vec<Settled>, Fault> {
        if settlements.is_empty() {
            return Ok(Vec::new());
        }
        if are_plain(&settlements) {
            let mut db = self.pool.acquire().await?;
            let (settled, news) = self.settle_plain(&mut db, &settlements).await?;
            self.tell(news);
            if let Some(settled) = settled.whole() {
                return Ok(settled);
            }
            drop(db);
            let (settled, news) =
                transact!(self, |db| self.settle_stale(db, &settlements, &settled).await?)?;
            self.tell(news);
            return Ok(settled);
        }
        let (settled, news) = transact!(self, |db| self.settle_batch(db, &settlements).await?)?;
        self.tell(news);
        Ok(settled)
    }

    pub(crate) async fn settle_and_claim(
        &self,
        settlements: Vec<Settlement>,
        request: &ClaimRequest,
    ) -> Result<(Vec<Settled>, ClaimReply), Fault> {
        let (settled, news, reply) = transact!(self, |db| {
            let (settled, news) = self.settle_within(db, &settlements).await?;
            if news.unsettled {
                self.bounds.clear();
            }
            (settled, news, self.claim_within(db, request).await?)
        })?;
        self.tell(news);
        Ok((settled, reply))
    }

    async fn settle_within(
        &self,
        db: &mut PgConnection,
        settlements: &[Settlement],
    ) -> Result<(Vec<Settled>, News), Fault> {
        if settlements.is_empty() {
            return Ok(Default::default());
        }
        if !are_plain(settlements) {
            return self.settle_batch(db, settlements).await;
        }
        let (settled, mut news) = self.settle_plain(db, settlements).await?;
        if let Some(settled) = settled.whole() {
            return Ok((settled, news));
        }
        let (settled, more) = self.settle_stale(db, settlements, &settled).await?;
        news.wakes.extend(more.wakes);
        news.unsettled |= more.unsettled;
        Ok((settled, news))
    }

    /// Settles successes that have nothing beside their result, in one statement.
    async fn settle_plain(
        &self,
        db: &mut PgConnection,
        settlements: &[Settlement],
    ) -> Result<(Partly, News), Fault> {
        let tokens: Vec<_> = settlements.iter().map(|settlement| settlement.token).collect();
        let outputs = settlements.iter().map(|settlement| match &settlement.verdict {
            Verdict::Succeed { output } => clean_option(output.as_ref()),
            _ => None,
        });
        let durations = settlements.iter().map(|settlement| micros(settlement.duration));
        let rows = sqlx::query(self.sql.settle_succeeded())
            .bind(tokens.iter().map(|token| token.lease.uuid()).collect::<Vec<_>>())
            .bind(tokens.iter().map(|token| token.job.uuid()).collect::<Vec<_>>())
            .bind(tokens.iter().map(|token| large(token.version)).collect::<Vec<_>>())
            .bind(durations.collect::<Vec<_>>())
            .bind(outputs.collect::<Vec<_>>())
            .bind(self.take_empty())
            .fetch_all(db)
            .await?;
        let mut settled = Partly(vec![None; settlements.len()]);
        let (mut news, mut empty, mut queues) = (News::default(), HashSet::new(), BTreeSet::new());
        for row in &rows {
            let at = instant(row.try_get("now")?);
            let place = usize::try_from(row.try_get::<i64, _>("place")?).unwrap_or(0);
            let Some(index) = place.checked_sub(1).filter(|index| *index < tokens.len()) else {
                continue;
            };
            settled.0[index] = Some(Settled::Applied(Applied::new(JobState::Succeeded, at, None)));
            news.wakes.push(Wake::Finished(tokens[index].job));
            if row.try_get::<Option<i32>, _>("remaining")?.is_some_and(|left| left <= 0) {
                empty.insert(row.try_get::<Uuid, _>("lease")?);
            }
            queues.extend(row.try_get::<Option<Vec<String>>, _>("queues")?.unwrap_or_default());
        }
        news.empty = empty.into_iter().collect();
        news.unsettled = !queues.is_empty();
        news.wakes.extend(queues.into_iter().map(|queue| Wake::Work { queue }));
        Ok((settled, news))
    }

    /// Says of the settlements that were not applied in what state their jobs are, and lets go of what they held.
    async fn settle_stale(
        &self,
        db: &mut PgConnection,
        settlements: &[Settlement],
        partly: &Partly,
    ) -> Result<(Vec<Settled>, News), Fault> {
        let late: Vec<_> = settlements
            .iter()
            .zip(&partly.0)
            .filter(|(_, settled)| settled.is_none())
            .map(|(settlement, _)| settlement.token)
            .collect();
        let found = self.states(db, late.iter().map(|token| token.job)).await?;
        let wakes = self.let_go_within(db, &late).await?;
        let outcome = |(asked, known): (&Settlement, &Option<Settled>)| {
            let state = found.get(&asked.token.job).copied();
            known.clone().unwrap_or(Settled::Stale { state })
        };
        let answers = settlements.iter().zip(&partly.0).map(outcome).collect();
        let unsettled = !wakes.is_empty();
        Ok((answers, News { wakes, empty: Vec::new(), unsettled }))
    }

    pub(crate) async fn states(
        &self,
        db: &mut PgConnection,
        jobs: impl Iterator<Item = JobId>,
    ) -> Result<HashMap<JobId, JobState>, Fault> {
        let ids: BTreeSet<_> = jobs.map(JobId::uuid).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let jobs = self.jobs(db, ids.into_iter().collect()).await?;
        Ok(jobs.into_iter().map(|job| (job.id, job.state)).collect())
    }

    /// Tells what was committed.
    pub(crate) fn tell(&self, news: News) {
        news.empty.into_iter().for_each(|lease| self.leave_empty(lease));
        if news.unsettled {
            self.bounds.clear();
        }
        self.wakes.send(news.wakes);
    }

    /// Frees what runs still held after their end. Answers with the queues where a slot came free.
    pub(crate) async fn let_go_within(
        &self,
        db: &mut PgConnection,
        tokens: &[Token],
    ) -> Result<Vec<Wake>, Fault> {
        if tokens.is_empty() {
            return Ok(Vec::new());
        }
        let columns = Tokens::of(tokens);
        let rows = sqlx::query(self.sql.delete_lingering())
            .bind(columns.job)
            .bind(columns.lease)
            .bind(columns.version)
            .fetch_all(&mut *db)
            .await?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let gone: Vec<_> = rows.iter().map(crate::record::token).collect::<Result<_, _>>()?;
        self.free(db, &gone, gone.iter().map(|token| token.job.uuid()).collect()).await
    }

    /// Frees the slots of runs, and the business keys of jobs if they have ended.
    pub(crate) async fn free(
        &self,
        db: &mut PgConnection,
        runs: &[Token],
        jobs: Vec<Uuid>,
    ) -> Result<Vec<Wake>, Fault> {
        let columns = Tokens::of(runs);
        let queues: Vec<String> = sqlx::query_scalar(self.sql.free_slots())
            .bind(columns.job)
            .bind(columns.lease)
            .bind(columns.version)
            .fetch_all(&mut *db)
            .await?;
        sqlx::query(self.sql.free_business()).bind(jobs).execute(db).await?;
        let queues: BTreeSet<_> = queues.into_iter().collect();
        Ok(queues.into_iter().map(|queue| Wake::Work { queue }).collect())
    }
}

/// The answers so far.
struct Partly(Vec<Option<Settled>>);

impl Partly {
    /// All of them, if there is one for every settlement.
    fn whole(&self) -> Option<Vec<Settled>> {
        self.0.iter().cloned().collect()
    }
}

/// Tokens, column by column.
pub(crate) struct Tokens {
    pub(crate) job: Vec<Uuid>,
    pub(crate) lease: Vec<Uuid>,
    pub(crate) version: Vec<i64>,
}

impl Tokens {
    pub(crate) fn of(tokens: &[Token]) -> Self {
        Self {
            job: tokens.iter().map(|token| token.job.uuid()).collect(),
            lease: tokens.iter().map(|token| token.lease.uuid()).collect(),
            version: tokens.iter().map(|token| large(token.version)).collect(),
        }
    }
}

/// Whether all are successes with nothing beside their result, of different jobs.
fn are_plain(settlements: &[Settlement]) -> bool {
    let mut jobs = HashSet::with_capacity(settlements.len());
    settlements.iter().all(|settlement| {
        matches!(settlement.verdict, Verdict::Succeed { .. })
            && settlement.outcome == ratchet_core::model::AttemptOutcome::Success
            && settlement.notes.is_empty()
            && settlement.spawned.is_empty()
            && settlement.notices.is_empty()
            && !settlement.lingering
            && jobs.insert(settlement.token.job)
    })
}
