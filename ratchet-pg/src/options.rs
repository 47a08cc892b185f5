//! How to reach the database.

use std::time::Duration;

use ratchet_core::store::{StoreError, StoreErrorKind};
use sqlx::postgres::PgConnectOptions;

/// How to reach the database, and how much of it to use.
#[derive(Debug, Clone)]
#[must_use]
pub struct PgOptions {
    pub(crate) connect: PgConnectOptions,
    pub(crate) schema: String,
    pub(crate) connections: u32,
    pub(crate) patience: Duration,
    pub(crate) statement_timeout: Duration,
    pub(crate) poll_only: bool,
    pub(crate) migrate: bool,
    pub(crate) range: Duration,
}

impl PgOptions {
    /// Connects to this URL.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        let connect = url.parse::<PgConnectOptions>().map_err(|error| {
            StoreError::new(StoreErrorKind::Config, format!("not a PostgreSQL URL: {error}"))
        })?;
        Ok(Self::with(connect))
    }

    /// Connects as told.
    pub fn with(connect: PgConnectOptions) -> Self {
        Self {
            connect: connect.application_name("ratchet"),
            schema: "ratchet".to_owned(),
            connections: 6,
            patience: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            poll_only: false,
            migrate: true,
            range: Duration::from_hours(7 * 24),
        }
    }

    /// Keeps everything in this schema instead of `ratchet`.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// Whether the schema's name is one that PostgreSQL keeps as it is.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let (schema, longest) = (&self.schema, crate::sql::LONGEST_NAME);
        let problem = if schema.is_empty() {
            "it is empty".to_owned()
        } else if schema.len() > longest {
            format!("it has {} bytes, and PostgreSQL keeps {longest}", schema.len())
        } else if let Some(odd) = schema.chars().find(|c| *c == '\'' || c.is_control()) {
            format!("it contains {odd:?}")
        } else {
            return Ok(());
        };
        let why = format!("schema {schema:?} cannot be used: {problem}");
        Err(StoreError::new(StoreErrorKind::Config, why))
    }

    /// At most this many connections (6), one of them for notifications. A busy worker uses five: three to claim and settle, one
    /// for its heartbeat and maintenance, one to listen; the rest is for those who enqueue, who share commits. More are not
    /// faster: they are used in turn, and a server process that has just done the same work does it again for less.
    pub fn connections(mut self, connections: u32) -> Self {
        self.connections = connections.max(2);
        self
    }

    /// How long to wait for a connection before the store counts as unavailable (5 s).
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The longest a statement may take (30 s). A server that does not answer at all is given up after twice this time: the
    /// store is unavailable then, and connections are replaced.
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout;
        self
    }

    /// The longest a verb of the store may take, with everything it says to the server.
    pub(crate) fn longest(&self) -> Duration {
        self.patience.saturating_add(self.statement_timeout.saturating_mul(2))
    }

    /// For a pooler that hands out connections by the transaction, such as `pgbouncer` with `pool_mode = transaction`. Work is
    /// found by polling.
    ///
    /// The store then does not listen; every statement runs in a transaction, so that the pooler cannot change the server between
    /// its parts; nothing is kept prepared, so any version of the pooler will do; settings and locks end with the transaction.
    /// Migrations go through the pooler too. It costs two round trips per verb and planning every statement anew: where a
    /// direct connection can be had, workers are faster with one.
    ///
    /// ```no_run
    /// # async fn demo() -> Result<(), ratchet_core::store::StoreError> {
    /// use ratchet_pg::{PgOptions, PgStore};
    ///
    /// let options = PgOptions::new("postgres://localhost:6432/shop")?.poll_only();
    /// let store = PgStore::open(options).await?;
    /// # Ok(()) }
    /// ```
    pub fn poll_only(mut self) -> Self {
        self.poll_only = true;
        // A pooler refuses parameters that it does not track.
        self.connect = self.connect.extra_float_digits(None);
        self
    }

    /// How much time one partition holds (a week; at least an hour). Jobs are kept in partitions by the time of their submit, and
    /// what is old is dropped a partition at a time.
    pub fn partition(mut self, range: Duration) -> Self {
        self.range = range.max(Duration::from_hours(1));
        self
    }

    /// Leaves the schema as it is: fails if it is not the one this program knows.
    pub fn without_migrations(mut self) -> Self {
        self.migrate = false;
        self
    }
}
