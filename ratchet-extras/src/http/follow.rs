//! Runs one job: checks its request, sends it, follows redirects and classifies the response.

use std::collections::BTreeMap;

use bytes::Bytes;
use hyper::header::{HeaderValue, LOCATION};
use hyper::{HeaderMap, Method, StatusCode};
use ratchet_core::{JobContext, JobError, fatal};

use super::exchange::{Answer, HopError, Outgoing, send};
use super::status::{StatusMeaning, meaning, retry_delay};
use super::target::Target;
use super::{Body, HttpError, HttpPolicy, HttpRefusal, HttpResponse, headers};

/// Runs the job. A refusal is counted.
pub(super) async fn run(
    ctx: &JobContext,
    policy: &HttpPolicy,
    method: &str,
    url: &str,
    job_headers: &BTreeMap<String, String>,
    body: Option<Body>,
) -> Result<HttpResponse, JobError> {
    let refuse = |refusal| policy.refusals.refuse(ctx, refusal);
    let (target, mut outgoing) = check(policy, method, url, job_headers, body).map_err(refuse)?;
    let mut key = HeaderValue::from_str(&ctx.idempotency_key()).ok();
    if let Some(key) = &mut key {
        key.set_sensitive(true);
    }
    outgoing.idempotency_key = key;
    let host = target.host.clone();
    let work = tokio::time::timeout(policy.timeout, perform(policy, target, outgoing));
    let ended = tokio::select! {
        biased;
        ended = work => ended,
        () = ctx.cancellation().cancelled() => return Err(HttpError::Stopped { host }.into()),
    };
    match ended {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(Failed::Hop(HopError::Refused(refusal)))) => Err(refuse(refusal)),
        Ok(Err(Failed::Hop(HopError::Failed(error)))) => Err(error.into_job_error()),
        Ok(Err(Failed::Status(error))) => Err(error),
        Err(_) => Err(HttpError::TimedOut { host, limit: policy.timeout }.into()),
    }
}

/// Checks whether the policy allows a `POST` to this URL, as far as no network is needed.
#[cfg(feature = "webhook")]
pub(crate) fn check_post(policy: &HttpPolicy, url: &str) -> Result<(), HttpRefusal> {
    check(policy, "POST", url, &BTreeMap::new(), None).map(drop)
}

/// Sends a `POST` request that belongs to no job. A status that is not a success is an error.
#[cfg(feature = "webhook")]
pub(crate) async fn post(
    policy: &HttpPolicy,
    url: &str,
    headers: &BTreeMap<String, String>,
    body: Vec<u8>,
) -> Result<(), ratchet_core::SinkError> {
    let (target, mut outgoing) = check(policy, "POST", url, headers, None)?;
    if body.len() > policy.max_request {
        let refusal = HttpRefusal::TooLarge { part: "contents", limit: policy.max_request };
        return Err(refusal.into());
    }
    outgoing.body = Bytes::from(body);
    let host = target.host.clone();
    match tokio::time::timeout(policy.timeout, perform(policy, target, outgoing)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(Failed::Hop(HopError::Refused(refusal)))) => Err(refusal.into()),
        Ok(Err(Failed::Hop(HopError::Failed(error)))) => Err(error.into()),
        Ok(Err(Failed::Status(error))) => Err(error.to_string().into()),
        Err(_) => Err(HttpError::TimedOut { host, limit: policy.timeout }.into()),
    }
}

enum Failed {
    Hop(HopError),
    Status(JobError),
}

impl<E: Into<HopError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Hop(error.into())
    }
}

