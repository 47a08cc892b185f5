//! Settlements. All transitions of a batch are applied before its children are inserted, so that a key released by one
//! settlement is available to the children of another.

use std::mem;

use jiff::Timestamp;

use super::tables::{Held, Tables};
use ratchet_store::model::{
    Applied, DroppedChild, DroppedGraph, Inserted, JobId, JobState, NewGraph, NewJob, RunNotes,
    Settled, Settlement, Token,
};

impl Tables {
    pub(super) fn settle(&mut self, settlements: Vec<Settlement>, now: Timestamp) -> Vec<Settled> {
        let (mut families, mut graphs) = (Vec::new(), Vec::new());
        let mut events = Vec::new();
        for mut settlement in settlements {
            let (parent, children) = (settlement.token.job, mem::take(&mut settlement.spawned));
            let (sample, condition_results) =
                (settlement.sample.take(), mem::take(&mut settlement.condition_results));
            graphs.push(mem::take(&mut settlement.graphs));
            let mut settled = self.settle_one(settlement, now);
            if let Settled::Applied(applied) = &mut settled {
                applied.breaker = sample.and_then(|sample| self.count_sample(&sample, now));
                events.extend(
                    self.ended(parent, condition_results).map(|event| (families.len(), event)),
                );
            }
            families.push((parent, children, settled));
        }
        if let Some((first, _)) = events.first() {
            let first = *first;
            let effects = self.propagate(events.into_iter().map(|(_, event)| event).collect(), now);
            if let (_, _, Settled::Applied(applied)) = &mut families[first] {
                applied.effects = effects;
            }
        }
        for (parent, children, settled) in &mut families {
            if let Settled::Applied(applied) = settled {
                self.spawn(*parent, mem::take(children), applied, now);
            }
        }
        let spawn = |((parent, _, mut settled), graphs)| {
            if let Settled::Applied(applied) = &mut settled {
                self.spawn_graphs(parent, graphs, applied, now);
            }
            settled
        };
        families.into_iter().zip(graphs).map(spawn).collect()
    }

    pub(super) fn report(&mut self, notes: Vec<(Token, RunNotes)>) -> Vec<bool> {
        let report = |(token, notes): (Token, RunNotes)| {
            let current = self.is_current(&token);
            if let Some(row) = self.jobs.get_mut(&token.job).filter(|_| current) {
                row.keep(notes);
            }
            current
        };
        notes.into_iter().map(report).collect()
    }

    fn settle_one(&mut self, settlement: Settlement, now: Timestamp) -> Settled {
        let Settlement {
            token,
            verdict,
            outcome,
            duration,
            notes,
            notices,
            rejects,
            hand_offs,
            refused_hand_offs,
            lingering,
            ..
        } = settlement;
        let current = self.is_current(&token);
        let Some(row) = self.jobs.get_mut(&token.job) else {
            return Settled::Stale { state: None };
        };
        if !current {
            let state = Some(row.job.state);
            if !lingering {
                self.release_holds(token);
            }
            return Settled::Stale { state };
        }
        if let Some(mut line) = row.line(now, outcome) {
            line.duration = duration;
            (line.error, line.note) = verdict.cause();
            row.history.push(line);
        }
        row.keep(notes);
        self.keep_items(token.job, rejects, hand_offs, refused_hand_offs, now);
        let held = if lingering { Held::Lingering } else { Held::Freed };
        self.end_run(token, held, now, |job| {
            job.duration = Some(duration);
            job.settle(verdict, now);
        });
        self.outbox.record(notices, now);
        let job = self.jobs.get(&token.job).map(|row| &row.job);
        let state = job.map_or(JobState::Pending, |job| job.state);
        let due = job.filter(|job| job.state == JobState::Pending).map(|job| job.due);
        Settled::Applied(Applied::new(state, now, due))
    }

    /// Inserts children one by one. A refused child is dropped without affecting the rest.
    fn spawn(
        &mut self,
        parent: JobId,
        children: Vec<NewJob>,
        applied: &mut Applied,
        now: Timestamp,
    ) {
        for child in children {
            let (id, name) = (child.id, child.spec.name.clone());
            match self.insert(vec![child], now).as_deref() {
                Ok([Inserted::Created(id)]) => applied.spawned.push(*id),
                Ok(_) => {}
                Err(refused) => {
                    let why = refused.to_string();
                    if let Some(parent) = self.jobs.get_mut(&parent) {
                        let warning = format!("child `{name}` ({id}) was dropped: {why}");
                        parent.job.warnings.push(warning);
                    }
                    applied.dropped.push(DroppedChild { id, name, why });
                }
            }
        }
    }

    /// Inserts graphs one by one. A refused graph is dropped as a whole without affecting the rest.
    fn spawn_graphs(
        &mut self,
        parent: JobId,
        graphs: Vec<NewGraph>,
        applied: &mut Applied,
        now: Timestamp,
    ) {
        for graph in graphs {
            match self.insert_graph(graph.clone(), now) {
                Ok(inserted) => {
                    applied.spawned.extend(inserted.created());
                    applied.effects.append(inserted.effects);
                }
                Err(refused) => {
                    let Some(dropped) = DroppedGraph::new(&graph, &refused) else { continue };
                    if let Some(parent) = self.jobs.get_mut(&parent) {
                        parent.job.warnings.push(dropped.to_string());
                    }
                    applied.dropped_graphs.push(dropped);
                }
            }
        }
    }
}
