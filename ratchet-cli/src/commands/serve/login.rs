//! The page that exchanges a token for a cookie.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::routing::get;
use ratchet_web::Access;

use super::Tokens;

/// How many wrong tokens are accepted per minute, over all clients.
const MOST_WRONG: usize = 10;

/// Checks tokens, of the header `Authorization` or of a cookie.
#[derive(Debug)]
pub(super) struct Login {
    tokens: Option<Tokens>,
    https: bool,
    /// When wrong tokens were sent, in the last minute.
    wrong: Mutex<VecDeque<Instant>>,
}

impl Login {
    pub(super) fn new(tokens: Option<Tokens>, https: bool) -> Self {
        Self { tokens, https, wrong: Mutex::default() }
    }

    /// Returns the name of the cookie. Browsers send one with the prefix `__Host-` only with HTTPS and to this host.
    fn cookie(&self) -> &'static str {
        if self.https { "__Host-ratchet" } else { "ratchet-token" }
    }

    /// Returns what the token of a request allows.
    pub(super) fn access(&self, headers: &HeaderMap) -> Option<Access> {
        let tokens = self.tokens.as_ref()?;
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        if let Some(token) =
            text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "))
        {
            return tokens.access(token.trim());
        }
        let cookies = text(header::COOKIE)?.split(';');
        let token = cookies
            .filter_map(|cookie| cookie.trim().split_once('='))
            .find(|(name, _)| *name == self.cookie());
        tokens.access(token?.1)
    }

    /// Returns what a token allows, unless too many wrong ones were sent.
    fn check(&self, token: &str) -> Result<bool, ()> {
        let now = Instant::now();
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        while wrong.front().is_some_and(|at| now.duration_since(*at) > Duration::from_mins(1)) {
            wrong.pop_front();
        }
        if wrong.len() >= MOST_WRONG {
            return Err(());
        }
        let valid = self.tokens.as_ref().is_some_and(|tokens| tokens.access(token).is_some());
        if !valid {
            wrong.push_back(now);
        }
        Ok(valid)
    }
}

/// Adds the page to a dashboard. A request of a browser that is denied leads to it.
pub(super) fn with_login(dashboard: Router, login: Arc<Login>) -> Router {
    let has_tokens = login.tokens.is_some();
    let post = {
        let login = Arc::clone(&login);
        move |request: Request| enter(Arc::clone(&login), request)
    };
    let leave = move || async move {
        let expired = format!("{}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict", login.cookie());
        with_cookie(&expired, login.https)
    };
    let ask = move |request: Request, next: Next| async move {
        let path = request.uri().path().to_owned();
        let is_page = request.method() == axum::http::Method::GET && !path.starts_with("/api/");
        let has_token = request.headers().contains_key(header::AUTHORIZATION);
        let response = next.run(request).await;
        let denied = response.status() == StatusCode::FORBIDDEN;
        if has_tokens && denied && is_page && !has_token {
            let up = "../".repeat(path.matches('/').count().saturating_sub(1));
            return redirect(&format!("./{up}login"));
        }
        response
    };
    dashboard
        .layer(from_fn(ask))
        .route("/login", get(|| async { page(StatusCode::OK, "") }).post(post))
        .route("/logout", axum::routing::post(leave))
}

async fn enter(login: Arc<Login>, request: Request) -> Response<Body> {
    let site = request.headers().get("sec-fetch-site").and_then(|site| site.to_str().ok());
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return page(StatusCode::FORBIDDEN, "The request came from another site.");
    }
    let Ok(body) = to_bytes(request.into_body(), 4096).await else {
        return page(StatusCode::PAYLOAD_TOO_LARGE, "The request is too large.");
    };
    let fields = form_urlencoded::parse(&body);
    let token = fields.into_owned().find(|(name, _)| name == "token").map(|(_, token)| token);
    let token = token.unwrap_or_default().trim().to_owned();
    match login.check(&token) {
        Ok(true) => {
            let week = 7 * 24 * 3600;
            let cookie = format!(
                "{}={token}; Path=/; Max-Age={week}; HttpOnly; SameSite=Strict",
                login.cookie()
            );
            with_cookie(&cookie, login.https)
        }
        Ok(false) => page(StatusCode::UNAUTHORIZED, "The token is not valid, or it has expired."),
        Err(()) => page(
            StatusCode::TOO_MANY_REQUESTS,
            "Too many wrong tokens were sent. Try again in a minute.",
        ),
    }
}

/// Sets a cookie and leads to the overview.
fn with_cookie(cookie: &str, https: bool) -> Response<Body> {
    let cookie = if https { format!("{cookie}; Secure") } else { cookie.to_owned() };
    let mut response = redirect("./overview");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

fn redirect(link: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(link) = HeaderValue::from_str(link) {
        response.headers_mut().insert(header::LOCATION, link);
    }
    response
}

/// Returns the form. The message is one of this file, so that it needs no escapes.
fn page(status: StatusCode, message: &str) -> Response<Body> {
    let alert =
        if message.is_empty() { String::new() } else { format!("<p role=\"alert\">{message}</p>") };
    let html = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Ratchet</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\"></head>\
         <body><main><h1>Ratchet</h1>{alert}<form method=\"post\" action=\"./login\">\
         <p><label for=\"token\">Token</label></p><p><input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"current-password\" required></p>\
         <p><button>Log in</button></p></form><p>Create a token with <code>ratchet token NAME</code>.</p></main></body></html>"
    );
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
