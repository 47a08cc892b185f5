//! [`GroupHandle`]: queries, awaits, extends or cancels a submitted chain, batch or workflow.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{draw, svg};
use crate::client::WaitError;
use crate::client::acting::Manner;
use crate::client::ends::Ends;
use crate::runtime::Core;
use ratchet_store::model::{
    Command, CommandError, CommandReply, Edge, GroupFilter, GroupId, GroupRecord, GroupView, JobId,
    Member, Vertex,
};
use ratchet_store::{Store, StoreError};

/// A handle to a submitted chain, batch or workflow. Cheap to clone. Dropping it does not affect the group.
///
/// ```
/// # async fn demo(ratchet: ratchet_core::Ratchet, id: ratchet_core::GroupId) -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// let group = ratchet.group(id); // or what the submit has returned
/// println!("{}", group.to_text().await?);
/// let ended = group.wait_for(Duration::from_secs(60)).await?;
/// println!("{} of {} succeeded", ended.counts.succeeded, ended.counts.total);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct GroupHandle {
    id: GroupId,
    pub(in crate::client) core: Arc<Core>,
    warnings: Arc<[String]>,
    /// The tenant and the correlation id of the group, if this handle has submitted it.
    origin: Option<Arc<Origin>>,
    manner: Manner,
}

/// What the members of a group inherit from it.
#[derive(Debug, Default)]
pub(in crate::client) struct Origin {
    pub(in crate::client) tenant: Option<String>,
    pub(in crate::client) correlation_id: Option<String>,
}

impl GroupHandle {
    pub(super) fn new(id: GroupId, core: Arc<Core>) -> Self {
        Self { id, core, warnings: Arc::default(), origin: None, manner: Manner::default() }
    }

    /// Creates the handle of a group that is being submitted. Its transaction may not have been committed when members
    /// are added, so the handle keeps what they inherit.
    pub(super) fn submitted(group: &GroupRecord, core: Arc<Core>) -> Self {
        let (tenant, correlation_id) = (group.tenant.clone(), group.correlation_id.clone());
        let origin = Some(Arc::new(Origin { tenant, correlation_id }));
        Self { origin, ..Self::new(group.id, core) }
    }

    /// Returns what the members of the group inherit from it.
    pub(super) async fn origin(&self) -> Result<Arc<Origin>, StoreError> {
        if let Some(origin) = &self.origin {
            return Ok(Arc::clone(origin));
        }
        let origin = self
            .record()
            .await?
            .map(|group| Origin { tenant: group.tenant, correlation_id: group.correlation_id });
        Ok(Arc::new(origin.unwrap_or_default()))
    }

    /// Sets how the commands of this handle are made.
    pub(super) fn in_manner(self, manner: Manner) -> Self {
        Self { manner, ..self }
    }

    /// Adds the warnings of the submit.
    pub(super) fn with(self, warnings: Vec<String>) -> Self {
        Self { warnings: warnings.into(), ..self }
    }

    /// Returns the warnings of the submit: queues that no live worker serves or that are too deep.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the handle of another group.
    pub(crate) fn at(&self, id: GroupId) -> Self {
        Self::new(id, Arc::clone(&self.core))
    }

    /// Returns the id of the group.
    pub fn id(&self) -> GroupId {
        self.id
    }

    /// Returns the current record of the group with its counts; `None` if it was purged.
    pub async fn record(&self) -> Result<Option<GroupRecord>, StoreError> {
        self.core.store.group(self.id).await
    }

    /// Lists the jobs of the group, ordered by id: at most `limit`, starting after `after`.
    pub async fn members(
        &self,
        after: Option<JobId>,
        limit: u32,
    ) -> Result<Vec<Member>, StoreError> {
        self.core.store.members(self.id, after, limit).await
    }

    /// Returns the group with all jobs, edges and nested groups; `None` if it was purged. Reads everything at once. For
    /// a batch with a hundred thousand children, page through [`Self::members`] instead.
    pub async fn view(&self) -> Result<Option<GroupView>, StoreError> {
        let store = self.core.store.as_ref();
        match store.group(self.id).await? {
            Some(group) => view(store, group).await.map(Some),
            None => Ok(None),
        }
    }

    /// Renders the group as text, one line per step with its state. Empty if the group was purged.
    pub async fn to_text(&self) -> Result<String, StoreError> {
        Ok(self.view().await?.map(|view| draw::text(&view)).unwrap_or_default())
    }

