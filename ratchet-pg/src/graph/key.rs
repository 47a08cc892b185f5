//! The idempotency key of a graph, stored in the same ledger as the keys of jobs.

use std::collections::BTreeMap;

use ratchet_store::model::{GroupId, NewGraph};
use ratchet_store::rules::insert::KeyUse;

use crate::fault::Fault;
use crate::spec::{clean, scope};
use crate::store::Inner;
use sqlx::PgConnection;

impl Inner {
    /// Takes the idempotency key of a graph. Returns the graph that used it before, if any. Waits for a transaction
    /// that is taking the same key, so that one of two submitters inserts the graph and the other finds it.
    pub(super) async fn reserve_graph(
        &self,
        db: &mut PgConnection,
        graph: &NewGraph,
    ) -> Result<Option<GroupId>, Fault> {
        let (Some(key), Some(mut again)) = (&graph.key, KeyUse::of_graph(graph)) else {
            return Ok(None);
        };
        again.record.name = clean(&again.record.name);
        let scoped = (scope(key.tenant.as_deref()), clean(&key.key));
        let mut wanted = BTreeMap::from([(scoped, again.record.clone())]);
        let uses = self.take_ledger(db, &mut wanted).await?;
        let Some(original) = uses.into_values().next() else { return Ok(None) };
        let answer = original.answer(&again, &key.key).map_err(Fault::Insert)?;
        Ok(Some(GroupId::from_uuid(answer.id().uuid())))
    }
}
