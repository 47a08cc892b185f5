//! Operations of operators: bulk operations, requests to nodes and marks of failures.

use std::fmt::Write as _;

use jiff::Timestamp;
use ratchet_store::model::{
    BulkVerb, Change, ChangeReply, ErasurePhase, Filter, Judgment, MarkFailure, NewJob, NodeId,
    NodeReply, NodeUpdate, OperationId, OperationState, OperationUpdate, Page, PageRequest,
};
use ratchet_store::rules::{erasure, operation};
use uuid::Uuid;

use super::driver::{Driver, TICK, ok};

/// Returns an instant for a filter: between two ticks, because the clocks of the stores differ by less than that. The
/// driver makes it relative to the present.
pub(super) fn ticks_ago(ticks: u32) -> Timestamp {
    let ago = TICK * ticks + TICK / 2;
    let ago = i64::try_from(ago.as_micros()).expect("in range");
    Timestamp::from_microsecond(5 * 600_000_000 - ago).expect("in range")
}

impl Driver<'_> {
    pub(super) async fn request_node(&self, node: NodeId, update: NodeUpdate) -> String {
        let reply = self.changed(Change::Node { node, update, actor: None }).await;
        match reply {
            ChangeReply::Node(NodeReply::Changed(request)) => {
                format!("changed {:?}", request.map(|request| request.action))
            }
            ChangeReply::Node(NodeReply::Unchanged(request)) => {
                format!("unchanged {:?}", request.map(|request| request.action))
            }
            other => format!("{other:?}"),
        }
    }

    pub(super) async fn mark_failure(
        &self,
        name: &str,
        number: u8,
        judgment: Option<Judgment>,
    ) -> String {
        let (job_name, fingerprint) = (name.to_owned(), number.to_string());
        let mark = MarkFailure { job_name, fingerprint, judgment, actor: None };
        format!("{:?}", self.changed(Change::Failure(mark)).await)
    }

    pub(super) async fn failure_marks(&self) -> String {
        let mut reported = String::new();
        let mut marks = ok(self.store.failure_marks().await);
        marks.sort_by_key(|mark| (mark.job_name.clone(), mark.fingerprint.clone()));
        for mark in marks {
            let at = self.normal.time(mark.at);
            let (name, fingerprint) = (mark.job_name, mark.fingerprint);
            let _ = write!(reported, "\n{name} {fingerprint} {:?} {at}", mark.judgment);
        }
        reported
    }

    pub(super) async fn succeed(&self, ago: usize, job: &NewJob) -> String {
        let Some(run) = self.run(ago) else { return String::new() };
        let successor = Box::new(job.clone());
        let change = Change::Successor { original: run.id(), version: None, successor };
        let reply = self.store.operate(change, None).await.map(|changed| changed.reply);
        format!("{:?}", reply.map_err(|error| self.normal.refused_change(error)))
    }

    async fn changed(&self, change: Change) -> ChangeReply {
        match self.store.operate(change, None).await {
            Ok(changed) => changed.reply,
            Err(error) => panic!("the change is not refused: {error}"),
        }
    }

    /// Runs a bulk operation. Its cut-off is in the future, because the clocks of two stores differ by milliseconds.
    pub(super) async fn bulk(&mut self, number: u64, verb: BulkVerb, filter: &Filter) -> String {
        const MOST_PAGES: u32 = 1000;
        let store = std::sync::Arc::clone(&self.store);
        let id = OperationId::from_uuid(Uuid::from_u128(u128::from(number)));
        let cutoff = ok(store.now().await) + TICK * 1000;
        let filter = self.at_present(filter).await;
        let record = operation::prepare(id, verb, &filter, cutoff, None);
        let mut update = OperationUpdate::Start(record);
        let mut pages = String::new();
        for _ in 0..MOST_PAGES {
            let changed = match store.operate(Change::Operation(update), None).await {
                Ok(changed) => changed,
                Err(error) => return format!("{pages}{:?}", self.normal.refused_change(error)),
            };
            let ChangeReply::Operation(reply) = changed.reply else { return "another".to_owned() };
            for (job, reply) in reply.page.iter().flat_map(|page| &page.changed) {
                let _ = write!(pages, "{job} {:?} ", self.normal.reply(reply.clone()));
            }
            let current = reply.operation;
            let _ = write!(
                pages,
                "{} {:?} {} {} {} {:?}; ",
                current.state,
                current.cursor,
                current.matched,
                current.changed,
                current.refused,
                current.erasure
            );
            let waits = !reply.applied || erasure::must_wait(&current);
            if current.state != OperationState::Running || waits {
                break;
            }
            let request = PageRequest { before: current.cursor, limit: 2 };
            let visits = erasure::phase(&current).is_none_or(ErasurePhase::visits_jobs);
            let page = match visits {
                true => ok(store.list(&operation::listing(&current), request).await),
                false => Page::default(),
            };
            update = operation::page(&current, &page);
        }
        pages
    }

    /// Returns a filter whose instants, which [`ticks_ago`] made, are relative to the present of the store.
    pub(super) async fn at_present(&self, filter: &Filter) -> Filter {
        let now = ok(self.store.now().await);
        let mut filter = filter.clone();
        for instant in [
            &mut filter.due_after,
            &mut filter.due_before,
            &mut filter.finished_after,
            &mut filter.finished_before,
        ] {
            let ago = instant.map(|at| Timestamp::UNIX_EPOCH.duration_since(at));
            *instant = ago.map(|ago| now.checked_sub(ago).expect("a time in range"));
        }
        filter
    }
}
