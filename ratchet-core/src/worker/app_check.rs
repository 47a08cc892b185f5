//! [`AppCheck`]: the last result of a health check of the application.

/// The last result of a health check of the application.
#[derive(Debug, Clone)]
pub(super) struct AppCheck {
    pub(super) name: String,
    /// Why it fails; `None` if it passes.
    pub(super) problem: Option<String>,
}
