//! The wire between one node and the store. It can lose, delay and repeat requests.
//!
//! A request is an independent event and not part of the task that sent it. It can arrive even if its sender has given
//! up, is paused or is dead.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use ratchet_memory::Inspection;
use ratchet_memory::MemoryStore;
use ratchet_store::model::{
    AttemptOutcome, ClaimReply, ClaimRequest, Settled, Settlement, Token, Verdict,
};
use ratchet_store::{Store as _, StoreError, StoreErrorKind};
use tokio::sync::oneshot;

use crate::bugs;
use crate::exec::Owner;
use crate::faults::Fate;
use crate::op::Op;
use crate::oracle::Oracle;
use crate::world::World;

/// The memory store as seen through the wire of one node.
#[derive(Clone)]
pub(crate) struct FaultyStore {
    pub(crate) world: Arc<World>,
    pub(crate) owner: Owner,
    /// The tokens of claims whose answer was lost. As the contract of `Store::claim` requires, they are released before
    /// the next claim and with the next heartbeat.
    doubts: Arc<Mutex<Vec<Token>>>,
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyStore").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// Returns the result of a memory store call, which never waits.
pub(crate) fn at_once<T>(answer: impl Future<Output = T>) -> T {
    answer.now_or_never().expect("the memory store never waits")
}

fn unavailable(why: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, why)
}

impl FaultyStore {
    pub(crate) fn new(world: Arc<World>, owner: Owner) -> Self {
        Self { world, owner, doubts: Arc::default() }
    }

    /// Sends a claim. If its answer is lost, the tokens of the claimed jobs are recorded.
    pub(crate) async fn send_claim<T: Send + 'static>(
        &self,
        op: Op,
        verb: impl FnOnce(&Arc<World>) -> T + Send + 'static,
        reply: impl Fn(&T) -> &ClaimReply + Send + 'static,
    ) -> Result<T, StoreError> {
        self.give_back_lost().await?;
        let taken = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&taken);
        let answer = self.send(op, move |world| {
            let answer = verb(world);
            let tokens = reply(&answer).jobs.iter().map(|job| job.token);
            noted.lock().unwrap_or_else(PoisonError::into_inner).extend(tokens);
            answer
        });
        let answer = answer.await;
        if answer.is_err() {
            let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
            self.doubts.lock().unwrap_or_else(PoisonError::into_inner).append(&mut taken);
        }
        answer
    }

    pub(crate) async fn give_back_lost(&self) -> Result<(), StoreError> {
        let doubts = || self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        // Keep the tokens until they are released: this future may be dropped in between.
        let lost = doubts().clone();
        if lost.is_empty() {
            return Ok(());
        }
        let release =
            |token: &Token| Settlement::new(*token, Verdict::Release, AttemptOutcome::Released);
        self.settle(lost.iter().map(release).collect()).await?;
        doubts().retain(|token| !lost.contains(token));
        Ok(())
    }

    /// Sends a request over the wire. `Err` is a fault of the wire; the store's own result is inside `Ok`.
    pub(crate) async fn send<T: Send + 'static>(
        &self,
        op: Op,
        verb: impl FnOnce(&Arc<World>) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let (world, owner) = (&self.world, self.owner);
        let fate = {
            let network = world.network();
            world.random(|rng| network.fate(rng, owner, op))
        };
        let lost = || unavailable("the wire lost it");
        match fate {
            Fate::AtOnce => Ok(verb(world)),
            Fate::Refused(after) => {
                self.pause(after).await;
                Err(lost())
            }
            Fate::Answered(there, back) => {
                let (tell, answer) = oneshot::channel();
                world.after(there, move |world| {
                    if !lost_with_its_sender(world, owner) {
                        let answer = verb(world);
                        world.after(back, move |_| drop(tell.send(answer)));
                    }
                });
                answer.await.map_err(|_| lost())
            }
            Fate::AnswerLost(there, back) => {
                world.after(there, move |world| {
                    if !lost_with_its_sender(world, owner) {
                        drop(verb(world));
                    }
                });
                world.trace().tell(|| format!("  the answer to {op:?} will be lost"));
                self.pause(there + back).await;
                Err(lost())
            }
        }
    }

    async fn pause(&self, duration: Duration) {
        let (tell, answer) = oneshot::channel::<()>();
        self.world.after(duration, move |_| drop(tell));
        let _ = answer.await;
    }

    /// Sends a call whose result is checked by `judge`.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        op: Op,
        verb: impl FnOnce(&MemoryStore) -> T + Send + 'static,
        judge: impl FnOnce(&mut Oracle, &Inspection<'_>, &T) + Send + 'static,
    ) -> Result<T, StoreError> {
        let owner = self.owner;
        self.send(op, move |world| world.commit(owner, op, verb, judge)).await
    }

    /// Sends a call without a check of its result.
    pub(crate) async fn plain<T: Send + 'static>(
        &self,
        op: Op,
        verb: impl FnOnce(&MemoryStore) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        self.ask(op, verb, |_, _, _| {}).await
    }

    /// May deliver the same settlements again later, regardless of the state of their claims by then.
    pub(crate) fn maybe_again(&self, settlements: &[Settlement]) {
        let world = &self.world;
        let again = {
            let network = world.network();
            world.random(|rng| network.weather.again(rng))
        };
        let Some(later) = again else { return };
        let (owner, settlements) = (self.owner, settlements.to_vec());
        world.after(later, move |world| drop(settle(world, owner, Op::SettleAgain, settlements)));
    }
}

/// Returns whether a request is lost because its sender died. Half of these requests are lost.
fn lost_with_its_sender(world: &World, owner: Owner) -> bool {
    let dead = world.network().dead.contains(&owner);
    dead && world.random(fastrand::Rng::bool)
}

pub(crate) fn settle(
    world: &Arc<World>,
    owner: Owner,
    op: Op,
    settlements: Vec<Settlement>,
) -> Vec<Settled> {
    let sent = settlements.clone();
    let settlements = bugs::unfenced(world, settlements);
    world.commit(
        owner,
        op,
        |store| at_once(store.settle(settlements)).unwrap_or_default(),
        |oracle, view, settled| oracle.settled(view, &sent, settled),
    )
}

pub(crate) fn settle_and_claim(
    world: &Arc<World>,
    owner: Owner,
    settlements: Vec<Settlement>,
    request: ClaimRequest,
) -> (Vec<Settled>, ClaimReply) {
    let (sent, asked) = (settlements.clone(), request.clone());
    let settlements = bugs::unfenced(world, settlements);
    world.commit(
        owner,
        Op::SettleAndClaim,
        |store| at_once(store.settle_and_claim(settlements, request)).unwrap_or_default(),
        |oracle, view, (settled, claimed)| {
            oracle.settled(view, &sent, settled);
            oracle.claimed(view, owner, &asked, claimed);
        },
    )
}
