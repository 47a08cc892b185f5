//! Jobs that one crate declares and another implements.

use std::sync::{Arc, Mutex};

use ratchet::definition::{Handler, Registry};
use ratchet::prelude::*;
use ratchet::{Filter, JobState, MemoryStore, PageRequest, State};

/// Stands for the crate that web processes use: no handler, no dependency of a handler.
mod shop_api {
    use ratchet::prelude::*;
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
    pub(crate) struct Receipt {
        pub(crate) id: u64,
    }

    /// Sends an email.
    #[job(
        name = "shop.send_email",
        queue = "mail",
        max_retries = 7,
        business_key = "mail-{to}",
        derive(Debug)
    )]
    pub(crate) async fn send_email(
        to: String,
        #[job(default = 2)] copies: u32,
        #[job(secret)] token: String,
    ) -> Receipt;

    #[job(name = "shop.archive")]
    pub(crate) async fn archive(#[input] receipt: Receipt);

    #[job(name = "shop.never_implemented")]
    pub(crate) async fn never_implemented();
}

/// Stands for the worker.
mod worker {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the mail server is down")]
    pub(crate) struct MailError;

    #[job(implements = super::shop_api::SendEmail)]
    pub(crate) async fn send_email(
        #[inject] sent: State<Sent>,
        token: String,
        to: String,
        copies: u32,
    ) -> Result<shop_api::Receipt, MailError> {
        let mut sent = sent.lock().expect("not poisoned");
        sent.push(format!("{to} {copies} {token}"));
        match sent.len() {
            1 => Err(MailError),
            _ => Ok(shop_api::Receipt { id: 7 }),
        }
    }

    #[job(implements = shop_api::Archive, blocking)]
    pub(crate) fn archive(#[input] receipt: shop_api::Receipt, #[inject] sent: State<Sent>) {
        sent.lock().expect("not poisoned").push(format!("archived {}", receipt.id));
    }
}

type Sent = Arc<Mutex<Vec<String>>>;

fn mail() -> shop_api::SendEmail {
    shop_api::SendEmail { to: "ada".into(), copies: 1, token: "t0ken".into() }
}

fn shared(store: &Arc<MemoryStore>) -> Arc<dyn ratchet::store::Store> {
    Arc::clone(store) as _
}

#[tokio::test]
async fn s_16_a_process_without_the_handler_enqueues_and_another_runs() {
    let store = Arc::new(MemoryStore::new());
    let web = Ratchet::builder_shared(shared(&store)).jobs([shop_api::SendEmail::JOB]);
    let web = web.build().await.expect("builds");
    let chain = web.chain(mail()).then(shop_api::Archive {}).await.expect("enqueues");
    let named = Filter::any().name("shop.send_email");
    let page = web.jobs().list(&named, PageRequest::default()).await.expect("reads");
    let first = &page.jobs[0];
    assert_eq!((first.spec.queue.as_str(), first.spec.options.max_retries), ("mail", 7));
    assert_eq!(first.spec.business_key.as_deref(), Some("mail-ada"));

    let sent = Sent::default();
    let worker = Ratchet::builder_shared(shared(&store))
        .jobs([worker::SendEmailHandler::JOB, worker::ArchiveHandler::JOB])
        .state(Arc::clone(&sent))
        .build()
        .await
        .expect("builds")
        .start()
        .await
        .expect("starts");
    chain.wait().await.expect("succeeds");
    worker.stop().await;
    let sent = sent.lock().expect("not poisoned").clone();
    assert_eq!(
        sent,
        ["ada 1 t0ken", "ada 1 t0ken", "archived 7"],
        "retried by the declared policy"
    );
}

#[tokio::test]
async fn s_16_a_worker_without_the_implementation_leaves_the_job_to_others() {
    let store = Arc::new(MemoryStore::new());
    let sent = Sent::default();
    // The whole registry: three declarations and two implementations.
    let ratchet = Ratchet::builder_shared(shared(&store)).state(Arc::clone(&sent));
    let ratchet = ratchet.build().await.expect("builds");
    let job = ratchet.enqueue(shop_api::NeverImplemented {}).await.expect("enqueues");
    let other = ratchet.enqueue(mail()).await.expect("enqueues");
    let worker = ratchet.start().await.expect("starts");
    other.wait().await.expect("succeeds");
    let record = ratchet.jobs().get(job.id()).await.expect("reads").expect("is there");
    assert_eq!((record.state, record.attempts), (JobState::Pending, 0));
    let unknown = ratchet.jobs().unknown().await.expect("reads");
    assert_eq!((unknown[0].name.as_str(), unknown[0].waiting), ("shop.never_implemented", 1));
    assert_eq!(unknown.len(), 1);
    worker.stop().await;
}

#[tokio::test]
async fn s_16_implementations_can_be_required() {
    let ratchet = Ratchet::builder(MemoryStore::new())
        .state(Sent::default())
        .require_implementations()
        .build()
        .await
        .expect("builds");
    let error = ratchet.start().await.expect_err("one is missing").to_string();
    assert!(error.contains("`shop.never_implemented`"), "{error}");
    assert!(!error.contains("send_email"), "{error}");
}

#[test]
fn s_16_a_declaration_and_its_implementation_are_one_job() {
    use ratchet::definition::JobInvocationResolver as _;
    let (declared, implemented) = (shop_api::SendEmail::JOB, worker::SendEmailHandler::JOB);
    assert!(!declared.is_implemented() && implemented.is_implemented());
    for jobs in [[declared, implemented], [implemented, declared]] {
        let registry = Registry::new(jobs).expect("one job");
        let found = registry.resolve("shop.send_email").expect("is there");
        assert!(found.is_implemented());
        assert_eq!(found.def.docs, "Sends an email.");
        assert_eq!(found.def.injections.len(), 1);
    }
}

#[test]
fn s_16_two_implementations_of_a_job_are_refused() {
    let twice = worker::SendEmailHandler::JOB;
    let error = Registry::new([twice, twice]).expect_err("twice").to_string();
    assert!(error.contains("must have one implementation"), "{error}");
    assert!(error.contains("shop.send_email"), "{error}");
}

#[test]
fn s_16_a_declaration_hides_secrets() {
    assert!(!format!("{:?}", mail()).contains("t0ken"));
}
