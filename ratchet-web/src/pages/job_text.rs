//! The arguments and the output of a job as files.

use axum::http::{HeaderValue, StatusCode, header};

use crate::arguments::Arguments;
use crate::problem::Problem;
use crate::request::{Answer, Request, response};

pub(crate) async fn arguments(request: Request) -> Answer {
    let job = request.job(request.id("job")?).await?;
    visible(&request)?;
    let text = Arguments::of(request.ratchet(), &job).to_json();
    Ok(file(text, &format!("{}-arguments.json", job.id)))
}

pub(crate) async fn output(request: Request) -> Answer {
    let job = request.job(request.id("job")?).await?;
    visible(&request)?;
    let Some(output) = job.output else {
        return Err(Problem::not_found(format!("job {} has no output", job.id)));
    };
    Ok(file(output, &format!("{}-output.json", job.id)))
}

fn visible(request: &Request) -> Result<(), Problem> {
    if request.access.sees_arguments() {
        return Ok(());
    }
    Err(Problem::new("denied", "your access does not include arguments and outputs"))
}

/// Returns a document that browsers save and do not show.
fn file(text: String, name: &str) -> axum::http::Response<axum::body::Body> {
    let mut response = response(StatusCode::OK, "application/json", text);
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}
