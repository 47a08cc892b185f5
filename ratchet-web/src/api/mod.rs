//! The admin API at `/api/v1`.

pub(crate) mod export;
pub(crate) mod job;

use crate::route::Route;

/// Returns the routes of the API.
pub(crate) fn routes() -> Vec<Route> {
    Vec::new()
}
