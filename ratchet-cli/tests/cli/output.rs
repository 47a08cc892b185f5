//! Tables, JSON and comma-separated values.

use std::process::Stdio;

use serde_json::Value;

use super::stored::Stored;

/// Every list, with the least number of rows that it must have.
const LISTS: [(&[&str], usize); 17] = [
    (&["jobs", "list"], 4),
    (&["archive", "list"], 0),
    (&["failures", "list"], 1),
    (&["queues", "list"], 2),
    (&["breakers", "list"], 0),
    (&["schedules", "list"], 1),
    (&["schedules", "next", "stored.report"], 10),
    (&["flows", "list"], 1),
    (&["nodes", "list"], 0),
    (&["alerts", "list"], 0),
    (&["rejects", "list"], 0),
    (&["rejects", "trends"], 0),
    (&["rejects", "sample"], 0),
    (&["unreadable", "list"], 0),
    (&["stats", "--last", "1h"], 1),
    (&["stats", "--last", "1h", "--queue", "mail", "--name", "stored.deliver"], 1),
    (&["stats", "--last", "1h", "--points"], 60),
];

#[test]
fn o_12_every_list_has_four_formats_with_the_same_rows() {
    let stored = Stored::new();
    for (args, least) in LISTS {
        let with = |format: &[&str]| stored.prints(&[args, format].concat());
        let json: Value = serde_json::from_str(&with(&["--json"])).expect("JSON");
        let rows = json.as_array().expect("a list").len();
        assert!(rows >= least, "{args:?} has {rows} rows");
        let lines = with(&["--ndjson"]);
        assert_eq!(lines.lines().count(), rows, "{args:?}");
        for (line, item) in lines.lines().zip(json.as_array().expect("a list")) {
            assert_eq!(&serde_json::from_str::<Value>(line).expect("JSON"), item, "{args:?}");
        }
        assert_eq!(with(&["--csv"]).lines().count(), rows + 1, "{args:?}");
        let table = with(&[]);
        assert_eq!(
            table.lines().count(),
            if rows == 0 { 0 } else { rows + 1 },
            "{args:?}: {table}"
        );
    }
}

#[test]
fn o_12_a_job_is_shown_with_its_error_and_without_secrets() {
    let stored = Stored::new();
    let text = stored.prints(&["jobs", "show", &stored.failed.to_string()]);
    assert!(text.contains("stored.deliver") && text.contains("is failed"), "{text}");
    assert!(text.contains("no mailbox `nowhere`") && text.contains("retry_exhausted"), "{text}");
    // The program does not know the job, so it cannot know which of the arguments are secret.
    assert!(text.contains("arguments    \"***\"") || text.contains("***"), "{text}");
    let json: Value = serde_json::from_str(&stored.prints(&[
        "jobs",
        "show",
        &stored.failed.to_string(),
        "--json",
    ]))
    .expect("JSON");
    assert_eq!(json["state"], "FAILED");
    assert!(!json.to_string().contains("\"payload\""), "{json}");
}

#[test]
fn o_12_explain_says_why_a_job_waits() {
    let stored = Stored::new();
    let text = stored.prints(&["jobs", "explain", &stored.waiting.to_string()]);
    assert!(text.contains("not due"), "{text}");
}

#[test]
fn o_03_a_list_continues_where_the_last_page_ended() {
    let stored = Stored::new();
    let ids = |text: &str| -> Vec<String> {
        let jobs: Value = serde_json::from_str(text).expect("JSON");
        jobs.as_array()
            .expect("a list")
            .iter()
            .map(|job| job["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    let all = ids(&stored.prints(&["jobs", "list", "--json"]));
    let (mut paged, mut after) = (Vec::new(), None::<String>);
    loop {
        let args = ["jobs", "list", "--json", "-n", "2"];
        let page = match &after {
            None => stored.prints(&args),
            Some(after) => stored.prints(&[&args[..], &["--after", after]].concat()),
        };
        let page = ids(&page);
        if page.is_empty() {
            break;
        }
        after = page.last().cloned();
        paged.extend(page);
    }
    assert_eq!(paged, all);
    let exported = stored.prints(&["jobs", "export"]);
    assert_eq!(exported.lines().count(), all.len());
}

#[test]
fn o_06_a_failure_group_is_redriven() {
    let stored = Stored::new();
    let groups: Value =
        serde_json::from_str(&stored.prints(&["failures", "list", "--json"])).expect("JSON");
    let fingerprint = groups[0]["fingerprint"].as_str().expect("text");
    assert_eq!(
        (groups[0]["count"].as_u64(), groups[0]["job_name"].as_str()),
        (Some(1), Some("stored.deliver"))
    );
    let shown = stored.prints(&["failures", "show", &fingerprint[..6]]);
    assert!(shown.contains(&stored.failed.to_string()), "{shown}");
    let done = stored.prints(&["failures", "redrive", &format!("fingerprint:{fingerprint}")]);
    assert_eq!(done, "1 job retried\n");
    assert_eq!(stored.prints(&["failures", "list", "--json"]), "[]\n");
}

#[test]
fn o_12_a_reader_that_stops_early_is_no_error() {
    let stored = Stored::new();
    for args in [
        &["jobs", "export"][..],
        &["jobs", "list"],
        &["jobs", "list", "--csv"],
        &["status"],
        &["flows", "list", "--json"],
    ] {
        let mut command = stored.command(args);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ends");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !error.contains("panicked"), "{args:?}: {error}");
    }
}
