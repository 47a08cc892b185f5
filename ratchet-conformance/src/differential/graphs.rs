//! Generates small chains, batches and workflows.

use ratchet_store::model::{
    Command, Due, Edge, EdgeTrigger, Extend, GraphKey, GroupId, GroupKind, GroupRecord, JobId,
    NewGraph, NewJob, Step, Vertex, Wait, WaitMode,
};
use ratchet_store::rules::graph::link;

use super::driver::TICK;
use super::generate::Generator;
use super::op::Op;
use crate::fixture::JobExt;

impl Generator {
    pub(super) fn graph_op(&mut self) -> Op {
        match self.rng.u8(..12) {
            0..6 => Op::InsertGraph(self.graph()),
            6..8 => Op::Command(Command::CancelGroup(self.any_group())),
            8..10 => {
                let (group, seal) = (self.any_group(), self.rng.u8(..3) == 0);
                let count = self.rng.usize(..3);
                let jobs = (0..count).map(|_| self.member(Some(group), 0)).collect();
                Op::Extend(Extend { group, jobs, seal })
            }
            _ => Op::Group(self.any_group()),
        }
    }

    pub(super) fn graph(&mut self) -> NewGraph {
        let mut graph = NewGraph::default();
        // Mostly generate the same graph for the same key.
        let number = (self.rng.u8(..4) == 0).then(|| self.rng.u8(..4));
        match number {
            Some(number) if self.rng.u8(..4) > 0 => {
                let chain = self.group(&mut graph, GroupKind::Chain, None);
                for step in 0..=u32::from(number % 3) {
                    let id = JobId::from_uuid(self.uuid());
                    let mut job = self.member(Some(chain), step).named("mail").payload(&[number]);
                    (job.id, job.spec.idempotency_key) = (id, None);
                    graph.jobs.push(job);
                }
                follow(&mut graph, chain);
            }
            _ => match self.rng.u8(..4) {
                0 => self.chain(&mut graph),
                1 => self.children(&mut graph, None),
                _ => self.workflow(&mut graph),
            },
        }
        let lifetime = (self.rng.u8(..4) == 0).then(|| TICK * self.rng.u32(1..4));
        let key = |number: u8| GraphKey { lifetime, ..GraphKey::new(None, number.to_string()) };
        graph.key = number.map(key);
        link(&mut graph);
        graph
    }

    fn chain(&mut self, graph: &mut NewGraph) {
        let chain = self.group(graph, GroupKind::Chain, None);
        for step in 0..self.rng.u32(1..4) {
            let job = self.member(Some(chain), step);
            graph.jobs.push(job);
        }
        follow(graph, chain);
    }

    /// Adds a batch with callbacks. Sometimes it stays open.
    fn children(&mut self, graph: &mut NewGraph, owner: Option<GroupId>) {
        let batch = self.group(graph, GroupKind::Batch, owner);
        for group in &mut graph.groups {
            group.sealed |= group.id != batch;
        }
        for number in 0..self.rng.u32(..4) {
            let job = self.member(Some(batch), number);
            graph.jobs.push(job);
        }
        if owner.is_some() {
            return;
        }
        let open = self.rng.u8(..3) == 0;
        graph.groups.iter_mut().for_each(|group| group.sealed = !open);
        for _ in 0..self.rng.usize(..3) {
            let mut callback = self.member(None, 0);
            callback.spec.step.get_or_insert_default().reports = Some(batch);
            let when = match self.rng.u8(..4) {
                0 => EdgeTrigger::Success,
                1 => EdgeTrigger::Failure,
                2 => EdgeTrigger::Rate(500_000),
                _ => EdgeTrigger::Always,
            };
            graph.edges.push(Edge::new(Vertex::Group(batch), Vertex::Job(callback.id), when));
            graph.jobs.push(callback);
        }
    }

    /// Adds a workflow. Edges start at earlier steps, so there are no cycles; a step may be a batch.
    fn workflow(&mut self, graph: &mut NewGraph) {
        let flow = self.group(graph, GroupKind::Workflow, None);
        let mut points: Vec<Vertex> = Vec::new();
        for number in 0..self.rng.u32(1..6) {
            let point = if self.rng.u8(..8) == 0 {
                self.children(graph, Some(flow));
                Vertex::Group(graph.groups[graph.groups.len() - 1].id)
            } else {
                let mut job = self.member(Some(flow), number);
                let (any, first) = (self.rng.u8(..3) == 0, self.rng.u8(..4) == 0);
                if let Some(step) = &mut job.spec.step {
                    step.wait = any.then(|| Wait::new(WaitMode::Any, 0));
                    step.first_match = first;
                }
                let id = job.id;
                graph.jobs.push(job);
                Vertex::Job(id)
            };
            let count = if points.is_empty() { 0 } else { self.rng.usize(..3) };
            for _ in 0..count {
                let parent = points[self.rng.usize(..points.len())];
                let when = match (self.rng.u8(..7), parent) {
                    (0, _) => EdgeTrigger::Failure,
                    (1, _) => EdgeTrigger::Always,
                    (2, Vertex::Job(_)) => EdgeTrigger::Condition("big".to_owned()),
                    (3, Vertex::Job(_)) => EdgeTrigger::Otherwise,
                    _ => EdgeTrigger::Success,
                };
                graph.edges.push(Edge::new(parent, point, when));
            }
            points.push(point);
        }
    }

    fn group(&mut self, graph: &mut NewGraph, kind: GroupKind, owner: Option<GroupId>) -> GroupId {
        let id = GroupId::from_uuid(self.uuid());
        let mut group = GroupRecord::new(id, kind, "small");
        group.owner = owner;
        graph.groups.push(group);
        self.graphs.get_or_insert_default().push(id);
        id
    }

    /// Generates a job and turns it into a step, as a client does: its delay starts when it is released.
    fn member(&mut self, group: Option<GroupId>, number: u32) -> NewJob {
        let mut job = self.job();
        let mut step = Step::default();
        (step.group, step.number) = (group, number);
        if let Due::In(delay) = job.due {
            (step.delay, job.due) = (delay, Due::Now);
        }
        job.spec.step = Some(Box::new(step));
        job
    }

    /// Picks mostly a recent group.
    fn any_group(&mut self) -> GroupId {
        let ago = self.rng.usize(..6);
        let groups = self.graphs.as_deref().unwrap_or_default();
        let unknown = GroupId::from_uuid(uuid::Uuid::max());
        groups.len().checked_sub(ago + 1).map_or(unknown, |index| groups[index])
    }
}

/// Adds an edge from each step to the next.
fn follow(graph: &mut NewGraph, chain: GroupId) {
    let steps: Vec<_> =
        graph.jobs.iter().filter(|job| job.owner() == Some(chain)).map(|job| job.id).collect();
    for pair in steps.windows(2) {
        graph.edges.push(Edge::new(
            Vertex::Job(pair[0]),
            Vertex::Job(pair[1]),
            EdgeTrigger::Success,
        ));
    }
}
