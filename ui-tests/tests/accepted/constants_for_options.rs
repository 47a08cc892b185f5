//! Constants instead of literals; the const builder checks them.
#![deny(warnings)]

use std::time::Duration;

use ratchet::{Backoff, Job, Priority, job};

const QUEUE: &str = "mail";
const RETRIES: u32 = 7;
const WAIT: Duration = Duration::from_secs(9);
const CALM: Priority = Priority::Low;
const SLOW: Backoff = Backoff::fixed(WAIT);

mod settings {
    pub const TAG: &str = "eu";
    pub const NAME: &str = "shop.mail";
}

#[job(
    name = settings::NAME,
    alias = QUEUE,
    queue = QUEUE,
    max_retries = RETRIES,
    timeout = WAIT,
    soft_timeout = Duration::from_secs(3),
    delay = WAIT,
    priority = CALM,
    backoff = SLOW,
    tags(settings::TAG, "x"),
    version = 1 + 1,
    crate = ::ratchet
)]
pub async fn send_email(to: String) {
    drop(to);
}

#[job(priority = Priority::Critical, backoff = exponential(WAIT, max = settings_max(), factor = FACTOR))]
pub async fn tick() {}

const FACTOR: f64 = 3.0;

const fn settings_max() -> Duration {
    Duration::from_secs(60)
}

#[test]
fn runs() {
    let def = SendEmail::DEF;
    assert_eq!((def.name, def.queue, def.max_retries, def.version), ("shop.mail", "mail", 7, 2));
    assert_eq!((def.timeout, def.delay, def.priority), (WAIT, WAIT, Priority::Low));
    assert_eq!((def.tags, def.aliases), (&["eu", "x"][..], &["mail"][..]));
    assert_eq!(def.backoff, SLOW);
    assert_eq!(Tick::DEF.backoff, Backoff::exponential(WAIT, settings_max()).factor(3.0));
}
