//! [`Draft`]: the graph under construction that chains, batches and workflows share, and its submit.

use std::any::type_name;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::handle::GroupHandle;
use super::publish_effects;
use crate::client::enqueue::unserved;
use crate::client::{Enqueue, SubmitError, order, submit};
use crate::events::JobRef;
use crate::job::JobContext;
use crate::job::{InputDef, Job};
use crate::runtime::Core;
use crate::runtime::by_queue;
use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::limits::{self, Field, brief};
use ratchet_store::model::{
    Due, Edge, EdgeTrigger, GraphInserted, GraphKey, GroupId, GroupKind, GroupRecord, InsertError,
    JobId, NewGraph, NewJob, OnConflict, Step, StepInput, Vertex,
};
use ratchet_store::rules::graph::{GraphError, check, link};

/// A graph under construction. The first error is kept and returned by the submit.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) core: &'a Arc<Core>,
    /// The run whose success stores the graph; `None` to store it directly.
    run: Option<&'a JobContext>,
    /// The tenant of the idempotency key and of jobs without their own.
    tenant: Option<String>,
    /// The correlation id of jobs without their own.
    correlation_id: Option<String>,
    /// The idempotency key.
    key: Option<String>,
    /// Whether a repeat is recognized by the idempotency key alone.
    by_key_alone: bool,
    /// How long the idempotency key is kept.
    key_lifetime: Option<Duration>,
    pub(super) graph: NewGraph,
    pub(super) root: GroupId,
    pub(super) error: Option<SubmitError>,
    /// The number of jobs per group. Callbacks are counted under `None`.
    sizes: HashMap<Option<GroupId>, u32>,
}

/// The input and output types of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Types {
    pub(super) inputs: &'static [InputDef],
    pub(super) returns: fn() -> &'static str,
}

impl Types {
    pub(super) fn of<J: Job>() -> Self {
        Self { inputs: J::DEF.inputs, returns: type_name::<J::Output> }
    }
}

impl<'a> Draft<'a> {
    pub(super) fn new(
        (core, run): (&'a Arc<Core>, Option<&'a JobContext>),
        kind: GroupKind,
        name: String,
    ) -> Self {
        let root = GroupId::from_uuid(core.ids.job().uuid());
        let group = GroupRecord::new(root, kind, String::new());
        let graph = NewGraph { groups: vec![group], ..NewGraph::default() };
        // A graph inherits from the run that submits it.
        let tenant = run.and_then(JobContext::tenant).map(str::to_owned);
        let correlation_id = run.and_then(JobContext::correlation_id).map(str::to_owned);
        let mut draft = Self {
            core,
            run,
            tenant,
            correlation_id,
            key: None,
            by_key_alone: false,
            key_lifetime: None,
            graph,
            root,
            error: None,
            sizes: HashMap::new(),
        };
        draft.name(name);
        draft
    }

    /// Sets the name of the graph.
    pub(super) fn name(&mut self, name: String) {
        self.limit(Field::Group, &name);
        self.root().name = name;
    }

    /// Fails the draft if a text exceeds its limit.
    pub(super) fn limit(&mut self, field: Field, text: &str) {
        if let Err(error) = limits::check(field, text) {
            let name = if field == Field::Group { text } else { &self.graph.groups[0].name };
            self.error.get_or_insert(SubmitError::limit(name, &error));
        }
    }

    pub(super) fn fail(&mut self, error: impl Into<SubmitError>) {
        self.error.get_or_insert(error.into());
    }

    pub(super) fn tenant(&mut self, tenant: String) {
        self.limit(Field::Tenant, &tenant);
        self.tenant = Some(tenant);
    }

    pub(super) fn correlation_id(&mut self, id: String) {
        self.limit(Field::CorrelationId, &id);
        self.correlation_id = Some(id);
    }

    pub(super) fn idempotency_key(&mut self, key: String) {
        self.limit(Field::IdempotencyKey, &key);
        self.key = Some(key);
    }

    pub(super) fn by_key_alone(&mut self) {
        self.by_key_alone = true;
    }

    pub(super) fn within(&mut self, lifetime: Duration) {
        self.key_lifetime = Some(lifetime);
    }

