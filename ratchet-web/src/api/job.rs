//! A job as a JSON document.

use ratchet_core::{HandOffAdmission, JobRecord, Succession};

use crate::arguments::Arguments;
use crate::request::Request;

/// Returns the document of a job. Arguments, output and checkpoint are included if the access allows it. Arguments are
/// the stored text, so that every number is exact.
pub(crate) fn document(request: &Request, job: &JobRecord) -> String {
    let mut value = serde_json::to_value(job).unwrap_or_default();
    let Some(fields) = value.as_object_mut() else { return value.to_string() };
    let output = job.output.as_deref().filter(|_| request.access.sees_arguments());
    fields.remove("output");
    if !request.access.sees_arguments() {
        fields.remove("checkpoint");
        return value.to_string();
    }
    let arguments = Arguments::of(request.ratchet(), job).to_json();
    let output = output.filter(|output| is_json(output)).unwrap_or("null");
    let text = value.to_string();
    // Raw text is appended, because a JSON value would round numbers that do not fit into 64 bits.
    let open = text.strip_suffix('}').unwrap_or(&text);
    format!("{open},\"arguments\":{},\"output\":{}}}", compact(&arguments), compact(output))
}

/// Like [`document`], with the jobs that are linked by edit and retry, and the hand-off that was admitted as the job.
pub(crate) fn linked(
    request: &Request,
    job: &JobRecord,
    links: Succession,
    admission: Option<&HandOffAdmission>,
) -> String {
    let document = document(request, job);
    let open = document.strip_suffix('}').unwrap_or(&document);
    let id =
        |id: Option<ratchet_core::JobId>| id.map_or("null".to_owned(), |id| format!("\"{id}\""));
    let (original, successor) = (id(links.successor_of), id(links.successor));
    let admission = serde_json::to_string(&admission).unwrap_or_else(|_| "null".to_owned());
    format!(
        "{open},\"successor_of\":{original},\"successor\":{successor},\"admission\":{admission}}}"
    )
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok()
}

/// Removes the line breaks of a document, so that it is one line of NDJSON. JSON has none inside of strings.
fn compact(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}
