//! Writes the changes of a graph walk, in the commit of the event that caused it.

use std::collections::{HashMap, HashSet};

use ratchet_store::Wake;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    AttemptOutcome, CancelCause, Edge, GraphEffects, GroupRecord, JobId, JobState, LeaseId, Token,
};
use ratchet_store::rules::graph::{Changes, GraphEvent, JobChange, propagate};
use uuid::Uuid;

use super::finished_at;
use super::rows::Rows;
use crate::db;
use crate::fault::{Fault, exactly};
use crate::job_row::{WaitingRow, bind_all};
use crate::record::text;
use crate::settle::{Ends, Left, PostCommit, RunEnd};
use crate::spec::{instant, to_i32, to_u64};
use crate::store::Inner;
use sqlx::{PgConnection, Row};

/// How often to search for jobs that keep moving.
const LOOKS: u32 = 50;

/// New wait conditions and root causes of members, as columns.
#[derive(Default)]
struct Marks {
    job: Vec<Uuid>,
    wait: Vec<Option<String>>,
    /// `None` keeps the root cause, an empty string removes it.
    root: Vec<Option<String>>,
}

impl Inner {
    /// Propagates events through their graphs and writes the changes. The caller must have locked the graphs.
    pub(crate) async fn propagate(
        &self,
        db: &mut PgConnection,
        events: Vec<GraphEvent>,
        now: i64,
        post_commit: &mut PostCommit,
    ) -> Result<GraphEffects, Fault> {
        if events.is_empty() {
            return Ok(GraphEffects::default());
        }
        let changes = self.walk(db, events, now).await?;
        crash_point(CrashPoint::GraphWalked);
        self.apply(db, changes, now, post_commit).await
    }

    pub(crate) async fn walk(
        &self,
        db: &mut PgConnection,
        events: Vec<GraphEvent>,
        now: i64,
    ) -> Result<Changes, Fault> {
        propagate(&mut Rows::new(self, db), events, instant(now)).await
    }

    /// Writes the changes of a walk. Reopened steps must already have their business keys.
    pub(crate) async fn apply(
        &self,
        db: &mut PgConnection,
        changes: Changes,
        now: i64,
        post_commit: &mut PostCommit,
    ) -> Result<GraphEffects, Fault> {
        let (mut marks, mut canceled) = (Marks::default(), HashMap::new());
        let (mut released, mut reopened) = (Vec::new(), Vec::new());
        let mut mark = |job: JobId, wait, root| {
            marks.job.push(job.uuid());
            marks.wait.push(wait);
            marks.root.push(root);
        };
        for change in &changes.jobs {
            match change {
                JobChange::Wait { job, wait } => mark(*job, text(wait), None),
                JobChange::Release { job } => released.push(job.uuid()),
                JobChange::Cancel { job, cause, root, wait } => {
                    mark(*job, wait.as_ref().and_then(text), text(root));
                    canceled.insert(job.uuid(), *cause);
                }
                JobChange::Reopen { job, wait } => {
                    mark(*job, text(wait), Some(String::new()));
                    reopened.push(job.uuid());
                }
            }
        }
        self.call_off(db, canceled, now, post_commit).await?;
        self.reopen(db, reopened).await?;
        if !marks.job.is_empty() {
            let many = marks.job.iter().collect::<HashSet<_>>().len();
            let marked = db::query(self.sql.update_members()).bind(marks.job).bind(marks.wait);
            exactly(many, &marked.bind(marks.root).execute(&mut *db).await?)?;
        }
        if !released.is_empty() {
            let queues: Vec<String> = db::query_scalar(self.sql.release_steps())
                .bind(released)
                .bind(now)
                .fetch_all(&mut *db)
                .await?;
            post_commit.unsettled = true;
            post_commit.hints.extend(queues.into_iter().map(|queue| Wake::Work { queue }.into()));
        }
        crash_point(CrashPoint::GraphReleased);
        self.save_groups(db, &changes.groups).await?;
        crash_point(CrashPoint::GraphCounted);
        self.save_edges(db, &changes.edges).await?;
        crash_point(CrashPoint::GraphWritten);
        Ok(changes.into_effects())
    }

