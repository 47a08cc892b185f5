//! The files of the pages. Their names contain a digest of their content, so that browsers may keep them.

use std::sync::LazyLock;

use axum::http::{HeaderValue, StatusCode, header};
use sha2::{Digest, Sha256};

use crate::problem::Problem;
use crate::request::{Answer, Request, response};

struct Asset {
    name: String,
    content_type: &'static str,
    content: &'static [u8],
}

static ASSETS: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    [
        asset("style", "css", "text/css; charset=utf-8", include_bytes!("../assets/style.css")),
        asset(
            "script",
            "js",
            "text/javascript; charset=utf-8",
            include_bytes!("../assets/script.js"),
        ),
        asset("icon", "svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
    ]
});

fn asset(stem: &str, ending: &str, content_type: &'static str, content: &'static [u8]) -> Asset {
    let digest = Sha256::digest(content);
    let start = digest.iter().take(6).fold(0_u64, |start, byte| start << 8 | u64::from(*byte));
    Asset { name: format!("{stem}-{start:012x}.{ending}"), content_type, content }
}

/// Returns the path of the asset with this stem: `style`, `script` or `icon`.
pub(crate) fn path(stem: &str) -> String {
    let asset = ASSETS.iter().find(|asset| asset.name.split('-').next() == Some(stem));
    format!("assets/{}", asset.map(|asset| asset.name.as_str()).unwrap_or_default())
}

pub(crate) async fn serve(request: Request) -> Answer {
    let name = request.parameters.first().map(String::as_str).unwrap_or_default();
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return Err(Problem::not_found("there is no such file; reload the page"));
    };
    let mut response = response(StatusCode::OK, asset.content_type, asset.content);
    let kept = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(header::CACHE_CONTROL, kept);
    Ok(response)
}
