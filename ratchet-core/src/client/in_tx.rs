//! Submits in a transaction of the application.

use std::any::{Any, type_name};
use std::sync::Arc;

use ratchet_store::model::{Inserted, NewGraph, NewJob};
use ratchet_store::{InsertInTx, Store, Submission};

use super::graph::handles;
use super::{
    AddMembers, Batch, Chain, ChainHandle, Enqueue, EnqueueMany, GroupHandle, JobHandle,
    SubmitError, Workflow,
};
use crate::events::JobRef;
use crate::runtime::Core;

impl<J> Submission for Enqueue<'_, J> {
    type Handle = JobHandle<J>;
    type Error = SubmitError;

    async fn submit_in_tx<S: InsertInTx>(
        self,
        tx: &mut S::Connection,
    ) -> Result<JobHandle<J>, SubmitError> {
        let (mut job, handle) = self.into_parts()?;
        let name = job.spec.name.clone();
        let store = downcast::<S>(handle.core.plain_store(), &name)?;
        protect(&handle.core, &mut job).await?;
        let inserted = store.insert_in_tx(tx, &[job]).await;
        let inserted = inserted.map_err(|error| SubmitError::refused(error, &name))?;
        Ok(inserted.first().map_or_else(|| handle.clone(), |inserted| handle.at(inserted.id())))
    }
}

impl<J> Submission for EnqueueMany<'_, J> {
    type Handle = Vec<JobHandle<J>>;
    type Error = SubmitError;

    async fn submit_in_tx<S: InsertInTx>(
        self,
        tx: &mut S::Connection,
    ) -> Result<Vec<JobHandle<J>>, SubmitError> {
        let core = Arc::clone(self.core);
        let mut rows = self.into_rows()?;
        // All jobs have the same type.
        let Some(name) = rows.first().map(|row| row.spec.name.clone()) else {
            return Ok(Vec::new());
        };
        let store = downcast::<S>(core.plain_store(), &name)?;
        for job in &mut rows {
            protect(&core, job).await?;
        }
        let inserted = store.insert_in_tx(tx, &rows).await;
        let inserted =
            inserted.map_err(|error| SubmitError::from_insert(error, |_| name.clone(), false))?;
        let handle =
            |inserted: &Inserted| JobHandle::new(inserted.id(), Arc::clone(&core), Vec::new());
        Ok(inserted.iter().map(handle).collect())
    }
}

impl<T> Submission for Chain<'_, T> {
    type Handle = ChainHandle<T>;
    type Error = SubmitError;

    async fn submit_in_tx<S: InsertInTx>(
        self,
        tx: &mut S::Connection,
    ) -> Result<ChainHandle<T>, SubmitError> {
        let (graph, handle) = self.into_parts()?;
        let group = insert_graph::<S>(tx, graph, &handle.group).await?;
        Ok(handle.at(group.id()))
    }
}

/// Implements the submission of a graph whose handle is that of its group.
macro_rules! submission_of_a_group {
    ($($graph:ident),*) => {$(
        impl Submission for $graph<'_> {
            type Handle = GroupHandle;
            type Error = SubmitError;

            async fn submit_in_tx<S: InsertInTx>(
                self,
                tx: &mut S::Connection,
            ) -> Result<GroupHandle, SubmitError> {
                let (graph, handle) = self.into_parts()?;
                insert_graph::<S>(tx, graph, &handle).await
            }
        }
    )*};
}

submission_of_a_group!(Batch, Workflow);

impl<J> Submission for AddMembers<J> {
    type Handle = Vec<JobHandle<J>>;
    type Error = SubmitError;

    async fn submit_in_tx<S: InsertInTx>(
        self,
        tx: &mut S::Connection,
    ) -> Result<Vec<JobHandle<J>>, SubmitError> {
        let group = self.group.clone();
        let mut extend = self.into_extend().await?;
        let names = JobRef::of_all(&extend.jobs);
        let store = downcast::<S>(group.core.plain_store(), "")?;
        for job in &mut extend.jobs {
            protect(&group.core, job).await?;
        }
        let inserted = store.add_members_in_tx(tx, &extend).await;
        let inserted = inserted.map_err(|error| SubmitError::from_graph(error, &names, ""))?;
        Ok(handles(&group, &inserted.jobs))
    }
}

/// Inserts a graph. Returns the handle of the group that was submitted first under its idempotency key.
async fn insert_graph<S: InsertInTx>(
    tx: &mut S::Connection,
    mut graph: NewGraph,
    handle: &GroupHandle,
) -> Result<GroupHandle, SubmitError> {
    let name = graph.root().map(|root| root.name.clone()).unwrap_or_default();
    let store = downcast::<S>(handle.core.plain_store(), &name)?;
    if let Some(protector) = &handle.core.protector {
        let protected = protector.protect_graph(&mut graph).await;
        protected.map_err(|error| SubmitError::Key { job: name, error })?;
    }
    let inserted = store.insert_graph_in_tx(tx, &graph).await;
    let inserted = inserted.map_err(|error| SubmitError::refused_graph(error, &graph))?;
    Ok(inserted.original.map_or_else(|| handle.clone(), |original| handle.at(original)))
}

/// Signs and encrypts a job. Its insert bypasses the store of the runtime, which does this otherwise.
async fn protect(core: &Core, job: &mut NewJob) -> Result<(), SubmitError> {
    let Some(protector) = &core.protector else { return Ok(()) };
    let protected = protector.protect(job, false).await;
    protected.map_err(|error| SubmitError::Key { job: job.spec.name.clone(), error })
}

/// Returns the store of a runtime as an `S`. `name` is the name of the job or graph, for the error.
fn downcast<'a, S: Store>(store: &'a dyn Store, name: &str) -> Result<&'a S, SubmitError> {
    let any: &dyn Any = store;
    any.downcast_ref().ok_or_else(|| {
        let store = type_name::<S>().rsplit("::").next().unwrap_or_default();
        let problem =
            format!("`in_tx` with this transaction needs a runtime whose store is a `{store}`");
        SubmitError::BadOption { job: name.to_owned(), problem }
    })
}
