//! Shared helpers for tests of damaged stores: a store with rows of every kind, a worker without an engine that drains
//! it, and calls of every method that reads many rows. The helpers panic on errors.
#![allow(clippy::missing_panics_doc, reason = "these are tests")]

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{Job as _, Ratchet, StoreError};
use ratchet_macros::job;
use ratchet_store::Store;
use ratchet_store::model::{
    AttemptOutcome, Channel, ClaimReply, ClaimRequest, Claimed, ConcurrencyKey, Due, Edge,
    EdgeTrigger, Filter, GroupFilter, GroupId, GroupKind, GroupRecord, JobId, JobOutcome, JobSpec,
    JobState, KnownJobs, NewGraph, NewHandOff, NewJob, NewReject, NodeId, NodeInfo, Notice, Orphan,
    PageRequest, QueueDemand, RejectFilter, ScheduleRecord, Settled, Settlement, Step, Suspects,
    Verdict, Vertex, WriteSchedule,
};
use ratchet_store::rules::graph::link;
use uuid::Uuid;

/// The lease of a worker in these tests.
pub const LEASE: Duration = Duration::from_mins(10);

/// Creates a job on the queue `default`, due now, with empty arguments.
pub fn job(name: &str) -> NewJob {
    let id = JobId::from_uuid(Uuid::now_v7());
    let spec = JobSpec::new(name, b"{}".to_vec());
    NewJob::new(id, spec)
}

/// A worker must know a job. No test submits this one.
#[job(name = "test.bystander", crate = ::ratchet_core)]
async fn bystander() {}

/// Starts a worker on a store with unreadable jobs. Its readiness must count them and still pass.
pub async fn assert_readiness_counts_unreadable(
    store: Arc<dyn Store>,
    unreadable: usize,
    what: &str,
) {
    let (job, row) =
        if unreadable == 1 { ("job is", "its row") } else { ("jobs are", "their rows") };
    let expected = format!("{unreadable} {job} set aside because {row} cannot be read");
    let builder = Ratchet::builder_shared(store)
        .jobs([Bystander::JOB])
        .config(|config| config.maintenance_interval = Duration::from_millis(2));
    let ratchet = builder.build().await.expect(what);
    let worker = ratchet.start().await.expect(what);
    let counted = async {
        while !worker.readiness().details.contains(&expected) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_mins(1), counted).await;
    assert!(in_time.is_ok(), "{:?} lacks {expected:?}; {what}", worker.readiness());
    assert!(worker.readiness().ok, "{:?}; {what}", worker.readiness());
    worker.stop().await;
}

/// A worker without an engine. It claims and settles by calling the store directly.
#[derive(Debug)]
pub struct Node {
    /// The id under which the node has joined.
    pub id: NodeId,
    /// The names of the jobs that the node can run.
    pub names: Vec<String>,
}

impl Node {
    /// Joins the store as a new node that knows the given jobs.
    pub async fn join(store: &dyn Store, names: &[&str]) -> Self {
        let id = NodeId::from_uuid(Uuid::now_v7());
        store.join(NodeInfo::new(id), LEASE).await.expect("joins");
        Self { id, names: names.iter().map(ToString::to_string).collect() }
    }

    /// Creates a claim request for up to `limit` jobs of the queue `default`.
    pub fn request(&self, limit: u32) -> ClaimRequest {
        let known: BTreeMap<_, _> = self.names.iter().map(|name| (name.clone(), 1)).collect();
        ClaimRequest {
            node: self.id,
            queues: vec![QueueDemand { queue: "default".to_owned(), limit }],
            known: Arc::new(KnownJobs(known)),
            suspects: Suspects::beside_others(5),
            starting: true,
        }
    }

    /// Claims up to `limit` jobs.
    pub async fn claim(&self, store: &dyn Store, limit: u32) -> Result<ClaimReply, StoreError> {
        store.claim(self.request(limit)).await
    }

    /// Claims and completes jobs until none are left. Returns the jobs that ran.
    pub async fn drain(&self, store: &dyn Store) -> Vec<JobId> {
        let mut ran = Vec::new();
        loop {
            let claimed = self.claim(store, 500).await.expect("claims").jobs;
            if claimed.is_empty() {
                return ran;
            }
            let settled = store.settle(claimed.iter().map(succeeded).collect()).await;
            let settled = settled.expect("settles");
            assert!(settled.iter().all(|settled| matches!(settled, Settled::Applied(_))));
            ran.extend(claimed.iter().map(Claimed::id));
        }
    }
}

