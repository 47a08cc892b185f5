//! Rules that involve several options, or options and arguments.

use std::time::Duration;

use super::model::{From, JobModel, Param};
use super::{pipelines, upgrades};
use crate::diag::{Errors, suggestion};
use crate::idents;
use crate::values::{Piece, Template, Value, Within};

/// Reports every contradiction in `errors`. Does not change the model.
pub(crate) fn check(job: &JobModel, errors: &mut Errors) {
    check_keys(job, errors);
    check_concurrency(job, errors);
    check_order(job, errors);
    pipelines::check(job, errors);
    check_schedule(job, errors);
    check_timeouts(job, errors);
    check_aliases(job, errors);
    check_tags(job, errors);
    check_retries(job, errors);
    upgrades::check(job, errors);
}

fn check_keys(job: &JobModel, errors: &mut Errors) {
    let options = &job.options;
    let keys = [
        ("business_key", &options.business_key),
        ("idempotency_key", &options.idempotency_key),
        ("concurrency_key", &options.concurrency_key),
        ("ordered_by", &options.ordered_by),
    ];
    for (option, template) in keys {
        if let Some(template) = template {
            check_template(job, option, template, errors);
            check_separators(option, template, errors);
        }
    }
    if options.on_conflict.is_some() && !options.written("business_key") {
        let option = options.keys.iter().find(|key| *key == "on_conflict");
        if let Some(option) = option {
            errors.push(option, "`on_conflict` needs a `business_key` that can be taken");
        }
    }
    // A schedule refuses the key as a whole.
    let is_checked = options.idempotency_within.is_none() && !options.written("cron");
    if let Some(template) = options.idempotency_key.as_ref().filter(|_| is_checked)
        && template.fields().next().is_none()
    {
        errors.push(
            &template.lit,
            format_args!("this `idempotency_key` is the same for every submit, so only the first one would ever be stored; name an argument as `{{id}}`, let it expire with `idempotency_within = \"1h\"`, or use `business_key` for one unfinished job at a time"),
        );
    }
    if let Some(within) = &options.idempotency_within {
        if is_zero(within) {
            errors.push(within, "`idempotency_within` must be longer than zero");
        } else if !options.written("idempotency_key") {
            errors.push(within, "`idempotency_within` needs an `idempotency_key` that expires");
        }
    }
}

fn check_template(job: &JobModel, option: &str, template: &Template, errors: &mut Errors) {
    for path in template.fields() {
        let name = path[0].trim_start_matches("r#");
        let named = |ident: &syn::Ident| idents::plain(ident) == name;
        let stored = job.args().find(|arg| named(&arg.ident));
        let injected = job.injected().find(|injected| injected.name == name);
        let message = match stored {
            Some(arg) if arg.secret => {
                format!("`{option}` names `{name}`, which is secret: a key is shown to operators")
            }
            Some(_) => continue,
            None if injected.is_some() => {
                let from = match injected.map(|injected| &injected.from) {
                    Some(From::Step(_)) => "is the output of a step",
                    _ => "is injected",
                };
                format!(
                    "`{option}` names `{name}`, which {from}: a key is made when the job is enqueued"
                )
            }
            None => {
                let known: Vec<_> = job.args().map(|arg| idents::plain(&arg.ident)).collect();
                let hint = suggestion(name, known.iter().map(String::as_str));
                format!(
                    "`{option}` names `{name}`, which is not an argument of job `{}`{hint}",
                    job.name()
                )
            }
        };
        errors.push(&template.lit, message);
    }
}

/// Rejects two fields without text between them: `{a}{b}` is the same text for (1, 23) and (12, 3).
fn check_separators(option: &str, template: &Template, errors: &mut Errors) {
    let fields = template.pieces.windows(2).find_map(|pair| match pair {
        [Piece::Field(first), Piece::Field(second)] => Some((first.join("."), second.join("."))),
        _ => None,
    });
    if let Some((first, second)) = fields {
        errors.push(
            &template.lit,
            format_args!(
                "`{option}` needs text between `{{{first}}}` and `{{{second}}}`: different arguments would give the same key; write `{{{first}}}-{{{second}}}`"
            ),
        );
    }
}

fn check_concurrency(job: &JobModel, errors: &mut Errors) {
    let options = &job.options;
    let single = options.single_instance.is_present();
    // An order refuses the options of a limit as a whole.
    if options.written("ordered_by") {
        return;
    }
    // An option whose value was rejected is not missing.
    match (&options.concurrency_key, &options.concurrency_limit, single) {
        (_, Some(limit), true) => errors.push(
            limit,
            "`single_instance` already limits the job to one run; remove `concurrency_limit`",
        ),
        (None, Some(_), false) if options.written("accepts") => {}
        (None, Some(limit), false) if !options.written("concurrency_key") => errors
            .push(limit, "`concurrency_limit` needs a `concurrency_key` that says what is limited"),
        (Some(key), None, false) if !options.written("concurrency_limit") => errors.push(
            &key.lit,
            "`concurrency_key` needs a `concurrency_limit` that says how many may run at once",
        ),
        _ => {}
    }
}

