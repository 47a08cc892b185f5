//! `Secret<T>`: stored like its value, and never shown.

use std::collections::BTreeMap;

use ratchet::contract::{Contract, describe};
use ratchet::manage::Edit;
use ratchet::prelude::*;
use ratchet::security::{Key, Keyring, Purpose};
use ratchet::testing::Sandbox;
use ratchet::{JobRecord, MemoryStore, assert_enqueued};
use serde::{Deserialize, Serialize};

type Token = Secret<String>;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Account {
    user: String,
    token: Secret<String>,
    #[serde(default)]
    old: Vec<Secret<String>>,
}

/// The fields of another type among its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Login {
    #[serde(flatten)]
    account: Account,
    #[serde(default)]
    code: Option<Secret<u32>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "by")]
enum Method {
    Password { password: Secret<String> },
}

#[allow(unused_qualifications)] // the path of a type may be qualified
#[job(name = "secret_type.spelled", derive(Debug, Clone))]
#[allow(clippy::unused_async)] // it awaits nothing
async fn spelled(
    user: String,
    plain: Secret<String>,
    optional: Option<ratchet::security::Secret<u64>>,
    list: Vec<Secret<String>>,
    by_name: BTreeMap<String, Secret<String>>,
    wrapped: Token,
) {
    drop((user, plain, optional, list, by_name, wrapped));
}

#[job(name = "secret_type.nested")]
#[allow(clippy::unused_async)] // it awaits nothing
async fn nested(account: Account, login: Login, method: Method, number: u64) -> Account {
    drop((login, method, number));
    account
}

#[job(name = "secret_type.quoting", validate = check, max_retries = 0)]
async fn quoting(account: Account, fail: bool, #[inject] ctx: JobContext) -> Result<(), JobError> {
    // A checkpoint that is read again contains a secret that no argument has.
    if let Some(code) = ctx.checkpoint::<Secret<String>>()? {
        return Err(JobError::msg(format!("the code {} was refused", code.expose())));
    }
    ctx.set_checkpoint(&Secret::new("code-90210".to_owned()))?;
    ctx.info(format!("the code code-90210 for {}", account.token.expose()));
    if fail { Err(snooze(std::time::Duration::ZERO).into()) } else { Ok(()) }
}

fn check(job: &Quoting) -> Result<(), String> {
    let token = job.account.token.expose();
    if token.starts_with("bad") { Err(format!("the token {token} is wrong")) } else { Ok(()) }
}

fn account() -> Account {
    Account {
        user: "ada".to_owned(),
        token: "hunter2".into(),
        old: vec!["hunter1".into(), "hunter0".into()],
    }
}

fn nested_job() -> Nested {
    let login = Login { account: account(), code: Some(Secret::new(471_100)) };
    let method = Method::Password { password: "hunter3".into() };
    Nested { account: account(), login, method, number: 9_223_372_036_854_775_809 }
}

async fn runtime() -> Ratchet {
    let builder = Ratchet::builder(MemoryStore::new());
    builder.jobs([Spelled::JOB, Nested::JOB, Quoting::JOB]).build().await.expect("builds")
}

async fn stored(ratchet: &Ratchet, id: ratchet::JobId) -> JobRecord {
    ratchet.jobs().get(id).await.expect("reads").expect("exists")
}