    /// Sets the tenant, the correlation id and the trace context of the graph on every job that has none.
    fn share_origin(&mut self) {
        let trace = self.run.and_then(JobContext::trace_context).cloned().map(Box::new);
        for job in &mut self.graph.jobs {
            let spec = &mut job.spec;
            spec.trace = spec.trace.take().or_else(|| trace.clone());
            spec.tenant = spec.tenant.take().or_else(|| self.tenant.clone());
            spec.correlation_id =
                spec.correlation_id.take().or_else(|| self.correlation_id.clone());
        }
        for group in &mut self.graph.groups {
            group.tenant.clone_from(&self.tenant);
            group.correlation_id.clone_from(&self.correlation_id);
        }
    }

    /// Returns the number of the last job of a group.
    pub(super) fn last_number(&self, group: GroupId) -> Option<u32> {
        self.sizes.get(&Some(group)).and_then(|size| size.checked_sub(1))
    }

    pub(super) fn root(&mut self) -> &mut GroupRecord {
        // Pushed first, and groups are never removed.
        &mut self.graph.groups[0]
    }

    /// Adds a job to a group, or a callback if `group` is `None`.
    pub(super) fn add<J: Job>(
        &mut self,
        job: &J,
        group: Option<GroupId>,
        name: Option<String>,
        options: impl FnOnce(Enqueue<'a, J>) -> Enqueue<'a, J>,
    ) -> JobId {
        let job = options(Enqueue::step(self.core, job)).into_new_job();
        match job.and_then(|job| order::refuse_step(&job.spec).map(|()| job)) {
            Ok(mut job) => {
                // The key of the graph may be set later.
                submit::leave_out_defaults::<J>(&mut job);
                self.push(job, group, name)
            }
            Err(error) => {
                self.fail(error);
                self.core.ids.job()
            }
        }
    }

    fn push(&mut self, mut job: NewJob, group: Option<GroupId>, name: Option<String>) -> JobId {
        let size = self.sizes.entry(group).or_default();
        let number = *size;
        *size = size.saturating_add(1);
        let mut step = Step::new(group);
        (step.name, step.number) = (name, number);
        if let Due::In(delay) = job.due {
            step.delay = delay;
            job.due = Due::Now;
        }
        job.spec.step = Some(Box::new(step));
        // An existing job cannot become a step, so `or_existing` does not apply.
        job.on_conflict = OnConflict::Refuse;
        let id = job.id;
        self.graph.jobs.push(job);
        id
    }

    pub(super) fn step(&mut self, id: JobId) -> Option<&mut Step> {
        let job = self.graph.jobs.iter_mut().rev().find(|job| job.id == id)?;
        job.spec.step.as_deref_mut()
    }

    pub(super) fn edge(&mut self, parent: Vertex, child: Vertex, when: EdgeTrigger) {
        // One edge above the limit is enough to refuse the graph. More would only use memory.
        if self.graph.edges.len() <= limits::EDGES {
            self.graph.edges.push(Edge::new(parent, child, when));
        }
    }

    /// Refuses a graph with too many edges, because its insert would block the store for too long.
    fn check_size(&self) -> Result<(), GraphError> {
        if self.graph.edges.len() <= limits::EDGES {
            return Ok(());
        }
        let (kind, name) = self
            .graph
            .root()
            .map_or((GroupKind::Workflow, String::new()), |root| (root.kind, brief(&root.name)));
        Err(GraphError::TooManyEdges { kind, name, limit: limits::EDGES })
    }

    /// Makes a step take the outputs of `from` for the argument `def`.
    pub(super) fn input(&mut self, step: JobId, def: &InputDef, from: Vec<JobId>) {
        if let Some(step) = self.step(step) {
            let mut input = StepInput::new(def.step.map(str::to_owned), from);
            input.argument = def.by_argument.then(|| def.argument.to_owned());
            input.all = def.all;
            step.inputs.push(input);
        }
    }

    /// Merges another graph into this one as a member of the group `owner`.
    pub(super) fn take_in(
        &mut self,
        mut other: Draft<'a>,
        owner: GroupId,
        step: Option<String>,
    ) -> Vertex {
        if let Some(error) = other.error.take() {
            self.fail(error);
        }
        let root = other.root;
        if other.key.is_some() {
            let problem = "it is part of another graph: only the whole has an idempotency key";
            let (job, problem) = (other.root().name.clone(), problem.to_owned());
            self.fail(SubmitError::BadOption { job, problem });
        }
        other.share_origin();
        other.root().owner = Some(owner);
        other.root().step = step;
        self.graph.groups.append(&mut other.graph.groups);
        self.graph.jobs.append(&mut other.graph.jobs);
        self.graph.edges.append(&mut other.graph.edges);
        for (group, more) in other.sizes {
            let size = self.sizes.entry(group).or_default();
            *size = size.saturating_add(more);
        }
        Vertex::Group(root)
    }

    /// Adds a callback: a job that runs when a group has ended as `when` requires, and that receives a report on the
    /// group.
    pub(super) fn callback<J: Job>(&mut self, group: GroupId, job: &J, when: EdgeTrigger) {
        let id = self.add(job, None, None, |enqueue| enqueue);
        if let Some(step) = self.step(id) {
            step.reports = Some(group);
        }
        self.edge(Vertex::Group(group), Vertex::Job(id), when);
    }

    /// Checks the graph. Returns it and its future handle.
    pub(super) fn into_parts(mut self) -> Result<(NewGraph, GroupHandle), SubmitError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        self.check_size()?;
        let name = self.graph.root().map_or("", |root| root.name.as_str());
        submit::check_lifetime(name, self.key.is_some(), self.key_lifetime)?;
        self.share_origin();
        link(&mut self.graph);
        check(&self.graph)?;
        self.graph.key = self.key.map(|key| GraphKey {
            tenant: self.tenant,
            key,
            by_key_alone: self.by_key_alone,
            lifetime: self.key_lifetime,
        });
        let core = Arc::clone(self.core);
        let handle = match self.graph.root() {
            Some(root) => GroupHandle::submitted(root, core),
            None => GroupHandle::new(self.root, core),
        };
        Ok((self.graph, handle))
    }