fn check_order(job: &JobModel, errors: &mut Errors) {
    let options = &job.options;
    let written = |name: &str| options.keys.iter().find(|key| *key == name);
    if written("ordered_by").is_some() {
        let limits = ["concurrency_key", "concurrency_limit", "single_instance"];
        if let Some(limit) = limits.into_iter().find_map(written) {
            errors.push(
                limit,
                format_args!("`ordered_by` already limits the jobs of its key to one at a time; remove `{limit}`"),
            );
        }
    } else if let Some(option) = written("after_failure") {
        errors.push(
            option,
            "`after_failure` needs an `ordered_by` that says which jobs run in order",
        );
    }
}

fn check_schedule(job: &JobModel, errors: &mut Errors) {
    let options = &job.options;
    let Some(cron) = &options.cron else {
        // `keys` also contains a `cron` whose value was rejected.
        let written = options.written("cron");
        if let Some(tz) = options.tz.as_ref().filter(|_| !written) {
            errors.push(tz, "`tz` is the time zone of a `cron`, and there is none");
        }
        for option in ["overlap", "alert_after"] {
            let key = options.keys.iter().find(|key| **key == option).filter(|_| !written);
            if let Some(key) = key {
                errors.push(
                    key,
                    format_args!("`{option}` is an option of a `cron`, and there is none"),
                );
            }
        }
        return;
    };
    if let Some(key) = &options.idempotency_key {
        errors.push(
            &key.lit,
            "a recurring job is submitted once per occurrence, so an `idempotency_key` must not limit it to one job; remove it",
        );
    }
    if let Some(delay) = &options.delay {
        errors.push(
            delay,
            "a recurring job runs at its occurrences; move the `cron` instead of adding a `delay`",
        );
    }
    let required = job.params.iter().find_map(|param| match param {
        Param::Stored(arg) if !arg.is_optional() => Some(arg),
        _ => None,
    });
    if let Some((input, _)) = job.inputs().next() {
        let name = &input.name;
        errors.push(
            cron,
            format_args!(
                "nothing comes before a recurring job: argument `{name}` has no step to come from"
            ),
        );
    }
    if let Some(arg) = required {
        let name = idents::plain(&arg.ident);
        errors.push(
            cron,
            format_args!("a recurring job cannot have a required argument: give `{name}` a default with `#[job(default)]`, or mark it `#[inject]`"),
        );
    }
}

fn check_timeouts(job: &JobModel, errors: &mut Errors) {
    const DEFAULT: Duration = Duration::from_mins(30);
    let options = &job.options;
    for (key, value) in [
        ("timeout", &options.timeout),
        ("soft_timeout", &options.soft_timeout),
        ("expires_in", &options.expires_in),
        ("retry_within", &options.retry_within),
        ("alert_after", &options.alert_after),
    ] {
        if let Some(value) = value.as_ref().filter(|value| is_zero(value)) {
            errors.push(value, format_args!("`{key}` must be longer than zero"));
        }
    }
    let Some(Value::Literal(soft, lit)) = &job.options.soft_timeout else { return };
    let hard = match &job.options.timeout {
        Some(timeout) => timeout.literal().copied().filter(|timeout| !timeout.is_zero()),
        None => Some(DEFAULT),
    };
    if hard.is_some_and(|hard| *soft >= hard) {
        let which = match job.options.timeout {
            Some(_) => "`timeout`",
            None => "the default `timeout` of 30 minutes",
        };
        errors.push(
            lit,
            format_args!("`soft_timeout` warns before {which} strikes, so it must be shorter"),
        );
    }
}

fn is_zero(value: &Value<Duration>) -> bool {
    value.literal().is_some_and(Duration::is_zero)
}

/// Rejects an alias that is given twice or is the name of the job itself.
fn check_aliases(job: &JobModel, errors: &mut Errors) {
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let in_package = |name: &str| format!("{package}.{name}");
    let mut names: Vec<String> = match &job.options.name {
        Some(name) => name.literal().map(|name| name.to_string()).into_iter().collect(),
        None => vec![in_package(&job.stored_name)],
    };
    for alias in &job.options.aliases {
        let Some(name) = alias.literal().map(|name| name.to_string()) else { continue };
        let short = job.short_alias(alias).map(|name| in_package(&name));
        let repeated = [Some(&name), short.as_ref()].into_iter().flatten();
        if let Some(name) = repeated.into_iter().find(|name| names.contains(name)) {
            errors.push(alias, format_args!("job `{}` already answers to `{name}`", job.name()));
        }
        names.extend([Some(name), short].into_iter().flatten());
    }
}

fn check_tags(job: &JobModel, errors: &mut Errors) {
    let mut seen = Vec::new();
    for tag in &*job.options.tags {
        let Some(text) = tag.literal().map(|tag| &tag.0) else { continue };
        if seen.contains(&text) {
            errors.push(tag, format_args!("tag `{text}` is given twice"));
        }
        seen.push(text);
    }
}

fn check_retries(job: &JobModel, errors: &mut Errors) {
    let is_zero = |retries: &&Value<_>| retries.literal() == Some(&Within(0));
    let none = job.options.max_retries.as_ref().filter(is_zero);
    if let (Some(retries), Some(_)) = (none, &job.options.backoff) {
        errors.push(
            retries,
            "with `max_retries = 0` nothing is retried; remove the `backoff`, or allow a retry",
        );
    }
}