/// Checks everything that needs no network.
fn check(
    policy: &HttpPolicy,
    method: &str,
    url: &str,
    job_headers: &BTreeMap<String, String>,
    body: Option<Body>,
) -> Result<(Target, Outgoing), HttpRefusal> {
    let allowed = policy.methods.iter().find(|allowed| allowed.as_str() == method);
    let Some(method) = allowed else {
        let method = method.chars().filter(char::is_ascii_graphic).take(40).collect();
        return Err(HttpRefusal::MethodNotAllowed { method });
    };
    let target = Target::parse(policy, url)?;
    let headers = headers::checked(job_headers, |name| policy.sets_header(name))?;
    let body = body.map(|body| body.to_bytes()).transpose().map_err(|_| HttpRefusal::BadBody)?;
    let body = Bytes::from(body.unwrap_or_default());
    if body.len() > policy.max_request {
        return Err(HttpRefusal::TooLarge { part: "contents", limit: policy.max_request });
    }
    let method = method.clone();
    Ok((target, Outgoing { method, headers, idempotency_key: None, body }))
}

/// Sends the request and follows redirects.
async fn perform(
    policy: &HttpPolicy,
    mut target: Target,
    mut outgoing: Outgoing,
) -> Result<HttpResponse, Failed> {
    let mut followed = 0;
    loop {
        let answer = send(policy, &target, &outgoing).await?;
        let status = answer.status.as_u16();
        if !is_redirect(answer.status) || policy.statuses.contains_key(&status) {
            return judge(policy, &target, answer).await;
        }
        let not_followed = |why| HttpError::Redirect { host: target.host.clone(), status, why };
        if followed == policy.redirects {
            let why = if followed == 0 { "the policy allows none" } else { "there are too many" };
            return Err(not_followed(why).into());
        }
        followed += 1;
        let location = answer.headers.get(LOCATION).and_then(|location| location.to_str().ok());
        let location = location.ok_or_else(|| not_followed("it has no location"))?;
        let next = target.redirect(policy, location)?;
        outgoing = redirected(policy, outgoing, answer.status, next.is_same_origin(&target))?;
        target = next;
    }
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Returns what is sent to the target of a redirect.
fn redirected(
    policy: &HttpPolicy,
    mut outgoing: Outgoing,
    status: StatusCode,
    is_same_origin: bool,
) -> Result<Outgoing, HttpRefusal> {
    let is_get = matches!(outgoing.method, Method::GET | Method::HEAD);
    let becomes_get = match status.as_u16() {
        303 => !is_get,
        301 | 302 => outgoing.method == Method::POST,
        _ => false,
    };
    if becomes_get {
        if !policy.methods.contains(&Method::GET) {
            return Err(HttpRefusal::MethodNotAllowed { method: "GET".to_owned() });
        }
        outgoing.method = Method::GET;
        outgoing.body = Bytes::new();
        outgoing.headers.remove(hyper::header::CONTENT_TYPE);
    }
    if !is_same_origin {
        headers::keep_harmless(&mut outgoing.headers);
        outgoing.idempotency_key = None;
    }
    Ok(outgoing)
}

/// Translates a response to the outcome of the job.
async fn judge(
    policy: &HttpPolicy,
    target: &Target,
    answer: Answer,
) -> Result<HttpResponse, Failed> {
    let status = answer.status.as_u16();
    let meaning = policy.statuses.get(&status).copied().unwrap_or_else(|| meaning(status));
    let error = || HttpError::Status { host: target.host.clone(), status };
    match meaning {
        StatusMeaning::Success => {
            let headers = kept(policy, &answer.headers);
            let body = answer.read(policy.max_body).await?;
            let keep = body.len().min(policy.keep_body);
            let cut = (body.len() - keep) as u64;
            Ok(HttpResponse { status, headers, body: Body::from_bytes(&body[..keep]), cut })
        }
        StatusMeaning::Retry => {
            let delay = retry_delay(&answer.headers).map(|delay| delay.min(policy.max_retry_after));
            Err(Failed::Status(error().retried_after(delay)))
        }
        StatusMeaning::Fatal => Err(Failed::Status(fatal(error()).into())),
    }
}

fn kept(policy: &HttpPolicy, headers: &HeaderMap) -> BTreeMap<String, String> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let kept = policy.kept_headers.iter().filter_map(|name| Some((name, headers.get(name)?)));
    kept.map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}
