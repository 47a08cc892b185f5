//! Nodes: joining, heartbeats, leadership, and the orphans of nodes whose lease expired.

use std::time::Duration;

use ratchet_store::model::{
    Actor, Declarations, Due, Heartbeat, NodeId, NodeInfo, NodeReply, NodeRequest, NodeUpdate,
    Orphan, Token,
};
use ratchet_store::rules;
use ratchet_store::rules::node::LiveNode;
use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::session::Session;
use crate::sql;
use crate::unreadable::{or_report, readable};
use crate::value::{
    bytes, in_column, job_id, json, lease_id, number, optional_json, parse_optional,
};

impl Session<'_> {
    fn until(&self, lease: Duration) -> i64 {
        Due::In(lease).at(self.now).as_microsecond()
    }

    pub(crate) async fn join(
        &mut self,
        node: &NodeInfo,
        lease: Duration,
    ) -> Result<Result<(), StoreError>, sqlx::Error> {
        let id = bytes(node.id.uuid());
        let known = sqlx::query(sql::node::GET_LEASE).bind(id.as_slice());
        let known = known.fetch_optional(&mut *self.conn).await?;
        let lost = known.map(|row| row.try_get::<i64, _>(0)).transpose()?;
        if lost.is_some_and(|until| until <= self.micros()) {
            let held = sqlx::query(sql::node::FIND_HELD).bind(id.as_slice());
            if held.fetch_optional(&mut *self.conn).await?.is_some() {
                let why = format!(
                    "node {} has lost its lease and must join with a new identity",
                    node.id
                );
                return Ok(Err(StoreError::new(StoreErrorKind::Data, why)));
            }
        }
        self.mark_deploy(node).await?;
        self.record_catalog(node).await?;
        sqlx::query(sql::node::INSERT_NODE)
            .bind(id)
            .bind(node.host.as_str())
            .bind(i64::from(node.pid))
            .bind(node.binary_version.as_str())
            .bind(json(&node.queues)?)
            .bind(json(&node.known.0)?)
            .bind(self.micros())
            .bind(self.until(lease))
            .bind(node.declarations.program.as_str())
            .bind(node.declarations.fingerprint.cast_signed())
            .bind(optional_json(node.request.as_ref())?)
            .bind(node.declared)
            .execute(&mut *self.conn)
            .await?;
        Ok(Ok(()))
    }

    pub(crate) async fn heartbeat(
        &mut self,
        node: NodeId,
        lease: Duration,
    ) -> Result<Heartbeat, sqlx::Error> {
        let id = bytes(node.uuid());
        let renewed = sqlx::query(sql::node::RENEW_LEASE)
            .bind(id.as_slice())
            .bind(self.micros())
            .bind(self.until(lease))
            .fetch_optional(&mut *self.conn)
            .await?;
        let Some(renewed) = renewed else { return Ok(Heartbeat::Lost) };
        let request = or_report("request to a node", request(&renewed))?.flatten();
        let canceled =
            sqlx::query(sql::node::LIST_CANCELED).bind(id).fetch_all(&mut *self.conn).await?;
        Ok(Heartbeat::Renewed { canceled: readable("canceled run", &canceled, token)?, request })
    }

    /// Returns what is requested of a node; `None` if it has no valid lease.
    pub(crate) async fn node_request(
        &mut self,
        node: NodeId,
    ) -> Result<Option<LiveNode>, sqlx::Error> {
        let found =
            sqlx::query(sql::node::GET_REQUEST).bind(bytes(node.uuid())).bind(self.micros());
        let found = found.fetch_optional(&mut *self.conn).await?;
        let read = |row| {
            let request = or_report("request to a node", request(&row))?.flatten();
            Ok(LiveNode { request })
        };
        found.map(read).transpose()
    }

    pub(crate) async fn update_node(
        &mut self,
        node: NodeId,
        update: NodeUpdate,
        actor: Option<&Actor>,
    ) -> Result<NodeReply, sqlx::Error> {
        let Some(live) = self.node_request(node).await? else { return Ok(NodeReply::NotFound) };
        let reply = rules::node::updated(live.request, update, actor, self.now);
        if let NodeReply::Changed(request) = &reply {
            let set = sqlx::query(sql::node::SET_REQUEST).bind(bytes(node.uuid()));
            set.bind(optional_json(request.as_ref())?).execute(&mut *self.conn).await?;
        }
        Ok(reply)
    }

    pub(crate) async fn leave(&mut self, node: NodeId) -> Result<(), sqlx::Error> {
        let id = bytes(node.uuid());
        sqlx::query(sql::node::END_LEASE)
            .bind(id.as_slice())
            .bind(self.micros())
            .execute(&mut *self.conn)
            .await?;
        sqlx::query(sql::node::DELETE_LEADER).bind(id).execute(&mut *self.conn).await?;
        Ok(())
    }

    pub(crate) async fn try_lead(
        &mut self,
        node: NodeId,
        lease: Duration,
    ) -> Result<bool, sqlx::Error> {
        let leads = sqlx::query(sql::node::TAKE_LEAD)
            .bind(bytes(node.uuid()))
            .bind(self.micros())
            .bind(self.until(lease));
        let leads = leads.fetch_optional(&mut *self.conn).await?.is_some();
        if leads {
            let expired = sqlx::query(sql::key::DELETE_EXPIRED_LEDGER_ENTRIES).bind(self.micros());
            expired.execute(&mut *self.conn).await?;
            self.sweep_key_rates().await?;
            let digests = sqlx::query(sql::erasure::DELETE_EXPIRED_DIGESTS).bind(self.micros());
            digests.execute(&mut *self.conn).await?;
        }
        Ok(leads)
    }

    pub(crate) async fn try_declare(&mut self, node: NodeId) -> Result<bool, sqlx::Error> {
        let (id, now) = (bytes(node.uuid()), self.micros());
        let take = sqlx::query(sql::node::TAKE_PROGRAM).bind(id.as_slice()).bind(now);
        take.execute(&mut *self.conn).await?;
        let mark = sqlx::query(sql::node::MARK_DECLARED).bind(id.as_slice());
        mark.execute(&mut *self.conn).await?;
        let declares = sqlx::query(sql::node::DECLARES).bind(id).bind(now);
        Ok(declares.fetch_optional(&mut *self.conn).await?.is_some())
    }

    /// Returns `false` if there are declarations and they are no longer the newest of their program.
    pub(crate) async fn are_newest(
        &mut self,
        declarations: Option<&Declarations>,
    ) -> Result<bool, sqlx::Error> {
        let Some(declarations) = declarations else { return Ok(true) };
        let newest = sqlx::query(sql::node::FIND_NEWEST)
            .bind(declarations.program.as_str())
            .bind(declarations.fingerprint.cast_signed());
        Ok(newest.fetch_optional(&mut *self.conn).await?.is_some())
    }

    pub(crate) async fn orphans(&mut self, limit: u32) -> Result<Vec<Orphan>, sqlx::Error> {
        let now = self.micros();
        let lost = sqlx::query(sql::key::LIST_LOST_LINGERING).bind(now);
        for row in lost.fetch_all(&mut *self.conn).await? {
            match or_report("lingering run", token(&row))? {
                Some(token) => self.release_holds(token).await?,
                // Otherwise it would hold its slot forever.
                None => {
                    sqlx::query(sql::key::DELETE_LOST_LINGERING)
                        .bind(row.try_get::<&[u8], _>(0)?)
                        .bind(row.try_get::<&[u8], _>(1)?)
                        .bind(row.try_get::<i64, _>(2)?)
                        .execute(&mut *self.conn)
                        .await?;
                }
            }
        }
        sqlx::query(sql::node::DELETE_DEAD_NODES).bind(now).execute(&mut *self.conn).await?;
        let rows = sqlx::query(sql::node::LIST_ORPHANS.as_str()).bind(now).bind(i64::from(limit));
        let mut rows = rows.fetch_all(&mut *self.conn).await?;
        let strays = sqlx::query(sql::node::LIST_STRAYS.as_str()).bind(i64::from(limit));
        rows.extend(strays.fetch_all(&mut *self.conn).await?);
        let mut orphans = Vec::new();
        for row in rows.iter().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
            match self.decode(row).await? {
                Some(row) => {
                    let orphan = row.claimed();
                    let orphan =
                        orphan.map(|claimed| Orphan { claimed, started: row.handler_started });
                    orphans.extend(orphan);
                }
                None => self.release_unreadable(row.try_get("seq")?).await?,
            }
        }
        Ok(orphans)
    }
}

/// Reads what is requested of a node.
pub(crate) fn request(row: &SqliteRow) -> Result<Option<NodeRequest>, sqlx::Error> {
    in_column("request", parse_optional(row.try_get("request")?))
}

fn token(row: &SqliteRow) -> Result<Token, sqlx::Error> {
    Ok(Token {
        job: job_id(row.try_get(0)?)?,
        lease: lease_id(row.try_get(1)?)?,
        version: number(row.try_get(2)?)?,
    })
}
