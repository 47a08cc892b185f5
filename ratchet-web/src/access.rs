//! [`Access`]: what a request may see and do.

use std::collections::BTreeSet;

use ratchet_core::{Capability, Filter, JobRecord};

/// What a request may see and do: an actor, capabilities and a scope.
///
/// The function given to [`Dashboard::access`](crate::Dashboard::access) returns it for every request.
///
/// ```
/// use ratchet_core::Capability;
/// use ratchet_web::Access;
///
/// let access = Access::operator("ada@example.com").queues(["mail"]);
/// assert!(access.may(Capability::ActJobs));
/// assert!(!access.may(Capability::Purge));
/// assert!(!Access::denied().may(Capability::See));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    actor: String,
    capabilities: BTreeSet<Capability>,
    arguments: bool,
    scope: Scope,
}

impl Access {
    /// Grants nothing. The response says that the request was denied.
    pub fn denied() -> Self {
        Self {
            actor: String::new(),
            capabilities: BTreeSet::new(),
            arguments: false,
            scope: Scope::default(),
        }
    }

    /// Sees everything except arguments, outputs and checkpoints, and changes nothing.
    pub fn viewer(actor: impl Into<String>) -> Self {
        Self::denied().named(actor).allow(Capability::See)
    }

    /// Sees arguments too, and changes jobs, queues, breakers, schedules, flows and nodes.
    pub fn operator(actor: impl Into<String>) -> Self {
        let mut access = Self::viewer(actor).see_arguments(true);
        access.capabilities.extend([
            Capability::ActJobs,
            Capability::ActQueues,
            Capability::ActBreakers,
            Capability::ActSchedules,
            Capability::ActFlows,
            Capability::ActNodes,
            Capability::Bulk,
        ]);
        access
    }

    /// Sees and does everything except revealing secrets: also submits jobs, deletes rows and repairs them.
    ///
    /// To reveal secrets, an access needs [`Capability::SeeSecrets`], which must be [allowed](Self::allow) explicitly. Each
    /// use is recorded in the audit trail.
    pub fn admin(actor: impl Into<String>) -> Self {
        let mut access = Self::operator(actor);
        access.capabilities.extend([Capability::Submit, Capability::Purge, Capability::Administer]);
        access
    }

    fn named(mut self, actor: impl Into<String>) -> Self {
        self.actor = actor.into();
        self
    }

    /// Adds a capability.
    #[must_use]
    pub fn allow(mut self, capability: Capability) -> Self {
        self.capabilities.insert(capability);
        self
    }

    /// Removes a capability.
    #[must_use]
    pub fn forbid(mut self, capability: Capability) -> Self {
        self.capabilities.remove(&capability);
        self
    }

    /// Sets whether arguments, outputs and checkpoints are shown. Arguments that are marked as secret never are.
    #[must_use]
    pub fn see_arguments(mut self, see: bool) -> Self {
        self.arguments = see;
        self
    }

    /// Restricts the access to jobs of these queues. Objects that span queues are not shown: flows, nodes, breakers,
    /// rejected items, pipelines and unreadable rows.
    #[must_use]
    pub fn queues<S: Into<String>>(mut self, queues: impl IntoIterator<Item = S>) -> Self {
        self.scope.queues = Some(queues.into_iter().map(Into::into).collect());
        self
    }

    /// Restricts the access to jobs with these names. Hides the same objects as [`Self::queues`], and queues.
    #[must_use]
    pub fn names<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.scope.names = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Restricts the access to jobs of these tenants. Hides the same objects as [`Self::queues`], except flows, and
    /// queues.
    #[must_use]
    pub fn tenants<S: Into<String>>(mut self, tenants: impl IntoIterator<Item = S>) -> Self {
        self.scope.tenants = Some(tenants.into_iter().map(Into::into).collect());
        self
    }

    /// Returns who makes the request.
    pub fn actor(&self) -> &str {
        &self.actor
    }

    /// Returns whether the request may use verbs that need this capability.
    pub fn may(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }

    /// Returns whether arguments, outputs and checkpoints are shown.
    pub fn sees_arguments(&self) -> bool {
        self.arguments
    }

