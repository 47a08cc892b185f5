//! The idempotency key of a whole graph, in the ledger that jobs use too.

use ratchet_core::insert::KeyUse;
use ratchet_core::model::{GroupId, JobId, NewGraph};

use crate::fault::Fault;
use crate::spec::{clean, scope};
use crate::sqlx::{self, PgConnection, Row};
use crate::store::Inner;

impl Inner {
    /// Takes the key of a graph; answers with the graph that had it before. Another transaction that wants the same key
    /// is waited for, so one of two submitters inserts and the other finds what it has inserted.
    pub(super) async fn reserve_graph(
        &self,
        db: &mut PgConnection,
        graph: &NewGraph,
    ) -> Result<Option<GroupId>, Fault> {
        let (Some(key), Some(mut again)) = (&graph.key, KeyUse::of_graph(graph)) else {
            return Ok(None);
        };
        again.name = clean(&again.name);
        let (scopes, keys) = (vec![scope(key.tenant.as_deref())], vec![clean(&key.key)]);
        let won = sqlx::query(self.sql.reserve_idempotency())
            .bind(&scopes)
            .bind(&keys)
            .bind(vec![again.job.uuid()])
            .bind(vec![&again.name])
            .bind(vec![&again.digest])
            .fetch_optional(&mut *db)
            .await?;
        if won.is_some() {
            return Ok(None);
        }
        let there = sqlx::query(self.sql.select_idempotency()).bind(&scopes).bind(&keys);
        let there = there.fetch_one(db).await?;
        let original = KeyUse {
            job: JobId::from_uuid(there.try_get("job")?),
            name: there.try_get("name")?,
            digest: there.try_get("digest")?,
        };
        let answer = original.answer(&again, &key.key).map_err(Fault::Insert)?;
        Ok(Some(GroupId::from_uuid(answer.id().uuid())))
    }
}
