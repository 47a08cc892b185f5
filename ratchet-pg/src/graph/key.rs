//! The idempotency key of a whole graph, in the ledger that jobs use too.

use ratchet_core::graph::{digest, identity};
use ratchet_core::model::{GroupId, InsertError, JobId, NewGraph};
use uuid::Uuid;

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
        let (Some(key), Some(root)) = (&graph.key, graph.root()) else { return Ok(None) };
        let (scopes, keys) = (vec![scope(key.tenant.as_deref())], vec![clean(&key.key)]);
        let (name, digest) = (clean(&identity(root)), digest(graph).to_vec());
        let won = sqlx::query(self.sql.reserve_idempotency())
            .bind(&scopes)
            .bind(&keys)
            .bind(vec![root.id.uuid()])
            .bind(vec![&name])
            .bind(vec![&digest])
            .fetch_optional(&mut *db)
            .await?;
        if won.is_some() {
            return Ok(None);
        }
        let there = sqlx::query(self.sql.select_idempotency()).bind(&scopes).bind(&keys);
        let there = there.fetch_one(db).await?;
        let original: Uuid = there.try_get("job")?;
        let (same_name, same_digest) =
            (there.try_get::<String, _>("name")? == name, there.try_get::<Vec<u8>, _>("digest")?);
        if same_name && same_digest == digest {
            return Ok(Some(GroupId::from_uuid(original)));
        }
        Err(Fault::Insert(InsertError::IdempotencyMismatch {
            job: JobId::from_uuid(root.id.uuid()),
            key: key.key.clone(),
            original: JobId::from_uuid(original),
        }))
    }
}
