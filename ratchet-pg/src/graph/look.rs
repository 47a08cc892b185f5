//! Reads groups, members and edges, and purges old groups.

use std::time::Duration;

use ratchet_store::model::{Edge, GroupFilter, GroupId, GroupRecord, JobId, Member, Vertex};
use uuid::Uuid;

use super::rows::edge;
use crate::db;
use crate::fault::Fault;
use crate::spec::{json, micros};
use crate::store::Inner;
use crate::unreadable::readable;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

/// The number of groups read per page.
const PAGE: i64 = 500;

impl Inner {
    pub(crate) async fn one_group(&self, id: GroupId) -> Result<Option<GroupRecord>, Fault> {
        let mut db = self.pool.acquire().await?;
        Ok(self.read_groups(&mut db, &[id]).await?.pop())
    }

    /// Returns these groups. Missing ones are left out.
    pub(crate) async fn read_groups(
        &self,
        db: &mut PgConnection,
        ids: &[GroupId],
    ) -> Result<Vec<GroupRecord>, Fault> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<_> = ids.iter().map(|id| id.uuid()).collect();
        let rows = db::query(self.sql.select_groups()).bind(ids).fetch_all(db).await?;
        Ok(readable("group", &rows, group)?)
    }

    pub(crate) async fn list_groups(
        &self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, Fault> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut db = self.pool.acquire().await?;
        let (mut groups, mut before) = (Vec::new(), before);
        loop {
            let rows = self.page(&mut db, filter.owner, before, PAGE).await?;
            let Some(last) = rows.last() else { return Ok(groups) };
            before = Some(GroupId::from_uuid(last.try_get("id")?));
            let page = readable("group", &rows, group)?;
            groups.extend(page.into_iter().filter(|group| filter.matches(group)));
            if groups.len() >= limit {
                groups.truncate(limit);
                return Ok(groups);
            }
        }
    }

    pub(super) async fn inner_groups(
        &self,
        db: &mut PgConnection,
        owner: GroupId,
    ) -> Result<Vec<GroupRecord>, Fault> {
        let rows = self.page(db, Some(owner), None, i64::MAX).await?;
        Ok(readable("group", &rows, group)?)
    }

    async fn page(
        &self,
        db: &mut PgConnection,
        owner: Option<GroupId>,
        before: Option<GroupId>,
        limit: i64,
    ) -> Result<Vec<PgRow>, Fault> {
        let before = before.map_or(Uuid::max(), GroupId::uuid);
        let rows = match owner {
            Some(owner) => {
                db::query(self.sql.list_inner()).bind(before).bind(limit).bind(owner.uuid())
            }
            None => db::query(self.sql.list_groups()).bind(before).bind(limit),
        };
        Ok(rows.fetch_all(db).await?)
    }

    pub(super) async fn member_ids(
        &self,
        db: &mut PgConnection,
        group: GroupId,
        after: Option<JobId>,
        limit: i64,
    ) -> Result<Vec<JobId>, Fault> {
        let ids: Vec<Uuid> = db::query_scalar(self.sql.list_members())
            .bind(group.uuid())
            .bind(after.map_or(Uuid::nil(), JobId::uuid))
            .bind(limit)
            .fetch_all(db)
            .await?;
        Ok(ids.into_iter().map(JobId::from_uuid).collect())
    }

    pub(crate) async fn group_members(
        &self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, Fault> {
        let mut db = self.pool.acquire().await?;
        let ids = self.member_ids(&mut db, group, after, i64::from(limit)).await?;
        let jobs = self.jobs(&mut db, ids.into_iter().map(JobId::uuid).collect()).await?;
        // `jobs` returns them newest first.
        Ok(jobs.iter().rev().map(ratchet_store::model::JobRecord::member).collect())
    }

    pub(crate) async fn edges(&self, parents: &[Vertex]) -> Result<Vec<Edge>, Fault> {
        let parents: Vec<_> = parents.iter().map(|parent| parent.uuid()).collect();
        let rows = db::query(self.sql.select_edges()).bind(parents).fetch_all(&self.pool).await?;
        Ok(readable("edge", &rows, edge)?)
    }

    /// Removes groups that ended at least `age` ago and have no members left, and graphs that are empty.
    pub(crate) async fn purge_groups(
        &self,
        db: &mut PgConnection,
        age: Duration,
        limit: u32,
        mut graphs: Vec<Uuid>,
    ) -> Result<(), Fault> {
        let gone: Vec<Uuid> = db::query_scalar(self.sql.purge_groups())
            .bind(micros(age))
            .bind(i64::from(limit))
            .fetch_all(&mut *db)
            .await?;
        graphs.extend(gone);
        if !graphs.is_empty() {
            db::query(self.sql.purge_graphs()).bind(graphs).execute(db).await?;
        }
        Ok(())
    }
}

fn group(row: &PgRow) -> Result<GroupRecord, sqlx::Error> {
    json(row.try_get(0)?)
}
