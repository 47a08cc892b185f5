//! Groups and edges. [`propagate`] decides how a change propagates; this module reads and writes the rows.

mod read;

use std::collections::HashSet;

use jiff::Timestamp;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Applied, CommandError, CommandReply, DroppedGraph, Edge, Extend, GraphEffects, GraphInserted,
    GroupId, GroupRecord, InsertError, Inserted, JobId, JobRecord, JobState, Member, NewGraph,
    NewJob, Vertex,
};
use ratchet_store::rules::graph::{Changes, GraphEvent, JobChange, is_new_member, propagate};
use ratchet_store::rules::insert::KeyUse;
use sqlx::Row as _;

pub(crate) use self::read::group_id;
use self::read::{Rows, get_group, point_bytes};
use crate::command::Answer;
use crate::insert::Key;
use crate::row::JobRow;
use crate::session::Session;
use crate::sql;
use crate::unreadable::or_report;
use crate::value::{bytes, graph_key, json, optional_json, unhex};

/// Returns the event to propagate if this job is a step and has ended.
pub(crate) fn ended(job: &JobRecord) -> Option<GraphEvent> {
    let ended = job.spec.step.is_some() && job.state.is_terminal();
    ended.then(|| GraphEvent::Ended { member: job.member(), condition_results: Vec::new() })
}

