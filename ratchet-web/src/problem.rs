//! [`Problem`]: why a request was not answered, for the pages and, as an RFC 9457 document, for the API.

use std::error::Error;

use axum::http::StatusCode;
use ratchet_core::{
    BulkError, EditError, FailureError, NodeError, RevealError, ScheduleError, StoreError,
    StoreErrorKind, SubmitError,
};
use ratchet_store::model::{CommandError, FilterError};
use serde::Serialize;

/// Why a request was not answered.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Problem {
    /// The kind of problem, as a relative reference into the documentation of the API.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) title: &'static str,
    #[serde(serialize_with = "number")]
    pub(crate) status: StatusCode,
    pub(crate) detail: String,
    /// For a job that has moved: its present state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<&'static str>,
    /// For a job that has moved: its present version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<u64>,
    /// For an argument that does not fit: where it is, as a JSON path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn number<S: serde::Serializer>(status: &StatusCode, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u16(status.as_u16())
}

/// Every kind of problem with its status and title.
pub(crate) const KINDS: [(&str, u16, &str); 12] = [
    ("bad-request", 400, "The request cannot be read"),
    ("denied", 403, "The request was denied"),
    ("read-only", 403, "The dashboard is read-only"),
    ("not-found", 404, "There is no such object"),
    ("method", 405, "The method is not allowed"),
    ("conflict", 409, "The state of the object does not allow this"),
    ("moved", 412, "The job has changed"),
    ("too-large", 413, "The request is too large"),
    ("refused", 422, "The request was refused"),
    ("if-match", 428, "The version of the job is missing"),
    ("store", 500, "The store returned an error"),
    ("unavailable", 503, "The store is unavailable"),
];

impl Problem {
    pub(crate) fn new(kind: &'static str, detail: impl Into<String>) -> Self {
        let row = KINDS.iter().find(|row| row.0 == kind);
        let (status, title) = row.map_or((500, "The request failed"), |row| (row.1, row.2));
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { kind, title, status, detail: detail.into(), state: None, version: None, path: None }
    }

    pub(crate) fn bad(detail: impl Into<String>) -> Self {
        Self::new("bad-request", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new("not-found", detail)
    }

    fn of(kind: &'static str, error: &dyn Error) -> Self {
        Self::new(kind, with_sources(error))
    }
}

/// Returns the message of an error and of its sources.
fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

fn store_kind(error: &StoreError) -> &'static str {
    match error.kind() {
        StoreErrorKind::Unavailable | StoreErrorKind::Locked | StoreErrorKind::Full => {
            "unavailable"
        }
        StoreErrorKind::ReadOnly => "read-only",
        StoreErrorKind::Denied => "denied",
        StoreErrorKind::Data | StoreErrorKind::Config => "refused",
        _ => "store",
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::of(store_kind(&error), &error)
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        if let CommandError::Moved { version, state, .. } = &error {
            let mut problem = Self::of("moved", &error);
            problem.state = Some(state.name());
            problem.version = Some(*version);
            return problem;
        }
        let kind = match &error {
            CommandError::NotFound(_)
            | CommandError::GroupNotFound(_)
            | CommandError::OperationNotFound(_) => "not-found",
            CommandError::NotAllowed { .. } | CommandError::BadQueue(_) => "refused",
            CommandError::Store(error) => store_kind(error),
            _ => "conflict",
        };
        Self::of(kind, &error)
    }
}

impl From<ScheduleError> for Problem {
    fn from(error: ScheduleError) -> Self {
        let kind = match &error {
            ScheduleError::NotFound(_) => "not-found",
            ScheduleError::Contended(_) => "conflict",
            ScheduleError::Store(error) => store_kind(error),
            _ => "refused",
        };
        Self::of(kind, &error)
    }
}

impl From<FailureError> for Problem {
    fn from(error: FailureError) -> Self {
        let kind = match &error {
            FailureError::NotFound { .. } => "not-found",
            FailureError::Store(error) => store_kind(error),
            _ => "refused",
        };
        Self::of(kind, &error)
    }
}

impl From<NodeError> for Problem {
    fn from(error: NodeError) -> Self {
        let kind = match &error {
            NodeError::NotFound(_) => "not-found",
            NodeError::Stopping(_) => "conflict",
            NodeError::Store(error) => store_kind(error),
            _ => "refused",
        };
        Self::of(kind, &error)
    }
}

impl From<BulkError> for Problem {
    fn from(error: BulkError) -> Self {
        match error {
            BulkError::Command(error) => error.into(),
            error => Self::of("conflict", &error),
        }
    }
}

impl From<SubmitError> for Problem {
    fn from(error: SubmitError) -> Self {
        let path = match &error {
            SubmitError::BadArgument { path, .. } => Some(path.clone()),
            _ => None,
        };
        Self { path, ..Self::of("refused", &error) }
    }
}

impl From<EditError> for Problem {
    fn from(error: EditError) -> Self {
        match error {
            EditError::Command(error) => error.into(),
            EditError::Submit(error) => error.into(),
            error => Self::of("refused", &error),
        }
    }
}

impl From<RevealError> for Problem {
    fn from(error: RevealError) -> Self {
        match error {
            RevealError::Command(error) => error.into(),
            error => Self::of("refused", &error),
        }
    }
}

impl From<FilterError> for Problem {
    fn from(error: FilterError) -> Self {
        Self::of("bad-request", &error)
    }
}
