//! [`HttpResponse`]: the output of the job `ratchet.http`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Body;

/// The output of the job `ratchet.http`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// The headers that the policy keeps, by their name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The beginning of the body, up to the `keep_body` of the policy.
    pub body: Body,
    /// How many bytes of the body were received but are not in `body`.
    pub cut: u64,
}