impl Session<'_> {
    pub(crate) async fn insert_graph(
        &mut self,
        graph: &NewGraph,
    ) -> Result<Result<GraphInserted, InsertError>, sqlx::Error> {
        let scoped = graph.key.as_ref().map(graph_key);
        let key = scoped.zip(KeyUse::of_graph(graph));
        if let (Some((scoped, again)), Some(key)) = (&key, &graph.key)
            && let Some(original) = self.earlier_use(scoped, again.record.job).await?
        {
            let original = original.answer(again, &key.key).map(Inserted::id);
            return Ok(original.map(|id| GraphInserted::repeat_of(GroupId::from_uuid(id.uuid()))));
        }
        for group in &graph.groups {
            if get_group(self.conn, group.id).await?.is_some() {
                return Ok(Err(InsertError::GroupSealed(group.id)));
            }
        }
        let (jobs, absent) = match self.insert_members(&graph.jobs, key.as_ref()).await? {
            Ok(inserted) => inserted,
            Err(refused) => return Ok(Err(refused)),
        };
        for group in &graph.groups {
            let mut group = group.clone();
            group.queued_at = self.now;
            let gone = graph.jobs.iter().filter(|job| job.owner() == Some(group.id));
            let gone = gone.filter(|job| absent.contains(&job.id)).count() as u64;
            group.counts.total = group.counts.total.saturating_sub(gone);
            self.save_group(&group).await?;
        }
        crash_point(CrashPoint::InsertGroups);
        for edge in &graph.edges {
            self.save_edge(edge).await?;
        }
        let events = graph.groups.iter().map(|group| GraphEvent::Check(group.id)).collect();
        let effects = self.propagate(events).await?;
        Ok(Ok(GraphInserted { jobs, effects, original: None }))
    }

    pub(crate) async fn extend(
        &mut self,
        extend: &Extend,
    ) -> Result<Result<GraphInserted, InsertError>, sqlx::Error> {
        let id = extend.group;
        let Some(mut group) = get_group(self.conn, id).await? else {
            return Ok(Err(InsertError::GroupNotFound(id)));
        };
        if group.sealed {
            return Ok(Err(InsertError::GroupSealed(id)));
        }
        let (jobs, absent) = match self.insert_members(&extend.jobs, None).await? {
            Ok(inserted) => inserted,
            Err(refused) => return Ok(Err(refused)),
        };
        group.counts.total += (extend.jobs.len() - absent.len()) as u64;
        group.sealed = extend.seal;
        self.save_group(&group).await?;
        let effects = self.propagate(vec![GraphEvent::Check(id)]).await?;
        Ok(Ok(GraphInserted { jobs, effects, original: None }))
    }

    /// Inserts jobs of a graph. Also returns the ids of jobs that already exist and are therefore not members.
    async fn insert_members(
        &mut self,
        jobs: &[NewJob],
        key: Option<&(Key, KeyUse)>,
    ) -> Result<Result<(Vec<Inserted>, HashSet<JobId>), InsertError>, sqlx::Error> {
        let (plan, answers) = match self.planned(jobs, key).await? {
            Ok(planned) => planned,
            Err(refused) => return Ok(Err(refused)),
        };
        let mut absent = HashSet::new();
        for (job, answer) in jobs.iter().zip(&answers) {
            match is_new_member(job, *answer) {
                Ok(true) => {}
                Ok(false) => drop(absent.insert(job.id)),
                Err(refused) => return Ok(Err(refused)),
            }
        }
        self.carry_out(jobs, plan).await?;
        Ok(Ok((answers, absent)))
    }

    /// Inserts a graph spawned by a run. Returns the reason if it was refused.
    pub(crate) async fn spawn_graph(
        &mut self,
        graph: &NewGraph,
        applied: &mut Applied,
    ) -> Result<Option<DroppedGraph>, sqlx::Error> {
        let check_ids = std::mem::replace(&mut self.check_ids, true);
        let inserted = self.insert_graph(graph).await;
        self.check_ids = check_ids;
        Ok(match inserted? {
            Ok(inserted) => {
                applied.spawned.extend(inserted.created());
                applied.effects.append(inserted.effects);
                None
            }
            Err(refused) => DroppedGraph::new(graph, &refused),
        })
    }

    pub(crate) async fn cancel_group(&mut self, id: GroupId) -> Answer {
        let Some(group) = get_group(self.conn, id).await? else {
            return Ok(Err(CommandError::GroupNotFound(id)));
        };
        if group.state.is_ended() {
            return Ok(Ok(CommandReply::GroupUnchanged { state: group.state }));
        }
        let effects = self.propagate(vec![GraphEvent::CancelGroup(id)]).await?;
        Ok(Ok(CommandReply::GroupCanceled(Box::new(effects))))
    }

    /// Returns the changes that reopen steps when this failed job is retried. Refused if the business key of one of
    /// these steps is taken.
    pub(crate) async fn opened(
        &mut self,
        row: &JobRow,
    ) -> Result<Result<Changes, CommandError>, sqlx::Error> {
        if row.job.spec.step.is_none() {
            return Ok(Ok(Changes::default()));
        }
        let changes = self.walk(vec![GraphEvent::Retry { member: row.job.member() }]).await?;
        for id in changes.reopened() {
            let Some(step) = self.load(id).await? else { continue };
            let Some(key) = &step.scoped_key else { continue };
            if let Some(holder) = self.holder(key).await?.filter(|holder| *holder != id) {
                let key = step.job.spec.business_key.clone().unwrap_or_default();
                return Ok(Err(CommandError::BusinessKeyTaken { job: id, key, holder }));
            }
        }
        Ok(Ok(changes))
    }

    /// Propagates events through their graphs and writes the changes.
    pub(crate) async fn propagate(
        &mut self,
        events: Vec<GraphEvent>,
    ) -> Result<GraphEffects, sqlx::Error> {
        if events.is_empty() {
            return Ok(GraphEffects::default());
        }
        let changes = self.walk(events).await?;
        crash_point(CrashPoint::GraphWalked);
        self.apply(changes).await
    }

    async fn walk(&mut self, events: Vec<GraphEvent>) -> Result<Changes, sqlx::Error> {
        let now = self.now;
        propagate(&mut Rows { session: self }, events, now).await
    }

    pub(crate) async fn apply(&mut self, changes: Changes) -> Result<GraphEffects, sqlx::Error> {
        let now = self.now;
        for change in &changes.jobs {
            let (JobChange::Wait { job, .. }
            | JobChange::Release { job }
            | JobChange::Cancel { job, .. }
            | JobChange::Reopen { job, .. }) = change;
            let Some(mut row) = self.load(*job).await? else {
                self.change_unreadable(change).await?;
                continue;
            };
            match change {
                JobChange::Wait { wait, .. } => {
                    let save = sqlx::query(sql::graph::SAVE_WAIT).bind(row.seq).bind(json(wait)?);
                    save.execute(&mut *self.conn).await?;
                }
                JobChange::Release { .. } => self.advance(&mut row, |job| job.release(now)).await?,
                JobChange::Cancel { cause, root, wait, .. } => {
                    row.job.wait = *wait;
                    self.call_off(&mut row, *cause, Some(*root)).await?;
                }
                JobChange::Reopen { wait, .. } => {
                    if let Some(key) = row.scoped_key.clone() {
                        sqlx::query(sql::key::TAKE_BUSINESS_KEY)
                            .bind(key)
                            .bind(bytes(job.uuid()))
                            .execute(&mut *self.conn)
                            .await?;
                    }
                    self.advance(&mut row, |job| job.reopen(*wait)).await?;
                }
            }
        }
        crash_point(CrashPoint::GraphReleased);
        for group in &changes.groups {
            self.save_group(group).await?;
        }
        crash_point(CrashPoint::GraphCounted);
        for edge in &changes.edges {
            self.save_edge(edge).await?;
        }
        crash_point(CrashPoint::GraphWritten);
        Ok(changes.into_effects())
    }

    /// Returns the member for a step that was settled as a plain success. The row is read only if the step has edges.
    pub(crate) async fn succeeded_member(
        &mut self,
        id: JobId,
        linked: bool,
        group: &str,
    ) -> Result<Member, sqlx::Error> {
        if linked && let Some(member) = self.member(id).await? {
            return Ok(member);
        }
        let spec = ratchet_store::model::JobSpec::new("", Vec::new());
        let mut member = JobRecord::pending(id, spec, self.now, self.now).member();
        member.state = JobState::Succeeded;
        // Empty or damaged: the step counts in no group.
        member.group = unhex(group).and_then(|group| group_id(&group)).ok();
        Ok(member)
    }

    async fn save_group(&mut self, group: &GroupRecord) -> Result<(), sqlx::Error> {
        sqlx::query(sql::graph::INSERT_GROUP)
            .bind(bytes(group.id.uuid()))
            .bind(group.owner.map(|owner| bytes(owner.uuid())))
            .bind(group.kind.to_string())
            .bind(group.name.as_str())
            .bind(group.state.name())
            .bind(group.finished_at.map(Timestamp::as_microsecond))
            .bind(json(group)?)
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }

    pub(crate) async fn save_edge(&mut self, edge: &Edge) -> Result<(), sqlx::Error> {
        sqlx::query(sql::graph::INSERT_EDGE)
            .bind(point_bytes(edge.parent))
            .bind(i64::from(edge.ordinal))
            .bind(point_bytes(edge.child))
            .bind(json(&edge.when)?)
            .bind(optional_json(edge.resolution.as_ref())?)
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }

    pub(crate) async fn purge_groups(
        &mut self,
        until: Timestamp,
        limit: u32,
    ) -> Result<(), sqlx::Error> {
        let old = sqlx::query(sql::graph::LIST_OLD_GROUPS)
            .bind(until.as_microsecond())
            .bind(i64::from(limit))
            .fetch_all(&mut *self.conn)
            .await?;
        for row in old {
            let Some(id) = or_report("group", group_id(row.try_get(0)?))? else { continue };
            self.delete_group(id).await?;
        }
        Ok(())
    }

    /// Deletes a group with its edges.
    pub(crate) async fn delete_group(&mut self, id: GroupId) -> Result<(), sqlx::Error> {
        sqlx::query(sql::graph::DELETE_GROUP_EDGES)
            .bind(point_bytes(Vertex::Group(id)))
            .execute(&mut *self.conn)
            .await?;
        sqlx::query(sql::graph::DELETE_GROUP)
            .bind(bytes(id.uuid()))
            .execute(&mut *self.conn)
            .await?;
        Ok(())
    }
}
