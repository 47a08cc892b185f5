//! One of the two stores: runs operations and returns the normalized results as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use ratchet_store::model::{
    BreakerSample, BreakerSettings, CallResult, CancelCause, Channel, ClaimRequest, Claimed,
    Command, Declarations, Filter, GraphEffects, GroupFilter, GroupId, Heartbeat, JobId, KnownJobs,
    NodeId, NodeInfo, PageRequest, Progress, QueueDemand, RunNotes, Settled, Settlement, Suspects,
    Token, Vertex,
};
use ratchet_store::{Store, StoreError};

use super::normalize::{Normal, span};
use super::op::{Ending, How, Op};
use super::pipelines::hand_off;
use crate::Harness;
use crate::fixture::{RunExt, SettlementExt};

/// The unit of time. It is long, so that the time added by a real clock is rounded away.
pub(super) const TICK: Duration = Duration::from_mins(10);

/// Passes after every operation, so that no two operations have the same timestamp on one store and different ones on
/// the other.
const NUDGE: Duration = Duration::from_millis(1);

pub(crate) struct Driver<'a> {
    harness: &'a dyn Harness,
    pub(super) store: Arc<dyn Store>,
    pub(super) normal: Normal,
    /// The claimed runs, oldest first.
    runs: Vec<Claimed>,
}

impl<'a> Driver<'a> {
    pub(crate) async fn new(harness: &'a dyn Harness) -> Self {
        let store = harness.store();
        let start = ok(store.now().await);
        Self { harness, store, normal: Normal { start }, runs: Vec::new() }
    }

    /// Runs an operation and returns the store's result.
    pub(crate) async fn act(&mut self, op: &Op) -> String {
        let answer = self.perform(op).await;
        if !op.is_about_stats() {
            self.harness.advance(NUDGE).await;
        }
        answer
    }

    /// Returns the data that is cheap enough to compare after every operation.
    pub(super) async fn glance(&self) -> String {
        let mut counts = ok(self.store.counts().await);
        for queue in counts.queues.values_mut() {
            queue.states.retain(|_, count| *count > 0);
        }
        counts.queues.retain(|_, queue| !queue.states.is_empty());
        format!("{counts:?}")
    }

    /// Returns everything that can be read from the store.
    pub(super) async fn inspect(&self) -> String {
        let mut reported = String::new();
        let everything = PageRequest { before: None, limit: 100_000 };
        for job in ok(self.store.list(&Filter::any(), everything).await).jobs {
            reported += &self.job(job.id).await;
        }
        let mut nodes = ok(self.store.nodes().await);
        nodes.sort_by_key(|node| node.info.id);
        let nodes: Vec<_> = nodes.into_iter().map(|node| self.normal.node(node)).collect();
        let alerts = ok(self.store.alerts(1000).await);
        let alerts: Vec<_> = alerts.into_iter().map(|alert| self.normal.alert(alert)).collect();
        let unknown = ok(self.store.unknown_jobs().await);
        let unknown: Vec<_> =
            unknown.into_iter().map(|unknown| self.normal.unknown(unknown)).collect();
        let _ = write!(reported, "{nodes:?}\n{alerts:?}\n{unknown:?}");
        for queue in ok(self.store.queues().await) {
            let rules = queue.rules;
            let _ = write!(reported, "\n{} {} {:?}", queue.queue, rules.paused, rules.limits);
            let _ = write!(reported, " {:?} {:?}", rules.declared, rules.set_by_operator);
            let _ = write!(reported, " {} {}", queue.running, queue.gate.most());
            let _ = write!(reported, " {}", queue.full_keys);
        }
        for record in ok(self.store.breakers().await) {
            let (seen, opening) = (record.breaker.seen(), record.breaker.opening());
            let state = self.normal.breaker(record.state);
            let _ = write!(reported, "\n{} {seen:?} {opening} {state:?}", record.service);
            let breaker = record.breaker;
            let origins = (breaker.settings, breaker.declared, breaker.set_by_operator);
            let _ = write!(reported, " {origins:?}");
        }
        reported += &self.failure_marks().await;
        reported += &self.pipelines().await;
        reported += &self.stats().await;
        let mut owners = vec![GroupFilter::any()];
        while let Some(filter) = owners.pop() {
            for group in ok(self.store.groups(&filter, None, 100_000).await) {
                reported += &self.group(group.id).await;
                owners.push(GroupFilter::any().inside(group.id));
            }
        }
        reported
    }

