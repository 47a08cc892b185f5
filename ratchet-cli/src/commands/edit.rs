//! `ratchet jobs edit`

use ratchet_core::{Edit, JobId};

use super::Session;
use super::jobs::{arguments, fenced, get, types};
use crate::args::Fence;
use crate::exit::Failure;

/// Submits a job with edited arguments in place of one that has ended. Prints its id.
pub(super) async fn edit(
    session: &Session,
    id: JobId,
    args: &[String],
    object: Option<&str>,
    fence: &Fence,
) -> Result<(), Failure> {
    let mut edit = Edit::new();
    if let Some(object) = object {
        // The text is passed on as it is, so that every number is exact.
        edit = edit.arguments(object);
    } else {
        let name = get(session, id).await?.spec.name.clone();
        let types = types(session, &name).await?;
        if let serde_json::Value::Object(fields) = arguments(args, None, &types)? {
            for (name, value) in fields {
                edit = edit.argument(name, value);
            }
        }
    }
    let jobs = fenced(session, fence);
    let new = jobs.check_edit(id, edit.clone()).await?;
    eprintln!("arguments: {new}");
    if !session.proceed(&format!("edit and retry job {id}"), false)? {
        return Ok(());
    }
    let successor = jobs.edit_and_retry(id, edit).await?;
    for warning in successor.warnings() {
        eprintln!("warning: {warning}");
    }
    let successor = successor.id();
    let value = serde_json::json!({ "successor_of": id, "successor": successor });
    session.out.object(&value, &successor.to_string())
}
