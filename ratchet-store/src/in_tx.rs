//! Submits in a transaction of the application.

use std::future::Future;

use crate::Store;
use crate::model::{Extend, GraphInserted, InsertError, Inserted, NewGraph, NewJob};

/// A store that can insert in a transaction of the caller, so that jobs commit together with the caller's data.
pub trait InsertInTx: Store {
    /// A connection of the caller that has an open transaction.
    type Connection: Send;

    /// Inserts jobs like [`Store::insert`], in a transaction of the caller.
    fn insert_in_tx(
        &self,
        tx: &mut Self::Connection,
        jobs: &[NewJob],
    ) -> impl Future<Output = Result<Vec<Inserted>, InsertError>> + Send;

    /// Inserts a graph like [`Store::insert_graph`], in a transaction of the caller.
    fn insert_graph_in_tx(
        &self,
        tx: &mut Self::Connection,
        graph: &NewGraph,
    ) -> impl Future<Output = Result<GraphInserted, InsertError>> + Send;

    /// Adds members to a group like [`Store::add_members`], in a transaction of the caller.
    fn add_members_in_tx(
        &self,
        tx: &mut Self::Connection,
        extend: &Extend,
    ) -> impl Future<Output = Result<GraphInserted, InsertError>> + Send;
}

/// Something that can be submitted: `ratchet.enqueue(job)`, a bulk submit, a chain, a batch, a workflow, or more children
/// of an open batch.
///
/// Implemented by the engine. A store offers an extension trait over all submissions, which adds `.in_tx(&mut tx)` for
/// its own type of connection.
pub trait Submission: Sized + Send {
    /// The handle of what was submitted.
    type Handle: Send;
    /// The error of a refused submission.
    type Error: Send;

    /// Inserts in a transaction of the caller. Fails if the store of the runtime is not an `S`.
    fn submit_in_tx<S: InsertInTx>(
        self,
        tx: &mut S::Connection,
    ) -> impl Future<Output = Result<Self::Handle, Self::Error>> + Send;
}
