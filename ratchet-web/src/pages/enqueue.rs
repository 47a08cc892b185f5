//! The jobs that this program can submit.

use maud::html;

use super::commands;
use crate::request::{Answer, Request};
use crate::text::{brief, duration};
use crate::views::{Page, Table, card, empty, text};

pub(crate) async fn page(request: Request) -> Answer {
    let mut table =
        Table::new("Jobs", &["job", "queue", "arguments", "#retries", "timeout", "description"]);
    for job in request.ratchet().definitions() {
        if !job.inputs.is_empty() {
            continue;
        }
        let link = request.root.with("act/jobs.enqueue", &[("name", job.name)]);
        table.row([
            html! { a href=(link) { (text(job.name, 80)) } },
            html! { (brief(job.queue, 40)) },
            html! { @for (at, arg) in job.args.iter().enumerate() {
                @if at > 0 { ", " } code { (arg.name) ": " (arg.ty) } @if arg.secret { " (secret)" }
            } },
            html! { (job.max_retries) },
            html! { (duration(job.timeout)) },
            text(job.docs.lines().next().unwrap_or_default(), 120),
        ]);
    }
    let content = html! {
        (card("catalog", "Jobs of this program", "choose one to enqueue it", table.or(empty(
            "This program declares no jobs.",
            html! { "A dashboard in the worker program lists its jobs here. The program " code { "ratchet" } " knows none." },
        ))))
        (commands(&request, &["jobs enqueue NAME --arg name=value".to_owned()]))
    };
    let mut page = Page::new("enqueue", "Enqueue a job", content);
    page.live = false;
    page.answer(&request).await
}
