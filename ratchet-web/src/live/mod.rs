//! `/live`: notifies open pages of changes, as server-sent events.
//!
//! One task reads the counts of the store for all open pages. It ends when the last page is closed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use bytes::Bytes;
use futures_util::stream;
use ratchet_core::Ratchet;
use ratchet_store::model::Counts;
use tokio::sync::watch;

use crate::request::{Answer, Request, response};

/// The time between two looks at the store.
const EVERY: Duration = Duration::from_secs(2);
/// Pages are notified after so many looks, even if the counts are the same.
const AT_LEAST: u32 = 5;
/// A stream ends after so many notices. The browser connects again, and its access is checked again.
const MOST: u32 = 150;

/// Notifies open pages. Its task runs while there are any.
#[derive(Debug, Clone)]
pub(crate) struct Ticker {
    changes: watch::Sender<u64>,
    running: Arc<Mutex<bool>>,
}

impl Default for Ticker {
    fn default() -> Self {
        Self { changes: watch::Sender::new(0), running: Arc::default() }
    }
}

impl Ticker {
    /// Returns the number of the last change, which grows with every change.
    fn subscribe(&self, ratchet: &Ratchet) -> watch::Receiver<u64> {
        let receiver = self.changes.subscribe();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if !*running {
            *running = true;
            tokio::spawn(self.clone().watch(ratchet.clone()));
        }
        receiver
    }

    async fn watch(self, ratchet: Ratchet) {
        let mut last: Option<Counts> = None;
        let mut same = 0;
        loop {
            tokio::time::sleep(EVERY).await;
            {
                let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                if self.changes.receiver_count() == 0 {
                    *running = false;
                    return;
                }
            }
            // While the store is unreachable, pages keep what they show.
            let Ok(counts) = ratchet.jobs().counts().await else { continue };
            same += 1;
            if last.as_ref() != Some(&counts) || same >= AT_LEAST {
                same = 0;
                self.changes.send_modify(|number| *number += 1);
            }
            last = Some(counts);
        }
    }
}

pub(crate) async fn stream(request: Request) -> Answer {
    let changes = request.app.ticker.subscribe(request.ratchet());
    let hello =
        stream::iter([Ok::<_, std::convert::Infallible>(Bytes::from_static(b": connected\n\n"))]);
    let notices = stream::unfold((changes, 0), |(mut changes, sent)| async move {
        if sent >= MOST {
            return None;
        }
        changes.changed().await.ok()?;
        let number = *changes.borrow_and_update();
        let notice = format!("event: change\ndata: {number}\n\n");
        Some((Ok(Bytes::from(notice)), (changes, sent + 1)))
    });
    let body = Body::from_stream(stream::StreamExt::chain(hello, notices));
    Ok(response(StatusCode::OK, "text/event-stream", body))
}
