//! The submits of each feature. A submit is repeated in a later life only if it was not acknowledged.

use std::path::Path;
use std::time::Duration;

use ratchet::manage::QueueLimits;
use ratchet::model::JobRecord;
use ratchet::prelude::*;
use ratchet::schedule::Missed;
use ratchet::{Filter, JobId, JobState, PageRequest};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection};
use uuid::Uuid;

use crate::Problem;
use crate::address::{Kind, Opened};
use crate::diary::{Diary, Entries};
use crate::feature::Feature;
use crate::jobs::{
    Doomed, Endless, First, Fragile, Join, Mended, Next, Parent, Publish, Report, Sleepy, Spawner,
    Tick, Work,
};

/// The name of the queue with a limit.
pub const NARROW: &str = "narrow";

/// The name of the recurring job's schedule.
pub const SCHEDULE: &str = "proof-tick";

/// Submits jobs and records the acknowledged ones.
pub struct Client<'a> {
    pub ratchet: &'a Ratchet,
    pub store: &'a Opened,
    pub address: &'a str,
    pub diary: &'a Diary,
    pub path: &'a Path,
    /// The diary of earlier lives.
    pub before: Entries,
}

impl Client<'_> {
    /// Performs all submits of a feature that were not acknowledged before.
    pub async fn submit(&self, feature: Feature) -> Result<(), Problem> {
        match feature {
            Feature::Plain | Feature::Create => self.work(8, 10, 0).await,
            // Its jobs were submitted by an older version.
            Feature::Migration => Ok(()),
            Feature::Rescue => self.work(6, 10, 0).await,
            Feature::Retry => self.work(3, 5, 2).await,
            Feature::DeadLetter => {
                for n in 0..3 {
                    self.once(n, async || Ok(self.ratchet.enqueue(Doomed {}).await?.id().uuid()))
                        .await?;
                }
                Ok(())
            }
            Feature::Chain => {
                for n in 0..2 {
                    let chain = async || {
                        let chain = self.ratchet.chain(First { from: 1 }).then(Next {});
                        Ok(chain.then(Next {}).await?.id().uuid())
                    };
                    self.once(n, chain).await?;
                }
                Ok(())
            }
            Feature::Batch => self.once(0, async || self.batch().await).await,
            Feature::Workflow => {
                for n in 0..2 {
                    self.once(n, async || self.diamond().await).await?;
                }
                Ok(())
            }
            Feature::Recurring => {
                let tick = self.ratchet.schedules().declare(SCHEDULE, "* * * * * *", Tick {});
                Ok(tick.missed(Missed::CatchUp(1000)).await?)
            }
            Feature::ConcurrencyKey => {
                for n in 0..4 {
                    let work = async || {
                        let job = self.ratchet.enqueue(Work { nap: 40, fails: 0 });
                        Ok(job.concurrency_key("one", 1).await?.id().uuid())
                    };
                    self.once(n, work).await?;
                }
                Ok(())
            }
            Feature::Keys => self.keys().await,
            Feature::Callbacks => {
                for n in 0..4 {
                    let parent = Parent { fails: n % 2 == 1 };
                    let submit =
                        async || Ok(self.ratchet.enqueue(Parent { ..parent }).await?.id().uuid());
                    self.once(n, submit).await?;
                }
                Ok(())
            }
            Feature::Children => {
                for n in 0..3 {
                    self.once(n, async || Ok(self.ratchet.enqueue(Spawner {}).await?.id().uuid()))
                        .await?;
                }
                Ok(())
            }
            Feature::Cancel => self.cancel().await,
            Feature::Breaker => {
                self.ratchet.breakers().open("proof", Some(Duration::from_millis(100))).await?;
                for n in 0..4 {
                    self.once(n, async || Ok(self.ratchet.enqueue(Fragile {}).await?.id().uuid()))
                        .await?;
                }
                Ok(())
            }
            Feature::Limits => {
                let mut limits = QueueLimits::default();
                limits.concurrency = Some(1);
                self.ratchet.queues().limit(NARROW, limits).await?;
                for n in 0..4 {
                    let work = async || {
                        let job = self.ratchet.enqueue(Work { nap: 40, fails: 0 }).queue(NARROW);
                        Ok(job.await?.id().uuid())
                    };
                    self.once(n, work).await?;
                }
                Ok(())
            }
            Feature::Snooze => {
                for n in 0..3 {
                    self.once(n, async || Ok(self.ratchet.enqueue(Sleepy {}).await?.id().uuid()))
                        .await?;
                }
                Ok(())
            }
            Feature::HandOff => {
                for number in 0..3 {
                    let publish =
                        async || Ok(self.ratchet.enqueue(Publish { number }).await?.id().uuid());
                    self.once(number as usize, publish).await?;
                }
                Ok(())
            }
            Feature::Purge => self.purge().await,
            Feature::Archive => self.archive().await,
            Feature::Again => self.again().await,
            Feature::Transaction => {
                for n in 0..4 {
                    self.once(n, async || self.order(n).await).await?;
                }
                Ok(())
            }
        }
    }

    /// Performs a submit unless it was acknowledged before, and records the acknowledgment.
    async fn once(
        &self,
        number: usize,
        submit: impl AsyncFnOnce() -> Result<Uuid, Problem>,
    ) -> Result<(), Problem> {
        let label = number.to_string();
        if !self.before.has(&label) {
            self.diary.acknowledged(&label, submit().await?);
        }
        Ok(())
    }

    async fn work(&self, jobs: usize, nap: u64, fails: u32) -> Result<(), Problem> {
        for n in 0..jobs {
            let work = async || Ok(self.ratchet.enqueue(Work { nap, fails }).await?.id().uuid());
            self.once(n, work).await?;
        }
        Ok(())
    }

    async fn batch(&self) -> Result<Uuid, Problem> {
        let works = (0..5).map(|_| Work { nap: 5, fails: 0 });
        let batch = self.ratchet.batch("proof").jobs(works).job(Doomed {});
        Ok(batch.on_complete(Report {}).await?.id().uuid())
    }

    async fn diamond(&self) -> Result<Uuid, Problem> {
        let mut flow = self.ratchet.workflow("proof");
        let first = flow.step("first", First { from: 1 }, |step| step);
        let left = flow.step("left", Next {}, |step| step.after(&first));
        let right = flow.step("right", Next {}, |step| step.after(&first));
        flow.step("join", Join {}, |step| step.after(&left).after(&right));
        Ok(flow.await?.id().uuid())
    }

    /// Performs every submit twice, and again in every later life. Because of the key, only one job is created.
    async fn keys(&self) -> Result<(), Problem> {
        for n in 0..3 {
            let label = n.to_string();
            for _ in 0..2 {
                let job = self.ratchet.enqueue(Work { nap: 5, fails: 0 });
                let job = job.idempotency_key(format!("once-{n}"));
                let id = job.business_key(format!("order-{n}")).await?.id().uuid();
                if self.before.ids(&label).any(|known| known != id) {
                    return Err(format!("idempotency key once-{n} made {id} too").into());
                }
                self.diary.acknowledged(&label, id);
            }
        }
        Ok(())
    }

    /// Submits and cancels waiting jobs, a waiting chain and a running job.
    async fn cancel(&self) -> Result<(), Problem> {
        const LONG: Duration = Duration::from_secs(3600);
        for n in 0..2 {
            let later = async || {
                let job = self.ratchet.enqueue(Work { nap: 0, fails: 0 }).delay(LONG);
                Ok(job.await?.id().uuid())
            };
            self.once(n, later).await?;
        }
        let running =
            async || Ok(self.ratchet.enqueue(Endless {}).max_retries(0).await?.id().uuid());
        self.once(2, running).await?;
        let chain = async || {
            let mut flow = self.ratchet.workflow("proof");
            let first = flow.step("first", First { from: 1 }, |step| {
                step.options(|enqueue| enqueue.delay(LONG))
            });
            flow.step("next", Next {}, |step| step.after(&first));
            let first = first.job_id().map(JobId::uuid).unwrap_or_default();
            flow.await?;
            Ok(first)
        };
        self.once(3, chain).await?;
        let now = Entries::read(self.path);
        let endless = now.ids("2").next().map(JobId::from_uuid).ok_or("nothing to cancel")?;
        if self.before.effects.is_empty() {
            crate::victim::until("the endless job runs", async || {
                Ok(!Entries::read(self.path).runs("start", endless).is_empty())
            })
            .await?;
        }
        for id in now.acknowledged.iter().map(|(_, id)| *id) {
            if !self.before.canceled.contains(&id) {
                self.ratchet.jobs().cancel(JobId::from_uuid(id)).await?;
                self.diary.canceled(id);
            }
        }
        // Also cancel jobs that were committed but not acknowledged.
        let all = PageRequest { before: None, limit: 1000 };
        for job in self.ratchet.jobs().list(&Filter::any(), all).await?.jobs {
            self.ratchet.jobs().cancel(job.id).await?;
        }
        Ok(())
    }

    /// Purges succeeded jobs, a few at a time. Their keys remain.
    async fn purge(&self) -> Result<(), Problem> {
        self.keyed().await?;
        let store = self.store.shared();
        crate::victim::until("everything is purged", async || {
            // Only succeeded jobs are purged.
            while store.purge(JobState::Succeeded, Duration::ZERO, 2).await? > 0 {}
            Ok(self.everything().await?.is_empty())
        })
        .await?;
        self.keyed().await?;
        match self.everything().await?.len() {
            0 => Ok(()),
            more => Err(format!("{more} jobs came back").into()),
        }
    }

    /// Archives succeeded jobs, a few at a time. Their keys remain.
    async fn archive(&self) -> Result<(), Problem> {
        self.keyed().await?;
        let store = self.store.shared();
        crate::victim::until("everything is archived", async || {
            while store.archive(JobState::Succeeded, Duration::ZERO, 2).await? > 0 {}
            Ok(self.everything().await?.is_empty())
        })
        .await?;
        self.keyed().await?;
        match self.everything().await?.len() {
            0 => Ok(()),
            more => Err(format!("{more} jobs came back").into()),
        }
    }

    /// Submits jobs with idempotency keys. The same key always gives the same job, even after it was
    /// purged or archived.
    async fn keyed(&self) -> Result<(), Problem> {
        for n in 0..6 {
            let job = self.ratchet.enqueue(Work { nap: 5, fails: 0 });
            let id = job.idempotency_key(format!("once-{n}")).await?.id().uuid();
            let label = n.to_string();
            let known = Entries::read(self.path);
            if known.ids(&label).any(|known| known != id) {
                return Err(format!("idempotency key once-{n} made {id} too").into());
            }
            self.diary.acknowledged(&label, id);
        }
        Ok(())
    }

    async fn everything(&self) -> Result<Vec<JobRecord>, Problem> {
        let all = PageRequest { before: None, limit: 1000 };
        Ok(self.ratchet.jobs().list(&Filter::any(), all).await?.jobs)
    }

    /// Retries failed jobs until none are left.
    async fn again(&self) -> Result<(), Problem> {
        for n in 0..3 {
            self.once(n, async || Ok(self.ratchet.enqueue(Mended {}).await?.id().uuid())).await?;
        }
        crate::victim::until("everything is mended", async || {
            let jobs = self.everything().await?;
            for job in jobs.iter().filter(|job| job.state == JobState::Failed) {
                self.ratchet.jobs().retry(job.id).await?;
            }
            Ok(jobs.iter().all(|job| job.state == JobState::Succeeded))
        })
        .await
    }

    /// Inserts a row of the application and a job in one transaction of the application.
    async fn order(&self, number: usize) -> Result<Uuid, Problem> {
        let name = format!("order {number}");
        let work = || self.ratchet.enqueue(Work { nap: 5, fails: 0 });
        match (Kind::of(self.address), self.store) {
            (Kind::Sqlite, _) => {
                use ratchet::sqlite::EnqueueInTx as _;
                let mut db = sqlite(self.address).await?;
                sqlx::query("CREATE TABLE IF NOT EXISTS proof_order (name TEXT, job TEXT)")
                    .execute(&mut db)
                    .await?;
                let mut tx = db.begin_with("BEGIN IMMEDIATE").await?;
                let job = work().in_tx(&mut tx).await?.id().uuid();
                sqlx::query("INSERT INTO proof_order VALUES (?, ?)")
                    .bind(name)
                    .bind(job.to_string())
                    .execute(&mut *tx)
                    .await?;
                tx.commit().await?;
                Ok(job)
            }
            (Kind::Pg, _) => {
                use ratchet::postgres::EnqueueInTx as _;
                let mut db = PgConnection::connect(self.address).await?;
                sqlx::query("CREATE TABLE IF NOT EXISTS proof_order (name text, job text)")
                    .execute(&mut db)
                    .await?;
                let mut tx = db.begin().await?;
                let job = work().in_tx(&mut tx).await?.id().uuid();
                sqlx::query("INSERT INTO proof_order VALUES ($1, $2)")
                    .bind(name)
                    .bind(job.to_string())
                    .execute(&mut *tx)
                    .await?;
                tx.commit().await?;
                Ok(job)
            }
        }
    }
}

/// Opens the application's own connection. Creates the file if it does not exist.
pub async fn sqlite(address: &str) -> Result<sqlx::SqliteConnection, sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(address).create_if_missing(true);
    options.busy_timeout(Duration::from_secs(10)).connect().await
}