    async fn perform(&mut self, op: &Op) -> String {
        let store = Arc::clone(&self.store);
        match op {
            Op::Insert(jobs) => format!("{:?}", store.insert(jobs.clone()).await),
            Op::Join(node, ticks) => {
                let joined = store.join(info(*node), TICK * *ticks).await;
                format!("{:?}", joined.map_err(|refused| refused.kind()))
            }
            Op::Heartbeat(node, ticks) => {
                heartbeat(ok(store.heartbeat(*node, TICK * *ticks).await))
            }
            Op::Leave(node) => format!("{:?}", ok(store.leave(*node).await)),
            Op::Declare(node) => format!("{:?}", ok(store.try_declare(*node).await)),
            Op::Lead(node, ticks) | Op::LeadStats(node, ticks) => {
                format!("{:?}", ok(store.try_lead(*node, TICK * *ticks).await))
            }
            Op::Claim { node, limit, idle } => self.claim(*node, *limit, *idle).await,
            Op::Settle(endings) => self.settle(endings).await,
            Op::Report(ago, percent) => match self.run(*ago) {
                Some(run) => {
                    let notes = progress(f32::from(*percent));
                    format!("{:?}", ok(store.write_notes(vec![(run.token, notes)]).await))
                }
                None => String::new(),
            },
            Op::LetGo(ago) => {
                let tokens = self.run(*ago).map(|run| run.token).into_iter().collect();
                format!("{:?}", ok(store.release_holds(tokens).await))
            }
            Op::Rescue => self.rescue().await,
            Op::Command(command) => {
                let mut command = command.clone();
                if let Command::Redrive { filter, .. } = &mut command {
                    *filter = self.at_present(filter).await;
                }
                let reply = store.command(command).await;
                self.normal.answer(reply)
            }
            Op::Bulk(number, verb, filter) => self.bulk(*number, verb.clone(), filter).await,
            Op::Cancel(ago) => {
                self.command_run(*ago, |id| Command::Cancel(id, CancelCause::Requested)).await
            }
            Op::Retry(ago) => self.command_run(*ago, Command::Retry).await,
            Op::Successor(ago, job) => self.succeed(*ago, job).await,
            Op::UpdateQueue(queue, order) => {
                format!("{:?}", ok(store.update_queue(queue, order.clone()).await))
            }
            Op::UpdateBreaker(order) => {
                let change = ok(store.update_breaker("pay", order.clone()).await);
                format!("{:?}", change.map(|change| self.normal.change(change)))
            }
            Op::RequestNode(node, update) => self.request_node(*node, *update).await,
            Op::MarkFailure(name, number, judgment) => {
                self.mark_failure(name, *number, *judgment).await
            }
            Op::Explain(id) => match ok(store.claim_context(*id).await) {
                Some(around) => self.normal.explanation(around.explain(2)),
                None => String::new(),
            },
            Op::Purge(state, ticks) => {
                format!("{:?}", ok(store.purge(*state, TICK * *ticks, 100_000).await))
            }
            Op::Archive(state, ticks) => {
                format!("{:?}", ok(store.archive(*state, TICK * *ticks, 100_000).await))
            }
            Op::PurgeArchive(state, ticks) => {
                format!("{:?}", ok(store.purge_archive(*state, TICK * *ticks, 100_000).await))
            }
            Op::ArchiveStatus => self.archive_status().await,
            Op::Deliver(channel, limit) => self.deliver(*channel, *limit).await,
            Op::Get(id) => self.job(*id).await,
            Op::List(filter, limit) => self.list(filter, *limit).await,
            Op::Pass(ticks) => {
                self.harness.advance(TICK * *ticks).await;
                String::new()
            }
            Op::Expire => self.expire().await,
            Op::InsertGraph(graph) => {
                let inserted = store.insert_graph(graph.clone()).await;
                format!("{:?}", inserted.map(|inserted| self.normal.graph(inserted)))
            }
            Op::Extend(extend) => {
                let inserted = store.add_members(extend.clone()).await;
                format!("{:?}", inserted.map(|inserted| self.normal.graph(inserted)))
            }
            Op::Group(id) => self.group(*id).await,
            Op::DeclarePipelines(node, limits) => self.declare_pipelines(*node, limits).await,
            Op::Admit(admissions) => self.admit(admissions).await,
            Op::WriteStats(source, rows) => self.write_stats(*source, rows).await,
            Op::FoldStats(node, limit) => {
                format!("{:?}", ok(store.fold_stats(*node, *limit).await))
            }
            Op::WriteGauge(node, minutes, depth) => self.write_gauge(*node, *minutes, *depth).await,
        }
    }

    async fn archive_status(&self) -> String {
        let status = ok(self.store.archive_status().await);
        let normal = |(state, at): (_, _)| (state, self.normal.time(at));
        let times = [status.oldest, status.newest]
            .map(|times| times.into_iter().map(normal).collect::<Vec<_>>());
        format!("{:?} {times:?}", status.counts)
    }

