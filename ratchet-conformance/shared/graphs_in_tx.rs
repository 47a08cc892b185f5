//! Chains, batches and workflows in a transaction of the caller: everything is visible after the commit, or nothing.
//!
//! A module of the tests of each store, because `in_tx` is a method of the store. `super::shop` opens the store.

use std::time::Duration;

use ratchet_core::{ChainHandle, Job as _, Ratchet, SubmitError};
use ratchet_memory::MemoryStore;
use ratchet_store::Store as _;
use ratchet_store::model::{GroupFilter, GroupState, JobState, TakenKey};

use super::jobs::{Greet, Shout};
use super::shop::{EnqueueInTx as _, Shop, shop};

/// The timeout of the tests.
const TIMEOUT: Duration = Duration::from_secs(30);

fn greet(name: &str) -> Greet {
    Greet { name: name.to_owned() }
}

impl Shop {
    /// Returns the number of visible groups and jobs.
    async fn visible(&self) -> (usize, u64) {
        let groups =
            self.ratchet.groups().list(&GroupFilter::any(), None, 100).await.expect("reads");
        let counts = self.store.counts().await.expect("counts");
        let jobs = counts.queues.values().flat_map(|queue| queue.states.values()).sum();
        (groups.len(), jobs)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_07_chain_runs_after_the_commit_and_its_handle_is_typed() {
    let shop = shop().await;
    let worker = shop.ratchet.start().await.expect("starts");
    let mut tx = shop.begin().await;
    let chain = shop.ratchet.chain(greet("Ada")).then(Shout {}).named("loud");
    let chain: ChainHandle<String> = chain.in_tx(&mut tx).await.expect("submits");
    assert!(chain.group().record().await.expect("reads").is_none(), "not before the commit");
    assert_eq!(shop.visible().await, (0, 0));
    tx.commit().await.expect("commits");
    let ended = chain.group().wait_for(TIMEOUT).await.expect("ends");
    assert_eq!((ended.name.as_str(), ended.state), ("loud", GroupState::Succeeded));
    assert_eq!(chain.wait().await.expect("succeeds"), "HELLO ADA");
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_07_batch_in_a_transaction_counts_exactly() {
    let shop = shop().await;
    let worker = shop.ratchet.start().await.expect("starts");
    let mut tx = shop.begin().await;
    let names = (0..20).map(|number| greet(&number.to_string()));
    let batch = shop.ratchet.batch("all").jobs(names).on_success(greet("everybody"));
    let batch = batch.in_tx(&mut tx).await.expect("submits");
    assert_eq!(shop.visible().await, (0, 0), "nothing before the commit");
    tx.commit().await.expect("commits");
    let ended = batch.wait_for(TIMEOUT).await.expect("ends");
    assert_eq!((ended.counts.total, ended.counts.succeeded), (20, 20));
    let callback = batch.view().await.expect("reads").expect("is there").followers.remove(0).id;
    let callback = shop.ratchet.handle::<Greet>(callback);
    assert_eq!(callback.wait_for(TIMEOUT).await.expect("runs"), "hello everybody");
    let counts = shop.store.counts().await.expect("counts");
    assert_eq!(counts.state(JobState::Succeeded), 21);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_07_workflow_runs_after_the_commit() {
    let shop = shop().await;
    let worker = shop.ratchet.start().await.expect("starts");
    let mut tx = shop.begin().await;
    let mut flow = shop.ratchet.workflow("order");
    let hello = flow.step("hello", greet("Ada"), |step| step);
    let loud = flow.step("loud", Shout {}, |step| step.after(&hello));
    flow.step("last", greet("Bob"), |step| step.wait_for(&loud));
    let flow = flow.in_tx(&mut tx).await.expect("submits");
    assert_eq!(shop.visible().await, (0, 0), "nothing before the commit");
    tx.commit().await.expect("commits");
    let ended = flow.wait_for(TIMEOUT).await.expect("ends");
    assert_eq!((ended.state, ended.counts.succeeded), (GroupState::Succeeded, 3));
    worker.stop().await;
}

#[tokio::test]
async fn s_07_rollback_leaves_nothing_of_a_graph() {
    let shop = shop().await;
    let mut tx = shop.begin().await;
    let chain = shop.ratchet.chain(greet("Ada")).then_with(Shout {}, |it| it.business_key("one"));
    let chain = chain.in_tx(&mut tx).await.expect("submits");
    let batch = shop.ratchet.batch("some").job(greet("Bob")).in_tx(&mut tx).await.expect("submits");
    tx.rollback().await.expect("rolls back");
    assert!(chain.group().record().await.expect("reads").is_none());
    assert!(batch.members(None, 10).await.expect("reads").is_empty());
    assert_eq!(shop.visible().await, (0, 0));
    // The key was not used.
    let again = shop.ratchet.chain(greet("Ada")).then_with(Shout {}, |it| it.business_key("one"));
    again.await.expect("submits");
    assert_eq!(shop.visible().await, (1, 2));
}

#[tokio::test]
async fn s_07_refused_graph_leaves_the_transaction_usable() {
    let shop = shop().await;
    let holder = shop.ratchet.enqueue(greet("Ada")).business_key("one").await.expect("enqueues");
    let mut tx = shop.begin().await;
    let refused = shop
        .ratchet
        .chain(greet("Bob"))
        .then_with(Shout {}, |it| it.business_key("one"))
        .in_tx(&mut tx)
        .await
        .expect_err("the key is taken");
    let by = |taken: &[TakenKey]| taken.len() == 1 && taken[0].holder == holder.id();
    assert!(matches!(&refused, SubmitError::BusinessKeysTaken(taken) if by(taken)), "{refused}");
    let empty = shop.ratchet.batch("nothing").in_tx(&mut tx).await.expect("submits");
    tx.commit().await.expect("commits");
    let empty = empty.record().await.expect("reads").expect("is there");
    assert_eq!(empty.state, GroupState::Succeeded, "an empty batch ends as it begins");
    assert_eq!(shop.visible().await, (1, 1), "nothing of the chain");
}

#[tokio::test]
async fn s_07_runtime_on_another_store_is_refused() {
    let shop = shop().await;
    let builder = Ratchet::builder(MemoryStore::default()).jobs([Greet::JOB]);
    let elsewhere = builder.build().await.expect("builds");
    let mut tx = shop.begin().await;
    let one = elsewhere.enqueue(greet("Ada")).in_tx(&mut tx).await;
    assert!(matches!(one, Err(SubmitError::BadOption { .. })), "{one:?}");
    let group = elsewhere.batch("all").job(greet("Ada")).in_tx(&mut tx).await;
    assert!(matches!(group, Err(SubmitError::BadOption { .. })), "{group:?}");
    tx.commit().await.expect("commits");
    assert_eq!(shop.visible().await, (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s_07_children_are_added_in_a_transaction() {
    let shop = shop().await;
    let worker = shop.ratchet.start().await.expect("starts");
    // The batch, its children and the seal commit together.
    let mut tx = shop.begin().await;
    let batch = shop.ratchet.batch("stream").open().tenant("acme").correlation_id("request 1");
    let batch = batch.in_tx(&mut tx).await.expect("submits");
    let jobs = batch.add([greet("Ada"), greet("Bob")]).in_tx(&mut tx).await.expect("adds");
    assert_eq!((shop.visible().await, jobs.len()), ((0, 0), 2), "nothing before the commit");
    tx.commit().await.expect("commits");
    assert_eq!(jobs[1].wait_for(TIMEOUT).await.expect("runs"), "hello Bob");
    let added = jobs[0].record().await.expect("reads").expect("is there");
    assert_eq!(added.spec.tenant.as_deref(), Some("acme"));
    assert_eq!(added.spec.correlation_id.as_deref(), Some("request 1"));
    let mut tx = shop.begin().await;
    batch.add([greet("Eve")]).and_seal().in_tx(&mut tx).await.expect("adds");
    tx.rollback().await.expect("rolls back");
    let mut tx = shop.begin().await;
    batch.add([greet("Zoe")]).and_seal().in_tx(&mut tx).await.expect("adds");
    let refused = batch.add([greet("late")]).in_tx(&mut tx).await.expect_err("it is sealed");
    assert!(matches!(refused, SubmitError::GroupSealed(id) if id == batch.id()), "{refused}");
    tx.commit().await.expect("commits");
    let ended = batch.wait_for(TIMEOUT).await.expect("ends");
    assert_eq!((ended.state, ended.counts.succeeded), (GroupState::Succeeded, 3));
    worker.stop().await;
}
