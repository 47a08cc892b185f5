//! `ratchet nodes …`

use ratchet_core::NodeId;
use ratchet_store::model::NodeRecord;

use super::Session;
use crate::args::Nodes;
use crate::exit::Failure;
use crate::output::{column, number};

pub(super) async fn run(session: &Session, command: Nodes) -> Result<(), Failure> {
    let nodes = session.ratchet.nodes();
    match command {
        Nodes::List => list(session).await,
        Nodes::Quiet { node } => {
            if session.proceed(&format!("make node {node} quiet"), false)? {
                said(node, "quiet", nodes.quiet(node).await?);
            }
            Ok(())
        }
        Nodes::Resume { node } => {
            if session.proceed(&format!("resume node {node}"), false)? {
                said(node, "resumed", nodes.resume(node).await?);
            }
            Ok(())
        }
        Nodes::Stop { node } => {
            if session.proceed(&format!("stop node {node}"), true)? {
                said(node, "stopping", nodes.stop(node).await?);
            }
            Ok(())
        }
    }
}

fn said(node: NodeId, state: &str, changed: bool) {
    if changed {
        eprintln!("node {node} is {state} after its next heartbeat");
    } else {
        eprintln!("node {node} was {state} already");
    }
}

async fn list(session: &Session) -> Result<(), Failure> {
    let nodes = session.ratchet.nodes().list().await?;
    let columns = [
        column("node", |node: &NodeRecord, _: &_| node.info.id.to_string()),
        column("host", |node, _| node.info.host.clone()),
        number("process", |node, _| node.info.pid.to_string()),
        column("program", |node, _| node.info.declarations.program.clone()),
        column("version", |node, _| node.info.binary_version.clone()),
        column("state", |node, _| state(node).to_owned()),
        column("joined", |node, out| out.time(node.joined_at)),
        column("lease ends", |node, out| out.time(node.lease_until)),
        column("queues", |node, out| {
            let queues: Vec<_> = node.info.queues.iter().map(String::as_str).collect();
            out.short(&queues.join(", "), 40)
        }),
    ];
    session.out.list(&nodes, &columns, "no worker is alive")
}

fn state(node: &NodeRecord) -> &'static str {
    match &node.info.request {
        _ if !node.alive => "dead",
        None => "alive",
        Some(request) => request.action.state(),
    }
}
