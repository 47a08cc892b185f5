//! A run with planted secrets. Tests of a store search everything that the store has written for them.

use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{
    Filter, Job as _, JobContext, JobError, Key, Keyring, PageRequest, Purpose, Ratchet, Store,
};
use ratchet_macros::job;

/// Returns the keyring of the run.
///
/// # Panics
///
/// Panics if the keys are not valid, which they are.
pub fn keyring() -> Keyring {
    let key = |id, purpose, byte| Key::from_bytes(id, purpose, [byte; 32]).expect("a key");
    let keys = [
        key("s1", Purpose::Sign, 1),
        key("e1", Purpose::Encrypt, 2),
        key("d1", Purpose::Digest, 3),
    ];
    Keyring::new(keys).expect("a keyring")
}

/// Writes a secret everywhere a run can write.
#[job(name = "planted.everywhere", max_retries = 1, crate = ::ratchet_core)]
async fn everywhere(
    #[job(secret)] secret: String,
    how: u32,
    #[inject] ctx: JobContext,
) -> Result<String, JobError> {
    ctx.set_checkpoint(&secret)?;
    ctx.set_progress(50.0, secret.clone());
    ctx.info(secret.clone());
    ctx.reject_item_with(1, JobError::msg(secret.clone()), &secret)?;
    ctx.hand_off("planted", secret.len().to_string(), &secret)?;
    match how {
        0 => Ok(secret),
        4 => {
            ctx.enqueue(Everywhere { secret: secret.clone(), how: 0 }).await?;
            Ok(secret)
        }
        1 => Err(JobError::msg(format!("the password is {secret}"))),
        2 => panic!("the password is {secret}"),
        _ => Err(ratchet_core::snooze(Duration::from_millis(1)).into()),
    }
}

/// Takes the secret of the job before.
#[allow(clippy::unused_async)] // a job is an async fn
#[job(name = "planted.after", encrypt, crate = ::ratchet_core)]
async fn after(#[input] secret: String) -> String {
    secret
}

/// Runs 30 jobs with a secret each on a store, with a keyring that signs and encrypts. Returns the secrets.
///
/// # Panics
///
/// Panics if a job does not end.
pub async fn run(store: Arc<dyn Store>) -> Vec<String> {
    let builder = Ratchet::builder_shared(store).keyring(keyring());
    let builder = builder.jobs([Everywhere::JOB, After::JOB]).max_deferrals(2).config(|config| {
        config.maintenance_interval = Duration::from_millis(20);
        config.poll_interval = (Duration::from_millis(5), Duration::from_millis(20));
    });
    let ratchet = builder.build().await.expect("builds");
    let worker = ratchet.start().await.expect("starts");
    let secrets: Vec<_> =
        (0..30_u32).map(|number| format!("hunter-{number:02}-!sEcReT!")).collect();
    for (number, secret) in (0..).zip(&secrets) {
        let job = |how| Everywhere { secret: secret.clone(), how };
        let enqueue =
            ratchet.enqueue(job(number % 5)).backoff(ratchet_core::Backoff::fixed(Duration::ZERO));
        let enqueue = enqueue.idempotency_key(format!("key-{number}")).on_failure(job(0));
        enqueue.on_success(job(0)).await.expect("enqueues");
        if number % 5 == 0 {
            ratchet.chain(job(0)).then(After {}).await.expect("submits");
            ratchet.batch("planted").job(job(0)).on_complete(job(0)).await.expect("submits");
        }
        if number % 10 == 0 {
            let name = format!("schedule-{number}");
            ratchet.schedules().declare(name.clone(), "0 3 * * *", job(0)).await.expect("declares");
            ratchet.schedules().run_now(&name).await.expect("fires");
        }
    }
    let page = || PageRequest { before: None, limit: 1000 };
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    loop {
        let jobs = ratchet.jobs().list(&Filter::any(), page()).await.expect("reads").jobs;
        let live = jobs.iter().filter(|job| !job.state.is_terminal()).count();
        if live == 0 && jobs.len() > secrets.len() {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{live} of {} jobs are live", jobs.len());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    worker.stop().await;
    secrets
}
