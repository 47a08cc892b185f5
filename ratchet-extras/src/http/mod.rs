//! The job `ratchet.http`: sends a request to an allowed host.
//!
//! The [`HttpPolicy`] allows methods, hosts and ports. The host is resolved once. The request is refused if any of its
//! addresses is not public, and the connection is made to one of the checked addresses, so that a second answer of the
//! name server changes nothing. Redirects are not followed unless the policy allows them, and each one is checked like a
//! new request. The size and the time of a response are limited, before and after decompression. Proxies of the
//! environment are not used.
//!
//! ```no_run
//! use std::time::Duration;
//! use ratchet::{MemoryStore, Ratchet};
//! use ratchet_extras::http::{Http, HttpPolicy};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let policy = HttpPolicy::builder()
//!     .method("POST")
//!     .host("api.example.com")
//!     .credential("api.example.com", "authorization", "Bearer …")
//!     .idempotency_header("idempotency-key")
//!     .timeout(Duration::from_secs(20))
//!     .build()?;
//! let ratchet = Ratchet::builder(MemoryStore::new()).state(policy).build().await?;
//! let worker = ratchet.start().await?;
//!
//! let request = Http::post("https://api.example.com/orders").json(&[("order", 7)])?;
//! let response = ratchet.enqueue(request).await?.wait().await?;
//! println!("{} {:?}", response.status, response.body.text());
//! # worker.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Statuses
//!
//! | status | meaning |
//! |---|---|
//! | 2xx | the job succeeds |
//! | 408, 425, 429, 5xx | the attempt fails; `Retry-After` is the delay before the next one, up to the limit of the policy |
//! | others | the job fails permanently |
//!
//! [`ok_status`](HttpPolicyBuilder::ok_status), [`retry_status`](HttpPolicyBuilder::retry_status) and
//! [`fatal_status`](HttpPolicyBuilder::fatal_status) change the meaning of one status. A request can be sent more than
//! once, because a job is run at least once. [`idempotency_header`](HttpPolicyBuilder::idempotency_header) lets the server
//! recognize a repeat.
//!
//! The client speaks HTTP/1.1 and opens a connection per request.

mod address;
mod body;
mod connect;
mod decode;
mod error;
mod exchange;
mod follow;
mod headers;
mod hosts;
mod policy;
mod refusal;
mod request;
mod resolve;
mod response;
mod status;
mod target;

use std::collections::BTreeMap;

use ratchet_core::{JobContext, JobError, State};
use ratchet_macros::job;

pub use self::body::{Body, BodyError};
pub use self::error::HttpError;
#[cfg(feature = "webhook")]
pub(crate) use self::follow::{check_post, post};
pub use self::policy::{HttpPolicy, HttpPolicyBuilder, HttpPolicyError};
pub use self::refusal::HttpRefusal;
pub use self::resolve::Resolve;
pub use self::response::HttpResponse;

/// Sends a request that the [`HttpPolicy`] allows. The stored name of the job is `ratchet.http`.
///
/// See the [module](self) for what is refused and what a status means.
#[job(name = "ratchet.http", derive(Debug, Clone, PartialEq), crate = ::ratchet_core)]
pub async fn http(
    #[inject] ctx: JobContext,
    #[inject] policy: State<HttpPolicy>,
    /// The method, in upper case.
    method: String,
    /// The absolute URL.
    url: String,
    /// The headers.
    #[job(default, secret)]
    headers: BTreeMap<String, String>,
    /// The body.
    #[job(default)]
    body: Option<Body>,
) -> Result<HttpResponse, JobError> {
    follow::run(&ctx, &policy, &method, &url, &headers, body).await
}
