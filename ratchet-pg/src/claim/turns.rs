//! Claims of a fair queue: the tenants take turns.

use std::collections::HashMap;

use ratchet_store::rules::turns::{Line, Turn, Turns};
use sqlx::PgConnection;

use super::{DueJob, WINDOW, Walk};
use crate::db;
use crate::fault::Fault;
use crate::scan_start::{FIRST, Rank};

impl Walk<'_> {
    /// Chooses jobs of a fair queue: one of each tenant in turn.
    pub(super) async fn queue_in_turns(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
        mut turns: Turns<DueJob>,
    ) -> Result<Vec<String>, Fault> {
        let mut chosen = Vec::new();
        let mut leading = self.before_tenants(db, queue).await?;
        // The last job that was read of each tenant.
        let mut read = HashMap::new();
        while self.plan.room(queue) > 0 {
            let offer = match turns.next() {
                Turn::End => break,
                Turn::List { after, limit } => {
                    let tenants = self.tenants(db, queue, after, limit).await?;
                    turns.add_tenants(tenants);
                    continue;
                }
                Turn::Read(mut lines) => {
                    lines.retain(|line| !line.tenant.is_empty());
                    turns.add_jobs("", std::mem::take(&mut leading), true);
                    self.read_lines(db, queue, &lines, &mut read, &mut turns).await?;
                    continue;
                }
                Turn::Offer { tenant, job } => {
                    let offer = self.plan.offer(&job.candidate(queue));
                    if offer.is_ok() {
                        self.plan.had_turn(queue, tenant);
                    }
                    offer
                }
            };
            let Some(job) = turns.offered(offer.is_ok()) else { break };
            match offer {
                Ok(accepted) => {
                    self.note_probe(&job, accepted);
                    chosen.push(job.ctid);
                }
                Err(_) => self.pass_over(&job),
            }
        }
        Ok(chosen)
    }

    /// Returns the tenants after a name that have due jobs.
    async fn tenants(
        &self,
        db: &mut PgConnection,
        queue: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<String>, Fault> {
        let tenants = db::query_scalar(self.inner.sql.list_tenants())
            .bind(queue)
            .bind(after)
            .bind(i32::try_from(limit).unwrap_or(i32::MAX));
        Ok(tenants.fetch_all(db).await?)
    }

    /// Reads the next jobs of these lines.
    async fn read_lines(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
        lines: &[Line],
        read: &mut HashMap<String, Rank>,
        turns: &mut Turns<DueJob>,
    ) -> Result<(), Fault> {
        let Some(limit) = lines.first().map(|line| line.limit) else { return Ok(()) };
        let after = |line: &Line| read.get(&line.tenant).copied().unwrap_or(FIRST);
        let after: Vec<_> = lines.iter().map(after).collect();
        let rows = db::query(self.inner.sql.select_tenant_candidates())
            .bind(queue)
            .bind(after.iter().map(|rank| rank.sort_key).collect::<Vec<_>>())
            .bind(after.iter().map(|rank| rank.due).collect::<Vec<_>>())
            .bind(after.iter().map(|rank| rank.job).collect::<Vec<_>>())
            .bind(&self.known.names)
            .bind(&self.known.versions)
            .bind(i64::from(limit))
            .bind(self.plan.blocked_services())
            .bind(self.full.keys().collect::<Vec<_>>())
            .bind(self.full.values().copied().collect::<Vec<_>>())
            .bind(self.now)
            .bind(lines.iter().map(|line| line.tenant.as_str()).collect::<Vec<_>>())
            .fetch_all(&mut *db)
            .await?;
        let mut jobs: HashMap<String, Vec<DueJob>> = HashMap::new();
        for job in self.read(db, queue, &rows).await? {
            let tenant = job.tenant.clone().unwrap_or_default();
            read.insert(tenant.clone(), job.rank);
            jobs.entry(tenant).or_default().push(job);
        }
        for Line { tenant, limit } in lines {
            let jobs = jobs.remove(tenant).unwrap_or_default();
            let end = jobs.len() < usize::try_from(*limit).unwrap_or(usize::MAX);
            turns.add_jobs(tenant, jobs, end);
        }
        Ok(())
    }

    /// Returns the jobs without a tenant that are before the first claimable job of any tenant, as many as can be
    /// claimed.
    async fn before_tenants(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
    ) -> Result<Vec<DueJob>, Fault> {
        let room = usize::try_from(self.plan.room(queue)).unwrap_or(usize::MAX);
        let (mut jobs, mut after, mut limit) = (Vec::new(), FIRST, 1);
        loop {
            let window = self.window(db, queue, after, limit).await?;
            let Some(last) = window.last() else { return Ok(jobs) };
            (after, limit) = (last.rank, WINDOW);
            for job in window {
                match job.tenant {
                    Some(_) if self.plan.can_run(&job.candidate(queue)) => return Ok(jobs),
                    Some(_) => self.pass_over(&job),
                    None => jobs.push(job),
                }
                if jobs.len() == room {
                    return Ok(jobs);
                }
            }
        }
    }
}