/// Creates the settlement of a run that succeeded without output.
pub fn succeeded(claimed: &Claimed) -> Settlement {
    let verdict = Verdict::Succeed { output: None };
    Settlement::new(claimed.token, verdict, AttemptOutcome::Success)
}

/// A store with rows of every kind: ended and waiting jobs, orphans, steps of a chain, recurring jobs, hand-offs and
/// rejects. Each job has a unique name.
#[allow(missing_debug_implementations, reason = "a store has no such form")]
pub struct Live {
    /// The filled store.
    pub store: Arc<dyn Store>,
    /// All job names, used or not. A worker that drains the store knows all of them.
    pub names: Vec<String>,
    /// Waiting jobs that depend only on their own rows. The first has run before; the second is plain; the third is due
    /// in a minute; the fourth to seventh have a business key, an idempotency key, the concurrency key `one` and a tag.
    pub plain: Vec<JobId>,
    /// Running jobs whose node has left.
    pub orphans: Vec<JobId>,
    /// The steps of a chain, in order.
    pub steps: Vec<JobId>,
}

impl Live {
    /// Fills an empty store.
    pub async fn new(store: Arc<dyn Store>) -> Self {
        let names = (0..32).map(|number| format!("job.{number}")).collect();
        let (plain, orphans, steps) = (Vec::new(), Vec::new(), Vec::new());
        let mut live = Self { store, names, plain, orphans, steps };
        live.fill().await;
        live
    }

    async fn worker(&self) -> Node {
        let names: Vec<_> = self.names.iter().map(String::as_str).collect();
        Node::join(&*self.store, &names).await
    }

    async fn fill(&mut self) {
        let worker = self.worker().await;
        let mut names = self.names.clone().into_iter();
        let mut fresh = || job(&names.next().expect("enough names"));
        let ended: Vec<NewJob> = (0..4).map(|_| fresh()).collect();
        self.store.insert(ended).await.expect("inserts");
        let claimed = worker.claim(&*self.store, 10).await.expect("claims").jobs;
        let settled = claimed.iter().enumerate().map(|(number, claimed)| {
            let mut settlement = succeeded(claimed);
            if number == 0 {
                settlement.verdict = Verdict::Release;
                settlement.outcome = AttemptOutcome::Released;
                settlement.notes.warnings.push("odd".to_owned());
                settlement.notes.checkpoint = Some(serde_json::json!({"at": 7}));
            }
            let outcome = JobOutcome::success(claimed, None, Duration::ZERO);
            settlement.notices = vec![Notice::Outcome(outcome.into())];
            let checkpoint = serde_json::json!([number]);
            settlement.hand_offs = vec![NewHandOff::new("next", number.to_string(), checkpoint)];
            settlement.rejects = vec![NewReject {
                index: 1,
                error_type: "E".to_owned(),
                message: "m".to_owned(),
                fingerprint: "f".to_owned(),
                payload: None,
            }];
            settlement
        });
        self.store.settle(settled.collect()).await.expect("settles");
        self.plain.push(claimed[0].id());

        let orphaned: Vec<NewJob> = (0..3).map(|_| fresh()).collect();
        self.orphans.extend(orphaned.iter().map(|job| job.id));
        self.store.insert(orphaned).await.expect("inserts");
        let others: HashSet<_> = self.plain.iter().copied().collect();
        let claimed = worker.claim(&*self.store, 10).await.expect("claims").jobs;
        let back = claimed.iter().filter(|claimed| others.contains(&claimed.id()));
        let back = back.map(|claimed| {
            Settlement::new(claimed.token, Verdict::Release, AttemptOutcome::Released)
        });
        self.store.settle(back.collect()).await.expect("settles");
        self.store.leave(worker.id).await.expect("leaves");

        let mut waiting: Vec<NewJob> = (0..6).map(|_| fresh()).collect();
        waiting[1].due = Due::In(Duration::from_mins(1));
        waiting[2].spec.business_key = Some("order-7".to_owned());
        waiting[3].spec.idempotency_key = Some("once".to_owned());
        waiting[4].spec.concurrency = Some(ConcurrencyKey { key: "one".to_owned(), limit: 1 });
        waiting[5].spec.tags = vec!["a".to_owned()];
        self.plain.extend(waiting.iter().map(|job| job.id));
        self.store.insert(waiting).await.expect("inserts");

        let group = GroupId::from_uuid(Uuid::now_v7());
        let mut graph = NewGraph::default();
        graph.groups.push(GroupRecord::new(group, GroupKind::Chain, "chain"));
        for number in 0..3 {
            let mut job = fresh();
            let mut step = Step::default();
            step.group = Some(group);
            step.number = number;
            job.spec.step = Some(Box::new(step));
            if let Some(before) = self.steps.last() {
                graph.edges.push(Edge::new(
                    Vertex::Job(*before),
                    Vertex::Job(job.id),
                    EdgeTrigger::Success,
                ));
            }
            self.steps.push(job.id);
            graph.jobs.push(job);
        }
        link(&mut graph);
        self.store.insert_graph(graph).await.expect("inserts");

        for name in ["first", "second"] {
            let mut record = ScheduleRecord::new(name, fresh().spec, "* * * * *");
            record.next = Some(self.store.now().await.expect("a time"));
            let (name, record) = (name.to_owned(), Some(record));
            let write = WriteSchedule {
                name,
                replaces: None,
                record,
                declarations: None,
                jobs: Vec::new(),
                notices: Vec::new(),
            };
            self.store.write_schedule(write).await.expect("writes");
        }
    }

