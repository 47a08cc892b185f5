//! Recognizes what an earlier try of a submit has committed, if its connection was lost during the commit.
//!
//! Everything that a submit writes has an id of its own, so a row with such an id proves that a try was committed. The
//! answer of that try is returned, because a new try would find its own keys taken.

use ratchet_store::model::{GroupId, JobId};

use crate::db;
use crate::fault::Fault;
use crate::store::Inner;
use sqlx::PgConnection;

/// A row that exists if and only if a try was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Witness {
    Job(JobId),
    Group(GroupId),
    /// The try seals this group and writes no rows.
    Seal(GroupId),
    /// The try changes nothing and can be repeated.
    Nothing,
}

/// The last try that came to its commit, with its answer.
#[derive(Debug)]
pub(crate) struct EarlierTry<T>(Option<(T, Witness)>);

impl<T> Default for EarlierTry<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> EarlierTry<T> {
    /// Returns whether the try was committed.
    pub(crate) async fn is_committed(
        &self,
        inner: &Inner,
        db: &mut PgConnection,
    ) -> Result<bool, Fault> {
        let Some((_, witness)) = &self.0 else { return Ok(false) };
        match *witness {
            Witness::Nothing => Ok(false),
            Witness::Job(id) => inner.are_stored(db, &[id]).await,
            Witness::Group(id) => Ok(!inner.read_groups(db, &[id]).await?.is_empty()),
            Witness::Seal(id) => {
                Ok(inner.read_groups(db, &[id]).await?.first().is_some_and(|group| group.sealed))
            }
        }
    }

    /// Records a new try before its commit.
    ///
    /// The server may commit the earlier try late, while the new one waits for its keys. Then the new one is a conflict,
    /// because it has met itself.
    pub(crate) async fn replace(
        &mut self,
        inner: &Inner,
        db: &mut PgConnection,
        done: Result<(T, Witness), Fault>,
    ) -> Result<(), Fault> {
        let done = match done {
            Ok(done) => Ok(done),
            Err(Fault::Insert(refused)) => Err(refused),
            Err(fault) => return Err(fault),
        };
        let writes_it = matches!((&done, &self.0), (Ok((_, new)), Some((_, old))) if new == old);
        if !writes_it && self.is_committed(inner, db).await? {
            return Err(Fault::Conflict);
        }
        self.0 = Some(done.map_err(Fault::Insert)?);
        Ok(())
    }

    /// Returns the answer of the try that was committed.
    pub(crate) fn answer(self) -> Result<T, Fault> {
        self.0.map(|(answer, _)| answer).ok_or(Fault::Conflict)
    }
}

impl Inner {
    /// Returns whether all of these jobs are stored.
    pub(crate) async fn are_stored(
        &self,
        db: &mut PgConnection,
        ids: &[JobId],
    ) -> Result<bool, Fault> {
        let wanted: Vec<_> = ids.iter().map(|id| id.uuid()).collect();
        let stored = db::query(self.sql.select_ids()).bind(wanted).fetch_all(db).await?;
        Ok(stored.len() == ids.len())
    }
}
