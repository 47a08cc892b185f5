//! What operators look at and do. The command line, the API and the pages are front ends of this module.

mod archive;
mod audit;
mod doctor;
mod failures;
mod overview;
mod reencrypt;
mod stored_review;
mod verb;

pub use archive::{ArchiveOverview, ArchivedState, WindowOverview};
pub use audit::{Audit, AuditError, AuditReport};
pub use doctor::{CHECKS, Check, Finding, Severity};
pub use failures::{FailureError, FailureGroup, FailureGroups, Failures};
pub use overview::{Overview, QueueOverview};
pub use reencrypt::{KeyUsage, Reencrypt, ReencryptError, Reencrypted};
pub use stored_review::{StoredKind, StoredReview, Stranded, StrandedReason};
pub use verb::{Capability, VERBS, Verb};
