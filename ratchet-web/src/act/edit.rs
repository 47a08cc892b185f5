//! Edit and retry: a job with edited arguments in place of one that has failed or was canceled.

use ratchet_core::{Edit, JobRecord, Jobs};
use ratchet_store::rules::successor;

use super::perform::target_job;
use super::{Done, Order, Preview};
use crate::arguments::Arguments;
use crate::problem::Problem;
use crate::request::Request;
use crate::text::{brief, shell};

/// Returns why a job cannot be edited, if it cannot.
pub(crate) async fn refusal(request: &Request, job: &JobRecord) -> Result<Option<String>, Problem> {
    if !request.access.sees_arguments() {
        return Ok(Some("your access does not include arguments".to_owned()));
    }
    let links = request.ratchet().jobs().succession(job.id).await?;
    Ok(successor::check(job, None, links.successor).err().map(|error| error.to_string()))
}

/// Says what an edit would do. The form has the present arguments. Secret ones are masked, and kept if they stay masked.
pub(super) async fn preview(request: &Request, order: &Order) -> Result<Preview, Problem> {
    let job = target_job(request, order).await?;
    let refused = refusal(request, &job).await?;
    let refused = refused.map(|why| format!("This is not possible: {why}."));
    let mut sentences = vec![
        format!(
            "Job {} is `{}` in queue `{}`, and it is {}.",
            job.id,
            brief(&job.spec.name, 80),
            brief(&job.spec.queue, 80),
            job.state.name().to_lowercase()
        ),
        "A new job with these arguments is submitted in its place, with the same options. This job stays as it is, and cannot be retried after that.".to_owned(),
    ];
    let mut command = job.id.to_string();
    let mut hidden = Vec::new();
    if refused.is_none() {
        sentences.push(
            "A secret argument is shown as ***, and keeps its value unless you replace it."
                .to_owned(),
        );
        let arguments = match order.fields.get("arguments") {
            "" => match Arguments::of(request.ratchet(), &job) {
                Arguments::Masked => "{}".to_owned(),
                fields @ Arguments::Fields(_) => fields.to_json(),
            },
            given => given.to_owned(),
        };
        command = format!("{command} --object {}", shell(&arguments));
        hidden.push(("arguments", arguments));
    }
    let back = (format!("jobs/{}", job.id), Vec::new());
    let version = Some(job.version);
    Ok(Preview { sentences, refused, command, version, hidden, back })
}

/// Submits the successor. The page of the successor shows the result.
pub(super) async fn perform(
    request: &Request,
    jobs: &Jobs,
    job: &JobRecord,
    order: &Order,
) -> Result<Done, Problem> {
    if !request.access.sees_arguments() {
        return Err(Problem::new("denied", "your access does not include arguments"));
    }
    let edit = match order.fields.get("arguments") {
        "" => Edit::new(),
        arguments => Edit::new().arguments(arguments),
    };
    let successor = jobs.edit_and_retry(job.id, edit).await?;
    Ok(Done { path: "jobs", job: Some(successor.id()), ..Done::default() })
}