    /// Renders the group in the DOT language of Graphviz, colored by state. Empty if the group was purged.
    pub async fn to_dot(&self) -> Result<String, StoreError> {
        Ok(self.view().await?.map(|view| draw::dot(&view)).unwrap_or_default())
    }

    /// Renders the group as self-contained SVG, colored by state. At most 2000 boxes are drawn. Empty if the group was
    /// purged.
    pub async fn to_svg(&self) -> Result<String, StoreError> {
        Ok(self.view().await?.map(|view| svg::svg(&view)).unwrap_or_default())
    }

    /// Waits until every member has ended. Callbacks may still be running.
    pub async fn wait(&self) -> Result<GroupRecord, WaitError> {
        /// The group is read again after as many jobs have ended as 1/16 of its remaining members, not after every end.
        const NEARER: u64 = 16;
        let mut ends = Ends::of(&self.core);
        loop {
            let group = self.record().await.map_err(WaitError::Store)?;
            let group = group.ok_or(WaitError::GroupGone(self.id))?;
            if group.state.is_ended() {
                return Ok(group);
            }
            let left = group.counts.total.saturating_sub(group.counts.ended());
            ends.next((left / NEARER).max(1), |_| true).await;
        }
    }

    /// Waits like [`Self::wait`], but no longer than `limit`.
    pub async fn wait_for(&self, limit: Duration) -> Result<GroupRecord, WaitError> {
        let timer = self.core.clock.sleep(limit);
        tokio::select! {
            biased;
            result = self.wait() => result,
            () = timer => Err(WaitError::GroupTimedOut { group: self.id, limit }),
        }
    }

    /// Cancels everything in the group that has not ended. Returns `false` if the group had already ended.
    pub async fn cancel(&self) -> Result<bool, CommandError> {
        let cancel = Command::CancelGroup(self.id);
        let reply = self.core.command_in_manner(&self.manner, "flows.cancel", cancel).await?;
        Ok(matches!(reply, CommandReply::GroupCanceled(_)))
    }
}

impl fmt::Debug for GroupHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupHandle").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Reads a group and everything in it.
async fn view(store: &dyn Store, group: GroupRecord) -> Result<GroupView, StoreError> {
    let mut open = vec![shallow(store, group).await?];
    let mut path = vec![inner(store, open[0].group.id).await?];
    // Depth first with an explicit stack, because the nesting depth of groups has no limit.
    loop {
        let next = path.last_mut().and_then(Vec::pop);
        match next {
            Some(group) => {
                path.push(inner(store, group.id).await?);
                open.push(shallow(store, group).await?);
            }
            None => {
                path.pop();
                let Some(done) = open.pop() else { unreachable_view() };
                match open.last_mut() {
                    Some(outer) => outer.groups.push(done),
                    None => return Ok(done),
                }
            }
        }
    }
}

fn unreachable_view() -> ! {
    unreachable!("there is one open group for every level of the path")
}

/// Returns the groups in a group, newest first, so that popping from the end yields the oldest first.
async fn inner(store: &dyn Store, id: GroupId) -> Result<Vec<GroupRecord>, StoreError> {
    store.groups(&GroupFilter::any().inside(id), None, u32::MAX).await
}

async fn shallow(store: &dyn Store, group: GroupRecord) -> Result<GroupView, StoreError> {
    let mut members = store.members(group.id, None, u32::MAX).await?;
    members.sort_by_key(|member| (member.number, member.id));
    let mut parents: Vec<_> =
        members.iter().filter(|member| member.edges).map(|member| Vertex::Job(member.id)).collect();
    for inner in inner(store, group.id).await? {
        parents.push(Vertex::Group(inner.id));
    }
    let mut edges = store.edges(&parents).await?;
    let own = store.edges(&[Vertex::Group(group.id)]).await?;
    let mut followers = Vec::new();
    for id in own.iter().filter_map(|edge: &Edge| edge.child.job()) {
        if let Some(job) = store.get(id).await?
            && job.spec.step.as_ref().is_some_and(|step| step.reports == Some(group.id))
        {
            followers.push(job.member());
        }
    }
    let reports = |edge: &Edge| followers.iter().any(|it| edge.child == Vertex::Job(it.id));
    edges.extend(own.into_iter().filter(reports));
    Ok(GroupView::new(group, members, edges, followers))
}