    /// Calls every method that reads many rows. None of them may fail.
    pub async fn sweep(&self, what: &str) {
        let store = &*self.store;
        let hold = Duration::from_secs(1);
        let page = PageRequest { before: None, limit: 1000 };
        store.list(&Filter::any(), page).await.expect(what);
        store.counts().await.expect(what);
        store.nodes().await.expect(what);
        store.unknown_jobs().await.expect(what);
        store.alerts(100).await.expect(what);
        store.schedules().await.expect(what);
        store.due_schedules(100).await.expect(what);
        store.queues().await.expect(what);
        store.breakers().await.expect(what);
        store.groups(&GroupFilter::default(), None, 100).await.expect(what);
        store.rejects(&RejectFilter::any(), None, 100).await.expect(what);
        store.reject_groups(&RejectFilter::any()).await.expect(what);
        store.hand_off_stats("next").await.expect(what);
        store.take_hand_offs("next", 100, hold).await.expect(what);
        for channel in [Channel::Alerts, Channel::DeadLetters, Channel::Outcomes] {
            store.take_deliveries(channel, 100, hold).await.expect(what);
        }
        store.unreadable(100).await.expect(what);
        store.orphans(100).await.expect(what);
        for state in [JobState::Failed, JobState::Canceled] {
            store.purge(state, Duration::from_hours(1), 100).await.expect(what);
        }
    }

    /// Rescues orphans and completes jobs until none are left. Returns the jobs that ran.
    pub async fn drain(&self, what: &str) -> HashSet<JobId> {
        let worker = self.worker().await;
        let mut ran = HashSet::new();
        loop {
            self.store.heartbeat(worker.id, LEASE).await.expect(what);
            let orphans = self.store.orphans(100).await.expect(what);
            let rescue = |orphan: &Orphan| {
                let verdict = Verdict::Rescue { delay: Duration::ZERO, crashes: 0 };
                Settlement::new(orphan.claimed.token, verdict, AttemptOutcome::Crashed)
            };
            let rescued =
                self.store.settle(orphans.iter().map(rescue).collect()).await.expect(what);
            let claimed = worker.claim(&*self.store, 100).await.expect(what).jobs;
            let settled = self.store.settle(claimed.iter().map(succeeded).collect()).await;
            let settled = settled.expect(what);
            let applied = |settled: &Settled| matches!(settled, Settled::Applied(_));
            if !rescued.iter().chain(&settled).any(applied) {
                return ran;
            }
            let done = claimed.iter().zip(&settled).filter(|(_, settled)| applied(settled));
            ran.extend(done.map(|(claimed, _)| claimed.id()));
        }
    }
}
