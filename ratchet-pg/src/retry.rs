//! Trying failed jobs again by hand, and with them what was called off because of them.

use std::collections::{BTreeMap, BTreeSet};

use ratchet_core::graph::{Changes, Seed};
use ratchet_core::model::{
    CommandError, CommandReply, Envelope, Filter, JobId, JobRecord, JobState, Move, Redriven,
};
use uuid::Uuid;

use crate::command::{Looked, illegal};
use crate::fault::Fault;
use crate::insert::{Scoped, business_key};
use crate::query::bind_filter;
use crate::record::text;
use crate::settle::{Lines, News};
use crate::spec::json;
use crate::sqlx::{self, PgConnection, Row};
use crate::store::Inner;

/// How many failed jobs a re-drive looks at in one go.
const PAGE: i64 = 200;

impl Inner {
    /// Starts a new life of a failed job. Its graph is locked.
    pub(crate) async fn retry(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        news: &mut News,
    ) -> Looked {
        let (id, from) = (job.id, job.state);
        if from != JobState::Failed {
            return Err(illegal(job, Move::RetryManually));
        }
        let now = self.now(&mut *db).await?;
        let opened = match &job.spec.step {
            Some(_) => self.walk(db, vec![Seed::Retry { member: job.member() }], now).await?,
            None => Changes::default(),
        };
        let keys = self.take_keys(db, job, &opened).await?;
        let undone = sqlx::query(self.sql.delete_outcome()).bind(id.uuid()).bind(&job.spec.queue);
        let Some(outcome) = undone.fetch_optional(&mut *db).await? else {
            self.give_back(db, keys).await?;
            return Ok(None);
        };
        let envelope: Option<Envelope> =
            outcome.try_get::<Option<&str>, _>("envelope")?.map(json).transpose()?;
        let error = envelope.and_then(|envelope| text(&envelope.failure));
        let mut lines = Lines::default();
        lines.push_undone(id.uuid(), &outcome, error)?;
        lines.write(self, db).await?;
        let mut row = self.fixed(db, id.uuid()).await?;
        row.due_at(now);
        row.version = outcome.try_get::<i64, _>("version")? + 1;
        row.run = outcome.try_get("run")?;
        row.generation = outcome.try_get::<i32, _>("generation")?.saturating_add(1);
        self.put_back(db, &[row], now, &mut news.hints).await?;
        let ripples = self.apply(db, opened, now, news).await?;
        Ok(Some(CommandReply::moved(from, JobState::Pending, ripples)))
    }

    /// Takes the business keys of a job and of everything that is opened with it, all or none. Answers with those that
    /// were free.
    async fn take_keys(
        &self,
        db: &mut PgConnection,
        job: &JobRecord,
        opened: &Changes,
    ) -> Result<Vec<Scoped>, Fault> {
        let mut owners = BTreeMap::new();
        let reopened: Vec<_> = opened.reopened().map(JobId::uuid).collect();
        if !reopened.is_empty() {
            let steps = self.jobs(db, reopened).await?;
            owners.extend(steps.iter().filter_map(|job| Some((business_key(&job.spec)?, job.id))));
        }
        owners.extend(business_key(&job.spec).map(|key| (key, job.id)));
        if owners.is_empty() {
            return Ok(Vec::new());
        }
        let mut won = owners.clone();
        let lost = self.reserve_business(db, &mut won).await?;
        for (key, holder) in self.holders(db, lost).await? {
            if let Some(owner) = owners.get(&key).filter(|owner| **owner != holder) {
                self.give_back(db, won.into_keys().collect()).await?;
                let taken = CommandError::BusinessKeyTaken { job: *owner, key: key.1, holder };
                return Err(Fault::Command(taken));
            }
        }
        Ok(won.into_keys().collect())
    }

    async fn give_back(&self, db: &mut PgConnection, keys: Vec<Scoped>) -> Result<(), Fault> {
        if !keys.is_empty() {
            let (scopes, keys): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
            let freed = sqlx::query(self.sql.delete_business()).bind(scopes).bind(keys);
            freed.execute(db).await?;
        }
        Ok(())
    }

    pub(crate) async fn redrive(
        &self,
        db: &mut PgConnection,
        filter: &Filter,
        limit: u32,
        news: &mut News,
    ) -> Result<CommandReply, Fault> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (mut redriven, mut after) = (Redriven::default(), None);
        sqlx::query(self.sql.plan_anew()).execute(&mut *db).await?;
        'pages: loop {
            let query = sqlx::query_scalar(self.sql.select_failed());
            let query = query.bind(PAGE).bind(after);
            let ids: Vec<Uuid> = bind_filter(query, filter).fetch_all(&mut *db).await?;
            let Some(last) = ids.last() else { break };
            after = Some(*last);
            self.lock_graphs(db, ids.clone(), BTreeSet::new()).await?;
            let mut jobs = self.jobs(db, ids).await?;
            jobs.reverse();
            for job in jobs {
                if redriven.retried.len() >= limit {
                    break 'pages;
                }
                match self.retry(db, &job, news).await {
                    Ok(Some(_)) => redriven.retried.push(job.id),
                    // Somebody else was quicker.
                    Ok(None) | Err(Fault::Command(CommandError::IllegalTransition { .. })) => {}
                    Err(Fault::Command(_)) => redriven.key_taken.push(job.id),
                    Err(fault) => return Err(fault),
                }
            }
        }
        Ok(CommandReply::Redriven(redriven))
    }
}
