//! Concurrent changes to a graph from several connections.

use std::sync::Arc;
use std::time::Duration;

use crate::support::PgHarness;
use ratchet_conformance::Harness;
use ratchet_core::{IdSource, OsEntropy, SystemClock};
use ratchet_pg::PgStore;
use ratchet_store::Store;
use ratchet_store::model::{
    AttemptOutcome, CancelCause, ClaimRequest, Claimed, Command, CommandReply, Edge, EdgeTrigger,
    GroupId, GroupKind, GroupRecord, GroupState, JobId, JobSpec, JobState, KnownJobs, NewGraph,
    NewJob, NodeId, NodeInfo, QueueDemand, Settled, Settlement, Step, Suspects, Verdict, Vertex,
};
use ratchet_store::rules::graph::link;

struct Cluster {
    pg: PgHarness,
    stores: Vec<PgStore>,
    ids: IdSource,
}

impl Cluster {
    /// Opens four stores on one database, like four processes.
    async fn fresh() -> Self {
        let pg = PgHarness::fresh().await;
        let mut stores = Vec::new();
        for _ in 0..4 {
            let options = pg.database.options().connections(4);
            stores.push(PgStore::open(options).await.expect("opens"));
        }
        let ids = IdSource::new(Arc::new(SystemClock::default()), Arc::new(OsEntropy));
        Self { pg, stores, ids }
    }

    fn group(&self) -> GroupId {
        GroupId::from_uuid(self.ids.job().uuid())
    }

    fn step(&self, group: GroupId) -> NewJob {
        let mut step = Step::default();
        step.group = Some(group);
        let mut spec = JobSpec::new("mail", b"{}".to_vec());
        spec.step = Some(Box::new(step));
        NewJob::new(self.ids.job(), spec)
    }

    /// Inserts `parents` steps, and one step that waits for all of them.
    async fn fan_in(&self, parents: usize) -> (GroupId, JobId) {
        let flow = self.group();
        let mut jobs: Vec<_> = (0..=parents).map(|_| self.step(flow)).collect();
        let last = jobs[parents].id;
        jobs.rotate_right(1);
        let edge =
            |job: &NewJob| Edge::new(Vertex::Job(job.id), Vertex::Job(last), EdgeTrigger::Success);
        let edges = jobs[1..].iter().map(edge).collect();
        let groups = vec![GroupRecord::new(flow, GroupKind::Workflow, "flow")];
        let mut graph = NewGraph { groups, jobs, edges, key: None };
        link(&mut graph);
        self.stores[0].insert_graph(graph).await.expect("inserted");
        (flow, last)
    }

    async fn node(&self) -> NodeId {
        let mut info = NodeInfo::new(self.ids.node());
        info.known = known();
        self.stores[0].join(info.clone(), Duration::from_hours(1)).await.expect("joins");
        info.id
    }

    async fn group_now(&self, id: GroupId) -> GroupRecord {
        self.pg.store.group(id).await.expect("reads").expect("is there")
    }
}

fn known() -> Arc<KnownJobs> {
    Arc::new(KnownJobs([("mail".to_owned(), 1)].into()))
}

async fn claim(store: &PgStore, node: NodeId, limit: u32) -> Vec<Claimed> {
    let request = ClaimRequest {
        node,
        queues: vec![QueueDemand { queue: "default".to_owned(), limit }],
        known: known(),
        suspects: Suspects::beside_others(5),
        starting: true,
    };
    store.claim(request).await.expect("claims").jobs
}

fn success(run: &Claimed) -> Settlement {
    Settlement::new(run.token, Verdict::Succeed { output: None }, AttemptOutcome::Success)
}

/// Every parent is settled in its own commit, concurrently by four stores. The child must be released exactly once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_05_parents_that_end_at_the_same_time_release_their_child_once() {
    let cluster = Cluster::fresh().await;
    let (flow, last) = cluster.fan_in(80).await;
    let node = cluster.node().await;
    let mut settlers = Vec::new();
    for store in &cluster.stores {
        let (store, runs) = (store.clone(), claim(store, node, 20).await);
        assert_eq!(runs.len(), 20);
        settlers.push(tokio::spawn(async move {
            let mut released = 0;
            for run in &runs {
                let settled = store.settle(vec![success(run)]).await.expect("settles").remove(0);
                let Settled::Applied(applied) = settled else { panic!("stale: {settled:?}") };
                released += applied.effects.released.len();
            }
            released
        }));
    }
    let mut released = 0;
    for settler in settlers {
        released += settler.await.expect("settles");
    }
    assert_eq!(released, 1);
    let runs = claim(&cluster.stores[0], node, 5).await;
    assert_eq!(runs.iter().map(Claimed::id).collect::<Vec<_>>(), [last]);
    cluster.stores[0].settle(vec![success(&runs[0])]).await.expect("settles");
    let group = cluster.group_now(flow).await;
    assert_eq!((group.state, group.counts.succeeded), (GroupState::Succeeded, 81));
}

/// Settlements, claims and a cancel of the group run concurrently. In the end every member has one outcome and is
/// counted once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w_06_cancel_of_a_group_meets_its_settles() {
    let cluster = Cluster::fresh().await;
    for round in 0..5_usize {
        let (flow, _) = cluster.fan_in(60).await;
        let node = cluster.node().await;
        let mut workers = Vec::new();
        for store in &cluster.stores[..3] {
            let store = store.clone();
            workers.push(tokio::spawn(async move {
                loop {
                    let runs = claim(&store, node, 4).await;
                    if runs.is_empty() {
                        return;
                    }
                    let settlements = runs.iter().map(success).collect();
                    store.settle(settlements).await.expect("settles");
                }
            }));
        }
        let members = cluster.stores[3].members(flow, None, 100).await.expect("members");
        let some = members[round * 7].id;
        cluster.stores[3]
            .command(Command::Cancel(some, CancelCause::Requested))
            .await
            .expect("answers");
        let reply = cluster.stores[3].command(Command::CancelGroup(flow)).await.expect("answers");
        let known =
            matches!(reply, CommandReply::GroupCanceled(_) | CommandReply::GroupUnchanged { .. });
        assert!(known, "{reply:?}");
        for worker in workers {
            worker.await.expect("works");
        }
        let members = cluster.stores[3].members(flow, None, 100).await.expect("members");
        let of = |state| members.iter().filter(|member| member.state == state).count() as u64;
        let group = cluster.group_now(flow).await;
        assert!(group.state.is_ended(), "{group:?}");
        assert_eq!(of(JobState::Succeeded), group.counts.succeeded);
        assert_eq!(of(JobState::Canceled), group.counts.canceled + group.counts.skipped);
        assert_eq!(group.counts.ended(), 61);
    }
}
