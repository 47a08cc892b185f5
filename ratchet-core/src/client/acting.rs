//! [`Ratchet::acting_as`]: changes that are recorded in the audit trail.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ratchet_store::env::crash::{CrashPoint, crash_point};
use ratchet_store::model::{
    Actor, AuditNote, Change, ChangeError, ChangeReply, CommandError, CommandReply, InsertError,
};
use ratchet_store::{StoreError, StoreErrorKind};

use super::Ratchet;
use crate::runtime::Core;

/// Who acts with a handle, and the last entry that was recorded.
#[derive(Debug)]
pub(crate) struct Acting {
    actor: Actor,
    /// The number of the last entry, or 0.
    recorded: AtomicU64,
}

/// How a handle makes changes: recorded for an actor, fenced by a version, or neither.
#[derive(Debug, Clone, Default)]
pub(crate) struct Manner {
    acting: Option<Arc<Acting>>,
    pub(super) version: Option<u64>,
}

impl Ratchet {
    /// Returns a runtime whose changes are recorded in the [audit trail](Self::audit) under this actor.
    ///
    /// Recorded is what an operator does: commands on jobs and groups, changes of queues, breakers and schedules, single
    /// submits, and the removal of rejects. Each entry is committed together with its change. A change that changes
    /// nothing is not recorded, and neither are bulk submits, chains, batches and workflows.
    ///
    /// ```
    /// # use ratchet_core::{Actor, Ratchet};
    /// # use ratchet_memory::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let ratchet = Ratchet::builder(MemoryStore::new()).build().await?;
    /// let ada = Actor::new("ada@example.com").reason("the mail server is down");
    /// ratchet.acting_as(ada).queues().pause("mail").await?;
    ///
    /// let entry = &ratchet.audit().list(&Default::default(), None, 10).await?[0];
    /// assert_eq!((entry.verb.as_str(), entry.target.as_str()), ("queues.pause", "queue mail"));
    /// ratchet.audit().verify().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn acting_as(&self, actor: Actor) -> Self {
        let acting = Arc::new(Acting { actor, recorded: AtomicU64::new(0) });
        Self { core: Arc::clone(&self.core), acting: Some(acting) }
    }

    /// Returns the number of the last entry that changes by this handle and its clones have added to the audit trail.
    pub fn recorded(&self) -> Option<u64> {
        let acting = self.acting.as_ref()?;
        Some(acting.recorded.load(Ordering::SeqCst)).filter(|number| *number > 0)
    }

    pub(crate) fn manner(&self) -> Manner {
        Manner { acting: self.acting.clone(), version: None }
    }
}

impl Manner {
    /// Returns the manner of changes that are made for an actor.
    pub(super) fn of(actor: Option<Actor>) -> Self {
        let acting = actor.map(|actor| Arc::new(Acting { actor, recorded: AtomicU64::new(0) }));
        Self { acting, version: None }
    }

    /// Returns who acts.
    pub(crate) fn actor(&self) -> Option<&Actor> {
        self.acting.as_ref().map(|acting| &acting.actor)
    }

    /// Returns `true` if a change needs [`Store::operate`](ratchet_store::Store::operate).
    pub(crate) fn is_special(&self) -> bool {
        self.acting.is_some() || self.version.is_some()
    }
}

impl Core {
    /// Applies a change in the manner of its handle.
    pub(crate) async fn operate(
        &self,
        manner: &Manner,
        verb: &'static str,
        change: Change,
    ) -> Result<ChangeReply, ChangeError> {
        let acting = manner.acting.as_ref();
        let note = acting.map(|it| AuditNote::new(it.actor.clone(), verb));
        crash_point(CrashPoint::CommandBefore);
        let changed = self.store.operate(change, note).await;
        if let Err(
            ChangeError::Store(error)
            | ChangeError::Command(CommandError::Store(error))
            | ChangeError::Insert(InsertError::Store(error)),
        ) = &changed
        {
            self.meter.store_error("operate", error);
        }
        let changed = changed?;
        crash_point(CrashPoint::CommandAnswered);
        if let (Some(acting), Some(number)) = (acting, changed.audit) {
            acting.recorded.store(number, Ordering::SeqCst);
        }
        Ok(changed.reply)
    }
}

/// Returns the error of a change that is not a command.
pub(crate) fn store_error(error: ChangeError) -> StoreError {
    match error {
        ChangeError::Store(error)
        | ChangeError::Command(CommandError::Store(error))
        | ChangeError::Insert(InsertError::Store(error)) => error,
        other => StoreError::new(StoreErrorKind::Data, other.to_string()),
    }
}

/// Returns the error of a change that is a command.
pub(crate) fn command_error(error: ChangeError) -> CommandError {
    match error {
        ChangeError::Command(error) => error,
        other => CommandError::Store(store_error(other)),
    }
}

/// Returns the reply to a command.
pub(crate) fn command_reply(reply: ChangeReply) -> Result<CommandReply, CommandError> {
    match reply {
        ChangeReply::Command(reply) => Ok(reply),
        _ => Err(CommandError::Store(unexpected())),
    }
}

/// Returns the error about a store that replied to another change.
pub(crate) fn unexpected() -> StoreError {
    StoreError::new(StoreErrorKind::Data, "the store replied to another change")
}
