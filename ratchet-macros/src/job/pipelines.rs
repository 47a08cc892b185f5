//! Rules about the options of pipelines: `accepts`, `backlog_limit`, `hands_off` and `on_full`.

use super::model::JobModel;
use crate::diag::Errors;

/// Reports every contradiction in `errors`.
pub(super) fn check(job: &JobModel, errors: &mut Errors) {
    let options = &job.options;
    let written = |name: &str| options.keys.iter().find(|key| *key == name);
    if written("accepts").is_some() {
        check_acceptor(job, errors);
    } else if let Some(option) = written("backlog_limit") {
        errors.push(option, "`backlog_limit` needs an `accepts` that names the pipeline");
    }
    if let (Some(option), None) = (written("on_full"), written("hands_off")) {
        errors.push(option, "`on_full` needs a `hands_off` that names the pipeline");
    }
    let mut seen = Vec::new();
    for pipeline in &options.hands_off {
        let Some(name) = pipeline.literal().map(|name| name.to_string()) else { continue };
        if seen.contains(&name) {
            errors.push(pipeline, format_args!("pipeline `{name}` is given twice"));
        }
        seen.push(name);
    }
}

fn check_acceptor(job: &JobModel, errors: &mut Errors) {
    let options = &job.options;
    let written = |name: &str| options.keys.iter().find(|key| *key == name);
    for (key, why) in [
        ("business_key", "a key that is taken would keep a hand-off from being admitted"),
        ("idempotency_key", "a hand-off is admitted once by its own key"),
        ("ordered_by", "hand-offs are admitted in their order, and may run at the same time"),
        ("cron", "a hand-off submits the job, and a schedule has none"),
    ] {
        if let Some(option) = written(key) {
            errors.push(
                option,
                format_args!(
                    "a job with `accepts` cannot have `{key}`: {why}; remove one of the two"
                ),
            );
        }
    }
    let Some(accepts) = written("accepts") else { return };
    let name = job.name();
    if let Some((input, _)) = job.inputs().next() {
        let input = &input.name;
        errors.push(
            accepts,
            format_args!("job `{name}` accepts hand-offs, and no step comes before it: argument `{input}` has no step to come from"),
        );
    }
    let count = job.args().count();
    if count != 1 {
        errors.push(
            accepts,
            format_args!("a job with `accepts` takes one stored argument, such as `page: HandedOff<Page>`, and job `{name}` takes {count}"),
        );
    }
}
