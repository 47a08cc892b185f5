//! `ratchet flows …`

use ratchet_core::{GroupFilter, GroupId};
use ratchet_store::model::GroupRecord;

use super::Session;
use crate::args::{Drawing, Flows};
use crate::exit::{ExitStatus, Failure};
use crate::output::text::{count, printable_lines};
use crate::output::{column, number};

pub(super) async fn run(session: &Session, command: Flows) -> Result<(), Failure> {
    match command {
        Flows::List { name, limit } => list(session, name, limit).await,
        Flows::Show { flow } => {
            exists(session, flow).await?;
            let handle = session.ratchet.group(flow);
            let view = handle.view().await?;
            let text = handle.to_text().await?;
            session.out.object(&view, &printable_lines(&text))
        }
        Flows::Draw { flow, drawing } => {
            exists(session, flow).await?;
            let handle = session.ratchet.group(flow);
            let text = match drawing {
                Drawing::Text => printable_lines(&handle.to_text().await?),
                Drawing::Dot => handle.to_dot().await?,
                Drawing::Svg => handle.to_svg().await?,
            };
            session.out.print(&format!("{}\n", text.trim_end()))
        }
        Flows::Cancel { flow } => {
            if !session
                .proceed(&format!("cancel every member of {flow} that has not ended"), false)?
            {
                return Ok(());
            }
            if !session.ratchet.group(flow).cancel().await? {
                let message = format!("cannot cancel {flow}: it has already ended");
                return Err(Failure::new(ExitStatus::Conflict, message));
            }
            eprintln!("cancel {flow}: done");
            Ok(())
        }
    }
}

async fn exists(session: &Session, id: GroupId) -> Result<GroupRecord, Failure> {
    let record = session.ratchet.group(id).record().await?;
    record.ok_or_else(|| {
        Failure::not_found(format!("there is no group {id}; it may have been purged"))
    })
}

async fn list(session: &Session, name: Option<String>, limit: u32) -> Result<(), Failure> {
    let mut filter = GroupFilter::any();
    filter.name = name;
    let groups = session.ratchet.groups().list(&filter, None, limit).await?;
    let columns = [
        column("id", |group: &GroupRecord, _: &_| group.id.to_string()),
        column("kind", |group, _| format!("{:?}", group.kind).to_lowercase()),
        column("name", |group, _| group.name.clone()),
        column("state", |group, _| group.state.name().to_lowercase()),
        number("ended", |group, _| count(group.counts.ended())),
        number("of", |group, _| count(group.counts.total)),
        number("failed", |group, _| count(group.counts.failed)),
        column("queued", |group, out| out.time(group.queued_at)),
    ];
    session.out.list(&groups, &columns, "there is no chain, batch or workflow")
}
