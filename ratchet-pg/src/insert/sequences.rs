//! Sequences: jobs that run in order. A sequence is a graph whose row has the last job.

use std::collections::HashMap;

use ratchet_store::model::{JobId, Member, NewJob};
use ratchet_store::rules::graph::{sequence, sequence_id, turn_edge};
use uuid::Uuid;

use super::plan::Plan;
use crate::db;
use crate::fault::Fault;
use crate::store::Inner;
use sqlx::{PgConnection, Row};

/// The graph of the sequence that a job belongs to, if it runs in order.
pub(crate) fn graph_of(job: &NewJob) -> Option<Uuid> {
    sequence(&job.spec).map(sequence_id)
}

impl Inner {
    /// Locks the sequences of these jobs. Returns their last jobs by graph.
    ///
    /// Graphs must be locked before keys, so this comes first in an insert. Children of a run are inserted while leases
    /// are locked. Their settlement does not wait for long, and is retried if it is blocked.
    pub(super) async fn lock_sequences(
        &self,
        db: &mut PgConnection,
        jobs: &[NewJob],
    ) -> Result<HashMap<Uuid, Member>, Fault> {
        let mut graphs: Vec<_> = jobs.iter().filter_map(graph_of).collect();
        if graphs.is_empty() {
            return Ok(HashMap::new());
        }
        graphs.sort_unstable();
        graphs.dedup();
        let rows = db::query(self.sql.lock_sequences()).bind(graphs).fetch_all(&mut *db).await?;
        let mut ends = HashMap::new();
        for row in &rows {
            if let Some(last) = row.try_get::<Option<Uuid>, _>("last")? {
                ends.insert(JobId::from_uuid(last), row.try_get::<Uuid, _>("id")?);
            }
        }
        let ids: Vec<_> = ends.keys().copied().collect();
        let steps = self.steps(db, &ids).await?;
        Ok(steps.into_iter().map(|last| (ends[&last.id], last)).collect())
    }

    /// Records that the stored jobs were added to their sequences.
    pub(super) async fn extend_sequences(
        &self,
        db: &mut PgConnection,
        jobs: &[&NewJob],
        plan: &Plan,
    ) -> Result<(), Fault> {
        if plan.sequences.is_empty() {
            return Ok(());
        }
        let edges: Vec<_> = jobs.iter().filter_map(|job| turn_edge(job)).collect();
        self.write_edges(db, &edges).await?;
        let graphs: Vec<_> = plan.sequences.keys().map(|key| sequence_id(key)).collect();
        let last: Vec<_> = plan.sequences.values().map(|job| job.uuid()).collect();
        db::query(self.sql.update_sequences()).bind(graphs).bind(last).execute(db).await?;
        Ok(())
    }
}
