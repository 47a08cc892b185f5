//! The data types shared by the client, the engine and the stores. They contain no I/O, and the rules on them are pure
//! functions.

mod archive;
mod attempt;
mod audit;
mod backoff;
mod breaker;
mod catalog;
mod change;
mod claim;
mod codes;
mod command;
mod content;
mod deadline;
mod envelope;
mod erasure;
mod failure_mark;
mod filter;
mod graph;
mod group;
mod hand_off;
mod histogram;
mod id;
pub mod limits;
mod lossless;
pub mod nesting;
mod new_job;
mod node;
mod node_request;
mod notice;
mod operation;
mod outcome;
mod pipeline;
mod priority;
mod protection;
mod queue;
mod rate;
mod record;
mod reject;
mod schedule;
mod settlement;
mod spec;
mod state;
mod stats;
mod step;
mod store_error;
mod successor;
mod suspects;
mod trace;
mod unknown_job;
mod unreadable;
mod vitals;

pub use archive::{ArchiveStatus, ArchivedJobs};
pub use attempt::{AttemptOutcome, AttemptRecord, LogLevel, LogLine};
pub use audit::{
    ACTOR_TEXT, Actor, AuditFilter, AuditHash, AuditHead, AuditNote, AuditRecord, AuditSigner,
};
pub use backoff::{Backoff, BackoffKind, Jitter, valid_factor};
pub(crate) use breaker::Phase;
pub use breaker::{
    Breaker, BreakerChange, BreakerRecord, BreakerSample, BreakerSettings, BreakerState,
    BreakerUpdate, CallResult, DeclaredSettings,
};
pub use catalog::{CatalogArg, CatalogEntry, CatalogRecord};
pub use change::{Change, ChangeError, ChangeReply, Changed, Target};
pub use claim::{ClaimReply, ClaimRequest, Claimed, KnownJobs, Orphan, QueueDemand};
pub use command::{CancelCause, Command, CommandError, CommandReply, Placement, Redriven};
pub use content::{ContentKey, ContentPage, ContentPlace, ContentRow, Rewrite};
pub use deadline::Deadline;
pub use envelope::{Envelope, FailureKind, FailureRecord, TerminalReason};
pub use erasure::{ErasedRows, Erasure, ErasurePhase, ErasureSubject, KeyKind, PurgeKeys};
pub use failure_mark::{FailureMark, FailureState, Judgment, MarkFailure, UnknownFailureState};
pub use filter::{
    ArgumentTest, CONDITIONS, Counts, Filter, FilterError, Page, PageRequest, QueueCounts,
};
pub use graph::{CanceledMember, Extend, GraphEffects, GraphInserted, GraphKey, NewGraph};
pub use group::{GroupCounts, GroupFilter, GroupKind, GroupRecord, GroupState, GroupView};
pub use hand_off::{HandOff, HandOffContent, HandOffStats, LATENCY_SAMPLE, NewHandOff};
pub use histogram::Histogram;
pub use id::{GroupId, JobId, LeaseId, NodeId, OperationId, Token};
pub use new_job::{
    ArgumentDigest, Debounce, Due, InsertError, Inserted, NewJob, OnConflict, RepeatCheck,
    TakenKey, later,
};
pub use node::{Declarations, Heartbeat, NodeInfo, NodeRecord};
pub use node_request::{NodeAction, NodeReply, NodeRequest, NodeUpdate};
pub use notice::{Alert, Backlog, Channel, Delivery, DeliveryBody, DeliveryId, Notice};
pub use operation::{
    BulkVerb, Canary, OperationControl, OperationFilter, OperationPage, OperationRecord,
    OperationReply, OperationState, OperationUpdate,
};
pub use outcome::{JobOutcome, OutcomeKind};
pub use pipeline::{Acceptor, HandOffAdmission, NewAdmission, PipelineRecord};
pub use priority::Priority;
pub use protection::{Confidential, Protection, Refusal, RefusalKind};
pub use queue::{DeclaredLimits, Gate, QueueLimits, QueueRecord, QueueRules, QueueUpdate};
pub(crate) use rate::Recent;
pub use rate::{KeyRate, Rate, RateWindow};
pub use record::{JobRecord, NOT_KEPT, Progress, not_kept};
pub use reject::{
    NewReject, Reject, RejectCount, RejectFilter, RejectGroup, interval_micros, reject_interval,
};
pub use schedule::{
    Declared, Missed, Overlap, ScheduleRecord, ScheduleWritten, Watch, WriteSchedule,
};
pub use settlement::{
    Applied, Deferral, DroppedChild, DroppedGraph, RunNotes, Settled, Settlement, Verdict,
};
pub use spec::{ConcurrencyKey, FinishedOutcome, FinishedParent, JobSpec, PanicPolicy, RunOptions};
pub use state::{JobState, TRANSITIONS, Transition, TransitionKind};
pub use stats::{
    BlockedBy, DeployMark, GaugeRow, HistogramError, MAX_HISTOGRAM_BYTES, StatCounts, StatRow,
    StatsBy, StatsHistory, StatsQuery, StatsTier,
};
pub use step::{
    AfterFailure, Edge, EdgeTrigger, Member, Resolution, Step, StepInput, Vertex, Wait, WaitMode,
};
pub use store_error::{StoreError, StoreErrorKind};
pub use successor::{NotEditable, Succession};
pub use suspects::{Suspects, Suspicion};
pub use trace::{InvalidTraceContext, TraceContext};
pub use unknown_job::UnknownJob;
pub use unreadable::Unreadable;
pub use vitals::{Connections, FileSizes, OpenTransaction, TableRows, Vitals};
