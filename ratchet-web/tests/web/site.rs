//! Requests to a router, without a network.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use ratchet::Ratchet;
use ratchet_web::Access;
use tower::ServiceExt as _;

/// A response that was read.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: header::HeaderName) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// A dashboard for one access.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    router: Router,
}

impl Site {
    pub(crate) fn new(ratchet: &Ratchet, access: Access) -> Self {
        Self::of(ratchet_web::router(ratchet).access(move |_| access.clone()).title("test").build())
    }

    pub(crate) fn of(router: Router) -> Self {
        Self { router }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.expect("a router does not fail")
    }

    pub(crate) async fn read(&self, request: Request<Body>) -> Reply {
        let response = self.send(request).await;
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        let body = String::from_utf8_lossy(&bytes).into_owned();
        Reply { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.read(Request::get(path).body(Body::empty()).expect("a request")).await
    }

    pub(crate) async fn post(&self, path: &str, form: &[(&str, &str)]) -> Reply {
        let body: String =
            form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        let request = Request::post(path)
            .header(header::HOST, "shop.example")
            .header("sec-fetch-site", "same-origin")
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(body));
        self.read(request.expect("a request")).await
    }
}