#[tokio::test]
async fn z_05_an_argument_that_is_spelled_with_secret_is_secret() {
    let job = Spelled {
        user: "ada".to_owned(),
        plain: "hunter2".into(),
        optional: Some(Secret::new(471_100)),
        list: vec!["hunter3".into()],
        by_name: BTreeMap::from([("a".to_owned(), "hunter4".into())]),
        wrapped: "hunter5".into(),
    };
    let debug = format!("{job:?}");
    assert!(debug.contains("ada") && !debug.contains("hunter"), "{debug}");
    let secret: Vec<_> =
        Spelled::DEF.args.iter().filter(|arg| arg.secret).map(|arg| arg.name).collect();
    // The alias of a type is not spelled with `Secret`.
    assert_eq!(secret, ["plain", "optional", "list", "by_name"]);
    assert!(Spelled::DEF.args[5].has_secret());
    let ratchet = runtime().await;
    let id = ratchet.enqueue(job).await.expect("enqueues").id();
    let record = stored(&ratchet, id).await;
    let payload = String::from_utf8(record.spec.payload.clone()).expect("text");
    assert!(payload.contains(r#""plain":"hunter2","optional":471100"#), "{payload}");
    let shown = ratchet.jobs().arguments(&record);
    let masked = serde_json::json!({
        "user": "ada", "plain": "***", "optional": "***", "list": "***", "by_name": "***",
        "wrapped": "***"
    });
    assert_eq!(shown, masked);
}

#[tokio::test]
async fn z_05_a_secret_inside_of_an_argument_is_masked() {
    let ratchet = runtime().await;
    let handle = ratchet.enqueue(nested_job()).await.expect("enqueues");
    let record = stored(&ratchet, handle.id()).await;
    let shown = ratchet.jobs().arguments(&record);
    let account = serde_json::json!({ "user": "ada", "token": "***", "old": ["***", "***"] });
    let masked = serde_json::json!({
        "account": account,
        "login": { "user": "ada", "token": "***", "old": ["***", "***"], "code": "***" },
        "method": { "by": "Password", "password": "***" },
        "number": 9_223_372_036_854_775_809_u64,
    });
    assert_eq!(shown, masked);
    let worker = ratchet.start().await.expect("starts");
    let output = handle.wait().await.expect("succeeds");
    assert_eq!(output, self::account(), "the output is stored");
    worker.stop().await;
    let record = stored(&ratchet, handle.id()).await;
    let shown = ratchet.jobs().for_display(vec![record]).await.expect("shows");
    let output: serde_json::Value =
        serde_json::from_str(shown[0].output.as_deref().expect("an output")).expect("JSON");
    assert_eq!(output, account);
}

/// What cannot be read and may have a secret is masked as a whole.
#[tokio::test]
async fn z_10_a_value_that_cannot_be_read_is_not_shown() {
    let ratchet = runtime().await;
    for (payload, argument) in [
        (r#"{"account":{"user":"ada","token":["hunter2"]}}"#, "account"),
        (r#"{"account":{"user":7,"token":"hunter2"}}"#, "account"),
        (r#"{"account":"hunter2"}"#, "account"),
    ] {
        let mut row = ratchet.enqueue(nested_job()).into_new_job().expect("is checked");
        row.spec.payload = payload.as_bytes().to_vec();
        let id = row.id;
        ratchet.store().insert(vec![row]).await.expect("inserts");
        let record = stored(&ratchet, id).await;
        assert_eq!(ratchet.jobs().arguments(&record)[argument], "***", "{payload}");
        let worker = ratchet.start().await.expect("starts");
        let failed = ratchet.handle::<Nested>(id).wait().await.expect_err("cannot be decoded");
        worker.stop().await;
        let text = format!("{failed} {failed:?}");
        assert!(text.contains("cannot decode argument `account`"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[tokio::test]
async fn z_10_a_validation_message_does_not_quote_a_secret() {
    let ratchet = runtime().await;
    let bad =
        || Quoting { account: Account { token: "bad-hunter2".into(), ..account() }, fail: false };
    let refused = ratchet.enqueue(bad()).await.expect_err("is refused").to_string();
    assert!(refused.contains("the token *** is wrong"), "{refused}");
    let by_name = serde_json::json!({ "account": bad().account, "fail": false });
    let refused = ratchet.enqueue_by_name("secret_type.quoting", &by_name).await;
    let refused = refused.expect_err("is refused").to_string();
    assert!(refused.contains("the token *** is wrong"), "{refused}");
    let good = Quoting { account: account(), fail: false };
    let mut row = ratchet.enqueue(good).into_new_job().expect("is checked");
    row.spec.payload = serde_json::to_vec(&by_name).expect("writes");
    let id = row.id;
    ratchet.store().insert(vec![row]).await.expect("inserts");
    let worker = ratchet.start().await.expect("starts");
    let failed = ratchet.handle::<Quoting>(id).wait().await.expect_err("is refused").to_string();
    worker.stop().await;
    assert!(failed.contains("the token *** is wrong"), "{failed}");
}

#[tokio::test]
async fn z_10_a_secret_of_a_checkpoint_is_known_to_the_next_run() {
    let ratchet = runtime().await;
    let handle = ratchet.enqueue(Quoting { account: account(), fail: true }).await;
    let handle = handle.expect("enqueues");
    let worker = ratchet.start().await.expect("starts");
    let failed = handle.wait().await.expect_err("fails").to_string();
    worker.stop().await;
    assert!(failed.contains("the code *** was refused"), "{failed}");
    let logs = ratchet.jobs().logs(handle.id()).await.expect("reads");
    assert_eq!(logs[0].message, "the code *** for ***");
}

#[tokio::test]
async fn z_05_a_job_with_a_secret_is_encrypted() {
    let keyring = Keyring::new([Key::generate("e1", Purpose::Encrypt).expect("a key")]);
    let store = MemoryStore::new();
    let builder = Ratchet::builder(store.clone()).keyring(keyring.expect("a keyring"));
    let ratchet = builder.build().await.expect("builds");
    let plain = Ratchet::builder(store).build().await.expect("builds");
    let sealed = async |id: ratchet::JobId| {
        let payload = stored(&plain, id).await.spec.payload.clone();
        String::from_utf8_lossy(&payload).contains("$ratchet")
    };
    let nested = ratchet.enqueue(nested_job()).await.expect("enqueues");
    assert!(sealed(nested.id()).await, "a field is a `Secret`");
    let output = ratchet.enqueue(Issue {}).await.expect("enqueues");
    assert!(sealed(output.id()).await, "the output is a `Secret`");
    let optional = |code| Flat { login: Flattened { shared: Shared { code } } };
    let with = ratchet.enqueue(optional(Some("hunter2".into()))).await.expect("enqueues");
    assert!(sealed(with.id()).await, "a flattened field that can be left out is a `Secret`");
    let without = ratchet.enqueue(optional(None)).await.expect("enqueues");
    assert!(!sealed(without.id()).await, "this invocation has no secret");
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Shared {
    #[serde(default)]
    code: Option<Secret<String>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Flattened {
    #[serde(flatten)]
    shared: Shared,
}

#[job(name = "secret_type.flat")]
#[allow(clippy::unused_async)] // it awaits nothing
async fn flat(login: Flattened) {
    drop(login);
}

#[job(name = "secret_type.issue")]
#[allow(clippy::unused_async)] // it awaits nothing
async fn issue() -> Secret<String> {
    "hunter2".into()
}

#[tokio::test]
async fn z_05_a_failed_assertion_does_not_show_a_secret() {
    let sandbox = Sandbox::builder().jobs([Nested::JOB, Spelled::JOB]).build().await;
    let sandbox = sandbox.expect("builds");
    sandbox.enqueue(nested_job()).await.expect("enqueues");
    assert_enqueued!(sandbox, Nested { number: 9_223_372_036_854_775_809_u64, .. });
    let failed = tokio::spawn(async move {
        assert_enqueued!(sandbox, Nested { number: 2, .. });
    });
    let panic = failed.await.expect_err("panics").into_panic();
    let text = panic.downcast_ref::<String>().expect("a text");
    assert!(text.contains(r#""token":"***""#) && !text.contains("hunter"), "{text}");
}

#[tokio::test]
async fn o_13_an_edit_keeps_the_secrets_that_it_shows_masked() {
    let ratchet = runtime().await;
    let handle = ratchet.enqueue(nested_job()).await.expect("enqueues");
    assert!(ratchet.jobs().cancel(handle.id()).await.expect("cancels"));
    let shown = ratchet.jobs().arguments(&stored(&ratchet, handle.id()).await);
    let mut account = shown["account"].clone();
    account["user"] = "bob".into();
    account["old"][1] = "hunter9".into();
    let edit = Edit::new().argument("account", &account).argument("login", &shown["login"]);
    let edited = ratchet.jobs().edit_and_retry(handle.id(), edit).await.expect("edits");
    let record = stored(&ratchet, edited.id()).await;
    let payload: serde_json::Value = serde_json::from_slice(&record.spec.payload).expect("JSON");
    let expected = serde_json::json!({
        "user": "bob", "token": "hunter2", "old": ["hunter1", "hunter9"]
    });
    assert_eq!(payload["account"], expected);
    assert_eq!(payload["login"]["code"], 471_100);
}

#[job(name = "secret_type.defaulted")]
#[allow(clippy::unused_async)] // it awaits nothing
async fn defaulted(#[job(default = "hunter8".into())] token: Secret<String>) {
    drop(token);
}

#[test]
fn z_05_the_lock_file_says_what_is_secret_and_contains_no_default_of_it() {
    let contract = describe([Nested::JOB, Spelled::JOB, Defaulted::JOB]).contract;
    let lock = contract.to_string();
    assert!(lock.contains("secret output"), "{lock}");
    assert!(!lock.contains("hunter"), "{lock}");
    let nested = &contract.jobs["secret_type.nested"];
    let secret = |name: &str| nested.arguments.iter().any(|arg| arg.name == name && arg.secret);
    assert!(secret("account") && secret("login") && secret("method") && !secret("number"));
    let read: Contract = lock.parse().expect("reads");
    assert_eq!(read.to_string(), lock);
}
