//! Inserts the graphs that a run has spawned.

use ratchet_store::model::{DroppedGraph, GraphInserted, NewGraph, Settled, Settlement};

use crate::fault::Fault;
use crate::insert::Stored;
use crate::settle::{Notes, PostCommit};
use crate::store::Inner;
use sqlx::{Connection, PgConnection};

impl Inner {
    /// Inserts the graphs of the applied settlements, one by one and at the time their runs ended. A refused graph is
    /// dropped as a whole, without affecting the rest.
    pub(crate) async fn spawn_graphs(
        &self,
        db: &mut PgConnection,
        settlements: &[&Settlement],
        answers: &mut [Settled],
        post_commit: &mut PostCommit,
        now: i64,
    ) -> Result<(), Fault> {
        let mut notes = Notes::default();
        for (settlement, answer) in settlements.iter().zip(answers) {
            let Settled::Applied(applied) = answer else { continue };
            for graph in &settlement.graphs {
                match self.spawn_graph(db, graph, post_commit, now).await {
                    Ok(inserted) => {
                        applied.spawned.extend(inserted.created());
                        applied.effects.append(inserted.effects);
                    }
                    Err(Fault::Insert(refused)) => {
                        let Some(dropped) = DroppedGraph::new(graph, &refused) else { continue };
                        notes.warn(settlement.token.job.uuid(), &dropped.to_string());
                        applied.dropped_graphs.push(dropped);
                    }
                    Err(fault) => return Err(fault),
                }
            }
        }
        notes.write(self, db).await
    }

    /// Inserts a graph in a savepoint. If it is refused, its writes, such as reserved keys, are rolled back.
    async fn spawn_graph(
        &self,
        db: &mut PgConnection,
        graph: &NewGraph,
        post_commit: &mut PostCommit,
        now: i64,
    ) -> Result<GraphInserted, Fault> {
        let mut part = db.begin().await?;
        let stored = Stored { now: Some(now), ..Stored::default() };
        let (inserted, more) = self.insert_graph_within(&mut part, graph, stored).await?;
        part.commit().await?;
        post_commit.unsettled |= more.unsettled;
        post_commit.hints.extend(more.hints);
        Ok(inserted)
    }
}
