//! Nodes: joining, heartbeats, leadership, and the orphans of nodes whose lease expired.

use std::sync::Arc;
use std::time::Duration;

use ratchet_store::model::{
    Actor, Declarations, Heartbeat, KnownJobs, NodeId, NodeInfo, NodeRecord, NodeReply, NodeUpdate,
    Orphan, RunNotes, Token,
};
use ratchet_store::rules::node::LiveNode;
use ratchet_store::{StoreError, StoreErrorKind, rules};
use uuid::Uuid;

use crate::db;
use crate::fault::{Fault, transact};
use crate::lost_connection::is_lost;
use crate::record::{claimed, parsed, text, token};
use crate::spec::{clean, instant, micros, to_i32, to_u32};
use crate::store::Inner;
use crate::unreadable::{Unread, is_unreadable, or_report, readable};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

impl Inner {
    pub(crate) async fn join(&self, node: &NodeInfo, lease: Duration) -> Result<(), Fault> {
        let id = node.id;
        // Jobs submitted by its runs would get ids from the same clock.
        self.clock.check("node", [id.uuid()])?;
        let (names, versions): (Vec<_>, Vec<_>) =
            node.known.0.iter().map(|(name, version)| (clean(name), to_i32(*version))).unzip();
        let joined: Option<Uuid> = db::query_scalar(self.sql.upsert_node())
            .bind(id.uuid())
            .bind(micros(lease))
            .bind(i64::from(node.pid))
            .bind(clean(&node.host))
            .bind(clean(&node.binary_version))
            .bind(node.queues.iter().map(|queue| clean(queue)).collect::<Vec<_>>())
            .bind(names)
            .bind(versions)
            .bind(clean(&node.declarations.program))
            .bind(node.declarations.fingerprint.cast_signed())
            .fetch_optional(&self.pool)
            .await?;
        if joined.is_none() {
            let why = format!("node {id} has lost its lease and must join with a new identity");
            return Err(StoreError::new(StoreErrorKind::Data, why).into());
        }
        if let Some(request) = node.request.as_ref().and_then(text) {
            let bring = db::query(self.sql.bring_request()).bind(id.uuid()).bind(request);
            bring.execute(&self.pool).await?;
        }
        if node.declared {
            db::query(self.sql.mark_declared()).bind(id.uuid()).execute(&self.pool).await?;
        }
        self.mark_deploy(node).await?;
        self.record_catalog(node).await?;
        // Jobs whose name no node knew so far.
        self.bring_back().await?;
        Ok(())
    }

    pub(crate) async fn heartbeat(
        &self,
        node: NodeId,
        lease: Duration,
    ) -> Result<Heartbeat, Fault> {
        if let Err(fault) = self.give_back_lost(true).await {
            let error = StoreError::from(fault);
            tracing::debug!(%error, "jobs of a lost claim are released later");
        }
        let renewed = db::query(self.sql.renew_node())
            .bind(node.uuid())
            .bind(micros(lease))
            .fetch_optional(&self.pool)
            .await?;
        let Some(renewed) = renewed else { return Ok(Heartbeat::Lost) };
        let request = or_report("request to a node", parsed(&renewed, "request"))?.flatten();
        let rows = db::query(self.sql.select_canceled()).bind(node.uuid());
        let rows = rows.fetch_all(&self.pool).await?;
        let canceled = readable("canceled run", &rows, token)?;
        Ok(Heartbeat::Renewed { canceled, request })
    }

    /// Returns what is requested of a node; `None` if it has no valid lease.
    pub(crate) async fn node_request(
        &self,
        db: &mut PgConnection,
        node: NodeId,
    ) -> Result<Option<LiveNode>, Fault> {
        let found = db::query(self.sql.select_request()).bind(node.uuid());
        let Some(row) = found.fetch_optional(&mut *db).await? else { return Ok(None) };
        let request = or_report("request to a node", parsed(&row, "request"))?.flatten();
        Ok(Some(LiveNode { request }))
    }

