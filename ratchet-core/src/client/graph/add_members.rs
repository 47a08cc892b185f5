//! [`AddMembers`]: more children of an open batch.

use std::pin::Pin;
use std::sync::Arc;

use super::draft::insert;
use super::handle::GroupHandle;
use crate::client::{Enqueue, JobHandle, SubmitError, order};
use crate::events::JobRef;
use crate::job::FirstStep;
use ratchet_store::model::{Extend, Inserted, NewJob, Step};

/// More children of an open batch, about to be added: `.await` it, or add it in a transaction with `.in_tx(&mut tx)`. All
/// of them are added, or none.
///
/// ```
/// # use ratchet_core::{FirstStep, GroupHandle, SubmitError};
/// # async fn demo<J: FirstStep>(batch: &GroupHandle, pages: Vec<J>) -> Result<(), SubmitError> {
/// // The batch was submitted with `open()`, before the number of pages was known.
/// let handles = batch.add(pages).and_seal().await?;
/// println!("{} pages were added to {}", handles.len(), batch.id());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "the children are added only when this is awaited"]
pub struct AddMembers<J> {
    pub(in crate::client) group: GroupHandle,
    jobs: Result<Vec<NewJob>, SubmitError>,
    seal: bool,
    _job: std::marker::PhantomData<fn() -> J>,
}

impl GroupHandle {
    /// Adds children to an open batch: all of them or none. Returns one handle per job, in order.
    ///
    /// Children without a tenant or correlation id of their own get those of the batch.
    pub fn add<J: FirstStep>(&self, jobs: impl IntoIterator<Item = J>) -> AddMembers<J> {
        let jobs = jobs.into_iter().map(|job| Enqueue::step(&self.core, &job).into_new_job());
        AddMembers {
            group: self.clone(),
            jobs: jobs.collect(),
            seal: false,
            _job: std::marker::PhantomData,
        }
    }

    /// Seals an open batch: no more children can be added, and the batch ends when its children have ended.
    pub async fn seal(&self) -> Result<(), SubmitError> {
        extend(self, Vec::new(), true).await.map(drop)
    }
}

impl<J> AddMembers<J> {
    /// Seals the batch after the children were added, in the same commit.
    pub fn and_seal(mut self) -> Self {
        self.seal = true;
        self
    }

    /// Returns the checked rows.
    pub(in crate::client) async fn into_extend(self) -> Result<Extend, SubmitError> {
        let mut jobs = self.jobs?;
        let origin = self.group.origin().await?;
        for job in &mut jobs {
            let spec = &mut job.spec;
            order::refuse_step(spec)?;
            spec.tenant = spec.tenant.take().or_else(|| origin.tenant.clone());
            spec.correlation_id =
                spec.correlation_id.take().or_else(|| origin.correlation_id.clone());
            spec.step = Some(Box::new(Step::new(Some(self.group.id()))));
        }
        Ok(Extend { group: self.group.id(), jobs, seal: self.seal })
    }

    async fn submit(self) -> Result<Vec<JobHandle<J>>, SubmitError> {
        let (group, seal) = (self.group.clone(), self.seal);
        let jobs = self.into_extend().await?.jobs;
        Ok(handles(&group, &extend(&group, jobs, seal).await?))
    }
}

impl<J: 'static> IntoFuture for AddMembers<J> {
    type Output = Result<Vec<JobHandle<J>>, SubmitError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.submit())
    }
}

/// Returns the handles of jobs that were added to a group.
pub(in crate::client) fn handles<J>(
    group: &GroupHandle,
    inserted: &[Inserted],
) -> Vec<JobHandle<J>> {
    let handle = |job: &Inserted| JobHandle::new(job.id(), Arc::clone(&group.core), Vec::new());
    inserted.iter().map(handle).collect()
}

async fn extend(
    group: &GroupHandle,
    jobs: Vec<NewJob>,
    seal: bool,
) -> Result<Vec<Inserted>, SubmitError> {
    let about = JobRef::of_all(&jobs);
    let extend = group.core.store.add_members(Extend { group: group.id(), jobs, seal });
    let (inserted, _) = insert(&group.core, &about, "", extend).await?;
    Ok(inserted.jobs)
}
