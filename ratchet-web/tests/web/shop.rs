//! A shop with jobs in every state, on a memory store and in virtual time.

use std::time::Duration;

use ratchet::prelude::*;
use ratchet::testing::Sandbox;
use ratchet_core::{Actor, GroupId, JobId, QueueLimits, Workflow};
use ratchet_store::model::{
    CatalogArg, CatalogEntry, Histogram, JobSpec, KnownJobs, NodeId, NodeInfo, StatRow, StatsTier,
};

#[derive(Debug, thiserror::Error)]
#[error("the gateway did not answer: connect timeout {host}, attempt {attempt}")]
pub(crate) struct NoAnswer {
    host: &'static str,
    attempt: u32,
}

/// Charges an order.
#[job(name = "shop.charge", queue = "payments", max_retries = 2)]
#[circuit_breaker(service = "payment-gateway", min_calls = 3, window = 20)]
pub(crate) async fn charge(
    order: u64,
    cents: u32,
    #[job(secret)] card: String,
) -> Result<String, NoAnswer> {
    if order >= 900 {
        let attempt = u32::try_from(order - 899).unwrap_or_default();
        return Err(NoAnswer { host: "10.0.4.7:443", attempt });
    }
    Ok(format!("{cents} cents from a card of {} digits", card.len()))
}

/// Sends a message to a customer.
#[job(name = "shop.send_email", queue = "mail", max_retries = 5, business_key = "mail-{to}")]
pub(crate) async fn send_email(
    to: String,
    subject: String,
    #[inject] ctx: JobContext,
) -> Result<(), JobError> {
    ctx.info(format!("connecting to mail.example for {to}"));
    if subject.contains("bounce") {
        ctx.warn("450 mailbox busy".to_owned());
        return Err(JobError::from(std::io::Error::other("450 mailbox busy")));
    }
    Ok(())
}

/// Imports one line of a file.
#[job(name = "shop.import_line", queue = "imports")]
pub(crate) async fn import_line(line: u32, #[inject] ctx: JobContext) -> u32 {
    if line == 42 {
        ctx.reject_item(42, invalid("the line has no price"));
    }
    line
}

#[job(name = "shop.reserve", queue = "orders")]
pub(crate) async fn reserve(order: u64) -> u64 {
    order
}

#[job(name = "shop.pack", queue = "orders", max_retries = 0)]
pub(crate) async fn pack(#[input] order: u64) -> Result<u64, JobError> {
    if order == 13 { Err(fatal("the box is gone").into()) } else { Ok(order) }
}

#[job(name = "shop.ship", queue = "orders")]
pub(crate) async fn ship(#[input] order: u64) {
    let _ = order;
}

/// Writes the report of the night.
#[job(name = "shop.report", queue = "reports", cron = "30 2 * * *", tz = "Europe/Berlin")]
pub(crate) async fn report() {}

/// The shop and some of its objects.
pub(crate) struct Shop {
    pub(crate) sandbox: Sandbox,
    pub(crate) succeeded: JobId,
    pub(crate) failed: JobId,
    pub(crate) waiting: JobId,
    pub(crate) retrying: JobId,
    pub(crate) workflow: GroupId,
    pub(crate) batch: GroupId,
}

impl Shop {
    pub(crate) fn ratchet(&self) -> &Ratchet {
        self.sandbox.ratchet()
    }

    /// Opens the shop: some jobs have run, others wait for every reason there is.
    pub(crate) async fn open() -> Self {
        let sandbox = Sandbox::builder().build().await.expect("builds");
        let ratchet = sandbox.ratchet();
        let charge = |order: u64| Charge { order, cents: 4200, card: "4111111111111111".into() };
        let succeeded = sandbox.enqueue(charge(1)).tag("web").await.expect("enqueues").id();
        for order in 2..20 {
            sandbox.enqueue(charge(order)).tenant("acme").await.expect("enqueues");
        }
        let good = ratchet.workflow("order-7");
        let workflow = submit(good, 7).await;
        submit(ratchet.workflow("order-13"), 13).await;
        let lines = (0..250).map(|line| ImportLine { line });
        let batch = ratchet.batch("import").jobs(lines).await.expect("submits").id();
        sandbox.drain().await.expect("drains");
        sandbox.advance(Duration::from_mins(5));
        let failed =
            sandbox.enqueue(charge(901)).business_key("order-901").await.expect("enqueues").id();
        sandbox.drain_for(Duration::from_mins(10)).await.expect("drains");
        for order in 902..905 {
            sandbox.enqueue(charge(order)).await.expect("enqueues");
        }
        sandbox.drain_for(Duration::from_mins(10)).await.expect("drains");
        let mail = |to: &str, subject: &str| SendEmail { to: to.into(), subject: subject.into() };
        let retrying =
            sandbox.enqueue(mail("ada@example.com", "bounce")).await.expect("enqueues").id();
        sandbox.run_next().await.expect("runs");
        let waiting =
            sandbox.enqueue(mail("eve@example.com", "hello")).delay(Duration::from_hours(1)).await;
        let waiting = waiting.expect("enqueues").id();
        sandbox.advance(Duration::from_secs(30));
        for order in 30..36 {
            sandbox.enqueue(charge(order)).await.expect("enqueues");
        }
        sandbox.enqueue(ImportLine { line: 7 }).await.expect("enqueues");
        let ada = Actor::new("ada@example.com").via("page").reason("the gateway does not answer");
        let ada = ratchet.acting_as(ada);
        let held = sandbox.enqueue(Reserve { order: 99 }).await.expect("enqueues").id();
        ada.jobs().pause(held).await.expect("pauses");
        let gone = sandbox.enqueue(Reserve { order: 100 }).await.expect("enqueues").id();
        ada.jobs().cancel(gone).await.expect("cancels");
        ada.queues().pause("imports").await.expect("pauses");
        let mut few = QueueLimits::default();
        few.concurrency = Some(5);
        ada.queues().limit("payments", few).await.expect("limits");
        ada.breakers().open("payment-gateway", Some(Duration::from_secs(90))).await.expect("opens");
        let schedule = ratchet.schedules().declare("nightly", "30 2 * * *", Report {});
        schedule.zone("Europe/Berlin").await.expect("declares");
        for host in ["worker-a", "worker-b"] {
            join(ratchet, host).await;
        }
        record_a_day(ratchet).await;
        Self { sandbox, succeeded, failed, waiting, retrying, workflow, batch }
    }
}

