//! [`assert_enqueued!`](crate::assert_enqueued) and the places it can look for jobs.

use std::fmt::Write as _;

use super::Sandbox;
use crate::client::Ratchet;
use crate::job::JobContext;
use crate::job::{Encoder, Job};
use ratchet_store::model::{Filter, JobState, PageRequest};

/// A place where jobs are enqueued: a [`Ratchet`], a [`Sandbox`] or the [`JobContext`] of a bare function.
pub trait Enqueued {
    /// Returns the name and arguments of every pending job.
    fn waiting(&self) -> impl Future<Output = Vec<(String, Vec<u8>)>>;
}

impl Enqueued for Ratchet {
    async fn waiting(&self) -> Vec<(String, Vec<u8>)> {
        let filter = Filter::any().state(JobState::Pending);
        let page = PageRequest { before: None, limit: 10_000 };
        let jobs = self.jobs().list(&filter, page).await.map(|page| page.jobs).unwrap_or_default();
        jobs.iter().map(|job| (job.spec.name.clone(), job.spec.payload.clone())).collect()
    }
}

impl Enqueued for Sandbox {
    async fn waiting(&self) -> Vec<(String, Vec<u8>)> {
        self.ratchet().waiting().await
    }
}

impl Enqueued for JobContext {
    async fn waiting(&self) -> Vec<(String, Vec<u8>)> {
        self.enqueued().into_iter().map(|job| (job.spec.name, job.spec.payload)).collect()
    }
}

/// Returns an error message if no such job is pending.
#[doc(hidden)]
pub async fn check_enqueued<J: Job>(place: &impl Enqueued, job: J) -> Result<(), String> {
    let mut args = Encoder::new();
    job.encode(&mut args);
    let wanted = args.finish().map_err(|error| error.to_string())?;
    let waiting = place.waiting().await;
    if waiting.iter().any(|(name, payload)| name == J::DEF.name && *payload == wanted) {
        return Ok(());
    }
    let mut message = format!(
        "no job `{}` with arguments {} waits; ",
        J::DEF.name,
        String::from_utf8_lossy(&wanted)
    );
    if waiting.is_empty() {
        message.push_str("nothing waits");
    } else {
        message.push_str("these do:");
        for (name, payload) in waiting {
            let _ = write!(message, "\n  `{name}` {}", String::from_utf8_lossy(&payload));
        }
    }
    Err(message)
}

/// Asserts that a job with exactly these arguments is pending.
///
/// Takes a [`Sandbox`](crate::testing::Sandbox), a [`Ratchet`](crate::Ratchet) or the [`JobContext`](crate::JobContext)
/// that a bare function was called with. Must be used inside an async function.
#[macro_export]
macro_rules! assert_enqueued {
    ($place:expr, $job:expr $(,)?) => {
        if let ::std::result::Result::Err(message) =
            $crate::testing::check_enqueued(&$place, $job).await
        {
            ::std::panic!("{message}");
        }
    };
}
