//! Generates operations from a seed. Few names and keys are used, so that operations conflict often.

use std::time::Duration;

use fastrand::Rng;
use ratchet_core::Priority;
use ratchet_store::model::{
    AfterFailure, ArchivedJobs, ArgumentTest, BreakerUpdate, BulkVerb, CancelCause, Channel,
    Command, Debounce, Declarations, Due, Filter, GroupId, JobId, JobSpec, JobState, Judgment,
    NewJob, NodeAction, NodeId, NodeUpdate, Placement, QueueLimits, QueueUpdate, Rate,
};
use uuid::{Builder, Uuid};

use super::driver::{TICK, declarations, settings};
use super::op::{Ending, How, Op};
use super::operators::ticks_ago;
use super::stats::MINUTES;
use crate::fixture::JobExt;

/// Generates operations for [`run_both`](super::run_both). The same seed gives the same operations.
pub fn generate(seed: u64, count: usize) -> Vec<Op> {
    sequence(Generator::new(seed), count)
}

/// Like [`generate`], but also generates chains, batches and workflows.
pub fn generate_graphs(seed: u64, count: usize) -> Vec<Op> {
    sequence(Generator { graphs: Some(Vec::new()), ..Generator::new(seed) }, count)
}

fn sequence(mut generator: Generator, count: usize) -> Vec<Op> {
    let node = generator.node();
    let mut ops = vec![Op::Join(node, 50)];
    ops.extend((1..count).map(|_| generator.op()));
    ops.truncate(count);
    ops
}

pub(super) struct Generator {
    pub(super) rng: Rng,
    /// For operations on statistics, so that they do not change the other operations of a seed.
    stats_rng: Rng,
    /// For pipelines, for the same reason.
    pipeline_rng: Rng,
    /// For successors, for the same reason.
    successor_rng: Rng,
    /// For archived jobs, for the same reason.
    archive_rng: Rng,
    ids: u64,
    jobs: Vec<JobId>,
    nodes: Vec<NodeId>,
    /// The groups generated so far; `None` if graphs are disabled. Without graphs, a seed gives the same operations as
    /// before graphs, declared rules, expiring keys, expiring jobs and coalescing were added.
    pub(super) graphs: Option<Vec<GroupId>>,
}

impl Generator {
    fn new(seed: u64) -> Self {
        Self {
            rng: Rng::with_seed(seed),
            stats_rng: Rng::with_seed(!seed),
            pipeline_rng: Rng::with_seed(seed ^ 0x9a6e),
            successor_rng: Rng::with_seed(seed ^ 0x5ccc),
            archive_rng: Rng::with_seed(seed ^ 0xa7c1),
            ids: 0,
            jobs: Vec::new(),
            nodes: Vec::new(),
            graphs: None,
        }
    }

    fn op(&mut self) -> Op {
        let beside = self.stats_op().or_else(|| self.operator_op());
        let beside = beside.or_else(|| self.successor_op()).or_else(|| self.archive_op());
        if let Some(op) = beside.or_else(|| self.pipeline_op()) {
            return op;
        }
        if self.graphs.is_some() && self.rng.u8(..4) == 0 {
            return self.graph_op();
        }
        match self.rng.u32(0..106) {
            0..20 => Op::Insert(self.batch()),
            20..42 => {
                let (limit, idle) = (self.rng.u32(0..5), self.rng.u8(0..4) == 0);
                Op::Claim { node: self.any_node(), limit, idle }
            }
            42..62 => Op::Settle(self.endings()),
            62 if self.rng.u8(0..4) == 0 => self.bulk(),
            62..67 => Op::Command(self.command()),
            67..69 => Op::Cancel(self.recent()),
            69..74 => Op::Retry(self.rng.usize(..12)),
            74..82 => Op::Pass(self.rng.u32(1..3)),
            82 => Op::Join(self.any_node(), self.rng.u32(1..60)),
            83 => Op::Join(self.node(), self.rng.u32(1..100)),
            84 => Op::Heartbeat(self.any_node(), self.rng.u32(1..100)),
            85 if self.rng.u8(0..4) == 0 => Op::Leave(self.any_node()),
            86 if self.rng.bool() => Op::Declare(self.any_node()),
            85..87 => Op::Lead(self.any_node(), self.rng.u32(1..4)),
            87..89 => Op::Rescue,
            89..91 => Op::LetGo(self.recent()),
            91..93 => Op::Report(self.recent(), self.rng.u8(0..=100)),
            93..95 => {
                let channel =
                    *self.one_of(&[Channel::Alerts, Channel::DeadLetters, Channel::Outcomes]);
                Op::Deliver(channel, self.rng.u32(1..4))
            }
            95 => Op::Purge(*self.one_of(&JobState::ALL), self.rng.u32(0..8)),
            96..98 => Op::Get(self.any_job()),
            100..102 => {
                let queue = ["default", "other"][self.rng.usize(..2)];
                Op::UpdateQueue(queue, self.queue_update())
            }
            102..104 => Op::UpdateBreaker(self.breaker_update()),
            104..106 if self.graphs.is_some() && self.rng.u8(..4) == 0 => Op::Expire,
            104..106 => Op::Explain(self.any_job()),
            _ => Op::List(self.filter(), self.rng.u32(1..8)),
        }
    }