    /// Checks and submits the graph. If its key was used before, returns the handle of the original.
    pub(super) async fn submit(self) -> Result<GroupHandle, SubmitError> {
        let (core, run) = (Arc::clone(self.core), self.run);
        let (graph, handle) = self.into_parts()?;
        if let Some(ctx) = run {
            let taken = ctx.spawn_graph(graph);
            return if taken { Ok(handle) } else { Err(SubmitError::RunOver(ctx.job_id())) };
        }
        let name = graph.root().map(|root| root.name.clone()).unwrap_or_default();
        let about = JobRef::of_all(&graph.jobs);
        let insert_graph = core.store.insert_graph(graph);
        let (inserted, warnings) = insert(&core, &about, &name, insert_graph).await?;
        Ok(match inserted.original {
            Some(original) => handle.at(original),
            None => handle.with(warnings),
        })
    }
}

/// Inserts jobs of a graph called `name`, publishes an event for each created job, and returns warnings about queues
/// that no worker serves or that are too deep.
pub(super) async fn insert(
    core: &Core,
    jobs: &[JobRef],
    name: &str,
    insert: impl Future<Output = Result<GraphInserted, InsertError>>,
) -> Result<(GraphInserted, Vec<String>), SubmitError> {
    let expected = core.events.expect_submits(jobs.iter().cloned());
    let deep = core.check_depth(jobs).await?;
    crash_point(CrashPoint::SubmitBefore);
    let sent = core.clock.monotonic();
    let inserted = insert.await;
    core.record_insert(sent, inserted.as_ref().err());
    let inserted = inserted.map_err(|error| SubmitError::from_graph(error, jobs, name))?;
    crash_point(CrashPoint::SubmitAnswered);
    for id in inserted.created() {
        core.events.submitted(id);
    }
    core.record_submits(inserted.jobs.iter().zip(jobs));
    if inserted.original.is_some() {
        core.meter.suppressed("idempotency_key");
    }
    drop(expected);
    publish_effects(core, &inserted.effects);
    let mut warnings = Vec::new();
    if inserted.original.is_none() {
        for (queue, (more, first)) in by_queue(jobs) {
            core.depths.grew(queue, more);
            warnings.extend(unserved(core, first).await);
        }
        warnings.extend(deep.into_values());
    }
    Ok((inserted, warnings))
}
