//! The worker processes of the cluster.

use maud::{Markup, html};
use ratchet_store::model::{NodeAction, NodeRecord};

use super::{action_buttons, commands};
use crate::act::{self, Target};
use crate::request::{Answer, Request};
use crate::text::{brief, count};
use crate::views::{Page, Table, card, chip, empty, id, text, time};

pub(crate) async fn page(request: Request) -> Answer {
    request.sees_everything("nodes")?;
    let mut nodes = request.ratchet().nodes().list().await?;
    nodes.sort_by_key(|node| (!node.alive, node.info.host.clone(), node.info.pid));
    let mut table = Table::new(
        "Nodes",
        &[
            "host",
            "state",
            "lease ends",
            "version",
            "program",
            "queues",
            "#jobs known",
            "joined",
            "id",
            "actions",
        ],
    );
    for node in &nodes {
        let queues: Vec<_> = node.info.queues.iter().map(String::as_str).collect();
        table.row([
            html! { (text(&node.info.host, 60)) " " small { "pid " (node.info.pid) } },
            state(node),
            time(node.lease_until, request.now),
            text(&node.info.binary_version, 40),
            text(&node.info.declarations.program, 40),
            html! { @for (at, queue) in queues.iter().take(12).enumerate() {
                @if at > 0 { ", " } a href=(request.root.with("queue", &[("name", queue)])) { (brief(queue, 40)) }
            } @if queues.len() > 12 { " and " (queues.len() - 12) " more" } },
            html! { (count(node.info.known.0.len() as u64)) },
            time(node.joined_at, request.now),
            id(&node.info.id.to_string()),
            html! { span.row-actions { (buttons(&request, node)) } },
        ]);
    }
    let content = html! {
        (card("nodes", "Nodes", "with a valid lease, or still holding jobs", table.or(empty(
            "No worker is running.",
            html! { "Start one with " code { "ratchet.start_worker()" } ", or with the command " code { "work" } " of your program." },
        ))))
        (commands(&request, &["nodes list".to_owned()]))
    };
    Page::new("nodes", "Nodes", content).answer(&request).await
}

fn state(node: &NodeRecord) -> Markup {
    match &node.info.request {
        _ if !node.alive => chip("bad", "○", "dead, still holds jobs"),
        None => chip("ok", "●", "alive"),
        Some(request) => html! {
            (chip("wait", "◐", request.action.state())) " " small { "by " (text(&request.to_string(), 80)) }
        },
    }
}

fn buttons(request: &Request, node: &NodeRecord) -> Markup {
    let action = node.info.request.as_ref().map(|request| request.action);
    let possible = act::of_target(Target::Node).filter(|it| match it.verb {
        _ if !node.alive => false,
        "nodes.quiet" => action.is_none(),
        "nodes.resume" => action == Some(NodeAction::Quiet),
        _ => action != Some(NodeAction::Stop),
    });
    action_buttons(request, possible, &[("node", &node.info.id.to_string())])
}