    /// Returns an operation on statistics, or `None` for another one.
    fn stats_op(&mut self) -> Option<Op> {
        self.graphs.as_ref()?;
        let rng = &mut self.stats_rng;
        if self.nodes.is_empty() || rng.u8(..12) > 0 {
            return None;
        }
        let node = self.nodes[rng.usize(..self.nodes.len())];
        Some(match rng.u8(..8) {
            0..3 => {
                let row = |rng: &mut Rng| (rng.u32(..MINUTES), rng.u8(..4), rng.u64(..5));
                Op::WriteStats(node, (0..rng.usize(1..4)).map(|_| row(rng)).collect())
            }
            3..5 => Op::LeadStats(node, rng.u32(1..9)),
            5..7 => Op::FoldStats(node, rng.u32(1..6)),
            _ => Op::WriteGauge(node, rng.u32(..MINUTES), rng.u32(..9)),
        })
    }

    /// Returns a change that only operators make, or `None` for another operation.
    fn operator_op(&mut self) -> Option<Op> {
        self.graphs.as_ref()?;
        let rng = &mut self.stats_rng;
        if self.nodes.is_empty() || rng.u8(..24) > 0 {
            return None;
        }
        if rng.bool() {
            let updates = [
                NodeUpdate::Request(NodeAction::Quiet),
                NodeUpdate::Request(NodeAction::Stop),
                NodeUpdate::Resume,
            ];
            let ago = rng.usize(..self.nodes.len().min(3));
            return Some(Op::RequestNode(
                self.nodes[self.nodes.len() - 1 - ago],
                updates[rng.usize(..3)],
            ));
        }
        let judgments = [
            None,
            Some(Judgment::Acknowledged),
            Some(Judgment::Resolved),
            Some(Judgment::Ignored { until: None }),
        ];
        let (name, judgment) = (["mail", "bill"][rng.usize(..2)], judgments[rng.usize(..4)]);
        Some(Op::MarkFailure(name, rng.u8(..2), judgment))
    }

    /// Returns an operation on archived jobs, or `None` for another one.
    fn archive_op(&mut self) -> Option<Op> {
        self.graphs.as_ref()?;
        let rng = &mut self.archive_rng;
        if rng.u8(..24) > 0 {
            return None;
        }
        let ended = [JobState::Succeeded, JobState::Failed, JobState::Canceled];
        let (state, ticks) = (ended[rng.usize(..3)], rng.u32(..6));
        Some(match rng.u8(..8) {
            0..3 => Op::Archive(state, ticks),
            3 => Op::PurgeArchive(state, ticks),
            4 => Op::ArchiveStatus,
            _ => {
                let archived = ArchivedJobs::ALL[rng.usize(..3)];
                let limit = rng.u32(1..8);
                Op::List(self.filter().archived(archived), limit)
            }
        })
    }