    pub(crate) fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(crate) fn without_changes(mut self) -> Self {
        self.capabilities.retain(|capability| *capability == Capability::See);
        self
    }
}

/// Which jobs a request may see and change. A job must match every restriction that is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scope {
    queues: Option<BTreeSet<String>>,
    names: Option<BTreeSet<String>>,
    tenants: Option<BTreeSet<String>>,
}

impl Scope {
    /// Returns whether nothing is restricted.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether whole queues are visible: only queues are restricted, or nothing.
    pub(crate) fn sees_queues(&self) -> bool {
        self.names.is_none() && self.tenants.is_none()
    }

    /// Returns whether a queue as a whole may be seen and changed.
    pub(crate) fn queue(&self, queue: &str) -> bool {
        self.sees_queues() && allows(self.queues.as_ref(), Some(queue))
    }

    /// Returns whether a chain, batch or workflow of this tenant may be seen and changed.
    pub(crate) fn group(&self, tenant: Option<&str>) -> bool {
        self.queues.is_none() && self.names.is_none() && allows(self.tenants.as_ref(), tenant)
    }

    /// Returns whether a job with these properties may be seen and changed.
    pub(crate) fn allows(&self, queue: &str, name: &str, tenant: Option<&str>) -> bool {
        allows(self.queues.as_ref(), Some(queue))
            && allows(self.names.as_ref(), Some(name))
            && allows(self.tenants.as_ref(), tenant)
    }

    /// Returns whether a job may be seen and changed.
    pub(crate) fn job(&self, job: &JobRecord) -> bool {
        self.allows(&job.spec.queue, &job.spec.name, job.spec.tenant.as_deref())
    }

    /// Returns filters that together select the jobs that match `filter` and are in the scope. A job matches at most one
    /// of them.
    pub(crate) fn narrow(&self, filter: &Filter) -> Vec<Filter> {
        let mut filter = filter.clone();
        if !restrict(&mut filter.queues, self.queues.as_ref())
            || !restrict(&mut filter.names, self.names.as_ref())
        {
            return Vec::new();
        }
        let Some(tenants) = &self.tenants else { return vec![filter] };
        let tenants = tenants
            .iter()
            .filter(|tenant| filter.tenant.as_ref().is_none_or(|wanted| wanted == *tenant));
        tenants.map(|tenant| filter.clone().tenant(tenant)).collect()
    }
}

fn allows(wanted: Option<&BTreeSet<String>>, have: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| have.is_some_and(|have| wanted.contains(have)))
}

/// Removes the values outside of a scope from a list, of which an empty one means any value. Returns whether any value is
/// left.
fn restrict(values: &mut Vec<String>, scope: Option<&BTreeSet<String>>) -> bool {
    let Some(scope) = scope else { return true };
    if values.is_empty() {
        values.extend(scope.iter().cloned());
    } else {
        values.retain(|value| scope.contains(value));
    }
    !values.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(access: &Access, filter: &Filter) -> Vec<String> {
        access.scope().narrow(filter).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn o_08_the_scope_is_part_of_every_filter() {
        let access = Access::viewer("ada").queues(["a", "b"]).tenants(["t"]);
        assert_eq!(texts(&access, &Filter::any()), ["queue:a,b tenant:t"]);
        assert_eq!(texts(&access, &Filter::any().queue("b")), ["queue:b tenant:t"]);
        assert_eq!(texts(&access, &Filter::any().queue("c").queue("b")), ["queue:b tenant:t"]);
        let two = Access::viewer("ada").tenants(["t", "u"]);
        assert_eq!(texts(&two, &Filter::any().name("n")), ["name:n tenant:t", "name:n tenant:u"]);
        assert!(texts(&access, &Filter::any().queue("c")).is_empty());
        assert!(texts(&access, &Filter::any().tenant("other")).is_empty());
        assert_eq!(texts(&Access::viewer("ada"), &Filter::any()), [""]);
    }

    #[test]
    fn o_08_an_empty_scope_allows_nothing() {
        let access = Access::viewer("ada").queues(Vec::<String>::new());
        assert!(texts(&access, &Filter::any()).is_empty());
        assert!(!access.scope().queue("mail"));
    }
}
