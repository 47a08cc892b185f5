//! The jobs of the composition cases. Several take the output of another job.

#![allow(clippy::unused_async, clippy::needless_pass_by_value)] // required by the signature of a job

use ratchet_core::{GroupReport, Job, JobContext, JobError, Registration, State, fatal};
use ratchet_macros::{condition, job};
use ratchet_store::model::GroupId;
use serde::{Deserialize, Serialize};

use crate::engine::script::Stage;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) amount: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Receipt(pub(super) String);

/// Creates an order.
#[job(name = "test.place", crate = ::ratchet_core)]
pub(super) async fn place(#[inject] stage: State<Stage>, amount: u32) -> Order {
    stage.note(format!("place {amount}"));
    Order { amount }
}

/// Doubles the amount of an order.
#[job(name = "test.double", crate = ::ratchet_core)]
pub(super) async fn double(#[inject] stage: State<Stage>, #[input] order: Order) -> Order {
    stage.note(format!("double {}", order.amount));
    Order { amount: order.amount * 2 }
}

/// Charges an order.
#[job(name = "test.charge", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn charge(
    #[inject] stage: State<Stage>,
    #[input] order: Order,
) -> Result<Receipt, JobError> {
    stage.note(format!("charge {}", order.amount));
    Ok(Receipt(format!("paid {}", order.amount)))
}

/// Takes the outputs of two named steps.
#[job(name = "test.summary", crate = ::ratchet_core)]
pub(super) async fn summary(
    #[input(step = "order")] order: Order,
    #[input(step = "charge")] receipt: Receipt,
) -> String {
    format!("{} of {}", receipt.0, order.amount)
}

/// Takes the outputs of all parents.
#[job(name = "test.collect", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn collect(#[input(all)] orders: Vec<Order>) -> Vec<u32> {
    orders.iter().map(|order| order.amount).collect()
}

/// Takes two outputs of the same type. It names no steps.
#[job(name = "test.compare", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn compare(#[input] left: Order, #[input] right: Order) -> String {
    format!("{} and {}", left.amount, right.amount)
}

/// Takes outputs of two types. It names no steps.
#[job(name = "test.settle", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn settle(#[input] receipt: Receipt, #[input(all)] orders: Vec<Order>) -> String {
    format!("{} for {} orders", receipt.0, orders.len())
}

/// Records `text`. If `fail` is set, it fails the first time it is called with this text.
#[job(name = "test.mark", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn mark(
    #[inject] stage: State<Stage>,
    text: String,
    fail: bool,
) -> Result<String, JobError> {
    let again = stage.notes().contains(&text);
    stage.note(text.clone());
    if fail && !again { Err(fatal("not now").into()) } else { Ok(text) }
}

/// Records how a group ended.
#[job(name = "test.tell", crate = ::ratchet_core)]
pub(super) async fn tell(
    #[inject] stage: State<Stage>,
    #[inject] group: GroupReport,
    word: String,
) {
    let counts = group.counts;
    stage.note(format!(
        "{word}: {} {} {} {}+{}/{}",
        group.kind, group.name, group.state, counts.succeeded, counts.failed, counts.total
    ));
}

#[condition(name = "test.is_big", crate = ::ratchet_core)]
pub(super) fn is_big(order: &Order) -> bool {
    order.amount >= 100
}

#[condition(name = "test.breaks", crate = ::ratchet_core)]
pub(super) fn breaks(order: &Order) -> bool {
    panic!("cannot judge {}", order.amount)
}

pub(super) fn all() -> Vec<Registration> {
    vec![
        Place::JOB,
        Double::JOB,
        Charge::JOB,
        Summary::JOB,
        Collect::JOB,
        Compare::JOB,
        Settle::JOB,
        Mark::JOB,
        Tell::JOB,
        Nightly::JOB,
        Import::JOB,
        Plan::JOB,
    ]
}

impl Mark {
    pub(super) fn ok(text: &str) -> Self {
        Self { text: text.to_owned(), fail: false }
    }

    pub(super) fn failing(text: &str) -> Self {
        Self { text: text.to_owned(), fail: true }
    }
}

/// Does nothing.
#[job(name = "test.tick", crate = ::ratchet_core)]
pub(super) async fn tick() {}

/// Runs every hour.
#[job(name = "test.nightly", cron = "0 * * * *", tz = "Europe/Berlin", max_retries = 2, single_instance, crate = ::ratchet_core)]
pub(super) async fn nightly(#[inject] stage: State<Stage>, #[inject] ctx: JobContext) {
    stage.note(format!("nightly {}", ctx.due()));
}

/// Parses rows as numbers, rejects the other rows, and hands off a checkpoint.
#[job(name = "test.import", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn import(
    #[inject] ctx: JobContext,
    rows: Vec<String>,
    most: Option<u64>,
) -> Result<usize, JobError> {
    if let Some(most) = most {
        ctx.allow_rejects(most);
    }
    for (index, row) in rows.iter().enumerate() {
        let index = u64::try_from(index)?;
        if let Err(error) = row.parse::<u32>() {
            if row == "four" {
                ctx.reject_item_with(index, error, row)?;
            } else {
                ctx.reject_item(index, error);
            }
        }
    }
    ctx.hand_off("loaded", format!("rows-{}", rows.len()), &rows.len())?;
    Ok(rows.len())
}

/// Submits a chain, a batch and a workflow.
#[job(name = "test.plan", max_retries = 0, crate = ::ratchet_core)]
pub(super) async fn plan(
    #[inject] ctx: JobContext,
    key: Option<String>,
    fail: bool,
) -> Result<[GroupId; 3], JobError> {
    let mut chain = ctx.chain(Place { amount: 7 }).then(Double {}).named("planned");
    if let Some(key) = key {
        chain = chain.idempotency_key(key);
    }
    let chain = chain.await?.id();
    let marks = ["a", "b", "c"].map(Mark::ok);
    let batch = ctx.batch("planned").jobs(marks).await?.id();
    let mut flow = ctx.workflow("planned");
    let first = flow.step("first", Mark::ok("d"), |step| step);
    flow.step("second", Mark::ok("e"), |step| step.after(&first));
    let flow = flow.await?.id();
    if fail { Err(fatal("not after all").into()) } else { Ok([chain, batch, flow]) }
}
