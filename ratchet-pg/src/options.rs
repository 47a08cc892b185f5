//! The options of a [`PgStore`](crate::PgStore).

use std::time::Duration;

use ratchet_store::{StoreError, StoreErrorKind};
use sqlx::PgPool;
use sqlx::postgres::PgConnectOptions;

use crate::open::{migrate_only, migration_script};
use crate::runtime::StoreRuntime;

/// Options for opening a [`PgStore`](crate::PgStore): how to connect, and which limits apply.
#[derive(Debug, Clone)]
#[must_use]
pub struct PgOptions {
    pub(crate) connect: PgConnectOptions,
    pub(crate) schema: String,
    pub(crate) connections: u32,
    pub(crate) acquire_timeout: Duration,
    pub(crate) statement_timeout: Duration,
    pub(crate) poll_only: bool,
    pub(crate) migrate: bool,
    pub(crate) range: Duration,
}

impl PgOptions {
    /// Parses a PostgreSQL URL. Returns an error of kind `Config` if the URL is not valid.
    pub fn new(url: &str) -> Result<Self, StoreError> {
        let connect = url.parse::<PgConnectOptions>().map_err(|error| {
            StoreError::new(StoreErrorKind::Config, format!("not a PostgreSQL URL: {error}"))
        })?;
        Ok(Self::with(connect))
    }

    /// Uses the given connect options. The application name is set to `ratchet`.
    pub fn with(connect: PgConnectOptions) -> Self {
        Self {
            connect: connect.application_name("ratchet"),
            schema: "ratchet".to_owned(),
            connections: 6,
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
            poll_only: false,
            migrate: true,
            range: Duration::from_hours(7 * 24),
        }
    }

    /// Uses the connect options of a pool of the application. The store does not use its connections.
    ///
    /// The store opens connections of its own, because a handler that keeps the connections of the pool must not delay
    /// claims and heartbeats. The pool serves the application, and transactions in which it enqueues by
    /// [`EnqueueInTx`](crate::EnqueueInTx).
    ///
    /// ```no_run
    /// # async fn demo() -> Result<(), Box<dyn std::error::Error>> {
    /// use ratchet_pg::sqlx::PgPool;
    /// use ratchet_pg::{PgOptions, PgStore};
    ///
    /// let pool = PgPool::connect("postgres://localhost/shop").await?;
    /// let store = PgStore::open(PgOptions::from_pool(&pool).schema("jobs")).await?;
    /// # Ok(()) }
    /// ```
    pub fn from_pool(pool: &PgPool) -> Self {
        Self::with(PgConnectOptions::clone(&pool.connect_options()))
    }

    /// Sets the schema that holds all tables of the store (default: `ratchet`). Stores with different schemas in one
    /// database are independent of each other.
    pub fn schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = schema.into();
        self
    }

    /// Checks that PostgreSQL stores the name of the schema unchanged.
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

    /// Sets the maximum number of connections (default: 6, minimum: 2). One of them listens for notifications.
    ///
    /// A busy worker uses five: three to claim and settle, one for heartbeats and maintenance, and one to listen. The
    /// rest serve submits, which share commits. More connections are not faster: they are used in turn, and a server
    /// process whose caches are warm does the same work at a lower cost.
    pub fn connections(mut self, connections: u32) -> Self {
        self.connections = connections.max(2);
        self
    }

    /// Sets how long to wait for a connection before the store is reported as unavailable (default: 5 s).
    pub fn acquire_timeout(mut self, acquire_timeout: Duration) -> Self {
        self.acquire_timeout = acquire_timeout;
        self
    }

    /// Sets the longest time that a statement may take (default: 30 s).
    ///
    /// If the server does not answer at all, an operation fails as unavailable after twice this time plus the time
    /// allowed for getting a connection. Connections that may be dead are then replaced.
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout;
        self
    }

    /// Returns the longest time that one operation of the store may take, including all of its round trips.
    pub(crate) fn longest(&self) -> Duration {
        self.acquire_timeout.saturating_add(self.statement_timeout.saturating_mul(2))
    }

    /// Supports a pooler that assigns connections per transaction, such as `pgbouncer` with `pool_mode = transaction`.
    /// Work is found by polling.
    ///
    /// The store does not listen for notifications. Every statement runs in a transaction, so that the pooler cannot
    /// switch the server connection between its parts. No statement stays prepared, so any version of the pooler works.
    /// Settings and locks end with the transaction. Migrations also run through the pooler. This mode costs two more
    /// round trips per operation and plans every statement each time. Workers are faster with a direct connection.
    ///
    /// ```no_run
    /// # async fn demo() -> Result<(), ratchet_store::StoreError> {
    /// use ratchet_pg::{PgOptions, PgStore};
    ///
    /// let options = PgOptions::new("postgres://localhost:6432/shop")?.poll_only();
    /// let store = PgStore::open(options).await?;
    /// # Ok(()) }
    /// ```
    pub fn poll_only(mut self) -> Self {
        self.poll_only = true;
        // A pooler rejects startup parameters that it does not track.
        self.connect = self.connect.extra_float_digits(None);
        self
    }

    /// Sets how much time one partition covers (default: one week, minimum: one hour). Jobs are partitioned by the time
    /// of their submit, and old jobs are removed by dropping whole partitions.
    pub fn partition(mut self, range: Duration) -> Self {
        self.range = range.max(Duration::from_hours(1));
        self
    }

    /// Disables migrations. Opening the store fails with an error of kind `Schema` if the schema is not at the version
    /// that this program needs. [`migrate`](Self::migrate) migrates it in a separate step.
    pub fn without_migrations(mut self) -> Self {
        self.migrate = false;
        self
    }

    /// Migrates the schema without opening a store, for a deployment that migrates in a separate step or with another
    /// database user. Does nothing if the schema is up to date.
    ///
    /// ```no_run
    /// # async fn demo() -> Result<(), ratchet_store::StoreError> {
    /// use ratchet_pg::{PgOptions, PgStore};
    ///
    /// // The deployment:
    /// PgOptions::new("postgres://owner@localhost/shop")?.migrate().await?;
    ///
    /// // The program:
    /// let options = PgOptions::new("postgres://app@localhost/shop")?.without_migrations();
    /// let store = PgStore::open(options).await?;
    /// # Ok(()) }
    /// ```
    pub async fn migrate(self) -> Result<(), StoreError> {
        self.check()?;
        let runtime = StoreRuntime::new(self.longest())?;
        runtime.run_to_its_end(migrate_only(self)).await
    }

    /// Returns the statements that [`migrate`](Self::migrate) would execute, as a script for `psql`, or `None` if nothing is
    /// missing. Does not change the database.
    ///
    /// ```no_run
    /// # async fn demo() -> Result<(), ratchet_store::StoreError> {
    /// use ratchet_pg::PgOptions;
    ///
    /// let options = PgOptions::new("postgres://owner@localhost/shop")?;
    /// if let Some(script) = options.migration_script().await? {
    ///     println!("{script}");
    /// }
    /// # Ok(()) }
    /// ```
    pub async fn migration_script(self) -> Result<Option<String>, StoreError> {
        self.check()?;
        let runtime = StoreRuntime::new(self.longest())?;
        runtime.run_to_its_end(migration_script(self)).await
    }
}