/// Writes statistics of the last day, with four busy hours.
async fn record_a_day(ratchet: &Ratchet) {
    const HALF_WAVE: u64 = 180;
    let store = ratchet.store();
    let (node, lease) = (NodeId::from_uuid(uuid::Uuid::from_u128(7)), Duration::from_mins(1));
    let minute = StatsTier::Minute.slot_of(store.now().await.expect("a clock"));
    let mut rows = Vec::new();
    for ago in 1..=1440_u64 {
        let distance = (ago % (2 * HALF_WAVE)).abs_diff(HALF_WAVE);
        for (queue, name, rate) in
            [("payments", "shop.charge", 40), ("mail", "shop.send_email", 90)]
        {
            let runs = rate + rate * distance / HALF_WAVE;
            let slot = minute - i64::try_from(ago).expect("small");
            let mut row = StatRow::new(slot, queue, name);
            row.counts.started = runs;
            row.counts.retried = runs / 12;
            row.counts.failed = if (300..330).contains(&ago) { runs / 4 } else { runs / 60 };
            row.counts.succeeded = runs - row.counts.retried - row.counts.failed;
            // Most jobs wait for 60 ms. When the queue is busy, one in ten waits for two seconds.
            let shape = |buckets: [i32; 3]| {
                let counts = [runs * 7 / 10, runs / 5, runs / 10 + 1];
                let buckets = buckets.into_iter().zip(counts).collect();
                Histogram::from_parts(0, buckets, 1).expect("buckets in order")
            };
            let busy = distance > HALF_WAVE / 2;
            row.wait = shape(if busy { [-16, -6, 4] } else { [-16, -14, -8] });
            row.run = shape([-12, -8, -4]);
            rows.push(row);
        }
    }
    store.write_stats(node, rows).await.expect("writes");
    store.join(NodeInfo::new(node), lease).await.expect("joins");
    assert!(store.try_lead(node, lease).await.expect("answers"), "no other node leads");
    while store.fold_stats(node, 100).await.expect("folds") > 0 {}
    store.leave(node).await.expect("leaves");
}

async fn submit(mut order: Workflow<'_>, id: u64) -> GroupId {
    let reserve = order.first("reserve", Reserve { order: id });
    let pack = order.step("pack", Pack {}, |step| step.after(&reserve));
    order.step("ship", Ship {}, |step| step.after(&pack));
    order.await.expect("submits").id()
}

/// Registers a worker of the shop that serves every queue but `imports`.
async fn join(ratchet: &Ratchet, host: &str) {
    let id = NodeId::from_uuid(uuid::Uuid::from_u128(
        host.len() as u128 + u128::from(host.as_bytes()[7]),
    ));
    let mut node = NodeInfo::new(id);
    node.host = host.to_owned();
    node.pid = 4711;
    node.binary_version = "2026.11.16".to_owned();
    node.declarations.program = "shop".to_owned();
    node.queues = ["payments", "mail", "orders", "reports"].map(str::to_owned).into();
    let known =
        ratchet.definitions().iter().map(|job| (job.name.to_owned(), job.version)).collect();
    node.known = KnownJobs(known).into();
    let entry = |job: &ratchet_core::JobDef| {
        let mut entry = CatalogEntry::new(JobSpec::new(job.name, Vec::new()));
        entry.args = job.args.iter().map(|arg| CatalogArg::new(arg.name, arg.ty)).collect();
        entry
    };
    node.catalog = std::sync::Arc::new(ratchet.definitions().iter().map(entry).collect());
    ratchet.store().join(node, Duration::from_hours(24)).await.expect("joins");
}
