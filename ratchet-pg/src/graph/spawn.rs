//! Graphs that come into being with the success of a run.

use ratchet_core::model::{DroppedGraph, GraphInserted, NewGraph, Settled, Settlement};

use crate::fault::Fault;
use crate::insert::Stored;
use crate::settle::{News, Notes};
use crate::sqlx::{Connection, PgConnection};
use crate::store::Inner;

impl Inner {
    /// Inserts the graphs of what was applied, one by one and at the time of their runs' ends: a refused one is dropped
    /// alone, and all of it.
    pub(crate) async fn spawn_graphs(
        &self,
        db: &mut PgConnection,
        settlements: &[&Settlement],
        answers: &mut [Settled],
        news: &mut News,
        now: i64,
    ) -> Result<(), Fault> {
        let mut notes = Notes::default();
        for (settlement, answer) in settlements.iter().zip(answers) {
            let Settled::Applied(applied) = answer else { continue };
            for graph in &settlement.graphs {
                match self.spawn_graph(db, graph, news, now).await {
                    Ok(inserted) => {
                        applied.spawned.extend(inserted.created());
                        applied.ripples.append(inserted.ripples);
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

    /// What a refused graph has written, such as keys it has reserved, is taken back.
    async fn spawn_graph(
        &self,
        db: &mut PgConnection,
        graph: &NewGraph,
        news: &mut News,
        now: i64,
    ) -> Result<GraphInserted, Fault> {
        let mut part = db.begin().await?;
        let stored = Stored { now: Some(now), ..Stored::default() };
        let (inserted, more) = self.insert_graph_within(&mut part, graph, stored).await?;
        part.commit().await?;
        news.unsettled |= more.unsettled;
        news.hints.extend(more.hints);
        Ok(inserted)
    }
}
