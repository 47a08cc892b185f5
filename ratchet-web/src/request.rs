//! [`Request`]: one request with its access, and the responses to it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use jiff::Timestamp;
use ratchet_core::{ArchivedJobs, Filter, OperationId, OperationRecord, Ratchet};

use crate::access::Access;
use crate::dashboard::App;
use crate::link::{Fields, Root};
use crate::problem::Problem;

/// A request that was let in.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) app: Arc<App>,
    pub(crate) access: Access,
    pub(crate) root: Root,
    /// The path below the mount, such as `/jobs`.
    pub(crate) path: String,
    /// The values of the placeholders of the route.
    pub(crate) parameters: Vec<String>,
    pub(crate) query: Fields,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) now: Timestamp,
}

pub(crate) type Answer = Result<Response<Body>, Problem>;

impl Request {
    pub(crate) fn ratchet(&self) -> &Ratchet {
        &self.app.ratchet
    }

    /// Returns the id in the path.
    pub(crate) fn id<T: std::str::FromStr>(&self, what: &str) -> Result<T, Problem> {
        let text = self.parameters.first().map(String::as_str).unwrap_or_default();
        read_id(text, what)
    }

    /// Returns the bulk operation with this id.
    pub(crate) async fn operation(&self, id: &str) -> Result<OperationRecord, Problem> {
        self.sees_everything("bulk operations")?;
        let id: OperationId = read_id(id, "operation")?;
        let found = self.ratchet().operations().get(id).await?;
        found.ok_or_else(|| Problem::not_found(format!("there is no operation {id}")))
    }

    /// Returns the bulk operation that the address names.
    pub(crate) async fn operation_of_address(&self) -> Result<OperationRecord, Problem> {
        let id = self.parameters.first().map(String::as_str).unwrap_or_default();
        self.operation(id).await
    }

    /// Reads the filter of the query.
    pub(crate) fn filter(&self) -> Result<Filter, Problem> {
        Ok(Filter::parse(self.query.get("filter"), self.now)?)
    }

    /// Reads the filter of the query, and lets it select only archived jobs.
    pub(crate) fn archived_filter(&self) -> Result<Filter, Problem> {
        Ok(self.filter()?.archived(ArchivedJobs::Only))
    }

    /// Returns a field of the query, which must not be empty.
    pub(crate) fn wanted(&self, field: &str) -> Result<&str, Problem> {
        let value = self.query.get(field);
        if value.is_empty() {
            return Err(Problem::bad(format!("the field `{field}` of the query is missing")));
        }
        Ok(value)
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Reads the id of a job or group.
pub(crate) fn read_id<T: std::str::FromStr>(text: &str, what: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| {
        Problem::not_found(format!("`{}` is not the id of a {what}", crate::text::brief(text, 60)))
    })
}

/// Returns a response with this body and type.
pub(crate) fn response(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let value = HeaderValue::from_static(content_type);
    response.headers_mut().insert(header::CONTENT_TYPE, value);
    response
}

/// Redirects a browser to a relative link, with GET.
pub(crate) fn see_other(link: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(link) = HeaderValue::from_str(link) {
        response.headers_mut().insert(header::LOCATION, link);
    }
    response
}
