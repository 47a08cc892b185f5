//! Commands of the dashboard.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options of the dashboard.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// The address to listen at. One that other hosts can reach needs `--tokens`
    #[arg(long, default_value = "127.0.0.1:4000", value_name = "ADDRESS")]
    pub(crate) listen: std::net::SocketAddr,
    /// The file of tokens; see `ratchet token`. It is read again when it changes
    #[arg(long, value_name = "FILE")]
    pub(crate) tokens: Option<PathBuf>,
    /// Refuses every change
    #[arg(long)]
    pub(crate) read_only: bool,
    /// The title that every page shows [default: the name of the context, or the store]
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Browsers reach the dashboard with HTTPS, through a proxy: cookies are sent with HTTPS only
    #[arg(long)]
    pub(crate) https: bool,
}

/// Options of a token.
#[derive(Debug, Args)]
pub(crate) struct Token {
    /// Who uses the token
    pub(crate) actor: String,
    /// What the token allows
    #[arg(long, value_enum, default_value = "viewer")]
    pub(crate) role: Role,
    /// Also allows to reveal the secrets of jobs; each time is recorded in the audit trail
    #[arg(long)]
    pub(crate) secrets: bool,
    /// The time until the token expires, such as 90d [default: it does not expire]
    #[arg(long, value_name = "DURATION")]
    pub(crate) expires_in: Option<String>,
}

/// What a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Sees everything but arguments
    Viewer,
    /// Sees arguments, and changes jobs, queues, breakers, schedules and flows
    Operator,
    /// Also submits jobs, and deletes and repairs rows
    Admin,
}