    /// Lists the jobs that match a filter in both directions.
    async fn list(&self, filter: &Filter, limit: u32) -> String {
        let request = PageRequest { before: None, limit };
        let mut pages = String::new();
        let filter = self.at_present(filter).await;
        for filter in [filter.clone(), filter.oldest_first()] {
            let page = ok(self.store.list(&filter, request).await);
            let ids: Vec<_> = page.jobs.iter().map(|job| (job.id, job.state)).collect();
            let _ = write!(pages, "{ids:?} {:?} {:?}", page.next, page.examined);
        }
        pages
    }

    async fn claim(&mut self, node: NodeId, limit: u32, idle: bool) -> String {
        let demand = |queue: &str| QueueDemand { queue: queue.to_owned(), limit };
        let request = ClaimRequest {
            node,
            queues: vec![demand("default"), demand("other")],
            known: known(),
            suspects: if idle { Suspects::idle(2) } else { Suspects::beside_others(2) },
            starting: true,
        };
        let reply = ok(self.store.claim(request).await);
        self.runs.extend(reply.jobs.iter().cloned());
        let jobs: Vec<_> = reply.jobs.into_iter().map(|run| self.normal.claimed(run)).collect();
        let next = reply.next_due.map(span);
        let waiting = (reply.isolated_waiting, reply.suspects_waiting);
        format!("{jobs:?}\nsuspects {waiting:?} next {next:?}")
    }

    async fn command_run(&self, ago: usize, command: impl FnOnce(JobId) -> Command) -> String {
        match self.run(ago) {
            Some(run) => {
                let reply = self.store.command(command(run.id())).await;
                self.normal.answer(reply)
            }
            None => String::new(),
        }
    }

    async fn settle(&self, endings: &[Ending]) -> String {
        let settlement = |ending: &Ending| Some(end(self.run(ending.run)?, ending));
        let settlements = endings.iter().filter_map(settlement).collect();
        self.settled(settlements).await
    }

    async fn rescue(&self) -> String {
        let mut orphans = ok(self.store.orphans(100_000).await);
        orphans.sort_by_key(|orphan| orphan.claimed.id());
        let rescue = |run: &Claimed| run.rescue(run.crashes + 1);
        let settlements = orphans.iter().map(|orphan| rescue(&orphan.claimed)).collect();
        self.settled(settlements).await
    }

    async fn settled(&self, settlements: Vec<Settlement>) -> String {
        let settled = ok(self.store.settle(settlements).await).into_iter();
        let normal = |settled| match settled {
            Settled::Applied(applied) => Settled::Applied(self.normal.applied(applied)),
            other => other,
        };
        let mut settled: Vec<_> = settled.map(normal).collect();
        // A store may attach the propagation to any settlement of the commit, in any number of parts.
        let mut effects = GraphEffects::default();
        for settled in &mut settled {
            if let Settled::Applied(applied) = settled {
                effects.append(std::mem::take(&mut applied.effects));
            }
        }
        format!("{settled:?} {:?}", together(effects))
    }

    /// Cancels the jobs that have expired. Jobs that expire within the same tick as the operation are left, because the
    /// clocks of the stores differ by less than that.
    async fn expire(&self) -> String {
        let now = ok(self.store.now().await);
        let until = now.checked_sub(TICK / 4).expect("a time in range");
        let filter = Filter::any().expires_by(until).oldest_first();
        let page = PageRequest { before: None, limit: 100_000 };
        let mut replies = String::new();
        for job in ok(self.store.list(&filter, page).await).jobs {
            let cancel = Command::Cancel(job.id, CancelCause::Expired);
            let reply = self.store.command(cancel).await;
            replies += &self.normal.answer(reply);
        }
        replies
    }

    async fn deliver(&self, channel: Channel, limit: u32) -> String {
        let deliveries = ok(self.store.take_deliveries(channel, limit, TICK * 3).await);
        let ids = deliveries.iter().step_by(2).map(|delivery| delivery.id).collect();
        ok(self.store.ack_deliveries(ids).await);
        let bodies = deliveries.into_iter().map(|delivery| self.normal.body(delivery.body));
        let backlogs = ok(self.store.backlogs(limit).await).into_iter().map(|backlog| {
            let oldest = backlog.oldest.map(|at| self.normal.time(at));
            (backlog.channel, backlog.waiting, oldest)
        });
        format!("{:?} {:?}", bodies.collect::<Vec<_>>(), backlogs.collect::<Vec<_>>())
    }

    async fn group(&self, id: GroupId) -> String {
        let group = ok(self.store.group(id).await).map(|group| self.normal.group(group));
        let members = ok(self.store.members(id, None, 100_000).await);
        let mut points = vec![Vertex::Group(id)];
        points.extend(members.iter().map(|member| Vertex::Job(member.id)));
        let edges = ok(self.store.edges(&points).await);
        format!("{group:?}\n{members:?}\n{edges:?}\n")
    }

