//! `ratchet unreadable …`

use ratchet_store::model::Unreadable as Row;

use super::Session;
use crate::args::Unreadable;
use crate::exit::{ExitStatus, Failure};
use crate::output::column;

pub(super) async fn run(session: &Session, command: Unreadable) -> Result<(), Failure> {
    let store = session.ratchet.store();
    match command {
        Unreadable::List { limit } => {
            let rows = store.unreadable(limit).await?;
            let columns = [
                column("id", |row: &Row, _: &_| row.id.to_string()),
                column("job", |row, out| row.name.clone().unwrap_or_else(|| out.none())),
                column("queue", |row, out| row.queue.clone().unwrap_or_else(|| out.none())),
                column("column", |row, _| row.column.clone()),
                column("why", |row, out| out.short(&row.why, 80)),
            ];
            session.out.list(&rows, &columns, "every job that was read so far can be read")
        }
        Unreadable::Repair { job } => {
            if !session.proceed(&format!("restore job {job}"), false)? {
                return Ok(());
            }
            if !session.ratchet.jobs().repair_unreadable(job).await? {
                let message = format!(
                    "cannot restore job {job}: it was not set aside, or its row still cannot be read"
                );
                return Err(Failure::new(ExitStatus::Conflict, message));
            }
            eprintln!("restored {job}");
            Ok(())
        }
        Unreadable::Drop { job } => {
            if !session.proceed(&format!("delete job {job} with its history and keys"), true)? {
                return Ok(());
            }
            if !session.ratchet.jobs().drop_unreadable(job).await? {
                return Err(Failure::not_found(format!("no unreadable job has the id {job}")));
            }
            eprintln!("deleted {job}");
            Ok(())
        }
    }
}
