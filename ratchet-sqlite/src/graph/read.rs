//! Reads groups, members and edges, for queries and for graph walks.

use ratchet_store::model::{Edge, GroupFilter, GroupId, GroupRecord, JobId, Member, Vertex};
use ratchet_store::rules::graph::{GraphRows, GroupContents};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};
use uuid::Uuid;

use crate::error::unreadable;
use crate::query::Look;
use crate::session::Session;
use crate::sql;
use crate::unreadable::{or_report, readable};
use crate::value::{bytes, job_id, number, parse, parse_optional};

/// Encodes a vertex: one byte for its kind, then its id.
pub(super) fn point_bytes(point: Vertex) -> Vec<u8> {
    let kind = u8::from(point.group().is_some());
    [&[kind], point.uuid().as_bytes().as_slice()].concat()
}

fn point(stored: &[u8]) -> Result<Vertex, sqlx::Error> {
    let odd = || sqlx::Error::Decode("not a point".into());
    let (kind, id) = stored.split_first().ok_or_else(odd)?;
    let id = Uuid::from_slice(id).map_err(unreadable)?;
    match kind {
        0 => Ok(Vertex::Job(JobId::from_uuid(id))),
        1 => Ok(Vertex::Group(GroupId::from_uuid(id))),
        _ => Err(odd()),
    }
}

pub(crate) fn group_id(stored: &[u8]) -> Result<GroupId, sqlx::Error> {
    Uuid::from_slice(stored).map(GroupId::from_uuid).map_err(unreadable)
}

impl Look<'_> {
    pub(crate) async fn group(&mut self, id: GroupId) -> Result<Option<GroupRecord>, sqlx::Error> {
        get_group(self.conn, id).await
    }

    pub(crate) async fn groups(
        &mut self,
        filter: &GroupFilter,
        before: Option<GroupId>,
        limit: u32,
    ) -> Result<Vec<GroupRecord>, sqlx::Error> {
        const CHUNK: i64 = 500;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        // Longer than every id, so it sorts after all of them.
        let mut before = before.map_or(vec![0xff; 17], |id| bytes(id.uuid()));
        let mut groups = Vec::new();
        loop {
            let page = match filter.owner {
                Some(owner) => sqlx::query(sql::graph::LIST_INNER_GROUPS)
                    .bind(bytes(owner.uuid()))
                    .bind(before)
                    .bind(CHUNK),
                None => sqlx::query(sql::graph::LIST_GROUPS).bind(before).bind(CHUNK),
            };
            let rows = page.fetch_all(&mut *self.conn).await?;
            let mut last = None;
            for row in &rows {
                last = Some(row.try_get(1)?);
                let read = row.try_get(0).and_then(parse::<GroupRecord>);
                let Some(group) = or_report("group", read)? else { continue };
                if filter.matches(&group) && groups.len() < limit {
                    groups.push(group);
                }
            }
            match last {
                Some(last) if groups.len() < limit => before = last,
                _ => return Ok(groups),
            }
        }
    }

    pub(crate) async fn members(
        &mut self,
        group: GroupId,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, sqlx::Error> {
        let rows = list_members(self.conn, group, after, limit).await?;
        let mut members = Vec::with_capacity(rows.len());
        for row in &rows {
            members.extend(self.readable_row(row).await?.map(|row| row.job.member()));
        }
        Ok(members)
    }

    pub(crate) async fn edges(&mut self, parents: &[Vertex]) -> Result<Vec<Edge>, sqlx::Error> {
        list_edges(self.conn, parents).await
    }
}

pub(super) async fn get_group(
    conn: &mut SqliteConnection,
    id: GroupId,
) -> Result<Option<GroupRecord>, sqlx::Error> {
    let row =
        sqlx::query(sql::graph::GET_GROUP).bind(bytes(id.uuid())).fetch_optional(conn).await?;
    row.map(|row| parse(row.try_get(0)?)).transpose()
}

async fn list_members(
    conn: &mut SqliteConnection,
    group: GroupId,
    after: Option<JobId>,
    limit: u32,
) -> Result<Vec<SqliteRow>, sqlx::Error> {
    sqlx::query(sql::graph::LIST_MEMBERS.as_str())
        .bind(bytes(group.uuid()))
        .bind(after.map_or_else(Vec::new, |id| bytes(id.uuid())))
        .bind(i64::from(limit))
        .fetch_all(conn)
        .await
}

async fn list_edges(
    conn: &mut SqliteConnection,
    parents: &[Vertex],
) -> Result<Vec<Edge>, sqlx::Error> {
    let mut edges = Vec::new();
    for parent in parents {
        let rows = sqlx::query(sql::graph::LIST_EDGES).bind(point_bytes(*parent));
        let read = |row: &SqliteRow| {
            Ok(Edge {
                parent: *parent,
                ordinal: number(row.try_get(0)?)?,
                child: point(row.try_get(1)?)?,
                when: parse(row.try_get(2)?)?,
                resolution: parse_optional(row.try_get(3)?)?,
            })
        };
        edges.extend(readable("edge", &rows.fetch_all(&mut *conn).await?, read)?);
    }
    Ok(edges)
}

/// Reads the rows of a graph for a walk.
pub(super) struct Rows<'s, 'c> {
    pub(super) session: &'s mut Session<'c>,
}

impl GraphRows for Rows<'_, '_> {
    type Error = sqlx::Error;

    async fn edges_from(&mut self, parents: &[Vertex]) -> Result<Vec<Edge>, sqlx::Error> {
        list_edges(self.session.conn, parents).await
    }

    async fn jobs(&mut self, ids: &[JobId]) -> Result<Vec<Member>, sqlx::Error> {
        let mut members = Vec::with_capacity(ids.len());
        for id in ids {
            members.extend(self.session.member(*id).await?);
        }
        Ok(members)
    }

    async fn groups(&mut self, ids: &[GroupId]) -> Result<Vec<GroupRecord>, sqlx::Error> {
        let mut groups = Vec::with_capacity(ids.len());
        for id in ids {
            groups.extend(or_report("group", get_group(self.session.conn, *id).await)?.flatten());
        }
        Ok(groups)
    }

    async fn inside(&mut self, group: GroupId) -> Result<GroupContents, sqlx::Error> {
        let mut inside = GroupContents::default();
        for row in list_members(self.session.conn, group, None, u32::MAX).await? {
            let member = match self.session.decode(&row).await? {
                Some(row) => Some(row.job.member()),
                None => match job_id(row.try_get("id")?) {
                    Ok(id) => self.session.member(id).await?,
                    Err(_) => None,
                },
            };
            inside.jobs.extend(member);
        }
        let rows = sqlx::query(sql::graph::LIST_INNER_GROUPS)
            .bind(bytes(group.uuid()))
            .bind(vec![0xff_u8; 17])
            .bind(i64::MAX);
        for row in rows.fetch_all(&mut *self.session.conn).await? {
            inside.groups.extend(or_report("group", row.try_get(0).and_then(parse))?);
        }
        Ok(inside)
    }
}