    async fn job(&self, id: JobId) -> String {
        let job = ok(self.store.get(id).await).map(|job| self.normal.job(job));
        let lines = ok(self.store.attempts(id).await).into_iter();
        let lines: Vec<_> = lines.map(|line| self.normal.line(line)).collect();
        let logs = ok(self.store.logs(id).await);
        let links = ok(self.store.succession(id).await);
        let admission = self.admission(id).await;
        format!("{job:?}\n{lines:?}\n{logs:?}\n{links:?}\n{admission}")
    }

    pub(super) fn run(&self, ago: usize) -> Option<&Claimed> {
        self.runs.len().checked_sub(ago + 1).map(|index| &self.runs[index])
    }
}

pub(super) fn ok<T>(answer: Result<T, StoreError>) -> T {
    answer.unwrap_or_else(|failed| panic!("the store failed: {failed}"))
}

fn known() -> Arc<KnownJobs> {
    let known = [("mail", 2), ("bill", 1)].map(|(name, version)| (name.to_owned(), version));
    let mut known = KnownJobs(known.into());
    known.0.insert(KnownJobs::condition("big"), 1);
    Arc::new(known)
}

fn info(id: NodeId) -> NodeInfo {
    let mut info = NodeInfo::new(id);
    info.known = known();
    info.declarations = declarations(id.uuid().as_u128());
    info.binary_version = info.declarations.fingerprint.to_string();
    info
}

/// Returns the declarations of a few programs with a few versions, so that nodes often share both.
pub(super) fn declarations(bits: u128) -> Declarations {
    let (program, fingerprint) = (bits % 2, u64::try_from(bits / 2 % 3).expect("small"));
    Declarations { program: format!("program {program}"), fingerprint }
}

/// Returns settings with which a breaker opens and closes often.
pub(super) fn settings() -> BreakerSettings {
    let mut settings = BreakerSettings::default();
    (settings.min_calls, settings.window) = (2, 4);
    (settings.probes, settings.open_for) = (1, TICK);
    settings
}

fn progress(percent: f32) -> RunNotes {
    let mut notes = RunNotes::default();
    notes.progress = Some(Progress { percent, message: String::new() });
    notes
}

/// Merges the propagation of one commit: sorts it and keeps the last state of every group.
fn together(mut effects: GraphEffects) -> GraphEffects {
    effects.released.sort_unstable();
    effects.canceled.sort_by_key(|canceled| canceled.job);
    effects.reopened.sort_unstable();
    let groups: BTreeMap<_, _> =
        effects.groups.into_iter().map(|group| (group.id, group)).collect();
    effects.groups = groups.into_values().collect();
    effects
}

fn heartbeat(answer: Heartbeat) -> String {
    match answer {
        Heartbeat::Lost => "lost".to_owned(),
        Heartbeat::Renewed { canceled, request } => {
            let mut runs: Vec<_> =
                canceled.iter().map(|Token { job, version, .. }| (*job, *version)).collect();
            runs.sort_unstable();
            format!("renewed {runs:?} {:?}", request.map(|request| request.action))
        }
    }
}

fn end(run: &Claimed, ending: &Ending) -> Settlement {
    let mut settlement = match ending.how {
        How::Succeed => run.succeed().output("1"),
        How::Retry(ticks) => run.retry(TICK * ticks),
        How::Defer(ticks) => run.defer(TICK * ticks),
        How::Release => run.release(),
        How::Fail(fingerprint) => run.fail_with(&fingerprint.to_string()).alerting().publishing(),
    };
    let reported = matches!(ending.how, How::Succeed | How::Fail(_));
    if reported && run.id().uuid().as_u128().is_multiple_of(2) {
        settlement = settlement.telling(run);
    }
    settlement.lingering = ending.lingering;
    settlement.sample = run.spec.service.clone().map(|service| BreakerSample {
        service,
        result: match ending.how {
            How::Succeed => CallResult::Success,
            How::Retry(_) | How::Fail(_) => CallResult::Failure,
            How::Defer(_) | How::Release => CallResult::Ignored,
        },
        probe: run.probe,
        settings: settings(),
    });
    let step = run.spec.step.as_deref().filter(|_| ending.how == How::Succeed);
    let conditions = step.map(|step| step.conditions.clone()).unwrap_or_default();
    settlement.condition_results =
        conditions.into_iter().map(|name| (name, ending.holds)).collect();
    settlement = hand_off(settlement, run, ending.how);
    settlement.spawning(ending.children.clone()).bringing(ending.graphs.clone())
}
