//! Handles for operators: jobs, queues, breakers, nodes, alerts, rejects, pipelines, failures and the audit trail, and what
//! they return.
//!
//! Each is returned by a method of [`Ratchet`](crate::Ratchet) with its name, and is cheap to clone.

pub use ratchet_core::{Actor, Audit, AuditError};
pub use ratchet_core::{
    Alerts, Archive, ArchiveOverview, ArchiveStatus, ArchivedJobs, ArchivedState, CHECKS,
    Capability, Check, FailureError, FailureGroup, FailureGroups, Failures, Finding, Overview,
    QueueOverview, Severity, VERBS, Verb, WindowOverview,
};
pub use ratchet_core::{
    BreakerSettings, BreakerState, Breakers, DeclaredLimits, DeclaredSettings, Explanation,
    GroupRef, JobCount, JobRef, Jobs, Nodes, Pipeline, Placement, QueueLimits, Queues, Rate,
    Redrive, Rejects, Waiting,
};
pub use ratchet_core::{
    Bulk, BulkError, BulkPreview, BulkVerb, Canary, OperationId, OperationRecord, OperationState,
    Operations,
};
pub use ratchet_core::{Catalog, CatalogJob};
pub use ratchet_core::{Edit, EditError, RevealError, Revealed, Succession};
pub use ratchet_core::{
    ErasedRows, Erasure, ErasurePhase, ErasurePreview, ErasureSubject, Erasures, KeyKind, Ledger,
};
pub use ratchet_core::{FailureMark, FailureState, Judgment};
pub use ratchet_core::{HandOffAdmission, HandOffStats, PipelineRecord};
pub use ratchet_core::{NodeAction, NodeError, NodeId, NodeRecord, NodeRequest};
pub use ratchet_core::{StoredKind, StoredReview, Stranded, StrandedReason};