    /// Cancels jobs in any state. Runs keep their slots and keys until their handlers have stopped.
    async fn call_off(
        &self,
        db: &mut PgConnection,
        mut left: HashMap<Uuid, CancelCause>,
        now: i64,
        post_commit: &mut PostCommit,
    ) -> Result<(), Fault> {
        if left.is_empty() {
            return Ok(());
        }
        let mut ends = Ends::default();
        let (mut leavers, mut runs, mut nodes) = (Vec::new(), Vec::new(), Vec::new());
        let mut keyed = Vec::new();
        for _ in 0..LOOKS {
            let jobs: Vec<_> = left.keys().copied().collect();
            let taken = db::query(self.sql.take_steps()).bind(jobs).fetch_all(&mut *db).await?;
            for row in &taken {
                let row = WaitingRow::read(row)?;
                let cause = left.remove(&row.job);
                ends.push(&row, None, JobState::Canceled, Left { cause, ..Left::default() });
                post_commit.hints.push(Wake::Finished(JobId::from_uuid(row.job)).into());
                keyed.extend(row.keyed.then_some(row.job));
            }
            if left.is_empty() {
                break;
            }
            let jobs: Vec<_> = left.keys().copied().collect();
            let found = db::query(self.sql.find_runs()).bind(jobs).fetch_all(&mut *db).await?;
            let mut tokens = Vec::with_capacity(found.len());
            for row in &found {
                let lease = LeaseId::from_uuid(row.try_get("lease")?);
                tokens.push(Token {
                    job: JobId::from_uuid(row.try_get("job")?),
                    lease,
                    version: 0,
                });
            }
            let (_, members) = self.members(db, &tokens).await?;
            for (job, member) in members {
                let cause = left.remove(&job.uuid());
                let duration = now.saturating_sub(member.started_at).max(0);
                let end = RunEnd { outcome: AttemptOutcome::Canceled, duration };
                let canceled = Left { cause, ..Left::default() };
                ends.push(&member.row, Some((&member, end)), JobState::Canceled, canceled);
                let (lease, version) = (LeaseId::from_uuid(member.lease), member.row.version);
                let token = Token { job, lease, version: to_u64(version) };
                post_commit
                    .hints
                    .extend([Wake::Finished(job).into(), Wake::Canceled(token).into()]);
                leavers.push((member.lease, member.row.job));
                runs.push(token);
                nodes.push(member.node);
            }
            if left.is_empty() {
                break;
            }
        }
        if !left.is_empty() {
            return Err(Fault::Conflict);
        }
        ends.write(self, db, now).await?;
        self.leave_leases(db, leavers).await?;
        self.linger(db, &runs, nodes, true).await?;
        if !keyed.is_empty() {
            self.free(db, &[], keyed).await?;
        }
        Ok(())
    }

    /// Returns canceled steps to waiting.
    async fn reopen(&self, db: &mut PgConnection, jobs: Vec<Uuid>) -> Result<(), Fault> {
        if jobs.is_empty() {
            return Ok(());
        }
        let wanted = jobs.len();
        let back = db::query(self.sql.reopen_steps()).bind(&jobs).fetch_all(&mut *db).await?;
        // If a step was purged in the meantime, the walk is repeated without it.
        if back.len() != wanted {
            return Err(Fault::Conflict);
        }
        let jobs = self.jobs(db, jobs).await?;
        self.restore_expiries(db, &jobs).await
    }

    /// Returns steps to waiting for their parents.
    pub(crate) async fn put_waiting(
        &self,
        db: &mut PgConnection,
        rows: &[WaitingRow],
    ) -> Result<(), Fault> {
        bind_all(db::query(self.sql.insert_waiting()), rows).execute(db).await?;
        Ok(())
    }

    pub(super) async fn save_groups(
        &self,
        db: &mut PgConnection,
        groups: &[GroupRecord],
    ) -> Result<(), Fault> {
        if groups.is_empty() {
            return Ok(());
        }
        db::query(self.sql.update_groups())
            .bind(groups.iter().map(|group| group.id.uuid()).collect::<Vec<_>>())
            .bind(groups.iter().map(finished_at).collect::<Vec<_>>())
            .bind(groups.iter().map(text).collect::<Vec<_>>())
            .execute(db)
            .await?;
        Ok(())
    }

    async fn save_edges(&self, db: &mut PgConnection, edges: &[Edge]) -> Result<(), Fault> {
        if edges.is_empty() {
            return Ok(());
        }
        let resolution = |edge: &Edge| edge.resolution.as_ref().and_then(text);
        db::query(self.sql.update_edges())
            .bind(edges.iter().map(|edge| edge.parent.uuid()).collect::<Vec<_>>())
            .bind(edges.iter().map(|edge| to_i32(edge.ordinal)).collect::<Vec<_>>())
            .bind(edges.iter().map(resolution).collect::<Vec<_>>())
            .execute(db)
            .await?;
        Ok(())
    }
}