    /// Returns a declaration of pipelines or an admission of hand-offs, or `None` for another operation.
    fn pipeline_op(&mut self) -> Option<Op> {
        self.graphs.as_ref()?;
        if self.nodes.is_empty() || self.pipeline_rng.u8(..16) > 0 {
            return None;
        }
        let rng = &mut self.pipeline_rng;
        if rng.u8(..3) == 0 {
            let node = self.nodes[rng.usize(..self.nodes.len())];
            let limit = |rng: &mut Rng| rng.bool().then(|| rng.u32(1..4));
            let limits = (0..rng.usize(..3)).map(|_| limit(rng)).collect();
            return Some(Op::DeclarePipelines(node, limits));
        }
        let mut admissions = Vec::new();
        for _ in 0..self.pipeline_rng.usize(..6) {
            self.ids += 1;
            let rng = &mut self.pipeline_rng;
            let id = JobId::from_uuid(uuid_at(self.ids, rng));
            admissions
                .push((rng.u8(..9), NewJob::new(id, JobSpec::new("mail", b"{\"n\":8}".to_vec()))));
            self.jobs.push(id);
        }
        Some(Op::Admit(admissions))
    }

    /// Returns an edit of a job that was claimed recently, or `None` for another operation.
    fn successor_op(&mut self) -> Option<Op> {
        self.graphs.as_ref()?;
        if self.successor_rng.u8(..16) > 0 {
            return None;
        }
        self.ids += 1;
        let rng = &mut self.successor_rng;
        let id = JobId::from_uuid(uuid_at(self.ids, rng));
        let mut job = NewJob::new(id, JobSpec::new("mail", b"{\"n\":7}".to_vec()));
        if rng.bool() {
            job = job.key(["a", "b", "c", "d", "e"][rng.usize(..5)]);
        }
        self.jobs.push(id);
        Some(Op::Successor(rng.usize(..12), job))
    }

    pub(super) fn batch(&mut self) -> Vec<NewJob> {
        (0..self.rng.usize(1..4)).map(|_| self.job_in_order()).collect()
    }

    /// Generates a job. Where graphs are tested, some jobs run in order.
    fn job_in_order(&mut self) -> NewJob {
        let job = self.job();
        // The id is random already.
        let number = job.id.uuid().as_u128();
        if self.graphs.is_none() || !number.is_multiple_of(3) {
            return job;
        }
        let after_failure = [AfterFailure::Hold, AfterFailure::Skip, AfterFailure::Skip];
        let key = if number.is_multiple_of(5) { "s" } else { "t" };
        job.in_order(key, after_failure[usize::from(number.to_le_bytes()[1]) % 3])
    }

    pub(super) fn job(&mut self) -> NewJob {
        let rng = &mut self.rng;
        let priority = Priority::ALL[rng.usize(..5)];
        // Keep unknown jobs rare: they are never claimed, so they never release their keys.
        let name = if rng.u8(..12) == 0 { "strange" } else { ["mail", "bill"][rng.usize(..2)] };
        let mut spec = JobSpec::new(name, format!("{{\"n\":{}}}", rng.u8(..2)).into_bytes());
        spec.tenant = match rng.u8(..6) {
            0 => Some("acme".to_owned()),
            1 => Some("zeta".to_owned()),
            _ => None,
        };
        let due = if rng.u8(..3) == 0 { Due::In(TICK * rng.u32(..4)) } else { Due::Now };
        let id = JobId::from_uuid(self.uuid());
        let mut job = NewJob { due, ..NewJob::new(id, spec) }.priority(priority);
        // The id is random already. Another number would change every sequence.
        if id.uuid().as_u128().is_multiple_of(8) {
            job = job.traced();
        }
        let may_expire = self.graphs.is_some();
        let rng = &mut self.rng;
        if rng.u8(..4) == 0 {
            job = job.queue("other");
        }
        if rng.u8(..12) == 0 {
            job = job.version(2);
        }
        if rng.u8(..3) == 0 {
            job = job.key(["a", "b", "c", "d", "e"][rng.usize(..5)]);
        }
        if rng.u8(..5) == 0 {
            let number = rng.u8(..16);
            job = job.idempotent(&number.to_string());
            if may_expire && rng.u8(..3) == 0 {
                job = job.within(TICK * rng.u32(1..4));
            }
            // Mostly use the same arguments for the same key, so that repeats are more common than mismatches.
            if rng.u8(..8) > 0 {
                job = job.named("mail").payload(&[number]);
            }
        }
        if rng.u8(..4) == 0 {
            job = job.at_most(rng.u32(1..3), ["k", "l"][rng.usize(..2)]);
        }
        if rng.u8(..4) == 0 {
            job = job.service("pay");
        }
        if rng.u8(..3) == 0 {
            job = job.or_holder();
        }
        if rng.u8(..8) == 0 {
            job = job.unaged();
        }
        if may_expire && rng.u8(..5) == 0 {
            let wait = TICK * rng.u32(..3);
            let debounce = Debounce { wait, at_most: wait * rng.u32(1..4) };
            job = job.coalescing(rng.bool().then_some(debounce));
        }
        if may_expire && rng.u8(..5) == 0 {
            // Between two ticks, so that the clocks of both stores agree.
            job = job.expires_in(TICK * rng.u32(..4) + TICK / 3);
        }
        self.jobs.push(id);
        job
    }