    pub(crate) async fn update_node_within(
        &self,
        db: &mut PgConnection,
        node: NodeId,
        update: NodeUpdate,
        actor: Option<&Actor>,
    ) -> Result<NodeReply, Fault> {
        db::query(self.sql.lock_request()).bind(node.uuid()).execute(&mut *db).await?;
        let Some(live) = self.node_request(db, node).await? else {
            return Ok(NodeReply::NotFound);
        };
        let now = instant(self.now(&mut *db).await?);
        let reply = rules::node::updated(live.request, update, actor, now);
        match &reply {
            NodeReply::Changed(Some(request)) => {
                let request = text(request).unwrap_or_default();
                let set = db::query(self.sql.upsert_request()).bind(node.uuid()).bind(request);
                set.execute(&mut *db).await?;
            }
            NodeReply::Changed(None) => {
                let withdraw = db::query(self.sql.delete_request()).bind(node.uuid());
                withdraw.execute(&mut *db).await?;
            }
            _ => {}
        }
        Ok(reply)
    }

    pub(crate) async fn leave(&self, node: NodeId) -> Result<(), Fault> {
        transact!(repeatable self, |db| {
            db::query(self.sql.expire_node()).bind(node.uuid()).execute(&mut *db).await?;
            db::query(self.sql.delete_leader()).bind(node.uuid()).execute(&mut *db).await?;
        })
    }

    pub(crate) async fn try_lead(&self, node: NodeId, lease: Duration) -> Result<bool, Fault> {
        let leader: Option<Uuid> = db::query_scalar(self.sql.upsert_leader())
            .bind(node.uuid())
            .bind(micros(lease))
            .fetch_optional(&self.pool)
            .await?;
        if leader.is_some() {
            db::query(self.sql.fold_tally()).execute(&self.pool).await?;
            db::query(self.sql.delete_expired_keys()).execute(&self.pool).await?;
            db::query(self.sql.delete_ended_key_rates()).execute(&self.pool).await?;
            db::query(self.sql.delete_expired_digests()).execute(&self.pool).await?;
            self.sweep_expiries().await?;
            crate::partitions::make(&self.pool, &self.sql, self.range).await?;
            self.vacuum().await?;
        }
        Ok(leader.is_some())
    }

    /// Removes the dead rows of the tables that counts read. The server does the same by itself, but later, and not while
    /// all of its vacuum processes are busy with other tables.
    async fn vacuum(&self) -> Result<(), Fault> {
        if self.pool.is_pinned() {
            // Behind a transaction pooler every statement is in a transaction, and this one cannot be.
            return Ok(());
        }
        match db::query(self.sql.vacuum()).execute(&self.pool).await {
            // It takes too long, or this user may not do it.
            Err(error) if error.as_database_error().is_some() && !is_lost(&error) => {
                tracing::debug!(%error, "dead rows are left to the server");
                Ok(())
            }
            done => Ok(done.map(drop)?),
        }
    }

    pub(crate) async fn try_declare(&self, node: NodeId) -> Result<bool, Fault> {
        db::query(self.sql.upsert_program()).bind(node.uuid()).execute(&self.pool).await?;
        db::query(self.sql.mark_declared()).bind(node.uuid()).execute(&self.pool).await?;
        let declares = db::query_scalar(self.sql.declares()).bind(node.uuid());
        Ok(declares.fetch_one(&self.pool).await?)
    }

    /// Returns `false` if there are declarations and they are no longer the newest of their program. Otherwise they
    /// remain the newest until the commit.
    pub(crate) async fn lock_newest(
        &self,
        db: &mut PgConnection,
        declarations: Option<&Declarations>,
    ) -> Result<bool, Fault> {
        let Some(declarations) = declarations else { return Ok(true) };
        let newest = db::query(self.sql.lock_newest())
            .bind(clean(&declarations.program))
            .bind(declarations.fingerprint.cast_signed());
        Ok(newest.fetch_optional(&mut *db).await?.is_some())
    }

