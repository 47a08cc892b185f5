//! The options of `#[job]` must end up in the definition that the registry holds.
#![allow(clippy::unused_async)] // these jobs do not await anything

use std::time::Duration;

use ratchet::definition::{
    InjectRequirement, Jitter, JobInvocationResolver, PanicPolicy, Registry,
};
use ratchet::failure::HandlerError;
use ratchet::{Backoff, Job, JobContext, Priority, State, circuit_breaker, job, jobs};

#[derive(Debug)]
struct Gateway;

#[derive(Debug, thiserror::Error)]
#[error("not found")]
struct NotFound;

/// Charges one payment.
///
/// In cents.
#[job(
    name = "shop.charge",
    alias = "charge_card",
    alias = "shop.pay",
    version = 3,
    queue = "payments",
    priority = high,
    max_retries = 7,
    backoff = linear("2s", max = "1m", jitter = none),
    timeout = "1h30m",
    soft_timeout = "10m",
    delay = "500ms",
    tags("money", "eu"),
    concurrency_key = "customer-{customer}",
    concurrency_limit = 4,
    panic = "dlq",
    on_success = SendReceipt,
    on_failure = SendReceipt
)]
#[circuit_breaker(
    service = "gateway",
    profile = "external-api",
    failure_rate = 40,
    window = 20,
    min_calls = 10,
    open_for = "45s",
    probes = 2,
    ignore(NotFound)
)]
async fn charge(
    #[inject] ctx: JobContext,
    #[inject] gateway: State<Gateway>,
    /// Who pays.
    customer: u32,
    #[job(secret)] card: String,
    #[job(default = Some(100))] cents: Option<u32>,
) -> Result<u32, NotFound> {
    drop((ctx, gateway, customer, card));
    cents.ok_or(NotFound)
}

#[job(cron = "0 3 * * *", tz = "Europe/Berlin", single_instance)]
async fn send_receipt() {}

#[job(blocking)]
fn shrink(image: Vec<u8>) -> Vec<u8> {
    image
}

struct MailService;

#[circuit_breaker(service = "smtp")]
#[jobs]
impl MailService {
    #[job]
    async fn send(&self, to: String) {
        drop(to);
    }
}

#[test]
fn s_02_options_land_in_the_definition() {
    // spec: S-02
    let def = Charge::DEF;
    assert_eq!(def.name, "shop.charge");
    assert_eq!(def.version, 3);
    assert_eq!(def.queue, "payments");
    assert_eq!(def.priority, Priority::High);
    assert_eq!(def.max_retries, 7);
    let backoff = Backoff::linear(Duration::from_secs(2), Duration::from_mins(1));
    assert_eq!(def.backoff, backoff.jitter(Jitter::None));
    assert_eq!(def.timeout, Duration::from_mins(90));
    assert_eq!(def.soft_timeout, Some(Duration::from_mins(10)));
    assert_eq!(def.delay, Duration::from_millis(500));
    assert_eq!(def.tags, ["money", "eu"]);
    assert_eq!(def.concurrency_limit, Some(4));
    assert_eq!(def.panic, PanicPolicy::Dlq);
    assert_eq!(def.docs, "Charges one payment.\n\nIn cents.");
    assert_eq!(def.on_success.map(|job| job.def().name), Some(SendReceipt::DEF.name));
    assert_eq!(def.on_failure.map(|job| job.def().name), Some(SendReceipt::DEF.name));
}

#[test]
fn s_02_defaults_are_those_of_the_contract() {
    // spec: S-02
    let def = Shrink::DEF;
    assert_eq!((def.max_retries, def.timeout), (5, Duration::from_mins(30)));
    assert_eq!(def.backoff, Backoff::exponential(Duration::from_secs(1), Duration::from_secs(30)));
    assert_eq!((def.queue, def.priority, def.version), ("default", Priority::Normal, 1));
    assert!(def.blocking);
}

#[test]
fn s_01_arguments_and_their_marks_are_known() {
    // spec: S-01
    let [customer, card, cents] = Charge::DEF.args else { panic!("three arguments") };
    assert_eq!((customer.name, customer.ty, customer.docs), ("customer", "u32", "Who pays."));
    assert!(card.secret && !card.has_default);
    assert!(cents.has_default && !cents.secret);
    assert_eq!(cents.ty, "Option<u32>");
    assert_eq!(Charge::ARGS, Charge::DEF.args);
}

#[test]
fn x_06_injections_are_known_and_say_what_they_need() {
    // spec: X-06
    let [ctx, gateway] = Charge::DEF.injections else { panic!("two injections") };
    assert_eq!((ctx.argument, (ctx.need)()), ("ctx", InjectRequirement::Nothing));
    assert_eq!(gateway.argument, "gateway");
    assert!(
        matches!((gateway.need)(), InjectRequirement::State { name, .. } if name == "State<Gateway>")
    );
    let [service] = MailServiceSend::DEF.injections else { panic!("the service") };
    assert!(
        matches!((service.need)(), InjectRequirement::State { name, .. } if name == "State<MailService>")
    );
}

#[test]
fn t_01_the_schedule_is_declared() {
    // spec: T-01
    let cron = SendReceipt::DEF.cron.expect("it is recurring");
    assert_eq!((cron.expression, cron.zone), ("0 3 * * *", "Europe/Berlin"));
}

#[test]
fn b_01_the_breaker_is_carried_by_a_job_and_by_every_method_of_a_block() {
    // spec: B-01
    let breaker = Charge::DEF.breaker.expect("it has one");
    assert_eq!((breaker.service, breaker.profile), ("gateway", Some("external-api")));
    assert_eq!((breaker.failure_rate, breaker.window), (Some(40), Some(20)));
    assert_eq!((breaker.min_calls, breaker.probes), (Some(10), Some(2)));
    assert_eq!(breaker.open_for, Some(Duration::from_secs(45)));
    assert!((breaker.ignore[0].matches)(&HandlerError::typed(NotFound)));
    assert!(!(breaker.ignore[0].matches)(&HandlerError::typed(std::fmt::Error)));
    assert_eq!(MailServiceSend::DEF.breaker.map(|breaker| breaker.service), Some("smtp"));
    assert!(Shrink::DEF.breaker.is_none());
}

#[test]
fn names_are_the_package_and_the_function() {
    assert_eq!(SendReceipt::DEF.name, "ratchet-jobs.send_receipt");
    assert_eq!(MailServiceSend::DEF.name, "ratchet-jobs.mail_service.send");
    let location = SendReceipt::DEF.location;
    assert!(location.file.ends_with("dsl_definition.rs"), "{location}");
    let source = include_str!("dsl_definition.rs").lines().nth(location.line as usize - 1);
    assert_eq!(source, Some("async fn send_receipt() {}"), "the location is the function's line");
}

#[test]
fn u_02_an_alias_reaches_the_renamed_job() {
    // spec: U-02
    let registry = Registry::collect().expect("no clashes");
    for name in ["shop.charge", "charge_card", "shop.pay"] {
        assert_eq!(registry.resolve(name).map(|job| job.def.name), Some("shop.charge"), "{name}");
    }
    assert!(registry.resolve("ratchet-jobs.charge").is_none(), "`name` replaces the derived name");
}

#[test]
fn jobs_register_themselves() {
    let registry = Registry::collect().expect("no clashes");
    let names: Vec<_> = registry.all().iter().map(|job| job.def.name).collect();
    let all = [
        "ratchet-jobs.mail_service.send",
        "ratchet-jobs.send_receipt",
        "ratchet-jobs.shrink",
        "shop.charge",
    ];
    assert_eq!(names, all);
}