    /// Generates mostly orders that let jobs through; otherwise the queues would soon be blocked.
    fn queue_update(&mut self) -> QueueUpdate {
        let mut limits = QueueLimits::default();
        let per = TICK * 2;
        match self.rng.u8(0..10) {
            0 => return QueueUpdate::Pause,
            1..4 => return QueueUpdate::Resume,
            4 => limits.concurrency = Some(self.rng.u32(1..4)),
            5 => limits.rate = Some(Rate { jobs: self.rng.u32(1..4), per }),
            6 => limits.fair = true,
            7 => limits.rate_per_key = Some(Rate { jobs: self.rng.u32(1..3), per }),
            8 => {
                limits.rate_per_key = Some(Rate { jobs: self.rng.u32(1..3), per });
                limits.fair = self.rng.bool();
            }
            _ => {}
        }
        match self.graphs.as_ref().map(|_| self.rng.u8(0..5)) {
            None | Some(0..2) => QueueUpdate::Limit(limits),
            Some(2) => QueueUpdate::Reset,
            _ => QueueUpdate::Declare { declarations: self.declarations(), limits },
        }
    }

    fn declarations(&mut self) -> Declarations {
        declarations(self.rng.u128(..6))
    }

    fn breaker_update(&mut self) -> BreakerUpdate {
        match self.rng.u8(0..6) {
            0 => BreakerUpdate::Open(None),
            1..3 => BreakerUpdate::Open(Some(TICK * self.rng.u32(1..3))),
            3 if self.graphs.is_some() => match self.rng.u8(0..5) {
                0 => BreakerUpdate::Set(settings()),
                1 => BreakerUpdate::Reset,
                _ => {
                    let mut settings = settings();
                    settings.probes = self.rng.u32(1..3);
                    let settings = self.rng.bool().then_some(settings);
                    BreakerUpdate::Declare { declarations: self.declarations(), settings }
                }
            },
            _ => BreakerUpdate::Close,
        }
    }

    fn endings(&mut self) -> Vec<Ending> {
        (0..self.rng.usize(1..4)).map(|_| self.ending()).collect()
    }

    fn ending(&mut self) -> Ending {
        let how = match self.rng.u8(0..10) {
            0..3 => How::Succeed,
            3..5 => How::Retry(self.rng.u32(0..3)),
            5 => How::Defer(self.rng.u32(0..3)),
            6 => How::Release,
            _ => How::Fail(self.rng.u8(0..2)),
        };
        let children = if self.rng.u8(0..5) == 0 { self.batch() } else { Vec::new() };
        let (run, lingering) = (self.recent(), self.rng.u8(0..6) == 0);
        let (mut graphs, mut holds) = (Vec::new(), false);
        if self.graphs.is_some() {
            holds = self.rng.bool();
            graphs.extend((self.rng.u8(..8) == 0).then(|| self.graph()));
        }
        Ending { run, how, children, graphs, holds, lingering }
    }

    fn command(&mut self) -> Command {
        let id = self.any_job();
        if self.stats_rng.u8(..8) == 0 {
            return Command::Move(id, self.placement());
        }
        match self.rng.u8(0..12) {
            0..2 => Command::Pause(id),
            2..4 => Command::Resume(id),
            4..7 => Command::Cancel(id, CancelCause::Requested),
            7..9 => Command::Reschedule(id, Due::In(TICK * self.rng.u32(..3))),
            9..11 => Command::Retry(id),
            _ => Command::Redrive { filter: self.filter(), limit: self.rng.u32(1..4) },
        }
    }

