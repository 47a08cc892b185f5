//! The charts of the overview and of queues, from the history that the store keeps.
//!
//! This is the only place that reads the history. It has no source yet, so that no chart is shown.

use crate::charts::lines::Chart;
use crate::problem::Problem;
use crate::request::Request;

/// Returns the charts of the whole cluster. Empty if there is no history.
#[allow(clippy::unused_async)] // reads the store once it keeps a history
pub(crate) async fn charts(_: &Request) -> Result<Vec<Chart>, Problem> {
    Ok(Vec::new())
}
