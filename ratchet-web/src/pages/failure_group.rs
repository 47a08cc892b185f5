//! One group of failures: its jobs, and the difference between its first and last error.

use maud::{Markup, html};
use ratchet_core::{FailureMark, FailureState, Filter, JobRecord, JobState};

use super::failures::{self, READ};
use super::{action_buttons, commands, job_runs, jobs, may};
use crate::act::{self, Target};
use crate::problem::Problem;
use crate::read::Cursor;
use crate::request::{Answer, Request};
use crate::text::{brief, count, printable, shell};
use crate::views::{Page, button, card, definition, empty, job_link, time};

pub(crate) async fn page(request: Request) -> Answer {
    let (name, fingerprint) = (request.wanted("name")?, request.wanted("fingerprint")?);
    let filter = Filter::any().name(name).fingerprint(fingerprint);
    let groups = request.failures(&filter, READ).await?;
    let Some(group) = groups.groups.first() else {
        return Err(Problem::not_found(
            "no failed job has this error any more; it was retried or purged",
        ));
    };
    let failed = filter.clone().state(JobState::Failed);
    let newest = request.job_page(&failed, Cursor::First, 20).await?;
    let oldest = request.job_page(&failed.clone().oldest_first(), Cursor::First, 1).await?;
    let versions = versions(&newest.jobs);
    let text = filter.to_string();
    let some = if groups.complete { "" } else { "+" };
    let content = html! {
        section.card { div.body {
            p.err { (brief(&group.error_type, 200)) ": " (brief(&group.message, 2000)) }
            (definition([
                ("state", Some(failures::state(group.state))),
                ("recorded", group.mark.as_ref().map(|mark| recorded(&request, mark))),
                ("jobs", Some(html! { (count(group.count)) (some) })),
                ("reason", Some(html! { (job_runs::reason(group.reason)) })),
                ("first", Some(time(group.first, request.now))),
                ("last", Some(time(group.last, request.now))),
                ("versions", (!versions.is_empty()).then(|| html! { (versions) })),
                ("fingerprint", Some(html! { code { (brief(fingerprint, 80)) } })),
            ]))
        } }
        (difference(&request, oldest.jobs.first(), newest.jobs.first()))
        (card("jobs", "Newest jobs", html! { a href=(request.root.with("jobs", &[("filter", &failed.to_string())])) { "all" } },
            jobs::short_table(&request, &newest.jobs).or(empty("No job is left.", "They were retried or purged."))))
        (commands(&request, &[
            format!("failures show {}", shell(fingerprint)),
            format!("failures redrive {} --limit 5", shell(&text)),
        ]))
    };
    let mut page = Page::new("failures", brief(&group.job_name, 120), content);
    page.parent = Some((request.root.to("failures"), "Failures"));
    let about = format!("{} {}", group.job_name, group.fingerprint);
    let possible = act::of_target(Target::Group).filter(|action| match action.verb {
        "failures.acknowledge" => group.state != FailureState::Acknowledged,
        "failures.resolve" => group.state != FailureState::Resolved,
        "failures.ignore" => group.state != FailureState::Ignored,
        _ => group.mark.is_some(),
    });
    page.actions = action_buttons(&request, possible, &[("group", &about)]);
    if let Some(action) = act::action("failures.redrive").filter(|action| may(&request, action)) {
        let link = |limit| {
            request
                .root
                .with(&format!("act/{}", action.verb), &[("filter", &text), ("limit", limit)])
        };
        page.actions = html! { (page.actions) (button(&link("5"), "Retry 5 first", "")) (button(&link(""), action.label, "")) };
    }
    page.answer(&request).await
}

/// Returns who has recorded something about a group, when and why.
fn recorded(request: &Request, mark: &FailureMark) -> Markup {
    let actor = mark.actor.as_ref();
    let who = actor.map_or_else(|| "an operator".to_owned(), ToString::to_string);
    let why = actor.and_then(|actor| actor.reason.as_deref()).unwrap_or_default();
    html! { (time(mark.at, request.now)) " by " (brief(&who, 120)) @if !why.is_empty() { ": " (brief(why, 300)) } }
}

fn versions(jobs: &[JobRecord]) -> String {
    let mut versions: Vec<_> = jobs
        .iter()
        .filter_map(|job| Some(brief(&job.envelope.as_ref()?.binary_version, 40)))
        .filter(|version| !version.is_empty())
        .collect();
    versions.sort_unstable();
    versions.dedup();
    versions.join(", ")
}

/// Returns the difference between the messages of two jobs, word by word.
fn difference(request: &Request, first: Option<&JobRecord>, last: Option<&JobRecord>) -> Markup {
    let message =
        |job: &JobRecord| Some(printable(&brief(&job.envelope.as_ref()?.failure.message, 2000)));
    let (Some(first), Some(last)) = (first, last) else { return html! {} };
    let (Some(old), Some(new)) = (message(first), message(last)) else { return html! {} };
    if first.id == last.id {
        return html! {};
    }
    card(
        "difference",
        "First and last error",
        "words that differ are marked",
        html! {
            @if old == new {
                p { "The messages of the first and the last job are equal." }
            } @else {
                @let (old, new) = marked(&old, &new);
                dl.kv.diff {
                    dt { "first " (job_link(&request.root, first.id)) } dd { @for (word, differs) in old { @if differs { del { (word) } } @else { (word) } " " } }
                    dt { "last " (job_link(&request.root, last.id)) } dd { @for (word, differs) in new { @if differs { ins { (word) } } @else { (word) } " " } }
                }
            }
        },
    )
}

type Words = Vec<(String, bool)>;

/// Marks the words of each text that are not in the longest common sequence of words.
fn marked(old: &str, new: &str) -> (Words, Words) {
    /// The table of the comparison has the square of this number of cells.
    const MOST: usize = 400;
    let old: Vec<_> = old.split_whitespace().take(MOST).collect();
    let new: Vec<_> = new.split_whitespace().take(MOST).collect();
    let mut common = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for (row, word) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            common[row][column] = if word == other {
                common[row + 1][column + 1] + 1
            } else {
                common[row + 1][column].max(common[row][column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let (mut left, mut right) = (Words::new(), Words::new());
    while row < old.len() || column < new.len() {
        let same = row < old.len() && column < new.len() && old[row] == new[column];
        let skip_old = row < old.len()
            && (column == new.len() || common[row + 1][column] >= common[row][column + 1]);
        if same {
            left.push((old[row].to_owned(), false));
            right.push((new[column].to_owned(), false));
            (row, column) = (row + 1, column + 1);
        } else if skip_old {
            left.push((old[row].to_owned(), true));
            row += 1;
        } else {
            right.push((new[column].to_owned(), true));
            column += 1;
        }
    }
    (left, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_differ_are_marked() {
        let (old, new) = marked("timeout after 5 s at a:1", "timeout after 9 s at b:1 again");
        let differs = |words: &Words| {
            words.iter().filter(|word| word.1).map(|word| word.0.clone()).collect::<Vec<_>>()
        };
        assert_eq!(differs(&old), ["5", "a:1"]);
        assert_eq!(differs(&new), ["9", "b:1", "again"]);
    }
}