    /// Its numbers must not change the other operations of a seed.
    fn placement(&mut self) -> Placement {
        let rng = &mut self.stats_rng;
        let mut placement = Placement::default();
        if rng.bool() {
            placement = placement.queue(["default", "other"][rng.usize(..2)]);
        }
        if rng.bool() {
            placement = placement.priority(Priority::ALL[rng.usize(..5)]);
        }
        placement
    }

    fn bulk(&mut self) -> Op {
        let due = Due::In(TICK * self.rng.u32(..3));
        let verbs = [
            BulkVerb::Retry,
            BulkVerb::Cancel,
            BulkVerb::Pause,
            BulkVerb::Resume,
            BulkVerb::Reschedule(due),
        ];
        let mut verb = self.one_of(&verbs).clone();
        if self.stats_rng.u8(..6) == 0 {
            verb = BulkVerb::Move(self.placement());
        }
        let (number, filter) = (self.rng.u64(..), self.filter());
        if self.graphs.is_some() && self.archive_rng.u8(..8) == 0 {
            return Op::Bulk(number, BulkVerb::Erase, Filter::any().tenant("acme"));
        }
        Op::Bulk(number, verb, filter)
    }

    /// A quarter of the filters search. Their numbers must not change the other operations of a seed.
    fn filter(&mut self) -> Filter {
        let filter = self.plain_filter();
        if self.stats_rng.u8(..4) > 0 {
            return filter;
        }
        let rng = &mut self.stats_rng;
        let node = self.nodes.get(rng.usize(..self.nodes.len().max(1))).copied();
        match rng.u8(..10) {
            0 => filter.attempts_above(rng.u32(..3)),
            1 => filter.attempts_below(rng.u32(..3)),
            2 => filter.node(node.unwrap_or(NodeId::from_uuid(Uuid::max()))),
            3 => filter.error_text("BO"),
            4 => filter.error_type("Broken"),
            5 => filter.due_before(ticks_ago(rng.u32(..20))),
            6 => filter.due_after(ticks_ago(rng.u32(..20))),
            7 => filter.finished_before(ticks_ago(rng.u32(..20))),
            8 => filter.finished_after(ticks_ago(rng.u32(..20))),
            _ => filter.argument(ArgumentTest::new(["n"], rng.u8(..2).to_string())),
        }
    }

    fn plain_filter(&mut self) -> Filter {
        match self.rng.u8(0..6) {
            0 => Filter::any().name("mail"),
            1 => Filter::any().queue("other"),
            2 => Filter::any().tenant("acme"),
            3 => Filter::any().state(*self.one_of(&JobState::ALL)),
            4 => Filter::any().fingerprint("0"),
            _ => match self.graphs.as_ref().and_then(|groups| groups.last()) {
                Some(group) => Filter::any().group(*group),
                None => Filter::any(),
            },
        }
    }

    /// Picks mostly a recent job, so that commands hit live jobs; sometimes an unknown one.
    fn any_job(&mut self) -> JobId {
        let unknown = JobId::from_uuid(Uuid::max());
        let ago = if self.rng.bool() { self.rng.usize(..8) } else { self.rng.usize(..200) };
        self.jobs.len().checked_sub(ago + 1).map_or(unknown, |index| self.jobs[index])
    }

    fn recent(&mut self) -> usize {
        self.rng.usize(..5)
    }

    fn any_node(&mut self) -> NodeId {
        let ago = self.rng.usize(..3).min(self.nodes.len() - 1);
        self.nodes[self.nodes.len() - 1 - ago]
    }

    fn node(&mut self) -> NodeId {
        let node = NodeId::from_uuid(self.uuid());
        self.nodes.push(node);
        node
    }

    fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.rng.usize(..items.len())]
    }

    /// Generates increasing ids, like a client.
    pub(super) fn uuid(&mut self) -> Uuid {
        self.ids += 1;
        uuid_at(self.ids, &mut self.rng)
    }
}

/// Returns the id with this number.
fn uuid_at(number: u64, rng: &mut Rng) -> Uuid {
    const START: u64 = 1_767_268_800_000;
    let mut random = [0; 10];
    rng.fill(&mut random);
    debug_assert!(Duration::from_millis(number) < TICK, "ids stay near the start");
    Builder::from_unix_timestamp_millis(START + number, &random).into_uuid()
}
