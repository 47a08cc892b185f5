//! Claims of a fair queue: the tenants take turns.

use std::collections::HashMap;

use ratchet_store::rules::claim::Obstacle;
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
        let leading = self.leading(db, queue).await?;
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
                    if let Some(at) = lines.iter().position(|line| line.tenant.is_empty()) {
                        let limit = lines.swap_remove(at).limit;
                        self.read_leading(db, queue, limit, leading, &mut read, &mut turns).await?;
                    }
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
                Err(Obstacle::KeyRate { until }) => self.refuse(queue, job, until),
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

    /// Reads the next jobs without a tenant that take part.
    async fn read_leading(
        &mut self,
        db: &mut PgConnection,
        queue: &str,
        limit: u32,
        leading: Leading,
        read: &mut HashMap<String, Rank>,
        turns: &mut Turns<DueJob>,
    ) -> Result<(), Fault> {
        if leading == Leading::None {
            turns.add_jobs("", [], true);
            return Ok(());
        }
        let after = read.get("").copied().unwrap_or(FIRST);
        let mut window = self.window(db, queue, after, limit.max(WINDOW)).await?;
        let last = window.last().map(|last| last.rank);
        let end = last.is_none_or(|last| leading.ends_at(last));
        read.extend(last.map(|last| (String::new(), last)));
        window.retain(|job| job.tenant.is_none() && !leading.ends_at(job.rank));
        turns.add_jobs("", window, end);
        Ok(())
    }

    /// Finds the jobs without a tenant that take part: those before the first claimable job of any tenant.
    async fn leading(&mut self, db: &mut PgConnection, queue: &str) -> Result<Leading, Fault> {
        // Most often, the first job has a tenant.
        let (mut after, mut limit, mut some) = (FIRST, 1, false);
        loop {
            let window = self.window(db, queue, after, limit).await?;
            let Some(last) = window.last() else {
                return Ok(if some { Leading::All } else { Leading::None });
            };
            (after, limit) = (last.rank, WINDOW);
            for job in window {
                if job.tenant.is_none() {
                    some = true;
                } else if self.plan.can_run(&job.candidate(queue)) {
                    return Ok(if some { Leading::Before(job.rank) } else { Leading::None });
                } else {
                    self.pass_over(&job);
                }
            }
        }
    }
}

/// The jobs without a tenant that take part in the turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leading {
    None,
    /// Those before this position.
    Before(Rank),
    All,
}

impl Leading {
    /// Returns `true` if none of them is after this position.
    fn ends_at(self, rank: Rank) -> bool {
        match self {
            Self::None => true,
            Self::Before(bound) => rank >= bound,
            Self::All => false,
        }
    }
}
