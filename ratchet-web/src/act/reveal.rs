//! Reveals the secrets of a job. They are part of one answer, which must not be stored anywhere.

use ratchet_core::{JobId, Jobs};

use super::perform::target_job;
use super::{Done, Order, Preview};
use crate::problem::Problem;
use crate::request::Request;
use crate::text::brief;

/// Says what is shown, and that it is recorded.
pub(super) async fn preview(request: &Request, order: &Order) -> Result<Preview, Problem> {
    let job = target_job(request, order).await?;
    let sentences = vec![
        format!(
            "The next page shows the arguments, the output and the checkpoint of job {}, which is `{}`, with their secrets.",
            job.id,
            brief(&job.spec.name, 80)
        ),
        "The audit trail records that you have seen them, when, and the reason that you give."
            .to_owned(),
    ];
    let refused = (!request.access.sees_arguments())
        .then(|| "This is not possible: your access does not include arguments.".to_owned());
    let command = job.id.to_string();
    let version = Some(job.version);
    let back = (format!("jobs/{}", job.id), Vec::new());
    Ok(Preview { sentences, refused, command, version, back, ..Preview::default() })
}

/// Reveals the secrets. The entry in the audit trail is committed first.
pub(super) async fn perform(request: &Request, jobs: &Jobs, job: JobId) -> Result<Done, Problem> {
    if !request.access.sees_arguments() {
        return Err(Problem::new("denied", "your access does not include arguments"));
    }
    let revealed = jobs.reveal(job).await?;
    Ok(Done { path: "jobs", job: Some(job), revealed: Some(Box::new(revealed)), ..Done::default() })
}
