//! A run with planted secrets. Tests search everything that it has written, and everything that is shown of it.

use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{
    ErasureSubject, Filter, Job as _, JobContext, JobError, JobState, Key, Keyring,
    OperationRecord, OperationState, PageRequest, Purpose, Ratchet, Secret, Store,
};
use ratchet_macros::job;
use serde::{Deserialize, Serialize};

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

/// An argument with a secret inside.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Account {
    /// Whose account it is.
    pub user: String,
    /// How to log in.
    pub token: Secret<String>,
}

/// Writes its secrets everywhere a run can write.
#[job(name = "planted.everywhere", max_retries = 1, derive(Clone), crate = ::ratchet_core)]
async fn everywhere(
    #[job(secret)] secret: String,
    account: Account,
    pin: Secret<u64>,
    how: u32,
    #[inject] ctx: JobContext,
) -> Result<Secret<String>, JobError> {
    let text = format!("{secret}, {} and {}", account.token.expose(), pin.expose());
    ctx.set_checkpoint(&(&secret, &account))?;
    ctx.set_progress(50.0, format!("logs in with {text}"));
    ctx.debug(text.clone());
    ctx.info(format!("{account:?} {text:?}"));
    ctx.warn(text.clone());
    ctx.error(text.clone());
    ctx.reject_item(1, JobError::msg(text.clone()));
    ctx.reject_item_with(2, JobError::msg(text.clone()), &(&secret, &account))?;
    ctx.hand_off("planted", secret.len().to_string(), &account)?;
    let output = Ok(Secret::new(secret.clone()));
    match how {
        0 => output,
        1 => Err(JobError::msg(format!("the password is {text}")).with_code(secret)),
        2 => panic!("the password is {text}"),
        3 => Err(ratchet_core::snooze(Duration::from_millis(1)).into()),
        4 => {
            ctx.enqueue(Everywhere { secret, account, pin, how: 0 }).await?;
            output
        }
        5 => Err(ratchet_core::invalid(text).into()),
        6 => Err(CannotLogIn(Quoting(text)).into()),
        _ => {
            let _guard = PanicsWhenDropped(text);
            std::future::pending().await
        }
    }
}

/// The number of ways in which [`everywhere`] ends.
const WAYS: u32 = 8;

#[derive(Debug, thiserror::Error)]
#[error("cannot log in")]
struct CannotLogIn(#[source] Quoting);

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Quoting(String);

struct PanicsWhenDropped(String);

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "the password is {}", self.0);
    }
}

/// Takes the secret of the job before.
#[allow(clippy::unused_async)] // a job is an async fn
#[job(name = "planted.after", crate = ::ratchet_core)]
async fn after(#[input] secret: Secret<String>, #[inject] ctx: JobContext) -> Secret<String> {
    ctx.info(format!("got {}", secret.expose()));
    secret
}

/// Returns a runtime for the run. It has no keyring if it is to store everything readable.
///
/// # Panics
///
/// Panics if the runtime cannot be built.
pub async fn runtime(store: Arc<dyn Store>, keyring: Option<Keyring>) -> Ratchet {
    let mut builder = Ratchet::builder_shared(store);
    if let Some(keyring) = keyring {
        builder = builder.keyring(keyring);
    }
    let builder = builder.jobs([Everywhere::JOB, After::JOB]).max_deferrals(2).config(|config| {
        config.maintenance_interval = Duration::from_millis(20);
        config.poll_interval = (Duration::from_millis(5), Duration::from_millis(20));
    });
    builder.build().await.expect("builds")
}

/// Runs 30 jobs with secrets on a store, with a keyring that signs and encrypts. Returns the secrets.
///
/// # Panics
///
/// Panics if a job does not end.
pub async fn run(store: Arc<dyn Store>) -> Vec<String> {
    play(&runtime(store, Some(keyring())).await).await
}

/// Runs 30 jobs with secrets. Returns the secrets.
///
/// # Panics
///
/// Panics if a job does not end.
pub async fn play(ratchet: &Ratchet) -> Vec<String> {
    play_for(ratchet, None).await
}

/// Runs like [`play`], for a tenant. Then there are no schedules, because those that are declared at run time have no tenant.
///
/// # Panics
///
/// Panics if a job does not end.
pub async fn play_for(ratchet: &Ratchet, tenant: Option<&str>) -> Vec<String> {
    let worker = ratchet.start().await.expect("starts");
    let mut secrets = Vec::new();
    for number in 0..30_u32 {
        let secret = format!("hunter-{number:02}-!sEcReT!");
        let token = Secret::new(format!("tOkEn-{number:02}-of-ada"));
        let pin = Secret::new(704_911_000 + u64::from(number));
        secrets.extend([secret.clone(), token.expose().clone(), pin.expose().to_string()]);
        let account = Account { user: format!("ada-{number}"), token };
        let job = |how| Everywhere {
            secret: secret.clone(),
            account: account.clone(),
            pin: pin.clone(),
            how,
        };
        let how = number % WAYS;
        let enqueue =
            ratchet.enqueue(job(how)).backoff(ratchet_core::Backoff::fixed(Duration::ZERO));
        // Ends the run that would not end.
        let timeout = Duration::from_millis(if how == WAYS - 1 { 50 } else { 60_000 });
        let enqueue = enqueue.timeout(timeout).idempotency_key(format!("key-{number}"));
        let enqueue = match tenant {
            Some(tenant) => enqueue.tenant(tenant),
            None => enqueue,
        };
        enqueue.on_failure(job(0)).on_success(job(0)).await.expect("enqueues");
        if number % 5 == 0 {
            let chain = ratchet.chain(job(0)).then(After {});
            let batch = ratchet.batch("planted").job(job(0)).on_complete(job(0));
            let (chain, batch) = match tenant {
                Some(tenant) => (chain.tenant(tenant), batch.tenant(tenant)),
                None => (chain, batch),
            };
            chain.await.expect("submits");
            batch.await.expect("submits");
        }
        if number % 10 == 0 && tenant.is_none() {
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
        if live == 0 {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "{live} of {} jobs are live", jobs.len());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    worker.stop().await;
    secrets
}

/// Archives some jobs of a tenant, deletes everything of it, and waits for the end of the erasure.
///
/// # Panics
///
/// Panics if the erasure does not end.
pub async fn erase(ratchet: &Ratchet, tenant: &str) -> OperationRecord {
    let store = ratchet.store();
    for state in [JobState::Succeeded, JobState::Failed] {
        let archived = store.archive(state, Duration::ZERO, 5).await.expect("archives");
        assert!(archived > 0, "{state}");
    }
    let subject = ErasureSubject::Tenant(tenant.to_owned());
    let preview = ratchet.erasures().preview(&subject).await.expect("counts");
    assert!(preview.jobs > 0 && preview.archived > 0, "{preview:?}");
    let started = ratchet.erasures().start(preview).await.expect("starts");
    let worker = ratchet.start().await.expect("starts");
    let deadline = tokio::time::Instant::now() + Duration::from_mins(1);
    let done = loop {
        let found = ratchet.operations().get(started.id).await.expect("reads").expect("exists");
        if found.state.is_ended() {
            break found;
        }
        assert!(tokio::time::Instant::now() < deadline, "{found:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    worker.stop().await;
    assert_eq!(done.state, OperationState::Finished);
    done
}