    pub(crate) async fn has_competing_claimers(
        &self,
        node: NodeId,
        queues: &[String],
    ) -> Result<bool, Fault> {
        // The engine does not wait for the answer, and asks again soon. If the server hangs, the questions must not use
        // up the connections.
        let Ok(_one) = self.competition.try_lock() else {
            let why = "the last check for competing claimers has not ended";
            return Err(StoreError::new(StoreErrorKind::Unavailable, why).into());
        };
        let company =
            db::query_scalar(self.sql.has_competing_claimers()).bind(node.uuid()).bind(queues);
        Ok(company.fetch_one(&self.pool).await?)
    }

    pub(crate) async fn nodes(&self) -> Result<Vec<NodeRecord>, Fault> {
        let rows = db::query(self.sql.select_nodes()).fetch_all(&self.pool).await?;
        Ok(readable("node", &rows, node)?)
    }

    pub(crate) async fn orphans(&self, limit: u32) -> Result<Vec<Orphan>, Fault> {
        let now: i64 = db::query_scalar(self.sql.now()).fetch_one(&self.pool).await?;
        let lost = db::query(self.sql.select_lost_runs()).bind(now).fetch_all(&self.pool).await?;
        if !lost.is_empty() {
            self.release_holds(readable("lingering run", &lost, token)?).await?;
        }
        db::query(self.sql.delete_nodes()).bind(now).execute(&self.pool).await?;
        db::query(self.sql.delete_old_requests()).execute(&self.pool).await?;
        self.sweep_blocked().await?;
        self.sweep_leaks().await?;
        let rows = db::query(self.sql.select_orphans())
            .bind(now)
            .bind(i64::from(limit))
            .fetch_all(&self.pool)
            .await?;
        let mut orphans = Vec::with_capacity(rows.len());
        for row in &rows {
            let node = NodeId::from_uuid(row.try_get("node")?);
            match claimed(row, node) {
                Ok(claimed) => {
                    orphans.push(Orphan { claimed, started: row.try_get("started")? });
                }
                Err(error) if is_unreadable(&error) => {
                    let Token { job, lease, .. } = token(row)?;
                    self.noted.note([Unread::new(job, Some(lease), &error)]);
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.try_to_set_aside_unreadable().await;
        Ok(orphans)
    }

    /// Frees the slots and keys that lingering runs still held after their end.
    pub(crate) async fn release_holds(&self, tokens: Vec<Token>) -> Result<(), Fault> {
        if tokens.is_empty() {
            return Ok(());
        }
        let wakes = transact!(repeatable self, |db| self.let_go_within(db, &tokens).await?)?;
        if !wakes.is_empty() {
            self.bounds.clear();
            self.wakes.send(wakes);
        }
        Ok(())
    }

    pub(crate) async fn write_notes(
        &self,
        notes: Vec<(Token, RunNotes)>,
    ) -> Result<Vec<bool>, Fault> {
        transact!(self, |db| self.report_within(db, &notes).await?)
    }
}

fn node(row: &PgRow) -> Result<NodeRecord, sqlx::Error> {
    let mut info = NodeInfo::new(NodeId::from_uuid(row.try_get("id")?));
    info.host = row.try_get("host")?;
    info.pid = u32::try_from(row.try_get::<i64, _>("pid")?).unwrap_or(0);
    info.binary_version = row.try_get("binary_version")?;
    let fingerprint = row.try_get::<i64, _>("declarations")?.cast_unsigned();
    info.declarations = Declarations { program: row.try_get("program")?, fingerprint };
    info.queues = row.try_get::<Vec<String>, _>("queues")?.into_iter().collect();
    let names: Vec<String> = row.try_get("names")?;
    let versions: Vec<i32> = row.try_get("versions")?;
    let known = names.into_iter().zip(versions.into_iter().map(to_u32)).collect();
    info.known = Arc::new(KnownJobs(known));
    info.request = or_report("request to a node", parsed(row, "request"))?.flatten();
    Ok(NodeRecord {
        info,
        joined_at: instant(row.try_get("joined_at")?),
        lease_until: instant(row.try_get("until")?),
        alive: row.try_get("alive")?,
    })
}
